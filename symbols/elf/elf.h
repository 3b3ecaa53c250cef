/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_ELF_H
#define UNIPROF_SYMBOLS_ELF_ELF_H

/* ELF files and their separate debug files; for symbols/ and tables/code/elf.c. */

#include "symbols/source.h"
#include "symbols/table.h"

/* Maximum size of a build-id, bytes; linkers make 8, 16 or 20 (GNU ld manual,
 * "--build-id"). */
#define BUILD_ID_MAX  64
#define BUILD_ID_TEXT (2 * BUILD_ID_MAX + 1)

/* XEN_ELFNOTE_HYPERCALL_PAGE (Xen, xen/include/public/elfnote.h) */
#define NOTE_HYPERCALL_PAGE 2

/* Properties of an ELF file. */
struct symbols_elf {
	uint16_t machine; /* e_machine */
	size_t functions; /* number of functions in .symtab */
	size_t exported;  /* number of functions in .dynsym */
	bool has_lines;	  /* has DWARF */
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_size; /* 0: none */
	/* address of the build-id in the program's memory; 0: not loaded */
	uint64_t build_id_address;
	uint64_t hypercall_page; /* address in the note for Xen; 0: none */
	const char *debuglink;	 /* .gnu_debuglink: a name without '/'; NULL: none */
	uint32_t debuglink_crc;
	const void *debugdata; /* .gnu_debugdata; NULL: none */
	size_t debugdata_size;
};

/*
 * Reads the properties of an ELF file into @elf, whose pointers point into @data. Adds
 * the functions in .symtab and .dynsym, if any, to @entries, unless that is NULL. -1 with
 * one line in @err, which starts with @path.
 */
int symbols_elf_read(const void *data, size_t size, const char *path,
		     struct symbols_entries *entries, struct symbols_elf *elf,
		     struct error *err);

/* Sets the segments of @file, an ELF file with these contents. Damaged parts are skipped,
 * because names do not depend on them. */
void symbols_read_image(const void *data, size_t size, struct symbols_file *file);

/* Writes the build-id in hexadecimal to @to, which holds BUILD_ID_TEXT bytes. */
void symbols_build_id_text(const struct symbols_elf *elf, char *to);

/* A separate debug file, and the result of the search for it. */
struct symbols_debug {
	struct symbols_source source; /* data is NULL if none was found */
	struct symbols_elf elf;
	char *path;
	char *missing; /* path where the debug file should be; NULL if not known */
	char *refused; /* one line about a file that was found but rejected, or NULL */
};

/*
 * Looks for the debug file of the ELF file at @path, like GDB (its manual, "Separate
 * Debug Files"): @directory/.build-id/ab/cdef.debug, then the name in .gnu_debuglink in
 * the file's directory, in .debug/ there, and below @directory. A file with a different
 * build-id or, for .gnu_debuglink, a different CRC is rejected. With @debuginfod, servers
 * are asked last. The caller frees @debug with symbols_debug_free(), even on error. -1 if
 * out of memory.
 */
int symbols_debug_find(struct symbols_debug *debug, const struct symbols_elf *elf,
		       const char *path, const char *directory, bool debuginfod);
void symbols_debug_free(struct symbols_debug *debug);

/* Adds the functions that a stripped file lacks: from its debug file, if @debug has one,
 * or else from .gnu_debugdata. Sets the source of the names in @shown. */
void symbols_read_stripped(struct symbols_debug *debug, const struct symbols_elf *elf,
			   struct symbols_entries *entries, struct symbols_file *shown);

/* An ELF file to load. */
struct symbols_elf_input {
	const void *data; /* contents */
	size_t size;	  /* bytes */
	const char *path; /* path of the file; its directory may have the debug file */
	const char *name; /* name of the file in messages */
	const struct symbols_options *options;
};

/*
 * Loads an ELF file and, if it is stripped, its debug file or .gnu_debugdata. Fills
 * @entries, @shown and @debug; the source in @debug stays open if it has the only DWARF
 * and the options request source lines. The caller frees @debug, even on error. -1 with
 * one line in @err.
 */
int symbols_load_elf(const struct symbols_elf_input *input,
		     struct symbols_entries *entries, struct symbols_file *shown,
		     struct symbols_debug *debug, struct error *err);

#endif
