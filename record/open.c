/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/open.h"

#include <stdio.h>

struct host *open_host(const char *command, bool force, struct error *err)
{
	struct host *host = host_open(force, err);

	if (host && host->note[0])
		fprintf(stderr, "uniprof %s: %s\n", command, host->note);
	return host;
}
