/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/open.h"

#include <stdio.h>

int open_set_gdb(void *to, const char *argument, struct error *err)
{
	*(const char **)to = argument;
	return host_check_gdb(argument, err);
}

struct host *open_host(const char *command, const struct open_wish *wish,
		       struct error *err)
{
	struct host_stub stub = {.address = ""};
	struct host *host = wish->gdb ? host_open(wish->gdb, wish->force, err)
				      : host_open_guest(wish->guest, wish->force, &stub,
							err);

	if (host && host->note[0])
		fprintf(stderr, "uniprof %s: %s\n", command, host->note);
	if (host && stub.address[0])
		fprintf(stderr,
			"uniprof %s: %s; sampling '%s' through its GDB stub at %s, which "
			"stops all of QEMU for each sample\n",
			command, stub.why.text, wish->guest, stub.address);
	return host;
}
