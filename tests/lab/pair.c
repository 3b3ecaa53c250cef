/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two programs for a Linux guest, which have their hot functions at the same address,
 * with frame pointers. The first one, built without SECOND, starts the second one, and
 * calls uname() in encode(); the second one prints the pids of both, has a quarter of the
 * CPU, and writes to a file in decode(). The loop takes long, because a system call of a
 * PV guest does.
 */
#include <sys/resource.h>

#include "tests/lab/process.h"

#ifdef SECOND
#define HOT    decode
#define NUMBER SYS_pwrite64
#else
#define HOT    encode
#define NUMBER SYS_uname
#endif

static char buffer[512];

static APART void HOT(long first)
{
	for (int i = 0; i < 100; i++) {
		system_call(NUMBER, first, buffer, sizeof(buffer), 0);
		for (int j = 0; j < 14000; j++)
			__asm__ volatile("");
	}
}

#ifdef SECOND

/* Writes a number in front of @end, where there are zeros. */
static void put_number(char *end, long number)
{
	for (; number; number /= 10)
		*--end += (char)(number % 10);
}

/* nice 5: 335 of 335 + 1024 (Linux, kernel/sched/core.c, sched_prio_to_weight). */
int main(void)
{
	static char started[] = "guest: both programs run, as 00000 and 00000\n";
	long file = system_call(SYS_memfd_create, (long)"pair", NULL, 0, 0);
	char *end = started + sizeof(started) - 2;

	put_number(end, system_call(SYS_getpid, 0, NULL, 0, 0));
	put_number(end - (sizeof(" and 00000") - 1),
		   system_call(SYS_getppid, 0, NULL, 0, 0));
	system_call(SYS_setpriority, PRIO_PROCESS, NULL, 5, 0);
	system_call(SYS_write, 1, started, sizeof(started) - 1, 0);
	for (;;)
		HOT(file);
}

#else

int main(void)
{
	static const char *const words[] = {"/lab-pair-second", NULL};
	long last = 0;

	if (system_call(SYS_fork, 0, NULL, 0, 0) == 0)
		system_call(SYS_execve, (long)words[0], words, 0, 0);
	for (;;) {
		long now;

		HOT((long)buffer);
		now = seconds();
		if (now != last)
			beat();
		last = now;
	}
}

#endif
