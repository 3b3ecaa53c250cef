/* Functions that the compiler calls for divisions of 64 bits. libgcc has them, too, but
 * its 32-bit version comes in a separate package. */
#include <stdint.h>

uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *rest);
uint64_t __udivdi3(uint64_t dividend, uint64_t divisor);
uint64_t __umoddi3(uint64_t dividend, uint64_t divisor);

/* Divides bit by bit, as on paper. The divisor's top bit must be 0. */
uint64_t __udivmoddi4(uint64_t dividend, uint64_t divisor, uint64_t *rest)
{
	uint64_t quotient = 0, left = 0;

	for (int bit = 63; bit >= 0; bit--) {
		left = left << 1 | (dividend >> bit & 1);
		if (left >= divisor) {
			left -= divisor;
			quotient |= 1ull << bit;
		}
	}
	*rest = left;
	return quotient;
}

uint64_t __udivdi3(uint64_t dividend, uint64_t divisor)
{
	uint64_t rest;

	return __udivmoddi4(dividend, divisor, &rest);
}

uint64_t __umoddi3(uint64_t dividend, uint64_t divisor)
{
	uint64_t rest;

	__udivmoddi4(dividend, divisor, &rest);
	return rest;
}
