/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first process of a Linux guest, with frame pointers: loads a module, brd, which has
 * a disk in memory, and reads and writes that disk, past the cache. Its hot path is main,
 * rewrite, system_call, the kernel's code for disks, the module, and memcpy() in the
 * kernel.
 */
#define _GNU_SOURCE /* O_DIRECT */
#include <fcntl.h>
#include <sys/stat.h>

#include "tests/lab/process.h"

static char buffer[64 << 10] __attribute__((aligned(4096)));

static APART long rewrite(long disk)
{
	long done = 0;

	for (int i = 0; i < 20; i++) {
		done += system_call(SYS_pwrite64, disk, buffer, sizeof(buffer), 0);
		done += system_call(SYS_pread64, disk, buffer, sizeof(buffer), 0);
	}
	return done;
}

int main(void)
{
	static const char loaded[] = "guest: its module is in use\n";
	static const char failed[] = "guest: its module can't be used\n";
	/* brd has the number 1 (Linux, Documentation/admin-guide/devices.txt). */
	const long number = 1 << 8;
	long module = system_call(SYS_open, (long)"/brd.ko", (void *)O_RDONLY, 0, 0);
	long disk, last = 0;

	system_call(SYS_finit_module, module, "rd_nr=1 rd_size=4096", 0, 0);
	system_call(SYS_mknod, (long)"/disk", (void *)(S_IFBLK | 0600L), number, 0);
	disk = system_call(SYS_open, (long)"/disk", (void *)(O_RDWR | O_DIRECT), 0, 0);
	if (rewrite(disk) == 2 * 20 * (long)sizeof(buffer))
		system_call(SYS_write, 1, loaded, sizeof(loaded) - 1, 0);
	else
		system_call(SYS_write, 1, failed, sizeof(failed) - 1, 0);
	for (;;) {
		long now;

		rewrite(disk);
		now = seconds();
		if (now != last)
			beat();
		last = now;
	}
}
