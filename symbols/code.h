/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_CODE_H
#define UNIPROF_SYMBOLS_CODE_H

/* The code of an ELF file; for symbols/ and tables/code/elf.c. */

#include "symbols/program.h"
#include "symbols/symbols.h"

/* Starts zeroed. */
struct code {
	uint16_t machine;
	struct code_range *list; /* by address */
	size_t count;
};

/* Lists the code of a file that symbols_elf_read() has accepted. @data must stay valid.
 * The list is empty if the file has no code, as in debug files, or if out of memory. */
void code_read(struct code *code, const void *data, size_t size);
void code_free(struct code *code);

enum symbols_call code_before(const struct code *code, uint64_t address);

#endif
