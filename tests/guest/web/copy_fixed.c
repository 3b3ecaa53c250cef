/* Copies eight bytes at a time. */
#include "web.h"

APART void copy(uint8_t *to, const uint8_t *from, size_t n)
{
	for (; n >= 8; n -= 8, to += 8, from += 8)
		__builtin_memcpy(to, from, 8); /* one load and one store */
	while (n--)
		*to++ = *from++;
}
