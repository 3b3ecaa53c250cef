/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest, with frame pointers: writes to a file in memory
 * again and again, and prints a heartbeat each second. Its hot path is main, rewrite,
 * system_call, and what the kernel calls from there.
 */
#include "tests/lab/process.h"

static char buffer[64 << 10];

static APART long rewrite(long file)
{
	long written = 0;

	for (int i = 0; i < 100; i++)
		written += system_call(SYS_pwrite64, file, buffer, sizeof(buffer), 0);
	return written;
}

int main(void)
{
	long file = system_call(SYS_memfd_create, (long)"work", NULL, 0, 0), last = 0;

	for (;;) {
		long now;

		rewrite(file);
		now = seconds();
		if (now != last)
			beat();
		last = now;
	}
}
