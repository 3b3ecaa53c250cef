/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_SECTION_H
#define UNIPROF_SYMBOLS_ELF_SECTION_H

/* Checked access to the sections of an ELF file in memory: libelf checks them only in
 * part. */

#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns whether the whole section lies within a file of @size bytes. */
bool section_is_inside(const GElf_Shdr *header, size_t size);

/* Finds the section with the names of sections; false if it is not valid. */
bool section_find_names(Elf *elf, size_t size, size_t *names);

/* The contents of a section. Starts zeroed. */
struct section_bytes {
	const uint8_t *data; /* NULL: no contents */
	size_t size;
	void *unpacked; /* memory to free; NULL: @data is in the file */
};

/*
 * Reads the section called @name, the first one if there are several, and decompresses it
 * if necessary (ELF gABI, "Section Compression"; zlib and zstd). Fills @header. A missing
 * section, or a section without contents in this file, has no data. -1 if the section is
 * damaged or too large, or if out of memory. @elf, a file of @size bytes, must stay open.
 */
int section_read(Elf *elf, size_t size, const char *name, GElf_Shdr *header,
		 struct section_bytes *bytes);
void section_free(struct section_bytes *bytes);

#endif
