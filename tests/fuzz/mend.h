/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_FUZZ_MEND_H
#define UNIPROF_TESTS_FUZZ_MEND_H

#include <string.h>
#include <zlib.h>

#include "format/chunk.h"

/* Corrects the checksums at each place where a chunk's header may be, so that they hide
 * nothing from a fuzzer. */
static inline void mend_checksums(uint8_t *data, size_t size)
{
	for (size_t i = 0; i + CHUNK_HEADER_SIZE <= size; i++) {
		uint8_t *header = data + i;
		uint32_t stored;

		if (memcmp(header, CHUNK_MAGIC, CHUNK_MAGIC_SIZE) != 0)
			continue;
		stored = get_le32(header + 8);
		if (stored <= size - i - CHUNK_HEADER_SIZE)
			put_le32(
				header + 16,
				(uint32_t)crc32_z(0, header + CHUNK_HEADER_SIZE, stored));
		put_le32(header + 20, (uint32_t)crc32_z(0, header, 20));
	}
}

#endif
