/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A program that Linux moves to another address each time that it starts it, without
 * frame pointers. The first process starts the program again; it then spends its time in
 * encode(), the second one in decode(). Pointers in its data would need relocations.
 */
#include <stdbool.h>

#include "tests/lab/process.h"

static void work_for_a_while(void)
{
	for (int i = 0; i < 1000000; i++)
		__asm__ volatile("");
}

static APART void encode(void)
{
	work_for_a_while();
}

static APART void decode(void)
{
	work_for_a_while();
}

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
	bool is_first = system_call(SYS_getpid, 0, NULL, 0, 0) == 1;
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
