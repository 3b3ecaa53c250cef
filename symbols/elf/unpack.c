/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/unpack.h"

#include <elf.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"

/* Limits, bytes. The memory limit is a bit more than the decompression of `xz -9`
 * needs. */
#define LIMIT_MIN   ((uint64_t)64 << 20)
#define LIMIT_MAX   ((uint64_t)1 << 30)
#define XZ_MEMORY   ((uint64_t)100 << 20)
#define FIRST_ROOM  ((size_t)1 << 18)
#define LIMIT_RATIO 16

/* <elf.h> has it since glibc 2.36. */
#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

enum result {
	UNPACKED,
	DAMAGED,
	TOO_LARGE,
	NO_MEMORY,
};

/* The decompressed data so far. */
struct output {
	uint8_t *room;
	size_t size, used, limit;
};

uint64_t unpack_limit(uint64_t packed)
{
	if (packed > LIMIT_MAX / LIMIT_RATIO)
		return LIMIT_MAX;
	return packed < LIMIT_MIN / LIMIT_RATIO ? LIMIT_MIN : packed * LIMIT_RATIO;
}

/* Grows the output buffer if it is full. */
static enum result output_reserve(struct output *output)
{
	size_t larger = output->size ? output->size * 2 : FIRST_ROOM;

	if (output->used < output->size)
		return UNPACKED;
	if (output->size == output->limit)
		return TOO_LARGE;
	if (larger > output->limit)
		larger = output->limit;
	if (!array_grow(&output->room, larger, 1))
		return NO_MEMORY;
	output->size = larger;
	return UNPACKED;
}

static unsigned int clamp(size_t size)
{
	return size < UINT_MAX ? (unsigned int)size : UINT_MAX;
}

/* Decompresses all members; anything after the last one, such as padding, is ignored
 * (RFC 1952, 2.2). */
static enum result inflate_all(const uint8_t *data, size_t size, struct output *output)
{
	z_stream stream = {0};
	enum result result = UNPACKED;
	const uint8_t *end = data + size;
	int status = Z_OK;

	if (inflateInit2(&stream, 15 + 16) != Z_OK) /* gzip format, any window size */
		return NO_MEMORY;
	stream.next_in = (uint8_t *)(uintptr_t)data;
	for (;;) {
		unsigned int room;

		result = output_reserve(output);
		if (result != UNPACKED)
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
	if (result != UNPACKED || status == Z_STREAM_END)
		return result;
	return status == Z_MEM_ERROR ? NO_MEMORY : DAMAGED;
}

static enum result xz_all(const uint8_t *data, size_t size, struct output *output)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret status = lzma_stream_decoder(&stream, XZ_MEMORY, LZMA_CONCATENATED);
	enum result result = UNPACKED;

	stream.next_in = data;
	stream.avail_in = size;
	while (status == LZMA_OK) {
		size_t room;

		result = output_reserve(output);
		if (result != UNPACKED)
			break;
		room = output->size - output->used;
		stream.next_out = output->room + output->used;
		stream.avail_out = room;
		status = lzma_code(&stream, LZMA_FINISH);
		output->used += room - stream.avail_out;
	}
	lzma_end(&stream);
	if (result != UNPACKED || status == LZMA_STREAM_END)
		return result;
	if (status == LZMA_MEMLIMIT_ERROR)
		return TOO_LARGE;
	return status == LZMA_MEM_ERROR ? NO_MEMORY : DAMAGED;
}

static enum result zstd_all(const uint8_t *data, size_t size, struct output *output)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {data, size, 0};
	enum result result = UNPACKED;
	size_t left = 1;

	if (!stream)
		return NO_MEMORY;
	/* At the end of each frame, @left is 0. */
	while (in.pos < in.size || left) {
		ZSTD_outBuffer out;
		size_t before = in.pos;

		result = output_reserve(output);
		if (result != UNPACKED)
			break;
		out = (ZSTD_outBuffer){output->room, output->size, output->used};
		left = ZSTD_decompressStream(stream, &out, &in);
		if (ZSTD_isError(left) || (out.pos == output->used && in.pos == before)) {
			result = DAMAGED;
			break;
		}
		output->used = out.pos;
	}
	ZSTD_freeDStream(stream);
	return result;
}

