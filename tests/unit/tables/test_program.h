/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_TABLES_TEST_PROGRAM_H
#define UNIPROF_TESTS_UNIT_TABLES_TEST_PROGRAM_H

/* A guest with a small program, for the tests of code that is found in its memory. */

#include "tests/unit/arch/test_x86.h"

#include "tables/found_code.h"
#include "unwind/unwind.h"

/* No file's tables. */
static const struct unwind_input nothing;

#define CODE  0x401000ull
#define OTHER 0x801000ull

/* From its start on: a function that calls another one at 0x20. */
static const uint8_t program[] = {
	0x53,			      /* push %rbx */
	0xe8, 0x1a, 0x00, 0x00, 0x00, /* call 0x20 */
	0x5b,			      /* pop %rbx */
	0xc3,			      /* ret */
};
static const uint8_t callee[] = {0x50, 0x58, 0xc3}; /* push %rax; pop %rax; ret */
#define AFTER_CALL 6

static inline void put_program(struct guest *guest, uint64_t address)
{
	for (unsigned int i = 0; i < 3; i++) {
		map_new(guest, address + i * GUEST_PAGE_SIZE);
		memset(guest_byte(guest, address + i * GUEST_PAGE_SIZE), 0xcc,
		       GUEST_PAGE_SIZE);
	}
	address += GUEST_PAGE_SIZE;
	memcpy(guest_byte(guest, address), program, sizeof(program));
	memcpy(guest_byte(guest, address + 0x20), callee, sizeof(callee));
}

static inline struct guest *guest_with_program(void)
{
	struct guest *guest = guest_new(&mode_4_level);

	put_program(guest, CODE - GUEST_PAGE_SIZE);
	return guest;
}

/* Reads the code around the first unknown address of this chain. */
static inline bool read_code(const struct guest *guest, struct found_code *found,
			     uint64_t *address, uint32_t count)
{
	const struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = guest->cpu};
	const struct chain chain = {.address = address, .count = count};

	return found_code_read(found, &cpu, &guest->memory, &chain);
}

/* -1: there is no rule by the stack pointer. */
static inline int32_t cfa_at(const struct found_code *found, uint64_t address)
{
	const struct unwind_rule *rule = unwind_table_find(found_code_table(found),
							   address);

	return rule && rule->kind == UNWIND_CALLER && !rule->from_fp ? rule->cfa : -1;
}

#endif
