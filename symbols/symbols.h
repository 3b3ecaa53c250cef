/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_SYMBOLS_H
#define UNIPROF_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/guest.h"

/*
 * Names for addresses. A table is filled from any number of symbol files, and then looks
 * up one address at a time. The kind of a file is detected from its contents:
 *
 *   ELF           a linked program, library or kernel, of any CPU
 *   nm            ADDRESS [SIZE] TYPE NAME: nm with or without -S, -n, -C, -D, -l;
 *                 also System.map
 *   kallsyms      like nm, with [MODULE] after some names: /proc/kallsyms
 *   objdump       the output of `objdump -t` or `objdump -x`
 *   three-column  ADDRESS SIZE NAME: extracted from objdump's symbol table, or a perf
 *                 map (/tmp/perf-PID.map); size 0 extends to the next symbol
 *
 * Numbers in text files are hexadecimal, with or without 0x; names may contain blanks.
 * Empty lines and lines that start with '#' are skipped, and so are lines in any other
 * form as long as at least one line in five is good.
 *
 * Files may be compressed with gzip, xz, zstd or bzip2, see unpack_limit().
 */
struct symbols;
struct code;

/* How C++, Rust and OCaml names are demangled. */
enum demangle_style {
	DEMANGLE_NOT,  /* names as in the file */
	DEMANGLE_BARE, /* demangled without parameters, as in perf */
	DEMANGLE_FULL,
};

/* Where most systems install separate debug files. */
#define DEBUG_DIRECTORY "/usr/lib/debug"

/* Options of a table. */
struct symbols_options {
	enum demangle_style demangle;
	bool lines; /* source lines and inlined functions, from DWARF */
	/* Directory of separate debug files, such as DEBUG_DIRECTORY; NULL: don't look
	 * for any. Must stay valid as long as the table. */
	const char *debug_directory;
	/* Debug files that are not there are asked of servers: debuginfod_find(). */
	bool debuginfod;
};

/* Maximum number of lines of a symbol: functions inlined into each other */
#define SYMBOL_LINES_MAX 64

/* A place in the source. */
struct symbol_line {
	const char *function; /* inlined function; NULL: the symbol's own */
	const char *path;     /* path as given to the compiler; NULL: unknown */
	const char *file;     /* last component of @path */
	uint32_t line;	      /* 0: unknown */
};

/* The kinds of instructions before a return address. */
enum symbols_call {
	SYMBOLS_CALL_UNKNOWN, /* no code in the file, or unknown CPU */
	SYMBOLS_CALL_THERE,
	SYMBOLS_CALL_MISSING, /* not a call: nothing can return there */
};

/* The symbol at an address. The table owns the strings. */
struct symbol {
	const char *name;    /* never NULL or empty; may contain any byte but NUL */
	const char *mangled; /* the name as in the file */
	const char *dso;     /* the file's last path component, never NULL */
	uint64_t start;	     /* first address of the function, load offset included */
	/* An element of symbols_files(); NULL: the name is from a recording */
	const struct symbols_file *file;
	bool is_last; /* the function ends at this address; set only if @file is NULL */
	bool is_in_file; /* only the file is known, which begins at @start */
	/* The instruction whose last byte is at the address looked up; for a return
	 * address less 1, it should be a call. */
	enum symbols_call call;
	/*
	 * The place in the innermost inlined function first; each further place is where
	 * the function before it was called, and the last place is in the symbol itself.
	 * Empty if nothing is known. Valid, with its strings, until the next
	 * symbols_find().
	 */
	const struct symbol_line *lines;
	size_t line_count;
};

/* An executable segment of an ELF file. */
struct symbols_segment {
	uint64_t address; /* load offset included */
	uint64_t size;	  /* bytes in memory; not 0, ends within the address space */
	uint64_t offset;  /* in the file */
};

/* Maximum number of segments of a file. A Linux kernel has three, programs have one or
 * two; further segments are skipped. */
#define SYMBOLS_SEGMENTS 8
/* Maximum size of a build-id, bytes: a SHA-1; no known linker makes longer ones */
#define SYMBOLS_BUILD_ID 20

/* The properties of one symbol file. */
struct symbols_file {
	const char *path;    /* path as given, without the @OFFSET */
	const char *kind;    /* file kind, as listed at the top */
	uint16_t machine;    /* ELF's e_machine; 0 (EM_NONE) for text files */
	size_t functions;    /* number of functions; aliases count once */
	uint64_t low, high;  /* first and last address with a name */
	uint64_t linux_text; /* address of Linux's symbol _text; 0: no kernel */
	bool has_offset;     /* its load offset was given */
	/* The members below are set for ELF files only. */
	struct symbols_segment segments[SYMBOLS_SEGMENTS];
	size_t segment_count;
	uint64_t image; /* start of its first segment of any kind, aligned */
	uint8_t build_id[SYMBOLS_BUILD_ID];
	size_t build_id_size; /* size of the build-id, bytes; 0: none */
	/* The source of most names, if not the file itself: a debug file's path, or
	 * ".gnu_debugdata"; else NULL. */
	const char *names_from;
	const char *lines_from; /* path of the debug file with the lines, or NULL */
	bool has_lines;
	bool is_stripped; /* only exported names */
	/* Set if names or lines are missing because no separate debug file was used:
	 * the path where it should be, and a sentence about a file that was rejected.
	 * Else NULL. */
	const char *debug_missing, *debug_refused;
	const char *lines_refused; /* why existing DWARF isn't used; or NULL */
};

