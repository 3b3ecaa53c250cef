/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/found_code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/flow.h"
#include "arch/x86/code.h"
#include "tables/code/code.h"
#include "unwind/returns.h"

/* Contiguous code, as it was when it was read. */
struct part {
	uint64_t address;
	size_t size;
	uint8_t *bytes;
	bool is_first; /* the page before the code is missing */
};

struct found_code {
	enum cpu_kind kind; /* of the code */
	struct part part[FOUND_CODE_PARTS];
	size_t parts;
	uint64_t place; /* an instruction in the last part */
	uint64_t space; /* see found_code_space() */
	bool has_space;
	struct unwind_builder *builder;
	struct unwind_table *table; /* in use */
	struct unwind_table *next;  /* to be used, if is_new, or to be freed */
	bool is_new;
	int references; /* atomic */
};

struct found_code *found_code_new(void)
{
	struct found_code *found = calloc(1, sizeof(*found));

	if (!found)
		return NULL;
	found->references = 1;
	found->builder = unwind_builder_new();
	if (found->builder) {
		unwind_builder_guess(found->builder);
		return found;
	}
	free(found);
	return NULL;
}

struct found_code *found_code_share(struct found_code *found)
{
	__atomic_add_fetch(&found->references, 1, __ATOMIC_RELAXED);
	return found;
}

void found_code_free(struct found_code *found)
{
	if (!found || __atomic_sub_fetch(&found->references, 1, __ATOMIC_ACQ_REL))
		return;
	for (size_t i = 0; i < found->parts; i++)
		free(found->part[i].bytes);
	unwind_builder_free(found->builder);
	unwind_table_free(found->table);
	unwind_table_free(found->next);
	free(found);
}

size_t found_code_parts(const struct found_code *found)
{
	return found->parts;
}

const struct unwind_table *found_code_table(const struct found_code *found)
{
	return found->table;
}

uint64_t found_code_space(const struct found_code *found)
{
	return found->space;
}

static const struct part *find_part(const struct found_code *found, uint64_t address)
{
	for (size_t i = 0; i < found->parts; i++)
		if (address - found->part[i].address < found->part[i].size)
			return &found->part[i];
	return NULL;
}

/* Whether the code at @place is not that of a program in another address space. */
static bool is_in_space(const struct found_code *found, const struct cpu *cpu,
			uint64_t place)
{
	return !found->has_space || is_in_upper_half(place) ||
	       found->space == cpu_space(cpu);
}

bool found_code_lacks(const struct found_code *found, const struct cpu *cpu,
		      uint64_t place)
{
	return is_in_space(found, cpu, place) && !find_part(found, place);
}

/* Returns the address of the first page around @place that is read. */
static uint64_t base_of(uint64_t place)
{
	return (place & -(uint64_t)GUEST_PAGE_SIZE) - FOUND_CODE_SIZE / 2;
}

size_t found_code_ask(const struct found_code *found, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t place)
{
	uint64_t base = base_of(place);
	size_t pages = 0;
	uint8_t byte;

	for (size_t at = 0; at < FOUND_CODE_SIZE; at += GUEST_PAGE_SIZE)
		pages += find_part(found, base + at) ||
			 cpu_read(cpu, memory, base + at, &byte, 1);
	return pages;
}

/* Reads the pages around @place, up to pages that are missing or known. */
static bool read_part(const struct found_code *found, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t place,
		      struct part *part)
{
	uint8_t *bytes = malloc(FOUND_CODE_SIZE), *kept;
	size_t start = FOUND_CODE_SIZE / 2, end = start;
	uint64_t base = base_of(place);
	bool is_first = false;

	if (!bytes)
		return false;
	while (end < FOUND_CODE_SIZE && !find_part(found, base + end) &&
	       cpu_read(cpu, memory, base + end, bytes + end, GUEST_PAGE_SIZE))
		end += GUEST_PAGE_SIZE;
	while (end > FOUND_CODE_SIZE / 2 && start && !is_first &&
	       !find_part(found, base + start - GUEST_PAGE_SIZE)) {
		is_first = !cpu_read(cpu, memory, base + start - GUEST_PAGE_SIZE,
				     bytes + start - GUEST_PAGE_SIZE, GUEST_PAGE_SIZE);
		start -= is_first ? 0 : GUEST_PAGE_SIZE;
	}
	memmove(bytes, bytes + start, end - start);
	if (start == end) {
		free(bytes);
		return false;
	}
	kept = realloc(bytes, end - start);
	*part = (struct part){base + start, end - start, kept ?: bytes, is_first};
	return true;
}

/* Whether the @count bytes of code up to @end end with a call. */
static bool is_call(enum cpu_kind kind, const uint8_t *end, size_t count,
		    uint64_t address)
{
	uint64_t ignored;

	return flow_call_before(kind == CPU_ARM64, end, count, address, &ignored);
}

