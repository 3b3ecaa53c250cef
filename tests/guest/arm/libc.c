/* Functions that compilers call implicitly. */
#include <stddef.h>
#include <stdint.h>

void *memset(void *to, int value, size_t size);
void *memcpy(void *restrict to, const void *restrict from, size_t size);

void *memset(void *to, int value, size_t size)
{
	for (uint8_t *at = to; size; size--)
		*at++ = value;
	return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	const uint8_t *source = from;

	for (uint8_t *at = to; size; size--)
		*at++ = *source++;
	return to;
}
