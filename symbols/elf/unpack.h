/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_UNPACK_H
#define UNIPROF_SYMBOLS_ELF_UNPACK_H

/* Compressed files and parts of files; inside symbols/ only. */

#include <stdint.h>

#include "symbols/source.h"

/*
 * Returns the limit on the decompressed size of @packed bytes: 16 times as much, but at
 * least 64 MiB and at most 1 GiB. Programs with DWARF expand by a factor of three to six,
 * lists of names by ten, and hostile files by thousands.
 */
uint64_t unpack_limit(uint64_t packed);

/*
 * Decompresses a source that is compressed with gzip, xz, zstd or bzip2; leaves any other
 * source unchanged. -1 with one line in @err, which starts with @name, if it is damaged
 * or exceeds the limit; the source is then unchanged.
 */
int unpack_source(struct symbols_source *source, const char *name, struct error *err);

/* Replaces the source with the decompressed contents of @data, a part of the source that
 * is compressed by @compression. Errors: see unpack_source(). */
struct compression;
int unpack_part(struct symbols_source *source, const struct compression *compression,
		const void *data, size_t size, const char *name, struct error *err);

/* Returns whether the source is a Linux boot image for x86 (vmlinuz). */
bool is_boot_image(const struct symbols_source *source);

/* Replaces a Linux boot image for x86 with the kernel in it, an ELF file, which may be
 * compressed in all ways that Linux offers but LZO; leaves any other source unchanged.
 * Errors: see unpack_source(). */
int unpack_boot_image(struct symbols_source *source, const char *name, struct error *err);

/* Decompresses @data, in xz format, into @source. -1 if it is damaged or exceeds the
 * limit. */
int unpack_xz(struct symbols_source *source, const void *data, size_t size);

/*
 * Decompresses the contents of an ELF section to exactly @unpacked bytes, which the
 * caller frees. @type is ELFCOMPRESS_ZLIB or _ZSTD. NULL if the contents are damaged,
 * have another size or exceed the limit, or if out of memory.
 */
void *unpack_section(unsigned int type, const void *data, size_t size, uint64_t unpacked);

#endif
