/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_H
#define UNIPROF_SYMBOLS_ELF_H

/* ELF files, and where what was cut off them is found; inside symbols/ only. */

#include "symbols/source.h"
#include "symbols/table.h"

/* Bytes; linkers make 8, 16 or 20 of them (GNU ld manual, "--build-id"). */
#define BUILD_ID_MAX  64
#define BUILD_ID_TEXT (2 * BUILD_ID_MAX + 1)

/* What an ELF file tells about itself. */
struct symbols_elf {
	uint16_t machine; /* e_machine */
	size_t functions; /* that .symtab names */
	size_t exported;  /* that .dynsym names */
	bool has_lines;	  /* has DWARF */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size;  /* 0: it has none */
	const char *debuglink; /* .gnu_debuglink: a name without '/'; NULL: none */
	uint32_t debuglink_crc;
	const void *debugdata; /* .gnu_debugdata; NULL: none */
	size_t debugdata_size;
};

/*
 * Adds the functions that .symtab and .dynsym name, perhaps none, to @entries, which
 * need not be added: @entries is then NULL. What @elf points to lies in @data. -1
 * with one line in @err, which begins with @path.
 */
int symbols_elf_read(const void *data, size_t size, const char *path,
		     struct symbols_entries *entries, struct symbols_elf *elf,
		     struct error *err);

/* Fills in where @file, which is an ELF file of these bytes, is mapped. What is
 * damaged is left out, as names do not depend on it. */
void symbols_read_image(const void *data, size_t size, struct symbols_file *file);

/* The build-id in hexadecimal; @to has room for BUILD_ID_TEXT bytes. */
void symbols_build_id_text(const struct symbols_elf *elf, char *to);

/* A separate debug file, and what came of the search for it. */
struct symbols_debug {
	struct symbols_source source; /* data is NULL when none was found */
	struct symbols_elf elf;
	char *path;
	char *missing; /* where it should have been; NULL if nothing tells */
	char *refused; /* one line on a file that was there but was not right, or NULL */
};

/*
 * Looks for the debug file of the ELF file at @path as GDB does (its manual,
 * "Separate Debug Files"): @directory/.build-id/ab/cdef.debug, then by
 * .gnu_debuglink beside it, in .debug/ there, and below @directory. One with
 * another build-id, or, by .gnu_debuglink, another CRC, is refused. @debug is to be
 * freed with symbols_debug_free() in any case. -1 when memory is short.
 */
int symbols_debug_find(struct symbols_debug *debug, const struct symbols_elf *elf,
		       const char *path, const char *directory);
void symbols_debug_free(struct symbols_debug *debug);

/*
 * Unpacks .gnu_debugdata (xz), which is an ELF file with a .symtab, into @source.
 * -1 when it is damaged or larger than 64 MiB: no reason to refuse the file that it
 * is in.
 */
int symbols_debugdata_unpack(struct symbols_source *source,
			     const struct symbols_elf *elf);

/*
 * Loads an ELF file and, where it is stripped, its debug file or .gnu_debugdata:
 * fills @entries, @shown and @debug, whose source is left open when it has the only
 * DWARF and @options wants it. @name is what messages call the file, @path where it
 * is. @debug is to be freed in any case. -1 with one line in @err.
 */
int symbols_load_elf(const void *data, size_t size, const char *path, const char *name,
		     const struct symbols_options *options,
		     struct symbols_entries *entries, struct symbols_file *shown,
		     struct symbols_debug *debug, struct error *err);

#endif
