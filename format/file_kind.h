/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_FILE_KIND_H
#define UNIPROF_FORMAT_FILE_KIND_H

#include <stddef.h>

/* A kind of file that users confuse with those that a command reads. */
struct file_kind {
	const char *name;   /* noun with its article, for messages */
	const char *advice; /* what to do with such a file, where it is called FILE */
};

/* Returns the kind of the file that starts with the @size bytes at @start; NULL if it is
 * unknown. A file that starts with ASCII text is text. */
const struct file_kind *file_kind_of(const void *start, size_t size);

#endif
