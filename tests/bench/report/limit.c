/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The minimum cost of reading a recording: limit FILE checks and decompresses each of its
 * chunks, one after the other, and does nothing else with them. Writes the number of
 * bytes in their payloads to standard output.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#include "format/reader.h"

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct reader *reader = fd < 0 ? NULL : reader_new(fd);
	struct cursor payload;
	struct error err;
	uint64_t bytes = 0;
	unsigned int type;
	int status;

	if (!reader) {
		fprintf(stderr, "usage: limit FILE\n");
		return 2;
	}
	while ((status = reader_next(reader, &type, &payload, &err)) > 0)
		bytes += (uint64_t)(payload.end - payload.at);
	reader_free(reader);
	if (status < 0) {
		fprintf(stderr, "limit: %s\n", err.text);
		return 1;
	}
	printf("%" PRIu64 "\n", bytes);
	return 0;
}
