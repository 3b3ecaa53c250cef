/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/unpack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "symbols/elf/decompress.h"

/* Limits of the decompressed size, bytes */
#define LIMIT_MIN   ((uint64_t)64 << 20)
#define LIMIT_MAX   ((uint64_t)1 << 30)
#define LIMIT_RATIO 16

/* <elf.h> has it since glibc 2.36. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

uint64_t unpack_limit(uint64_t packed)
{
	if (packed > LIMIT_MAX / LIMIT_RATIO)
		return LIMIT_MAX;
	return packed < LIMIT_MIN / LIMIT_RATIO ? LIMIT_MIN : packed * LIMIT_RATIO;
}

static enum decompressed decompress(const struct compression *compression,
				    const void *data, size_t size,
				    struct symbols_source *to)
{
	struct decompressed_output output = {.limit = (size_t)unpack_limit(size)};
	enum decompressed result = compression->unpack(data, size, &output);

	if (result == DECOMPRESSED && !output.used)
		result = DECOMPRESS_DAMAGED;
	if (result != DECOMPRESSED) {
		free(output.room);
		return result;
	}
	*to = (struct symbols_source){output.room, output.used, false};
	return DECOMPRESSED;
}

/* Sets @err to the reason for which a compressed file of @size bytes is refused. */
static int refuse(enum decompressed result, const struct compression *compression,
		  size_t size, const char *name, struct error *err)
{
	switch (result) {
	case DECOMPRESS_TOO_LARGE:
		return error_set(err,
				 "%s is compressed (%s), and larger than %llu MiB when "
				 "decompressed; decompress it first",
				 name, compression->name,
				 (unsigned long long)(unpack_limit(size) >> 20));
	case DECOMPRESS_NO_MEMORY:
		return error_set(err, "%s: out of memory", name);
	case DECOMPRESS_NO_LIBRARY:
		return error_set(err,
				 "%s is compressed (%s), and this uniprof is built "
				 "without %s; decompress it first",
				 name, compression->name, compression->library);
	default:
		return error_set(err,
				 "%s is compressed (%s), and damaged or truncated; copy "
				 "it again",
				 name, compression->name);
	}
}

int unpack_part(struct symbols_source *source, const struct compression *compression,
		const void *data, size_t size, const char *name, struct error *err)
{
	struct symbols_source unpacked;
	enum decompressed result;

	if (!compression->unpack)
		return error_set(err,
				 "%s: its kernel is compressed by %s, which is not "
				 "supported; unpack it first (Linux, "
				 "scripts/extract-vmlinux)",
				 name, compression->name);
	result = decompress(compression, data, size, &unpacked);
	if (result != DECOMPRESSED)
		return refuse(result, compression, size, name, err);
	symbols_source_close(source);
	*source = unpacked;
	return 0;
}

int unpack_source(struct symbols_source *source, const char *name, struct error *err)
{
	const struct compression *compression = compression_find(source->data,
								 source->size, false);

	return compression ? unpack_part(source, compression, source->data, source->size,
					 name, err)
			   : 0;
}

int unpack_xz(struct symbols_source *source, const void *data, size_t size)
{
	const struct compression xz = {.unpack = decompress_xz};

	return decompress(&xz, data, size, source) == DECOMPRESSED ? 0 : -1;
}

void *unpack_section(unsigned int type, const void *data, size_t size, uint64_t unpacked)
{
	uLongf made = (uLongf)unpacked;
	bool is_whole = false;
	uint8_t *to;

	if (!unpacked || unpacked > unpack_limit(size))
		return NULL;
	to = malloc(unpacked);
	if (to && type == ELFCOMPRESS_ZLIB)
		is_whole = uncompress(to, &made, data, size) == Z_OK && made == unpacked;
	if (to && type == ELFCOMPRESS_ZSTD)
		is_whole = ZSTD_decompress(to, unpacked, data, size) == unpacked;
	if (is_whole)
		return to;
	free(to);
	return NULL;
}
