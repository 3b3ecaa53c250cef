/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest, with frame pointers and without a C library: writes
 * to a file in memory again and again, and prints a heartbeat each second. Its hot path
 * is main, rewrite, system_call, and what the kernel calls from there.
 */
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#define APART __attribute__((noipa))

static char buffer[64 << 10];

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

static APART long rewrite(long file)
{
	long written = 0;

	for (int i = 0; i < 100; i++)
		written += system_call(SYS_pwrite64, file, buffer, sizeof(buffer), 0);
	return written;
}

/* The number of the beat has five digits. */
static APART void beat(void)
{
	static char text[] = "guest: heartbeat 00000\n";
	char *digit = text + sizeof(text) - 2;

	while (*--digit == '9')
		*digit = '0';
	++*digit;
	system_call(SYS_write, 1, text, sizeof(text) - 1, 0);
}

int main(void)
{
	long file = system_call(SYS_memfd_create, (long)"work", NULL, 0, 0), last = 0;

	for (;;) {
		struct timespec now = {0};

		rewrite(file);
		system_call(SYS_clock_gettime, CLOCK_MONOTONIC, &now, 0, 0);
		if (now.tv_sec != last)
			beat();
		last = now.tv_sec;
	}
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start: xor %ebp, %ebp\n"
	"and $-16, %rsp\n"
	"call main\n"
	".size _start, . - _start\n");
