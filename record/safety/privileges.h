/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAFETY_PRIVILEGES_H
#define UNIPROF_RECORD_SAFETY_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A recorder runs as root in dom0 and reads data written by guests. Once everything is
 * open, it drops the privileges that it no longer needs, so that a guest that exploits a
 * bug in it gains less. It must keep the open interface to the hypervisor; with Xen's,
 * the permission to pause one guest includes full control of all guests.
 */

/* The privileges that a process needs after its start. */
struct privileges {
	const char *devices; /* folder whose devices it opens; NULL: none */
	bool removes;	     /* removes files in HOST_DIRECTORY */
	bool signals;	     /* sends signals to other processes */
	bool inspects; /* traces other processes: Landlock, which forbids it, is unused */
	/* paths of files that it reads, or of folders with such files; NULL: none */
	const char *const *reads;
	size_t read_count;
};

/*
 * Confines this thread, and all threads and processes that it starts, permanently:
 * nothing can be executed, and locked memory is not limited. If the kernel has Landlock
 * (Linux 5.13), no file can be opened, created or removed but the files @needed.
 * Depending on Landlock's version, TCP connections, connections to abstract sockets and
 * signals that are not needed are refused, too. Must be called before any thread is
 * started. Returns Landlock's version, or 0 if nothing is restricted by it.
 */
int privileges_confine(const struct privileges *needed);

enum privileges_kept {
	KEEP_NOTHING,
	KEEP_READING,	 /* CAP_DAC_READ_SEARCH */
	KEEP_LOCKING,	 /* CAP_IPC_LOCK, if the limit on locked memory is not lifted */
	KEEP_INSPECTING, /* CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH for /proc/PID/fd,
			    CAP_IPC_LOCK for guests that start later, and, before Linux
			    5.19, CAP_BPF */
};

/*
 * Permanently drops all capabilities (capabilities(7)) of the calling thread but @kept,
 * as far as it has them; to be called once it has its priority. It keeps its user ID,
 * which owns the hypervisor's devices: they are opened again for each guest that starts
 * later. Returns the name of what the thread keeps, for messages: "no capabilities".
 */
const char *privileges_drop(enum privileges_kept kept);

/*
 * Permanently drops all capabilities of the calling thread but those that
 * privileges_keep_files() leaves and those to take other users and root directories, and
 * the ability to gain any, for a process that finds files (record/find/finder.h).
 */
void privileges_keep_finding(void);

/*
 * Permanently restricts a process to reading recordings and symbol files and writing
 * files, wherever its user may: drops all capabilities of the calling thread but the
 * capabilities for other users' files, and the ability to gain any, and calls
 * filter_reader(), as far as the kernel has filters. Must be called before any thread is
 * started.
 */
void privileges_keep_files(void);

#endif
