/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_PROGRAM_H
#define UNIPROF_SYMBOLS_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/guest.h"
#include "symbols/code.h"
#include "symbols/symbols.h"

/* The parts of an ELF file that are needed to analyze a program's code, for the folders
 * above symbols/. All addresses are as in the file, without the load offset. */

/* A function from @start up to @end, which is excluded; it ends early where another
 * function starts. */
struct program_function {
	uint64_t start, end;
};

/* The decompressed contents of a file. They are a private copy, which readers may
 * change. */
struct program_file {
	void *data; /* NULL: no file */
	size_t size;
};

/* The symbol at the start of the page in which Xen puts its hypercalls. */
#define HYPERCALL_PAGE "hypercall_page"

struct program {
	struct program_file elf;
	struct program_file debug; /* the separate debug file */
	/* path of a missing debug file that was looked for; or NULL */
	const char *debug_missing;
	const char *path; /* without the @OFFSET */
	const char *name; /* last component of the path */
	uint16_t machine; /* ELF's e_machine */
	uint64_t offset;  /* to add to addresses; sums wrap around */
	bool has_offset;  /* the offset was given */
	uint8_t build_id[SYMBOLS_BUILD_ID];
	size_t build_id_size;	       /* bytes; 0: none */
	uint64_t build_id_address;     /* of the build-id in memory; 0: not loaded */
	uint64_t hypercall_page;       /* address of the page that Xen fills; 0: none */
	const struct code_range *code; /* by address */
	size_t code_count;
	const struct program_function *functions; /* by address */
	size_t function_count;
	struct program_parts *parts; /* for program_close() */
};

/*
 * Opens the file of @spec, PATH or PATH@OFFSET, as symbols_add() does, or a Linux boot
 * image (vmlinuz), whose kernel is then the program. If the file has no DWARF or no
 * function symbols, its separate debug file is searched for in @debug_directory and by
 * .gnu_debuglink; functions are then taken from the debug file or from .gnu_debugdata. A
 * file without function symbols is not an error. -1 with one line in @err.
 */
int program_open(struct program *program, const char *spec, const char *debug_directory,
		 struct error *err);
/* Like program_open(), for an ELF file with its names, whose contents are in memory, and
 * copied; @path is not opened. */
int program_open_contents(struct program *program, const char *path, const void *data,
			  size_t size, struct error *err);
/* Releases the program; may be called on a zeroed one. */
void program_close(struct program *program);

/* Copies the code and releases the files, for programs that are kept in locked memory. -1
 * with one line in @err if out of memory. */
int program_keep_code(struct program *program, struct error *err);

#endif
