/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/decompress.h"

#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#ifdef HAVE_BZIP2
#include <bzlib.h>
#endif
#ifdef HAVE_LZ4
#include <lz4.h>
#endif

#include "base/array.h"

/* Memory limit of liblzma, bytes: a bit more than the decompression of `xz -9` needs */
#define LZMA_MEMORY ((uint64_t)100 << 20)
#define FIRST_ROOM  ((size_t)1 << 18)

/* Makes room for @more bytes. */
static enum decompressed output_reserve(struct decompressed_output *output, size_t more)
{
	size_t larger = output->size ? output->size * 2 : FIRST_ROOM;

	if (more <= output->size - output->used)
		return DECOMPRESSED;
	if (more > output->limit - output->used)
		return DECOMPRESS_TOO_LARGE;
	if (larger < output->used + more)
		larger = output->used + more;
	if (larger > output->limit)
		larger = output->limit;
	if (!array_grow(&output->room, larger, 1))
		return DECOMPRESS_NO_MEMORY;
	output->size = larger;
	return DECOMPRESSED;
}

static unsigned int clamp(size_t size)
{
	return size < UINT_MAX ? (unsigned int)size : UINT_MAX;
}

/* Decompresses all members; anything after the last one, such as padding, is ignored
 * (RFC 1952, 2.2). */
static enum decompressed gzip_unpack(const uint8_t *data, size_t size,
				     struct decompressed_output *output)
{
	z_stream stream = {0};
	enum decompressed result = DECOMPRESSED;
	const uint8_t *end = data + size;
	int status = Z_OK;

	if (inflateInit2(&stream, 15 + 16) != Z_OK) /* gzip format, any window size */
		return DECOMPRESS_NO_MEMORY;
	stream.next_in = (uint8_t *)(uintptr_t)data;
	for (;;) {
		unsigned int room;

		result = output_reserve(output, 1);
		if (result != DECOMPRESSED)
			break;
		room = clamp(output->size - output->used);
		stream.next_out = output->room + output->used;
		stream.avail_out = room;
		stream.avail_in = clamp((size_t)(end - stream.next_in));
		status = inflate(&stream, Z_NO_FLUSH);
		output->used += room - stream.avail_out;
		if (status == Z_STREAM_END && end - stream.next_in > 2 &&
		    stream.next_in[0] == 0x1f && stream.next_in[1] == 0x8b)
			status = inflateReset(&stream);
		if (status != Z_OK)
			break;
	}
	inflateEnd(&stream);
	if (result != DECOMPRESSED || status == Z_STREAM_END)
		return result;
	return status == Z_MEM_ERROR ? DECOMPRESS_NO_MEMORY : DECOMPRESS_DAMAGED;
}

/* Runs the decoder that started with @status. */
static enum decompressed lzma_run(lzma_stream *stream, lzma_ret status,
				  const uint8_t *data, size_t size,
				  struct decompressed_output *output)
{
	enum decompressed result = DECOMPRESSED;

	stream->next_in = data;
	stream->avail_in = size;
	while (status == LZMA_OK) {
		size_t room;

		result = output_reserve(output, 1);
		if (result != DECOMPRESSED)
			break;
		room = output->size - output->used;
		stream->next_out = output->room + output->used;
		stream->avail_out = room;
		status = lzma_code(stream, LZMA_FINISH);
		output->used += room - stream->avail_out;
	}
	lzma_end(stream);
	if (result != DECOMPRESSED || status == LZMA_STREAM_END)
		return result;
	if (status == LZMA_MEMLIMIT_ERROR)
		return DECOMPRESS_TOO_LARGE;
	return status == LZMA_MEM_ERROR ? DECOMPRESS_NO_MEMORY : DECOMPRESS_DAMAGED;
}

enum decompressed decompress_xz(const uint8_t *data, size_t size,
				struct decompressed_output *output)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	return lzma_run(&stream,
			lzma_stream_decoder(&stream, LZMA_MEMORY, LZMA_CONCATENATED),
			data, size, output);
}

/* The format of LZMA Utils, which xz has replaced. */
static enum decompressed lzma_unpack(const uint8_t *data, size_t size,
				     struct decompressed_output *output)
{
	lzma_stream stream = LZMA_STREAM_INIT;

	return lzma_run(&stream, lzma_alone_decoder(&stream, LZMA_MEMORY), data, size,
			output);
}

static enum decompressed zstd_unpack(const uint8_t *data, size_t size,
				     struct decompressed_output *output)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {data, size, 0};
	enum decompressed result = DECOMPRESSED;
	size_t left = 1;

	if (!stream)
		return DECOMPRESS_NO_MEMORY;
	/* At the end of each frame, @left is 0. */
	while (in.pos < in.size || left) {
		ZSTD_outBuffer out;
		size_t before = in.pos;

		result = output_reserve(output, 1);
		if (result != DECOMPRESSED)
			break;
		out = (ZSTD_outBuffer){output->room, output->size, output->used};
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left) || (out.pos == output->used && in.pos == before)) {
			result = DECOMPRESS_DAMAGED;
			break;
		}
		output->used = out.pos;
	}
	ZSTD_freeDStream(stream);
	return result;
}

