/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/base64.h"

#include <stdint.h>

static const char digits[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Sets the four characters for the first @size bytes, 1 to 3, at @from. */
static void encode_group(char to[4], const uint8_t *from, size_t size)
{
	uint32_t bits = (uint32_t)from[0] << 16 | (size > 1 ? from[1] << 8 : 0) |
			(size > 2 ? from[2] : 0);

	to[0] = digits[bits >> 18];
	to[1] = digits[bits >> 12 & 63];
	to[2] = size > 1 ? digits[bits >> 6 & 63] : '=';
	to[3] = size > 2 ? digits[bits & 63] : '=';
}

void base64_write(FILE *out, const void *data, size_t size)
{
	const uint8_t *from = data;
	char text[4096];
	size_t used = 0;

	for (size_t i = 0; i < size; i += 3) {
		encode_group(text + used, from + i, size - i < 3 ? size - i : 3);
		used += 4;
		if (used == sizeof(text) || i + 3 >= size) {
			fwrite(text, 1, used, out);
			used = 0;
		}
	}
}
