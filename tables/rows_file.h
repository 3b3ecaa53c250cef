/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_ROWS_FILE_H
#define UNIPROF_TABLES_ROWS_FILE_H

#include <stddef.h>

#include "base/error.h"
#include "unwind/table.h"

/* The rows and rules of an unwind table as a file, which is a part of the file that
 * `uniprof table` writes (docs/table.md). */

/* Writes the table to @fd. -1 with @err set on failure. */
int unwind_table_write(const struct unwind_table *table, int fd, struct error *err);

/* Makes a table of a file's contents, which it checks. To be freed with
 * unwind_table_free(). NULL with @err set on failure. */
struct unwind_table *unwind_table_read(const void *data, size_t size, struct error *err);

#endif
