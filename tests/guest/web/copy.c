/* As it was written on the first day. */
#include "web.h"

APART void copy(uint8_t *to, const uint8_t *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}
