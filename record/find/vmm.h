/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_VMM_H
#define UNIPROF_RECORD_FIND_VMM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

#define VMM_GROUPS 128

/* The rights to files of a process, from /proc/PID/status. */
struct vmm_rights {
	uid_t user;
	gid_t group;
	gid_t groups[VMM_GROUPS]; /* further ones have no effect */
	size_t group_count;
	bool reads_all; /* CAP_DAC_READ_SEARCH or CAP_DAC_OVERRIDE */
};

/* Parses /proc/PID/status. False if a line is missing. */
bool vmm_rights_parse(const char *status, struct vmm_rights *rights);

/*
 * Makes the calling process, a child that only has the descriptors it needs, resolve and
 * open paths like the process @pid, a VMM: with its root directory, working directory,
 * user and groups, and without capabilities, but CAP_DAC_READ_SEARCH if the VMM has it.
 * Reads the VMM's command line to @arguments, up to @size bytes, before that. Returns the
 * length of the command line, or -1 with the reason in @err.
 */
ssize_t vmm_become(pid_t pid, struct vmm_rights *rights, char *arguments, size_t size,
		   struct error *err);

#endif
