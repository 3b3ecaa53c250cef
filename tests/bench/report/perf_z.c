/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The number of bytes that `perf record -z` needs for the samples in a perf.data file:
 * perf_z FILE. perf compresses its ring buffers, 512 KiB each and read when half full, as
 * one zstd stream of level 1 that is flushed each time, into records of at most
 * 64 KiB with a header of 8 bytes (tools/perf/builtin-record.c, record__pushfn() and
 * zstd_compress(); tools/perf/util/zstd.c). The file's layout is
 * tools/perf/Documentation/perf.data-file-format.txt's.
 */
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define LEVEL	    1
#define READ_SIZE   (256u << 10)
#define RECORD_SIZE 65535u

struct section {
	uint64_t offset, size;
};

struct head {
	char magic[8];
	uint64_t size, attribute_size;
	struct section attributes, data;
};

/* The sample records of the file, one after the other; exits if it is not a perf.data
 * file. */
static char *read_samples(FILE *file, size_t *size)
{
	struct head head;
	char *records, *to;

	if (fread(&head, sizeof(head), 1, file) != 1 ||
	    memcmp(head.magic, "PERFILE2", sizeof(head.magic)) != 0 ||
	    fseek(file, (long)head.data.offset, SEEK_SET) != 0)
		exit(1);
	to = records = malloc(head.data.size + 1);
	if (!records || fread(records, 1, head.data.size, file) != head.data.size)
		exit(1);
	for (char *at = records; at < records + head.data.size;) {
		struct perf_event_header header;

		memcpy(&header, at, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE) {
			memmove(to, at, header.size);
			to += header.size;
		}
		at += header.size;
	}
	*size = (size_t)(to - records);
	return records;
}

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	size_t size, done = 0, room = ZSTD_compressBound(READ_SIZE) + READ_SIZE;
	ZSTD_CCtx *context = ZSTD_createCCtx();
	char *records, *out = malloc(room);
	uint64_t bytes = 0;

	if (!file || !context || !out) {
		fprintf(stderr, "usage: perf_z PERF.DATA\n");
		return 2;
	}
	records = read_samples(file, &size);
	ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
	for (; done < size; done += READ_SIZE) {
		size_t part = size - done < READ_SIZE ? size - done : READ_SIZE;
		ZSTD_inBuffer from = {records + done, part, 0};
		ZSTD_outBuffer to = {out, room, 0};

		if (ZSTD_compressStream2(context, &to, &from, ZSTD_e_flush) != 0)
			return 1;
		bytes += to.pos + (to.pos / (RECORD_SIZE - 8) + 1) * 8;
	}
	printf("%" PRIu64 "\n", bytes);
	ZSTD_freeCCtx(context);
	free(out);
	free(records);
	fclose(file);
	return 0;
}
