/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/open.h"

#include <stdio.h>

int open_set_gdb(void *to, const char *argument, struct error *err)
{
	*(const char **)to = argument;
	return host_check_gdb(argument, err);
}

struct host *open_host(const char *command, const char *gdb, bool force,
		       struct error *err)
{
	struct host *host = host_open(gdb, force, err);

	if (host && host->note[0])
		fprintf(stderr, "uniprof %s: %s\n", command, host->note);
	return host;
}
