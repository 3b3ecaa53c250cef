/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_SPEC_H
#define UNIPROF_SYMBOLS_SPEC_H

#include "base/error.h"
#include "symbols/table.h"

/* File arguments of command lines: PATH[@OFFSET][,domain=NAME][,comm=NAME][,space=N]. The
 * parts after the offset can be in any order. */

/*
 * Splits PATH@OFFSET; the caller frees the path. If @spec as a whole is an existing path,
 * it has no offset. NULL with @err set on error.
 */
char *symbols_spec_split(const char *spec, struct symbols_offset *offset,
			 struct error *err);

/* Returns @spec below the directory @symfs or, if that is NULL, a copy of @spec; the
 * caller frees it. NULL if out of memory. */
char *symbols_spec_place(const char *symfs, const char *spec);

/* Cuts ",domain=NAME" off the end of @spec and sets *@domain to the name; to NULL if
 * there is none, or if @spec as a whole is an existing path. -1 if the name is empty. */
int symbols_spec_cut_domain(char *spec, const char **domain, struct error *err);

/*
 * Cuts all parts after the path and its offset, in any order, off @spec: ",domain=NAME";
 * ",comm=NAME", the name of a process; and ",space=N", the address space of a process. A
 * missing part is NULL, or 0 for @space. Stops as soon as the rest as a whole is an
 * existing path. -1 if a name is empty, if the space is 0, negative or not a number, or
 * if a part is given twice.
 */
int symbols_spec_cut(char *spec, const char **domain, const char **comm, uint64_t *space,
		     struct error *err);

/* Returns @path for messages, without the start of a long path. */
const char *symbols_shown_path(const char *path);

#endif
