/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_SYMBOLS_H
#define UNIPROF_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Names for addresses. A table is filled from any number of symbol files,
 * whose kind is found out from their content, and then asked for one address
 * at a time:
 *
 *   ELF           a linked program, library or kernel, of any CPU
 *   nm            ADDRESS [SIZE] TYPE NAME: nm with or without -S, -n, -C, -D, -l;
 *                 also System.map
 *   kallsyms      the same with [MODULE] after some names: /proc/kallsyms
 *   objdump       what `objdump -t` or `objdump -x` prints
 *   three-column  ADDRESS SIZE NAME: cut from objdump's symbol table, or a perf
 *                 map (/tmp/perf-PID.map); size 0 reaches to the next symbol
 *
 * Numbers in text files are hexadecimal, with or without 0x; names may hold
 * blanks. Empty lines and lines that start with '#' are passed over, and so are
 * lines of another form as long as one line in five is good.
 */
struct symbols;

/* How C++, Rust and OCaml names are to be. */
enum demangle_style {
	DEMANGLE_NOT,  /* as they are in the file */
	DEMANGLE_BARE, /* without parameters, as perf has them */
	DEMANGLE_FULL,
};

/* What is wanted of a table. */
struct symbols_options {
	enum demangle_style demangle;
	bool lines; /* source lines and inlined functions, from DWARF */
	/* Where separate debug files are installed, /usr/lib/debug on most systems;
	 * NULL: none are looked for. Must live as long as the table. */
	const char *debug_directory;
};

/* More functions than this, inlined into each other, are not told apart. */
#define SYMBOL_LINES_MAX 64

/* A place in the source. */
struct symbol_line {
	const char *function; /* the inlined one; NULL: the symbol */
	const char *file;     /* last path component; NULL when unknown */
	uint32_t line;	      /* 0 when unknown */
};

/* What one address is called. The strings belong to the table. */
struct symbol {
	const char *name;    /* never NULL or empty; may hold any byte but NUL */
	const char *mangled; /* the same as it is in the file */
	const char *dso;     /* the file's last path component, never NULL */
	uint64_t start;	     /* first address, load offset included */
	/*
	 * The innermost function's place first; the others are where the one before
	 * was called, and the last of them is in the symbol itself. None when nothing
	 * is known. Valid, with the strings in it, until the next symbols_find().
	 */
	const struct symbol_line *lines;
	size_t line_count;
};

/* A part of an ELF file that is mapped to be run. */
struct symbols_segment {
	uint64_t address; /* load offset included */
	uint64_t size;	  /* bytes in memory; not 0, and ends within the address space */
	uint64_t offset;  /* in the file */
};

/* Linux has three in a kernel, and programs have one or two; more are left out. */
#define SYMBOLS_SEGMENTS 8
/* A SHA-1; no known linker's build-id is longer. */
#define SYMBOLS_BUILD_ID 20

/* What was read from one file. */
struct symbols_file {
	const char *path;   /* as given, without the @OFFSET */
	const char *kind;   /* one of the kinds above */
	uint16_t machine;   /* ELF's e_machine; 0 (EM_NONE) for text files */
	size_t functions;   /* how many functions it named; aliases count once */
	uint64_t low, high; /* first and last address that it names */
	/* Of ELF files only: */
	struct symbols_segment segments[SYMBOLS_SEGMENTS];
	size_t segment_count;
	uint64_t image; /* where its first segment of any kind begins, aligned */
	uint8_t build_id[SYMBOLS_BUILD_ID];
	size_t build_id_size; /* bytes; 0 when it has none */
	/* Where most names are from when not from the file itself: a debug file's path,
	 * or ".gnu_debugdata"; else NULL. The same for lines, which may be nowhere. */
	const char *names_from, *lines_from;
	bool has_lines;
	bool is_stripped; /* names are only those that it exports */
	/* Why that isn't a separate debug file, for want of which names or lines are
	 * missing: the path where there is none, a sentence about the one that is
	 * wrong. NULL when there's nothing to say. */
	const char *debug_missing, *debug_refused;
};

/* An empty table, NULL when memory is short. */
struct symbols *symbols_new(const struct symbols_options *options);
void symbols_free(struct symbols *symbols);

/*
 * Adds the functions of the file named by @spec: PATH or PATH@OFFSET, where
 * OFFSET (hexadecimal with 0x, else decimal; may be negative) is added to each
 * of the file's addresses; functions that it moves out of the 64-bit address
 * space are left out. A path that exists is taken whole, '@' or not. A pipe is
 * read to its end, 1 GiB at most; the file is not needed any more afterwards.
 * -1 with one line in @err when it can't be read or names no function; the
 * table is then as it was before. When it is a stripped ELF file, its names are
 * looked for in its debug file and then in its .gnu_debugdata.
 */
int symbols_add(struct symbols *symbols, const char *spec, struct error *err);

/* The files that were added, in order; valid until the next symbols_add(). */
size_t symbols_files(const struct symbols *symbols, const struct symbols_file **files);

/*
 * Finds the function that @address lies in. A return address has to be given
 * as address - 1: it may be the first byte after its caller's last
 * instruction. Where functions of one file overlap, the one that starts last
 * wins; where files overlap, the one added first. False when there is none;
 * @symbol is then unchanged.
 */
bool symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol);

#endif
