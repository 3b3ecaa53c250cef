/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_LINES_H
#define UNIPROF_SYMBOLS_LINES_H

/* Source lines and inlined functions from DWARF; inside symbols/ only. */

#include "symbols/symbols.h"

struct symbols_lines;

/*
 * Reads which unit of the ELF file's DWARF is for which addresses. @data must stay
 * until symbols_lines_free(), and may be changed. NULL when there are none, or memory is
 * short.
 */
struct symbols_lines *symbols_lines_new(void *data, size_t size);
void symbols_lines_free(struct symbols_lines *lines);

/*
 * Fills in @list as struct symbol has it, with function names as they are in the
 * file. Returns the number of entries; 0: nothing is known of the address. The
 * strings live until symbols_lines_free().
 */
size_t symbols_lines_find(struct symbols_lines *lines, uint64_t address,
			  struct symbol_line list[SYMBOL_LINES_MAX]);

#endif
