/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_CODE_H
#define UNIPROF_SYMBOLS_CODE_H

/* The code of an ELF file, for a look at the instructions before return addresses. */

#include "base/guest.h"
#include "symbols/symbols.h"

/* A range of code, as it is in the file. */
struct code_range {
	uint64_t address;
	uint64_t size; /* bytes */
	const uint8_t *bytes;
};

/* The code of a file. Starts zeroed. */
struct code {
	enum cpu_kind kind;	 /* CPU that the file is for */
	struct code_range *list; /* by address */
	size_t count;
};

/* Lists the code of a file that symbols_elf_read() has accepted. @data must stay valid.
 * The list is empty if the file has no code, as in debug files, or if out of memory. */
void code_read(struct code *code, const void *data, size_t size);
void code_free(struct code *code);

/* Returns the kind of instruction that ends just before @address, an address as in the
 * file. */
enum symbols_call code_before(const struct code *code, uint64_t address);

#endif
