/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/importer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"
#include "format/writer.h"

/*
 * Addresses for names without an address: not canonical on x86-64, even with five levels
 * of page tables (Intel SDM, volume 1, 3.3.7.1) or on RISC-V (Privileged Architecture,
 * 4.6), and outside arm64's 52 bits (Arm ARM, D8.1). They are 16 apart, so that a return
 * address falls between two of them.
 */
#define MADE_UP_FIRST ((uint64_t)0x4000000000000000)
#define MADE_UP_LAST  ((uint64_t)0x4fffffffffffffff)
#define MADE_UP_STEP  16

/* The name of an address in the text. */
struct named {
	uint64_t offset;
	uint32_t name, dso; /* numbers of texts */
};

/* The roots of the tree. Below each are the domains, then the keys of a place. */
enum key {
	KEY_ADDRESS, /* an address in the text */
	KEY_NAME,    /* name, DSO and offset that were assigned an address */
	KEYS,
};

struct importer {
	int fd;
	struct recording_info info;
	struct writer *writer; /* NULL until the first sample */
	uint64_t last_time;
	uint64_t count;

	struct names *domains; /* id and name of each domain, by index */
	struct names *texts;
	struct tree places;
	struct named *named; /* names of the addresses in the text, by node */
	uint32_t capacity;

	struct sample sample;
	uint64_t chain[RECORDING_MAX_DEPTH];
	bool too_deep;
	struct held held;
	struct import_weights weights;
	enum importer_state state;
};

struct importer *importer_new(int fd, const struct recording_info *info)
{
	struct importer *importer = calloc(1, sizeof(*importer));

	if (!importer)
		return NULL;
	importer->fd = fd;
	importer->info = *info;
	importer->domains = names_new();
	importer->texts = names_new();
	if (!importer->domains || !importer->texts ||
	    tree_init(&importer->places, KEYS) < 0 || held_init(&importer->held) < 0) {
		importer_free(importer);
		return NULL;
	}
	return importer;
}

void importer_free(struct importer *importer)
{
	if (!importer)
		return;
	writer_free(importer->writer);
	if (importer->domains)
		names_free(importer->domains);
	if (importer->texts)
		names_free(importer->texts);
	tree_free(&importer->places);
	held_free(&importer->held);
	free(importer->named);
	free(importer);
}

enum importer_state importer_state(const struct importer *importer)
{
	return importer->state;
}

int importer_out_of_memory(struct importer *importer, struct error *err)
{
	importer->state = IMPORTER_NO_MEMORY;
	return error_set(err, "out of memory");
}

/* Returns the writer's @status, and sets the importer's state if the writer failed. */
static int check_writer(struct importer *importer, int status)
{
	if (status < 0)
		importer->state = !importer->writer || writer_failed(importer->writer)
					  ? IMPORTER_UNWRITABLE
					  : IMPORTER_FULL;
	return status;
}

/* Sets the sample's domain, and writes a new domain to the recording. */
static int find_domain(struct importer *importer, const struct import_place *place,
		       struct error *err)
{
	struct recording_domain domain = {.id = place->id, .word = 8};
	uint32_t before = names_count(importer->domains), index;
	char key[sizeof(domain.name) + 24];

	snprintf(domain.name, sizeof(domain.name), "%.*s",
		 (int)(place->domain.length < sizeof(domain.name) ? place->domain.length
								  : sizeof(domain.name)),
		 place->domain.length ? place->domain.at : "");
	snprintf(key, sizeof(key), "%" PRIu64 " %s", domain.id, domain.name);
	index = names_intern(importer->domains, key);
	if (index == NAMES_NONE)
		return importer_out_of_memory(importer, err);
	if (index > RECORDING_MAX_DOMAIN) {
		importer->state = IMPORTER_FULL;
		return error_set(err, "more than %u domains", RECORDING_MAX_DOMAIN + 1);
	}
	importer->sample.domain = index;
	domain.index = index;
	return index < before ? 0
			      : check_writer(importer, writer_domain(importer->writer,
								     &domain, err));
}

