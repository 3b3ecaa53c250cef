/* SPDX-License-Identifier: BSD-3-Clause */

/* Functions with frames of all kinds, for test_cfi_rows.c: built for x86-64 and AArch64,
 * with .eh_frame or .debug_frame. */

extern int other(const void *what, long size);
int sample_leaf(int a, int b);
int sample_plain(const char *text);
int sample_variable(long size);
int sample_aligned(long size);
int sample_early(const char *text, int a);
int sample_arguments(const char *text, ...);
long sample_large(long seed);
void sample_endless(void) __attribute__((noreturn));

int sample_leaf(int a, int b)
{
	return a * b + a;
}

int sample_plain(const char *text)
{
	long size = (long)__builtin_strlen(text);

	return other(text, size) + other(text + 1, size - 1);
}

int sample_variable(long size)
{
	char *room = __builtin_alloca((unsigned long)size);

	__builtin_memset(room, 1, (unsigned long)size);
	return other(room, size) + 1;
}

/* Realigns its stack, and takes an unknown amount of it. */
int sample_aligned(long size)
{
	char aligned[64] __attribute__((aligned(64)));
	char *room = __builtin_alloca((unsigned long)size);

	__builtin_memset(room, 2, (unsigned long)size);
	return other(aligned, 64) + other(room, size);
}

/* Several returns, before and after its frame is made. */
int sample_early(const char *text, int a)
{
	if (a < 0)
		return a;
	if (a == 0)
		return other(text, 1) + 1;
	for (int i = 0; i < a; i++)
		if (other(text, i) == i)
			return other(text + i, a) - 1;
	return 3;
}

int sample_arguments(const char *text, ...)
{
	__builtin_va_list list;
	int total = 0;

	__builtin_va_start(list, text);
	for (; *text; text++)
		total += other(text, __builtin_va_arg(list, long));
	__builtin_va_end(list);
	return total;
}

/* A frame of several pages, and all registers in use. */
long sample_large(long seed)
{
	long table[3000], a = seed, b = 2 * seed, c = seed + 7, d = seed * seed, e = 9;

	for (int i = 0; i < 3000; i++) {
		table[i] = a ^ b;
		a += other(table, b);
		b += c * d;
		c ^= other(table, d);
		d += e;
		e = a - c;
	}
	return table[seed % 3000] + a + b + c + d + e;
}

void sample_endless(void)
{
	for (;;)
		other("", 0);
}
