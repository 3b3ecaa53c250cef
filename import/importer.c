/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/importer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/writer.h"
#include "report/names.h"
#include "report/tree.h"

/*
 * Addresses for names without one: not canonical on x86-64, with five levels of page
 * tables as well (Intel SDM, volume 1, 3.3.7.1), and none of arm64's with its 52 bits
 * (Arm ARM, D8.1). They are 16 apart, so that a return address is between two.
 */
#define MADE_UP_FIRST ((uint64_t)0x4000000000000000)
#define MADE_UP_LAST  ((uint64_t)0x4fffffffffffffff)
#define MADE_UP_STEP  16

/* What an address of the text is called. */
struct named {
	uint64_t offset;
	uint32_t name, dso; /* texts */
};

/* The tree's roots: below them are domains; then what names a place. */
enum key {
	KEY_ADDRESS, /* an address of the text */
	KEY_NAME,    /* name, DSO and offset, to which an address was given */
	KEYS,
};

struct importer {
	int fd;
	struct recording_info info;
	struct writer *writer; /* NULL until the first sample */
	uint64_t last_time;
	uint64_t count;

	struct names *domains; /* id and name, by index */
	struct names *texts;
	struct tree places;
	struct named *named; /* by node: what addresses of the text are called */
	uint32_t capacity;

	struct sample sample;
	uint64_t chain[RECORDING_MAX_DEPTH];
	bool too_deep;
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
	    tree_init(&importer->places, KEYS) < 0) {
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
	free(importer->named);
	free(importer);
}

static int out_of_memory(struct error *err)
{
	return error_set(err, "not enough memory");
}

/* The index of the sample's domain, which is described when it is new. */
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
		return out_of_memory(err);
	if (index > RECORDING_MAX_DOMAIN)
		return error_set(err, "there are more than %u domains",
				 RECORDING_MAX_DOMAIN + 1);
	importer->sample.domain = index;
	domain.index = index;
	return index < before ? 0 : writer_domain(importer->writer, &domain, err);
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
			return -1;
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

/* The node's place in what addresses are called; NULL when memory is short. */
static struct named *named_of(struct importer *importer, uint32_t node)
{
	if (node >= importer->capacity) {
		uint32_t capacity = importer->places.capacity;
		struct named *named = realloc(importer->named, capacity * sizeof(*named));

		if (!named)
			return NULL;
		importer->named = named;
		importer->capacity = capacity;
	}
	return &importer->named[node];
}

/* The child, or TREE_NONE when its parent is that already, or memory is short. */
static uint32_t child_of(struct importer *importer, uint32_t parent, uint64_t key)
{
	return parent == TREE_NONE ? TREE_NONE
				   : tree_intern(&importer->places, parent, key);
}

/*
 * Gives the address at which @what can be looked up: @address where it has one, and
 * that is not called something else already (as are inlined functions, and the code
 * of a process that runs another program by now). @is_new says that it is to be named.
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

/* The address that stands for a frame with a name, which is @behind bytes behind the
 * place where it is looked up. */
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
			    frame->address > MADE_UP_LAST);
	bool is_new;

	if (frame->name.length > RECORDING_MAX_NAME ||
	    frame->dso.length > RECORDING_MAX_NAME)
		return error_set(err, "a name is longer than %u bytes",
				 RECORDING_MAX_NAME);
	name.address = frame->address - behind;
	if (what.name == NAMES_NONE || what.dso == NAMES_NONE ||
	    find_place(importer, &what, has_address, &name.address, &is_new) < 0)
		return out_of_memory(err);
	*address = name.address + behind;
	return is_new ? writer_name(importer->writer, &name, err) : 0;
}

int importer_frame(struct importer *importer, const struct import_frame *frame,
		   struct error *err)
{
	struct chain *chain = &importer->sample.chain;
	struct import_frame named = *frame;
	char hex[24];

	if (chain->count == RECORDING_MAX_DEPTH) {
		importer->too_deep = true;
		return 0;
	}
	/* An address that would be taken for one that was made up. */
	if (!named.name.length && named.address >= MADE_UP_FIRST &&
	    named.address <= MADE_UP_LAST)
		named.name = (struct recording_text){
			hex,
			(size_t)snprintf(hex, sizeof(hex), "0x%" PRIx64, named.address)};
	/* Callers are looked up at the byte before their return address. */
	if (named.name.length &&
	    name_frame(importer, &named, chain->count > 0, &named.address, err) < 0)
		return -1;
	chain->address[chain->count++] = named.address;
	return 0;
}

int importer_sample(struct importer *importer, uint64_t count, enum chain_end end,
		    struct error *err)
{
	struct sample *sample = &importer->sample;

	if (count > IMPORT_MAX_COUNT - importer->count)
		return error_set(err, "the counts add up to more than %" PRIu64,
				 (uint64_t)IMPORT_MAX_COUNT);
	importer->count += count;
	sample->chain.end = importer->too_deep ? CHAIN_TOO_DEEP : end;
	if (sample->time > importer->last_time)
		importer->last_time = sample->time;
	while (count) {
		sample->weight = count < RECORDING_MAX_WEIGHT ? (uint32_t)count
							      : RECORDING_MAX_WEIGHT;
		if (writer_sample(importer->writer, sample, err) < 0)
			return -1;
		count -= sample->weight;
	}
	return 0;
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
		return error_set(err, "there are no samples in it");
	return writer_end(importer->writer, &end, err);
}
