/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The guest of the KVM tests: vCPU 0 spends 10 %, 30 % and 60 % of its time in alpha,
 * beta and gamma, vCPU 1 all of its time in delta; every chain has NEST frames of a
 * function that calls itself. Each
 * vCPU prints a line now and then to a serial port.
 */
#include <stdint.h>

#define NEST  5
#define APART __attribute__((noinline, noclone))
#ifdef MIXED
#define LIBRARY __attribute__((section(".library")))
#else
#define LIBRARY
#endif

static void put_char(char c)
{
#if defined(__aarch64__) || defined(__arm__)
	*(volatile uint32_t *)0x9000000 = (uint32_t)c; /* virt's PL011 */
#elif defined(__riscv)
	*(volatile uint8_t *)0x10000000 = (uint8_t)c; /* virt's 16550 */
#else
	asm volatile("outb %0, %1" : : "a"(c), "d"((uint16_t)0x3f8));
#endif
}

static APART void print(const char *text, unsigned long number)
{
	char digits[20];
	unsigned int count = 0;

	while (*text)
		put_char(*text++);
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	while (count)
		put_char(digits[--count]);
	put_char('\n');
}

/* One long dependency chain, so its address does not change its speed. */
static inline __attribute__((always_inline)) uint64_t spin(uint64_t n)
{
	uint64_t x = n;

	while (n--) {
		x = x * 6364136223846793005 + 1442695040888963407;
		asm volatile("" : "+r"(x));
	}
	return x;
}

#define CHAIN(name, place)                                                     \
	static APART place uint64_t name##_leaf(uint64_t n)                    \
	{                                                                      \
		return spin(n);                                                \
	}                                                                      \
	static APART place uint64_t name##_nest(unsigned int nest, uint64_t n) \
	{                                                                      \
		uint64_t x = nest ? name##_nest(nest - 1, n) : name##_leaf(n); \
                                                                               \
		asm volatile("" : "+r"(x));                                    \
		return x;                                                      \
	}                                                                      \
	static APART place uint64_t name(uint64_t n)                           \
	{                                                                      \
		uint64_t x = name##_nest(NEST, n);                             \
                                                                               \
		asm volatile("" : "+r"(x));                                    \
		return x;                                                      \
	}

#ifdef MIXED
/* A library without frame pointers, in a program with them, which is a file of its own
 * once it is cut out. */
#pragma GCC push_options
#pragma GCC optimize("omit-frame-pointer")
#endif
CHAIN(alpha, LIBRARY)
CHAIN(beta, LIBRARY)
#ifdef MIXED
#pragma GCC pop_options
#endif
CHAIN(gamma, )
CHAIN(delta, )

/* Works for about a tenth of a millisecond, so that samples are independent. The length
 * of rounds varies by a quarter, so that no sampling rate runs in lockstep. */
static APART void work(uint64_t round)
{
	uint64_t n = 8000 + (unsigned long)round * 7919 % 2000;
#ifdef PLAIN_RBP
	/* rbp is a register like others, and holds a number that is mostly 0. */
	register uint64_t number asm("rbp") = round % 10 == 9 ? n : 0;

	asm volatile("" : "+r"(number));
#endif

	alpha(n);
	beta(3 * n);
	gamma(6 * n);
#ifdef PLAIN_RBP
	asm volatile("" : : "r"(number));
#endif
	asm volatile("");
}

void guest_main(uint64_t vcpu);

void guest_main(uint64_t vcpu)
{
	for (uint64_t round = 0;; round++) {
		if (vcpu)
			delta(90000);
		else
			work(round);
		if ((unsigned long)round % 500 == 0)
			print(vcpu ? "second " : "first ", (unsigned long)round);
	}
}
