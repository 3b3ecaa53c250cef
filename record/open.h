/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_OPEN_H
#define UNIPROF_RECORD_OPEN_H

#include "host/open.h"

/* The help of --force, which is the same for all commands that use the hypervisor. */
#define FORCE_HELP                                                                     \
	"use a Xen newer than this uniprof knows even if what it says of its domains " \
	"does not fit"

/* host_open() for a command, which prints what the user should know about the host. */
struct host *open_host(const char *command, bool force, struct error *err);

#endif
