/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_OPEN_H
#define UNIPROF_COMMANDS_OPEN_H

#include "record/find/find.h"
#include "record/notify.h"
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

/* The guests whose symbol files are looked for. */
struct find_wish {
	char *const *domain; /* names or ids */
	size_t domains;
	bool all;   /* of all guests */
	bool by_id; /* for their ids, as their names may later be those of others */
	notify_function *notify; /* prints what was found; NULL: nothing is printed */
};

/* The help of --no-find. */
#define NO_FIND_HELP                                                                   \
	"without files, don't look for the guest's file where its VMM's command line " \
	"or its configuration names it"

/* Looks for the symbol files of guests of this host. Must be called before
 * anything is opened, because it starts processes. found_files_free() must follow. */
void find_files(struct found_files *found, const struct find_wish *wish);

#endif
