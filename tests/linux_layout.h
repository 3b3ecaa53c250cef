/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_LINUX_LAYOUT_H
#define UNIPROF_TESTS_LINUX_LAYOUT_H

/* Where a made-up Linux has what is read of its threads: initializers for the layouts in
 * tables/linux/layout.h, but for addresses. */

#define LINUX_TASKS \
	.tgid = 0x6c, .comm = 0xa0, .group_leader = 0x80, .mm = 0x78, .pgd = 0x18

#define LINUX_THREADS                                                                  \
	.tasks = 0x20, .thread_node = 0x40, .signal = 0x60, .thread_head = 0x10,       \
	.pid = 0x68, .flags = 0x74, .state = 0x10, .exit_state = 0x70, .on_cpu = 0x14, \
	.switches = 0x88, .preemptions = 0x90, .sp = 0xc0, .ran = 0xc8, .r15 = 0,      \
	.r14 = 8, .r13 = 16, .r12 = 24, .bx = 32, .bp = 40, .return_address = 48

#endif