#ifdef HAVE_BZIP2
/* Decompresses the stream at the start of @data, and sets @size to its size. */
static enum decompressed bzip2_stream(const uint8_t *data, size_t *size,
				      struct decompressed_output *output)
{
	bz_stream stream = {.next_in = (char *)(uintptr_t)data};
	enum decompressed result = DECOMPRESSED;
	const char *end = stream.next_in + *size;
	int status = BZ_OK;

	if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK)
		return DECOMPRESS_NO_MEMORY;
	while (status == BZ_OK) {
		unsigned int room;

		result = output_reserve(output, 1);
		if (result != DECOMPRESSED)
			break;
		room = clamp(output->size - output->used);
		stream.next_out = (char *)output->room + output->used;
		stream.avail_out = room;
		stream.avail_in = clamp((size_t)(end - stream.next_in));
		status = BZ2_bzDecompress(&stream);
		output->used += room - stream.avail_out;
		/* At the end of truncated data, libbz2 asks for more. */
		if (status == BZ_OK && stream.next_in == end && stream.avail_out)
			status = BZ_UNEXPECTED_EOF;
	}
	*size = (size_t)((const uint8_t *)stream.next_in - data);
	BZ2_bzDecompressEnd(&stream);
	if (result != DECOMPRESSED || status == BZ_STREAM_END)
		return result;
	return status == BZ_MEM_ERROR ? DECOMPRESS_NO_MEMORY : DECOMPRESS_DAMAGED;
}

/* Decompresses all streams, of which pbzip2 makes many. */
static enum decompressed bzip2_unpack(const uint8_t *data, size_t size,
				      struct decompressed_output *output)
{
	enum decompressed result;
	size_t taken;

	do {
		taken = size;
		result = bzip2_stream(data, &taken, output);
		data += taken;
		size -= taken;
	} while (result == DECOMPRESSED && size > 3 && memcmp(data, "BZh", 3) == 0);
	return result;
}
#else
static enum decompressed bzip2_unpack(const uint8_t *data, size_t size,
				      struct decompressed_output *output)
{
	(void)data;
	(void)size;
	(void)output;
	return DECOMPRESS_NO_LIBRARY;
}
#endif

#ifdef HAVE_LZ4
/*
 * The legacy frame (LZ4 Frame Format Description, "Legacy frame"): a magic number, then
 * blocks of at most 8 MiB of data, each after its compressed size. The magic number
 * starts another frame. All numbers are little-endian and have 4 bytes.
 */
#define LZ4_MAGIC 0x184c2102u
#define LZ4_BLOCK ((size_t)8 << 20)

static enum decompressed lz4_unpack(const uint8_t *data, size_t size,
				    struct decompressed_output *output)
{
	const uint8_t *end = data + size;

	while (end - data >= 4) {
		uint32_t packed = data[0] | data[1] << 8 | data[2] << 16 |
				  (uint32_t)data[3] << 24;
		size_t room = output->limit - output->used;
		enum decompressed result;
		int made;

		data += 4;
		if (packed == LZ4_MAGIC)
			continue;
		if (packed > (size_t)(end - data) ||
		    packed > LZ4_COMPRESSBOUND(LZ4_BLOCK))
			return DECOMPRESS_DAMAGED;
		if (room > LZ4_BLOCK)
			room = LZ4_BLOCK;
		result = output_reserve(output, room);
		if (result != DECOMPRESSED)
			return result;
		made = LZ4_decompress_safe((const char *)data,
					   (char *)output->room + output->used,
					   (int)packed, (int)room);
		if (made < 0)
			return room < LZ4_BLOCK ? DECOMPRESS_TOO_LARGE
						: DECOMPRESS_DAMAGED;
		output->used += (size_t)made;
		data += packed;
	}
	return data == end ? DECOMPRESSED : DECOMPRESS_DAMAGED;
}
#else
static enum decompressed lz4_unpack(const uint8_t *data, size_t size,
				    struct decompressed_output *output)
{
	(void)data;
	(void)size;
	(void)output;
	return DECOMPRESS_NO_LIBRARY;
}
#endif

/*
 * The kernel's are those of Linux, arch/x86/boot/compressed/Makefile and
 * lib/decompress.c. LZO is not supported: no distribution is known to use it, and its
 * library has another kind of license (GPL).
 */
static const struct compression compressions[] = {
	{"gzip", "\x1f\x8b\x08", 3, false, gzip_unpack, NULL},
	{"xz", "\xfd\x37zXZ", 6, false, decompress_xz, NULL}, /* magic with its NUL */
	{"zstd", "\x28\xb5\x2f\xfd", 4, false, zstd_unpack, NULL},
	{"bzip2", "BZh", 3, false, bzip2_unpack, "libbz2"},
	{"lz4", "\x02\x21\x4c\x18", 4, true, lz4_unpack, "liblz4"},
	{"lzma", "\x5d", 2, true, lzma_unpack, NULL}, /* with the NUL behind it */
	{"lzo", "\x89LZO", 5, true, NULL, NULL},      /* with the NUL behind it */
};

const struct compression *compression_find(const void *data, size_t size, bool is_kernel)
{
	for (size_t i = 0; i < sizeof(compressions) / sizeof(*compressions); i++) {
		const struct compression *compression = &compressions[i];

		if (size >= compression->length &&
		    (is_kernel || !compression->only_kernels) &&
		    !memcmp(data, compression->magic, compression->length))
			return compression;
	}
	return NULL;
}
