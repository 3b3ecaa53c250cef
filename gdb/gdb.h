/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_GDB_H
#define UNIPROF_GDB_GDB_H

#include "guest/host.h"

/* The guest that must be found at an address. */
struct gdb_identity {
	uint32_t id;
	const char *name;	/* the name to show */
	const char *qemus_name; /* the name that QEMU must report; empty: none */
};

/*
 * Uses the GDB stub of a QEMU (-gdb), which may run anywhere and with any accelerator,
 * for the CPUs of gdb/registers.c. It is a host with one guest; @address is "unix:PATH"
 * or "tcp:HOST:PORT", and also the guest's name unless there is an @identity, which may
 * be NULL. Connects only when the guest is asked for, because that stops it for some
 * milliseconds. NULL with the reason in @err on failure.
 */
struct host *gdb_open(const char *address, const struct gdb_identity *identity,
		      struct error *err);

#endif
