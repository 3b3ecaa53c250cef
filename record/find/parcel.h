/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_PARCEL_H
#define UNIPROF_RECORD_FIND_PARCEL_H

#include "format/buffer.h"
#include "symbols/elf/plain.h"
#include "tables/program_table.h"

/*
 * What the process that reads a symbol file sends to the recorder, which checks all of
 * it: the file may have taken over that process.
 */

/* Maximum number of ranges of code, of symbols, and of bytes in all */
#define PARCEL_CODE    64
#define PARCEL_SYMBOLS ((size_t)1 << 22)
#define PARCEL_SIZE    ((size_t)1 << 29)

struct parcel {
	char path[4096];
	struct plain plain; /* points into the parcel's bytes */
	struct program_table *table;
	/* memory that @plain points into, apart from the bytes */
	struct code_range *code;
	struct plain_symbol *symbols;
};

/* Appends a file and its table, which was written to @table (program_table_write()). */
void parcel_put(struct buffer *to, const char *path, const struct plain *plain,
		const struct buffer *table);
/* Appends why there is no file. */
void parcel_put_reason(struct buffer *to, const char *reason);

/* Takes a file out of what was received, which must outlive @parcel. -1 with the reason
 * in @err if there is none, or if a part is not valid; parcel_free() must follow. */
int parcel_take(struct parcel *parcel, const struct buffer *from, struct error *err);
void parcel_free(struct parcel *parcel);

#endif
