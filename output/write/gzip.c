/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/gzip.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct gzip {
	FILE *out;
	int level;
	z_stream stream;
	unsigned char room[16384];
};

/* zlib.h: adding 16 to the window bits selects a gzip header. */
#define GZIP_WINDOW (MAX_WBITS + 16)
#define MEM_LEVEL   8 /* zlib's default */

struct gzip *gzip_new(FILE *out, int level)
{
	struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return NULL;
	gzip->out = out;
	gzip->level = level;
	if (deflateInit2(&gzip->stream, level, Z_DEFLATED, GZIP_WINDOW, MEM_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK) {
		free(gzip);
		return NULL;
	}
	return gzip;
}

void gzip_free(struct gzip *gzip)
{
	if (!gzip)
		return;
	deflateEnd(&gzip->stream);
	free(gzip);
}

static void compress_input(struct gzip *gzip, int flush)
{
	z_stream *stream = &gzip->stream;

	do {
		stream->next_out = gzip->room;
		stream->avail_out = sizeof(gzip->room);
		deflate(stream, flush);
		fwrite(gzip->room, 1, sizeof(gzip->room) - stream->avail_out, gzip->out);
	} while (!stream->avail_out);
}

void gzip_put(struct gzip *gzip, const void *data, size_t size)
{
	const unsigned char *from = data;

	while (size) {
		size_t part = size < UINT_MAX ? size : UINT_MAX;

		gzip->stream.next_in = (unsigned char *)from;
		gzip->stream.avail_in = (unsigned int)part;
		compress_input(gzip, Z_NO_FLUSH);
		from += part;
		size -= part;
	}
}

void gzip_begin_block(struct gzip *gzip, bool is_noise)
{
	z_stream *stream = &gzip->stream;

	compress_input(gzip, Z_BLOCK);
	stream->next_out = gzip->room;
	stream->avail_out = sizeof(gzip->room);
	deflateParams(stream, gzip->level, is_noise ? Z_RLE : Z_DEFAULT_STRATEGY);
	fwrite(gzip->room, 1, sizeof(gzip->room) - stream->avail_out, gzip->out);
}

void gzip_end(struct gzip *gzip)
{
	compress_input(gzip, Z_FINISH);
}
