/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_INTERNAL_H
#define UNIPROF_GDB_INTERNAL_H

#include <stdatomic.h>

#include "base/clock.h"
#include "gdb/gdb.h"
#include "gdb/regions.h"
#include "gdb/registers.h"
#include "gdb/stub.h"

/* Shared with the guard. */
struct gdb_shared {
	/* since when the guest may be stopped because of the recorder, as
	 * host_ops.paused_since() returns it */
	_Atomic uint64_t since;
};

#define GDB_VCPUS_MAX 1024
#define GDB_THREAD    24 /* maximum length of a thread's name, with the final 0 */

struct gdb {
	struct host host;
	struct gdb_address address;
	char place[256];	   /* the address as the user wrote it */
	char name[256];		   /* the guest's name */
	uint32_t id;		   /* the guest's id */
	bool is_expected;	   /* QEMU must report the name @qemus_name */
	char qemus_name[256];	   /* as in struct gdb_identity */
	struct gdb_shared *shared; /* NULL until the host is armed */
	struct stub stub;
	/* Answers of the stub, valid once it is connected. */
	bool is_connected;
	bool is_held; /* someone else has stopped the guest, as far as is known */
	struct gdb_registers registers;
	unsigned int needed; /* number of needed registers */
	size_t g_size;	     /* size of the registers in the reply to 'g', bytes */
	struct gdb_regions regions;
	unsigned int vcpus;			/* number of vCPUs */
	char thread[GDB_VCPUS_MAX][GDB_THREAD]; /* the stub's names of vCPUs */
};

static inline struct gdb *gdb_of(struct host *host)
{
	return (struct gdb *)host;
}

static inline void gdb_hold(struct gdb *gdb, bool holds)
{
	atomic_store(&gdb->shared->since, holds ? clock_monotonic() : 0);
}

/* Connects, unless it is connected, and asks for all that is needed: 0, or -1. The guest
 * then continues, unless it did not run before. */
int gdb_connect(struct gdb *gdb, struct error *err);

/* Does the part of gdb_connect() after the connection. */
int gdb_begin(struct gdb *gdb, struct error *err);

/* Continues a stopped guest: 0, or -1. */
int gdb_continue(struct gdb *gdb, struct error *err);

/* In gdb/guest_ops.c. */
struct guest *gdb_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err);

#endif
