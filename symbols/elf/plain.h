/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_PLAIN_H
#define UNIPROF_SYMBOLS_ELF_PLAIN_H

#include "symbols/code.h"
#include "symbols/symbols.h"

/*
 * What is used of an ELF file and its debug file but for unwind tables and source lines:
 * code, names of functions, build-id. Read by a process that may be attacked by the file,
 * and written as an ELF file that was made by uniprof itself by a process that must not
 * be.
 */

struct plain_symbol {
	uint64_t start, size; /* size 0: up to the next symbol */
	const char *name;     /* not necessarily followed by a NUL */
	uint16_t length;      /* of the name, bytes; never 0 */
	uint8_t info;	      /* ELF's st_info */
};

struct plain {
	uint16_t machine; /* ELF's e_machine: a CPU with unwind tables */
	uint8_t build_id[SYMBOLS_BUILD_ID];
	size_t build_id_size;	   /* bytes; 0: none */
	uint64_t build_id_address; /* in memory; 0: not loaded */
	uint64_t hypercall_page;   /* address in the note for Xen; 0: none */
	uint64_t image;		   /* as in struct symbols_file */
	struct symbols_segment segments[SYMBOLS_SEGMENTS];
	size_t segment_count;
	const struct code_range *code;
	size_t code_count;
	const struct plain_symbol *symbols;
	size_t symbol_count;
	bool is_stripped;	   /* the file has no names, or only exported ones; set by
				    * plain_read() */
	struct plain_parts *parts; /* what plain_read() has allocated */
};

/*
 * Reads the file at @path, which may be compressed, or a Linux boot image. If it is
 * stripped, names are read from its debug file, which is looked for in @debug_directory
 * too, or from its .gnu_debugdata; it may also have none. -1 with one line in @err.
 */
int plain_read(struct plain *plain, const char *path, const char *debug_directory,
	       struct error *err);
/* Frees what plain_read() has allocated; may be called after a failure. */
void plain_free(struct plain *plain);

/* Makes an ELF file of the parts, whose numbers need not make sense together. The caller
 * frees *@data. -1 with @err set if out of memory. */
int plain_write(const struct plain *plain, void **data, size_t *size, struct error *err);

#endif
