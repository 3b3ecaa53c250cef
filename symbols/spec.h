/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_SPEC_H
#define UNIPROF_SYMBOLS_SPEC_H

#include "base/error.h"
#include "symbols/table.h"

/* Files as named on command lines: PATH[@OFFSET][,domain=NAME][,comm=NAME][,space=N].
 * The last parts can be in any order. */

/*
 * Splits PATH@OFFSET; the caller frees the path. If @spec as a whole is an existing path,
 * it has no offset. NULL with @err set on error.
 */
char *symbols_spec_split(const char *spec, struct symbols_offset *offset,
			 struct error *err);

/* @spec below the directory @symfs, unless that is NULL; to be freed. NULL if out of
 * memory. */
char *symbols_spec_place(const char *symfs, const char *spec);

/*
 * Cuts ",domain=NAME" from the end of @spec and sets *@domain to the name, or to NULL if
 * there is none, or if @spec as a whole is an existing path. -1 if the name is empty.
 */
int symbols_spec_cut_domain(char *spec, const char **domain, struct error *err);

/*
 * Cuts all parts after the path and its offset from the end of @spec, in any order:
 * ",domain=NAME"; ",comm=NAME", the name of a process; and ",space=N", the address space
 * of a process. A missing part is NULL, or 0 for @space. Stops when the rest is an
 * existing path. -1 if a name is empty, the space is not a number or 0, or a part is
 * given twice.
 */
int symbols_spec_cut(char *spec, const char **domain, const char **comm, uint64_t *space,
		     struct error *err);

/* @path for messages: the start of a long one is cut. */
const char *symbols_shown_path(const char *path);

#endif
