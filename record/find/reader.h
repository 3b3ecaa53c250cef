/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_READER_H
#define UNIPROF_RECORD_FIND_READER_H

#include "guest/host.h"
#include "record/find/find.h"

/*
 * Runs in a process of its own, which ends afterwards: takes the rights of the guest's
 * VMM, looks for the guest's symbol file, and restricts itself to reading that. A domain
 * of Xen was started by the host's administrator, who is this process's user. Then makes
 * a table of the file, and writes to @out a key (struct found_key) and a parcel with the
 * table, or with the reason why there is none.
 */
void reader_run(const struct guest_info *guest, int out);

#endif
