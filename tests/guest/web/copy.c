/* Copies a byte at a time: the mistake that the tutorial finds. */
#include "web.h"

APART void copy(uint8_t *to, const uint8_t *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}
