/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_DECOMPRESS_H
#define UNIPROF_SYMBOLS_ELF_DECOMPRESS_H

/* Compression formats, and one function for each; for unpack.c and boot_image.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decompressed {
	DECOMPRESSED,
	DECOMPRESS_DAMAGED,
	DECOMPRESS_TOO_LARGE,
	DECOMPRESS_NO_MEMORY,
	DECOMPRESS_NO_LIBRARY, /* this uniprof is built without it */
};

/* The decompressed data so far. */
struct decompressed_output {
	uint8_t *room; /* freed by the caller */
	size_t size;   /* of the room, bytes */
	size_t used;   /* bytes */
	size_t limit;  /* of the size, bytes */
};

/* A compression format. */
struct compression {
	const char *name;
	const char *magic; /* the data's first bytes */
	size_t length;	   /* of the magic, bytes */
	bool only_kernels; /* not recognized but in boot images */
	/* Appends the decompressed @data to @output. NULL: not supported. */
	enum decompressed (*unpack)(const uint8_t *data, size_t size,
				    struct decompressed_output *output);
	const char *library; /* the one that a build may lack, or NULL */
};

/* Returns the format of @data, which may be a kernel in a boot image, by its first bytes;
 * NULL if unknown. */
const struct compression *compression_find(const void *data, size_t size, bool is_kernel);

/* Appends the decompressed @data, in xz format, to @output. */
enum decompressed decompress_xz(const uint8_t *data, size_t size,
				struct decompressed_output *output);

#endif
