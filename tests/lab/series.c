/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest that has several programs one after the other, so
 * that it boots only once: starts the next program when no process of the one before is
 * left, which SysRq i brings about (xl sysrq GUEST i; Linux,
 * Documentation/admin-guide/sysrq.rst).
 */
#include "tests/lab/process.h"

static const char programs[][sizeof("/lab-traced")] = {"/lab-pair", "/lab-traced",
						       "/lab-module", "/lab-moved"};

int main(void)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		const char *words[] = {programs[i], NULL};

		if (system_call(SYS_fork, 0, NULL, 0, 0) == 0) {
			system_call(SYS_execve, (long)words[0], words, 0, 0);
			system_call(SYS_exit, 1, NULL, 0, 0);
		}
		while (system_call(SYS_wait4, -1, NULL, 0, 0) > 0)
			;
	}
	for (;;)
		system_call(SYS_pause, 0, NULL, 0, 0);
}
