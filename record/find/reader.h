/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_READER_H
#define UNIPROF_RECORD_FIND_READER_H

#include <sys/types.h>

/*
 * Runs in a process of its own, which ends afterwards: takes the rights of the VMM @pid,
 * of the kind @vmm, looks for its guest's symbol file, and restricts itself to reading
 * that. Then makes a table of it, and writes a parcel with the file, or with the reason
 * why there is none, to @out.
 */
void reader_run(pid_t pid, const char *vmm, int out);

#endif
