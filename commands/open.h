/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_OPEN_H
#define UNIPROF_COMMANDS_OPEN_H

#include "record/open.h"

/* The help of --force, for all commands that use the hypervisor. */
#define FORCE_HELP                                                                  \
	"use a Xen newer than this uniprof knows even if its answers do not agree " \
	"with xenstore"

/* The help of --gdb. */
#define GDB_HELP                                                                         \
	"instead of a DOMAIN, the guest of a QEMU whose GDB stub (-gdb) listens there: " \
	"unix:PATH or tcp:HOST:PORT"

/* Sets --gdb, and checks how the address is written. */
int open_set_gdb(void *to, const char *argument, struct error *err);

/* Where a command takes its samples. */
struct open_wish {
	const char *gdb;   /* the address of a GDB stub; NULL: none */
	const char *guest; /* the only guest, by name or id; NULL: none, or several */
	bool force;
};

/* Opens the host for a command, and prints what the user should know about the host. NULL
 * with the reason in @err on failure. */
struct host *open_host(const char *command, const struct open_wish *wish,
		       struct error *err);

#endif
