/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_LAB_THREADS_H
#define UNIPROF_TESTS_LAB_THREADS_H

/* Threads of programs that have no C library, x86-64. */
#include <linux/sched.h>

#include "tests/lab/process.h"

/* Calls @function on another stack that ends at @end, in a thread or, with CLONE_VFORK,
 * while this one waits. */
static APART long run_apart(long flags, void (*function)(void), char *end)
{
	void **top = (void **)end - 2;
	register long r10 __asm__("r10") = 0, r8 __asm__("r8") = 0;
	long result;

	/* Asking for its frame makes the compiler set one up. */
	top[1] = __builtin_frame_address(0);
	*top = (void *)function;
	__asm__ volatile("syscall\n"
			 "test %%eax, %%eax\n"
			 "jnz 1f\n"
			 "xor %%ebp, %%ebp\n"
			 "pop %%rax\n"
			 "call *%%rax\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(top), "d"(0), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return result;
}

/* The flags of a thread */
#define THREAD_FLAGS \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

#endif
