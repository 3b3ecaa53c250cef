/* SPDX-License-Identifier: BSD-3-Clause */

/* Functions that call each other, with constants and a jump table between them where
 * the CPU's code has them; lines count. */
volatile int sink;

static inline __attribute__((always_inline)) int twice(int n)
{
	return n * 2 + sink;
}

__attribute__((noinline)) int leaf(int n)
{
	switch (n) {
	case 0: return sink + 3;
	case 1: return sink * 5;
	case 2: sink = 0x12345678; return 7;
	case 3: return sink - 9;
	case 4: sink++; return 0x87654321;
	case 5: return twice(n);
	default: return n / 7;
	}
}

__attribute__((noinline)) int middle(int n)
{
	return leaf(n) + leaf(n + 1);
}

int _start(void)
{
	for (int i = 0;; i++)
		sink = middle(i);
}