/* Whether there is a call before @place. */
static bool is_after_call(const struct cpu *cpu, const struct guest_memory *memory,
			  uint64_t place)
{
	uint8_t code[X86_CALL_SIZE_MAX];

	for (size_t i = 0; i < sizeof(code); i++)
		if (!cpu_read(cpu, memory, place - sizeof(code) + i, &code[i], 1))
			return false;
	return is_call(cpu_kind(cpu), code + sizeof(code), sizeof(code), place);
}

/* Finds the first address of the chain in unknown code; 0 if there is none. */
static uint64_t first_unknown(const struct found_code *found, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t place = chain->address[i];

		if (!chain_mark_name(place) && !find_part(found, place - (i > 0)))
			return place;
	}
	return 0;
}

bool found_code_read(struct found_code *found, const struct cpu *cpu,
		     const struct guest_memory *memory, const struct chain *chain)
{
	struct part *part = &found->part[found->parts];
	enum cpu_kind kind = cpu_kind(cpu);
	uint64_t place;

	if (!cpu_kind_has_tables(kind) || (found->parts && kind != found->kind) ||
	    found->parts == FOUND_CODE_PARTS)
		return false;
	place = first_unknown(found, chain);
	if (!place || !is_in_space(found, cpu, place) ||
	    (place != chain->address[0] && !is_after_call(cpu, memory, place)) ||
	    !read_part(found, cpu, memory, place, part))
		return false;
	if (!is_in_upper_half(place)) {
		found->space = cpu_space(cpu);
		found->has_space = true;
	}
	found->kind = kind;
	found->place = place;
	found->parts++;
	return true;
}

static bool is_given_up(const struct found_code *found)
{
	return __atomic_load_n(&found->references, __ATOMIC_RELAXED) == 1;
}

/* Adds the rules of the last part. */
static int add_rules(struct found_code *found)
{
	const struct part *part = &found->part[found->parts - 1];
	struct machine_code code = {.is_arm64 = found->kind == CPU_ARM64,
				    .is_first = part->is_first,
				    .bytes = part->bytes,
				    .size = part->size,
				    .address = part->address};
	struct error ignored;
	int status = -1;

	if (code_find_functions(&code, &found->place, 1) < 0)
		return -1;
	if (!is_given_up(found))
		status = unwind_table_add_code(found->builder, &code, &ignored);
	free((void *)(uintptr_t)code.functions);
	return status;
}

void found_code_examine(struct found_code *found)
{
	unwind_table_free(found->next);
	found->next = NULL;
	found->is_new = false;
	if (add_rules(found) < 0 || is_given_up(found))
		return;
	found->next = unwind_builder_finish(found->builder);
	found->is_new = found->next != NULL;
}

bool found_code_renew(struct found_code *found)
{
	struct unwind_table *old = found->table;

	if (!found->is_new)
		return false;
	found->is_new = false;
	if (unwind_table_lock(found->next) < 0)
		return false;
	found->table = found->next;
	found->next = old;
	return true;
}

/* Whether the table says that nothing calls the function at @address. */
static bool is_outermost(const struct found_code *found, uint64_t address)
{
	const struct unwind_rule *rule = found->table ? unwind_table_find(found->table,
									  address)
						      : NULL;

	return rule && rule->kind == UNWIND_OUTERMOST;
}

/* Returns the part with the code at @address in the address space @space; NULL: none. */
static const struct part *find_part_in(const struct found_code *found, uint64_t space,
				       uint64_t address)
{
	if (!is_in_upper_half(address) && space != found->space)
		return NULL;
	return find_part(found, address);
}

/* Functions that start with a return address of 0 are the outermost ones, but rules for
 * found code may be wrong. */
static void check_end(const struct found_code *found, uint64_t space, struct chain *chain)
{
	uint64_t last = chain->count ? chain->address[chain->count - 1] : 0;

	last -= chain->count > 1;
	if (chain->end == CHAIN_WHOLE && find_part_in(found, space, last) &&
	    !is_outermost(found, last))
		chain->end = CHAIN_UNKNOWN;
}

void found_code_check(const struct found_code *found, const struct unwind_input *input,
		      uint64_t space, struct chain *chain)
{
	for (uint32_t i = 1; i < chain->count; i++) {
		uint64_t address = chain->address[i];
		const struct part *part = find_part_in(found, space, address - 1);
		size_t before = part ? address - part->address : 0;

		if (!part || chain->address[i - 1] == CHAIN_INTERRUPT ||
		    unwind_is_described(input, space, chain->address[i - 1] - (i > 1)) ||
		    is_call(found->kind, part->bytes + before, before, address))
			continue;
		chain->count = i;
		chain->end = CHAIN_NOT_CALLED;
	}
	check_end(found, space, chain);
}
