/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_DWARF_LINES_H
#define UNIPROF_SYMBOLS_DWARF_LINES_H

/* Source lines and inlined functions from DWARF; inside symbols/ only. */

#include "symbols/symbols.h"

struct symbols_lines;

/*
 * Reads the address ranges of the units in the ELF file's DWARF. @data must stay valid
 * until symbols_lines_free(), and may be changed. NULL if there are no units, if out of
 * memory, or if compressed DWARF is larger than unpack_limit() allows; only in the last
 * case, @why has one line, which starts with @name.
 */
struct symbols_lines *symbols_lines_new(void *data, size_t size, const char *name,
					struct error *why);
void symbols_lines_free(struct symbols_lines *lines);

/*
 * Fills in @list for struct symbol, with function names as in the file. Returns the
 * number of entries; 0 if nothing is known about the address. The strings are valid until
 * symbols_lines_free().
 */
size_t symbols_lines_find(struct symbols_lines *lines, uint64_t address,
			  struct symbol_line list[SYMBOL_LINES_MAX]);

#endif
