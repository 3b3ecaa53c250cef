/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_GDB_H
#define UNIPROF_GDB_GDB_H

#include "guest/host.h"

/*
 * Uses the GDB stub of a QEMU (-gdb), which may run anywhere and with any accelerator,
 * for x86-64, arm64 and riscv64. It is a host with one guest, whose name is @address:
 * "unix:PATH" or "tcp:HOST:PORT". Connects only when the guest is asked for, because that
 * stops it for some milliseconds. NULL with the reason in @err on failure.
 */
struct host *gdb_open(const char *address, struct error *err);

#endif