/* Creates an empty table; NULL if out of memory. */
struct symbols *symbols_new(const struct symbols_options *options);
void symbols_free(struct symbols *symbols);

/*
 * Adds the functions of the file named by @spec: PATH or PATH@OFFSET. OFFSET (hexadecimal
 * with 0x, else decimal; may be negative) is added to each of the file's addresses;
 * functions that it moves out of the 64-bit address space are skipped. If @spec as a
 * whole is an existing path, it is used even if it contains '@'. A pipe is read to its
 * end, up to 1 GiB; the file is not needed any more afterwards. If an ELF file is
 * stripped, names are read from its debug file or else from its .gnu_debugdata. -1 with
 * one line in @err if the file can't be read or has no function symbols; the table is
 * then unchanged.
 */
int symbols_add(struct symbols *symbols, const char *spec, struct error *err);

/* Like symbols_add(), for an ELF file whose contents are in memory, and copied; @path is
 * not opened. */
int symbols_add_contents(struct symbols *symbols, const char *path, const void *data,
			 size_t size, struct error *err);

/* Returns the number of files added and, in *@files, the files in order, valid until the
 * next symbols_add(). */
size_t symbols_files(const struct symbols *symbols, const struct symbols_file **files);

/* Writes the file's build-id in hexadecimal to @to, which holds SYMBOLS_BUILD_ID_TEXT
 * bytes; empty if it has none. */
#define SYMBOLS_BUILD_ID_TEXT (2 * SYMBOLS_BUILD_ID + 1)
void symbols_build_id(const struct symbols_file *file, char to[SYMBOLS_BUILD_ID_TEXT]);

/*
 * Finds the function that contains @address. Pass a return address as address - 1: it may
 * be the first byte after its caller's last instruction. If functions of one file
 * overlap, the one that starts last wins; if files overlap, the one added first. False if
 * there is none; @symbol is then unchanged.
 */
bool symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol);

/* The addresses at which Linux for x86-64 maps its kernel; modules follow at LINUX_END
 * (Linux, Documentation/arch/x86/x86_64/mm.rst). */
#define LINUX_START 0xffffffff80000000u
#define LINUX_END   0xffffffffc0000000u

/* A place at which a guest has the code of a file: the number of bytes by which it is
 * higher than in the file, load offset included; sums wrap around. */
struct symbols_place {
	uint32_t file; /* number of the file, in symbols_files() */
	uint64_t shift;
};

/* What is known of the places of code in a guest. */
struct symbols_guest {
	/* address of the symbol _text of its Linux kernel; 0: not known */
	uint64_t linux_text;
	const struct symbols_place *places;
	size_t place_count;
	size_t own_count; /* the first places are of the very address space */
	bool is_vague;	  /* which of several files is at an address is not known */
};

/* Like symbols_find(), for a guest: a file is at each of its places or, if it has none
 * there, at its own addresses; a kernel's file is moved by symbols_shift() instead.
 * Addresses from /proc/kallsyms need no move. Files at the address space's own places
 * come first. */
bool symbols_find_in(struct symbols *symbols, const struct symbols_guest *guest,
		     uint64_t address, struct symbol *symbol);

/* Like symbols_find(), for the file at this place only. */
bool symbols_find_at(struct symbols *symbols, const struct symbols_place *place,
		     uint64_t address, struct symbol *symbol);

/* Whether the address is between the first and the last symbol of a file in the guest. */
bool symbols_cover(const struct symbols *symbols, const struct symbols_guest *guest,
		   uint64_t address);

/* Returns the code of the file with this number; NULL if it is not an ELF file. */
const struct code *symbols_code(const struct symbols *symbols, uint32_t file);

/* Returns the distance by which a guest whose Linux kernel has its symbol _text at
 * @linux_text (0: not known) has moved the addresses of @file; sums wrap around. */
uint64_t symbols_shift(const struct symbols_file *file, uint64_t linux_text);

/*
 * If the symbol that was found at @address, for a CPU of this @kind, is the page of
 * hypercalls that Xen fills in for x86 guests, 32 bytes each (Xen,
 * xen/include/public/arch-x86/cpuid.h), or the stub of one in an ARM guest, which kernels
 * call HYPERVISOR_sched_op and the like (Linux, arch/arm64/xen/hypercall.S), replaces it
 * by the hypercall there, such as "[hypercall sched_op]".
 */
void symbols_find_hypercall(struct symbol *symbol, uint64_t address, enum cpu_kind kind);

/* Demangles a name from any source as the table's options say. @name must stay unchanged
 * while the table exists; the result is @name or owned by the table. */
const char *symbols_readable(struct symbols *symbols, const char *name);

#endif
