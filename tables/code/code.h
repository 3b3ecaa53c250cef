/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CODE_CODE_H
#define UNIPROF_TABLES_CODE_CODE_H

#include "base/error.h"
#include "tables/build.h"

/* Unwind tables made from the machine code of programs, for x86-64 and arm64. */

enum code_part {
	CODE_PART_UNKNOWN,
	CODE_PART_FUNCTION, /* called at its start */
	CODE_PART_COLD,	    /* a part of a function that the compiler moved away */
};

struct code_function {
	uint64_t start;
	uint64_t size; /* bytes; 0: up to the next function */
	uint8_t part;  /* enum code_part */
};

/* Contiguous code, and its functions by ascending address. */
struct machine_code {
	bool is_arm64; /* else x86-64 */
	bool is_first; /* nothing is mapped before it */
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	const struct code_function *functions;
	size_t count;
};

/*
 * Adds rules for the functions, which are found by following the effect of all their
 * instructions on the stack. There are none where that fails, as after an alignment of
 * the stack pointer without a frame pointer, in handlers of interrupts, and in arm64's
 * parts of functions that the compiler moved away. Functions that start outside of the
 * code are ignored; if they overlap, the next one ends the previous one. Takes time and
 * memory in proportion to the size, whatever the code is. -1 with @err set if out of
 * memory, or over the limits of tables.
 */
int unwind_table_add_code(struct unwind_builder *builder, const struct machine_code *code,
			  struct error *err);

/*
 * Adds rules for the executable sections of an ELF file with these contents. The
 * functions are in its symbol tables or in its debug file, which is looked for below
 * @debug_directory as symbols_add() does, unless @debug_directory is NULL. PLT entries
 * need no symbols. Xen's hypercall page is left out, because Xen fills it at run time.
 * @offset is added to the file's addresses. *@functions: the number of functions. -1 with
 * one line in @err, which starts with @path, also if the file is for neither CPU or has
 * no function symbols.
 */
int unwind_table_add_elf_code(struct unwind_builder *builder, const char *path,
			      const void *data, size_t size, uint64_t offset,
			      const char *debug_directory, size_t *functions,
			      struct error *err);

/*
 * Finds the functions in code without symbols and sets @code->functions, by ascending
 * address, and @code->count. Functions are places that are called, and places behind
 * padding that no jump in the code before them leads to. Instructions are decoded one
 * after the other, from the @count addresses in @known, where instructions start, and
 * from the places that they lead to; then the code before all of these places, which may
 * be data. The caller frees @code->functions. Takes time and memory in proportion to the
 * size, whatever the code is. -1 if out of memory.
 */
int code_find_functions(struct machine_code *code, const uint64_t *known, size_t count);

#endif