static const struct format {
	const char *name;
	const char *magic;
	size_t length;
	enum result (*unpack)(const uint8_t *data, size_t size, struct output *output);
} formats[] = {
	{"gzip", "\x1f\x8b\x08", 3, inflate_all},
	{"xz", "\xfd\x37zXZ", 6, xz_all}, /* magic with its NUL */
	{"zstd", "\x28\xb5\x2f\xfd", 4, zstd_all},
};

static enum result unpack(const struct format *format, const void *data, size_t size,
			  struct symbols_source *to)
{
	struct output output = {.limit = (size_t)unpack_limit(size)};
	enum result result = format->unpack(data, size, &output);

	if (result == UNPACKED && !output.used)
		result = DAMAGED;
	if (result != UNPACKED) {
		free(output.room);
		return result;
	}
	*to = (struct symbols_source){output.room, output.used, false};
	return UNPACKED;
}

static const struct format *find_format(const void *data, size_t size)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (size >= formats[i].length &&
		    !memcmp(data, formats[i].magic, formats[i].length))
			return &formats[i];
	return NULL;
}

/* Replaces the source with the decompressed contents of @data, a part of the source. */
static int replace_source(struct symbols_source *source, const struct format *format,
			  const void *data, size_t size, const char *name,
			  struct error *err)
{
	struct symbols_source unpacked;

	switch (unpack(format, data, size, &unpacked)) {
	case UNPACKED:
		symbols_source_close(source);
		*source = unpacked;
		return 0;
	case TOO_LARGE:
		return error_set(err,
				 "%s is compressed (%s), and larger than %llu MiB when "
				 "decompressed; decompress it first",
				 name, format->name,
				 (unsigned long long)(unpack_limit(size) >> 20));
	case NO_MEMORY:
		return error_set(err, "%s: out of memory", name);
	case DAMAGED:
		break;
	}
	return error_set(err,
			 "%s is compressed (%s), and damaged or truncated; copy it again",
			 name, format->name);
}

int unpack_source(struct symbols_source *source, const char *name, struct error *err)
{
	const struct format *format = find_format(source->data, source->size);

	return format ? replace_source(source, format, source->data, source->size, name,
				       err)
		      : 0;
}

/* The header of boot images (Linux, Documentation/arch/x86/boot.rst). */
enum {
	SETUP_SECTS = 0x1f1,
	HEADER_MAGIC = 0x202, /* "HdrS" */
	PROTOCOL = 0x206, /* version, two bytes; the next two fields exist since 0x208 */
	PAYLOAD_OFFSET = 0x248,
	PAYLOAD_LENGTH = 0x24c,
	HEADER_END = 0x250,
	SECTOR = 512,
};

static uint32_t number_at(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

int unpack_boot_image(struct symbols_source *source, const char *name, struct error *err)
{
	const uint8_t *data = source->data;
	const struct format *format;
	uint64_t start, length;

	if (source->size < HEADER_END || memcmp(data + HEADER_MAGIC, "HdrS", 4) != 0)
		return 0;
	if ((data[PROTOCOL] | data[PROTOCOL + 1] << 8) < 0x208)
		return error_set(err, "%s is a boot image of a Linux before 2.6.26",
				 name);
	start = ((data[SETUP_SECTS] ?: 4) + 1u) * SECTOR +
		(uint64_t)number_at(data + PAYLOAD_OFFSET);
	length = number_at(data + PAYLOAD_LENGTH);
	if (start > source->size || length > source->size - start || length < 8)
		return error_set(err, "%s is a damaged Linux boot image; copy it again",
				 name);
	format = find_format(data + start, length);
	if (!format)
		return error_set(err,
				 "%s: its kernel is not compressed by gzip, xz or zstd; "
				 "unpack it first (Linux, scripts/extract-vmlinux)",
				 name);
	/* The kernel's makefile appends the size, except for gzip, which has its own. */
	if (format->unpack != inflate_all)
		length -= 4;
	return replace_source(source, format, data + start, length, name, err);
}

int unpack_xz(struct symbols_source *source, const void *data, size_t size)
{
	return unpack(&formats[1], data, size, source) == UNPACKED ? 0 : -1;
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
