/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_LAB_PROCESS_H
#define UNIPROF_TESTS_LAB_PROCESS_H

/* Shared by the programs of the lab's Linux guests, which have no C library: each
 * includes this first, so that these functions are at the same addresses in all. */
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#define APART __attribute__((noipa, used))

static APART long system_call(long number, long a, const void *b, size_t c, long d)
{
	register long r10 __asm__("r10") = d;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
}

/* Prints the next heartbeat; its number has five digits. */
static APART void beat(void)
{
	static char text[] = "guest: heartbeat 00000\n";
	char *digit = text + sizeof(text) - 2;

	while (*--digit == '9')
		*digit = '0';
	++*digit;
	system_call(SYS_write, 1, text, sizeof(text) - 1, 0);
}

/* Seconds since some moment. */
static APART long seconds(void)
{
	struct timespec now = {0};

	system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0, 0);
	return now.tv_sec;
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start: xor %ebp, %ebp\n"
	"and $-16, %rsp\n"
	"call main\n"
	".size _start, . - _start\n");

#endif