int importer_begin(struct importer *importer, const struct import_place *place,
		   struct error *err)
{
	if (place->vcpu > RECORDING_MAX_VCPU)
		return error_set(err, "vCPU %u is above the limit of %u", place->vcpu,
				 RECORDING_MAX_VCPU);
	if (!importer->writer) {
		importer->info.monotonic_start = place->time;
		importer->writer = writer_new(importer->fd, &importer->info, NULL, 0,
					      err);
		if (!importer->writer)
			return check_writer(importer, -1);
	}
	importer->sample = (struct sample){
		.time = place->time,
		.vcpu = place->vcpu,
		.chain.address = importer->chain,
	};
	importer->too_deep = false;
	return find_domain(importer, place, err);
}

static uint32_t intern_text(struct importer *importer, struct recording_text text)
{
	char *copy = strndup(text.length ? text.at : "", text.length);
	uint32_t number = copy ? names_intern(importer->texts, copy) : NAMES_NONE;

	free(copy);
	return number;
}

/* Returns the entry of a node in importer->named; NULL if out of memory. */
static struct named *named_of(struct importer *importer, uint32_t node)
{
	if (node >= importer->capacity) {
		uint32_t capacity = importer->places.capacity;

		if (!array_grow(&importer->named, capacity, sizeof(*importer->named)))
			return NULL;
		importer->capacity = capacity;
	}
	return &importer->named[node];
}

/* Returns the child with this key; TREE_NONE if @parent is TREE_NONE, or if out of
 * memory. */
static uint32_t child_of(struct importer *importer, uint32_t parent, uint64_t key)
{
	return parent == TREE_NONE ? TREE_NONE
				   : tree_intern(&importer->places, parent, key);
}

/*
 * Sets the address at which @what is looked up: its own address, if it has one and that
 * has no other name yet. Inlined functions, and an exec, give one address several names.
 * @is_new is set if the place has to be named in the recording.
 */
static int find_place(struct importer *importer, const struct named *what,
		      bool has_address, uint64_t *address, bool *is_new)
{
	uint32_t before = importer->places.count, node;
	struct named *named;

	if (has_address) {
		node = child_of(importer, KEY_ADDRESS, importer->sample.domain);
		node = child_of(importer, node, *address);
		named = node == TREE_NONE ? NULL : named_of(importer, node);
		if (!named)
			return -1;
		*is_new = node >= before;
		if (*is_new)
			*named = *what;
		if (named->name == what->name && named->dso == what->dso &&
		    named->offset == what->offset)
			return 0;
	}
	node = child_of(importer, KEY_NAME, importer->sample.domain);
	node = child_of(importer, node, what->name);
	node = child_of(importer, node, what->dso);
	node = child_of(importer, node, what->offset);
	if (node == TREE_NONE)
		return -1;
	*is_new = node >= before;
	*address = MADE_UP_FIRST + (uint64_t)node * MADE_UP_STEP;
	return 0;
}

/* Sets the address of a frame with a name: @behind bytes after the address at which the
 * frame is looked up. */
static int name_frame(struct importer *importer, const struct import_frame *frame,
		      uint64_t behind, uint64_t *address, struct error *err)
{
	struct recording_name name = {
		.domain = importer->sample.domain,
		.offset = frame->offset - behind,
		.name = frame->name,
		.dso = frame->dso,
	};
	struct named what = {
		.offset = name.offset,
		.name = intern_text(importer, frame->name),
		.dso = intern_text(importer, frame->dso),
	};
	bool has_address = frame->has_address && frame->address >= behind &&
			   (frame->address < MADE_UP_FIRST ||
			    frame->address > MADE_UP_LAST ||
			    chain_mark_name(frame->address));
	bool is_new;

	if (frame->name.length > RECORDING_MAX_NAME ||
	    frame->dso.length > RECORDING_MAX_NAME)
		return error_set(err, "a name is longer than %u bytes",
				 RECORDING_MAX_NAME);
	name.address = frame->address - behind;
	if (what.name == NAMES_NONE || what.dso == NAMES_NONE ||
	    find_place(importer, &what, has_address, &name.address, &is_new) < 0)
		return importer_out_of_memory(importer, err);
	*address = name.address + behind;
	return is_new ? check_writer(importer, writer_name(importer->writer, &name, err))
		      : 0;
}

/* Keeps the DSO of an address without a name, unless the address has an entry already
 * (FORMAT.md, 5.5). */
