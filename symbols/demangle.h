/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_DEMANGLE_H
#define UNIPROF_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Demangles names of C++ (Itanium ABI), Rust (legacy and v0) and OCaml; inside symbols/
 * only.
 */

/* Maximum lengths of a mangled and a demangled name, bytes. Longer names stay mangled: a
 * few bytes can expand to gigabytes. */
#define DEMANGLE_FROM_MAX ((size_t)4096)
#define DEMANGLE_TO_MAX	  ((size_t)16384)

struct demangled {
	char text[DEMANGLE_TO_MAX + 1];
	size_t length;
	/* cost of demangling: bytes produced on the way, plus one per piece */
	size_t made;
};

/*
 * Demangles @name into @to. False if it is not mangled; only @to->made is then valid.
 * Demangled names include parameters, which distinguish overloads, unless @bare is set,
 * but never return types or the hashes of legacy Rust.
 */
bool demangle(const char *name, bool bare, struct demangled *to);

/* Like demangle(), for OCaml names only. */
bool demangle_ocaml(const char *name, struct demangled *to);

#endif
