/* SPDX-License-Identifier: BSD-3-Clause */
/* GCC's nested functions, in functions, in each other and in a block. */
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static inline int square(int x)
{
	return x * x + 1;
}

static inline __attribute__((always_inline)) int twice(int x)
{
	return square(x) + square(x + 1);
}

NOINLINE int outer(int count, int *values)
{
	int total = 0;

	NOINLINE int nested(int k)
	{
		NOINLINE int deeper(int m)
		{
			total += twice(m) ^ count;
			return square(total);
		}
		int sum = 0;

		for (int i = 0; i < k; i++)
			sum += deeper(i) + twice(values[i % 16]);
		return sum;
	}
	int compare(const void *a, const void *b)
	{
		total++;
		return square(*(const int *)a) - twice(*(const int *)b);
	}

	for (int i = 0; i < count; i++) {
		NOINLINE int in_block(int k)
		{
			total ^= twice(k + i);
			return nested(k);
		}

		total += in_block(i);
	}
	qsort(values, 16, sizeof(*values), compare);
	return total;
}

int main(int argc, char **argv)
{
	int values[16];

	(void)argv;
	for (int i = 0; i < 16; i++)
		values[i] = i * 7919 % 13 + argc;
	return outer(50, values);
}