static int keep_dso(struct importer *importer, const struct import_frame *frame,
		    uint64_t behind, struct error *err)
{
	const struct recording_name name = {
		.domain = importer->sample.domain,
		.address = frame->address - behind,
		.name = {RECORDING_NO_NAME, strlen(RECORDING_NO_NAME)},
		.dso = frame->dso,
	};
	uint32_t before = importer->places.count, node;
	struct named *named;

	if (frame->address < behind || frame->dso.length > RECORDING_MAX_NAME)
		return 0;
	node = child_of(importer, KEY_ADDRESS, name.domain);
	node = child_of(importer, node, name.address);
	named = node == TREE_NONE ? NULL : named_of(importer, node);
	if (!named)
		return importer_out_of_memory(importer, err);
	if (node < before)
		return 0;
	*named = (struct named){
		.name = intern_text(importer, name.name),
		.dso = intern_text(importer, name.dso),
	};
	if (named->name == NAMES_NONE || named->dso == NAMES_NONE)
		return importer_out_of_memory(importer, err);
	return check_writer(importer, writer_name(importer->writer, &name, err));
}

int importer_frame(struct importer *importer, const struct import_frame *frame,
		   struct error *err)
{
	struct chain *chain = &importer->sample.chain;
	struct import_frame named = *frame;
	uint64_t mark = chain_mark(frame->name.at, frame->name.length);
	char hex[24];

	if (mark) {
		named.has_address = true;
		named.address = mark;
	}

	if (chain->count == RECORDING_MAX_DEPTH) {
		importer->too_deep = true;
		return 0;
	}
	/* Such an address would be taken for a made-up one. */
	if (!named.name.length && named.address >= MADE_UP_FIRST &&
	    named.address <= MADE_UP_LAST)
		named.name = (struct recording_text){
			hex,
			(size_t)snprintf(hex, sizeof(hex), "0x%" PRIx64, named.address)};
	/* Callers are looked up at the byte before the return address. */
	if (named.name.length &&
	    name_frame(importer, &named, chain->count > 0, &named.address, err) < 0)
		return -1;
	if (!named.name.length && named.dso.length &&
	    keep_dso(importer, &named, chain->count > 0, err) < 0)
		return -1;
	chain->address[chain->count++] = named.address;
	return 0;
}

static void complete(struct importer *importer, enum chain_end end)
{
	struct sample *sample = &importer->sample;

	sample->chain.end = importer->too_deep ? CHAIN_TOO_DEEP : end;
	if (sample->time > importer->last_time)
		importer->last_time = sample->time;
}

int importer_sample(struct importer *importer, uint64_t count, enum chain_end end,
		    struct error *err)
{
	struct sample *sample = &importer->sample;

	if (count > HELD_MAX_WEIGHT - importer->count) {
		importer->state = IMPORTER_FULL;
		return error_set(err, "the counts add up to more than %" PRIu64,
				 HELD_MAX_WEIGHT);
	}
	importer->count += count;
	complete(importer, end);
	return check_writer(importer,
			    held_write_sample(importer->writer, sample, count, err));
}

int importer_hold(struct importer *importer, uint64_t period, enum chain_end end,
		  struct error *err)
{
	if (period > HELD_MAX_PERIOD)
		return error_set(err, "the period %" PRIu64 " is too large", period);
	complete(importer, end);
	if (held_add(&importer->held, &importer->sample, period) < 0)
		return importer_out_of_memory(importer, err);
	importer->count++;
	return 0;
}

void importer_set_unit(struct importer *importer, enum import_unit unit)
{
	importer->held.unit = unit;
}

uint32_t importer_depth(const struct importer *importer)
{
	return importer->sample.chain.count;
}

uint64_t importer_count(const struct importer *importer)
{
	return importer->count;
}

int importer_end(struct importer *importer, struct error *err)
{
	struct recording_end end = {.monotonic = importer->last_time};

	if (!importer->count)
		return error_set(err, "no samples found");
	if (held_write(&importer->held, importer->writer, &importer->weights, err) < 0)
		return check_writer(importer, -1);
	return check_writer(importer, writer_end(importer->writer, &end, err));
}

struct import_weights importer_weights(const struct importer *importer)
{
	return importer->weights;
}
