/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that Linux moves to another address each time that it starts it, without
 * frame pointers. Its first process, whose parent is the guest's first process, starts
 * the program again; it then spends its time in encode(), the second one in decode().
 * Pointers in its data would need relocations.
 */
#include <stdbool.h>

#include "tests/lab/process.h"

static APART void step_0(void)
{
	for (int i = 0; i < 1000000; i++)
		__asm__ volatile("");
}

/* Enough calls to find the file by their return addresses. */
#define STEP(name, next)              \
	static APART void name(void)  \
	{                             \
		next();               \
		__asm__ volatile(""); \
	}
STEP(step_1, step_0)
STEP(step_2, step_1)
STEP(step_3, step_2)
STEP(step_4, step_3)
STEP(step_5, step_4)
STEP(step_6, step_5)
STEP(step_7, step_6)
STEP(step_8, step_7)
STEP(step_9, step_8)
STEP(step_10, step_9)
STEP(step_11, step_10)
STEP(step_12, step_11)

STEP(encode, step_12)
STEP(decode, step_12)

static void start_second(void)
{
	static char path[] = "/lab-moved";
	const char *words[] = {path, NULL};

	if (system_call(SYS_fork, 0, NULL, 0, 0) == 0)
		system_call(SYS_execve, (long)path, words, 0, 0);
}

int main(void)
{
	static char started[] = "guest: the second process runs\n";
	bool is_first = system_call(SYS_getppid, 0, NULL, 0, 0) == 1;
	long last = 0;

	if (is_first)
		start_second();
	else
		system_call(SYS_write, 1, started, sizeof(started) - 1, 0);
	for (;;) {
		long now;

		if (is_first)
			encode();
		else
			decode();
		now = seconds();
		if (is_first && now != last)
			beat();
		last = now;
	}
}
