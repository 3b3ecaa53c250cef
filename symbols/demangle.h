/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_DEMANGLE_H
#define UNIPROF_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Names as their programmers wrote them: C++ (Itanium ABI), Rust (legacy and v0)
 * and OCaml; inside symbols/ only.
 */

/*
 * Bytes. Longer names are left as they are, and so are those that would become
 * longer: a few bytes can stand for gigabytes.
 */
#define DEMANGLE_FROM_MAX ((size_t)4096)
#define DEMANGLE_TO_MAX	  ((size_t)16384)

struct demangled {
	char text[DEMANGLE_TO_MAX + 1];
	size_t length;
	/* Bytes that were made on the way, text or not: what it cost. */
	size_t made;
};

/*
 * Fills in @to. Returns whether @name is mangled; if not, only @to's made counts.
 * Parameters are part of a name that is not to be @bare, as overloads are told apart by
 * them; return types are not, and neither are the hashes of legacy Rust.
 */
bool demangle(const char *name, bool bare, struct demangled *to);

/* The same for OCaml names alone (symbols/demangle_ocaml.c). */
bool demangle_ocaml(const char *name, struct demangled *to);

#endif
