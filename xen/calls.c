/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "xen/internal.h"

/*
 * The requests of Xen's driver in Linux, include/uapi/xen/privcmd.h. That header can't be
 * included: it needs another, which is not installed with it. Of the structures, only the
 * sizes matter.
 */
struct hypercall {
	uint64_t op;
	uint64_t arg[5];
};

struct map_batch {
	int num;
	domid_t dom;
	uint64_t addr;
	const xen_pfn_t *arr;
};

struct map_batch_v2 {
	unsigned int num;
	domid_t dom;
	uint64_t addr;
	const xen_pfn_t *arr;
	int *err;
};

#define HYPERCALL    _IOC(_IOC_NONE, 'P', 0, sizeof(struct hypercall))
#define MAP_BATCH    _IOC(_IOC_NONE, 'P', 3, sizeof(struct map_batch))
#define MAP_BATCH_V2 _IOC(_IOC_NONE, 'P', 4, sizeof(struct map_batch_v2))
#define RESTRICT     _IOC(_IOC_NONE, 'P', 6, sizeof(domid_t))

/* Unknown to every driver: libxenforeignmemory finds out how one refuses such requests
 * (IOCTL_PRIVCMD_UNIMPLEMENTED in Xen's tools/include/xen-sys/Linux/privcmd.h). */
#define UNKNOWN _IOC(_IOC_NONE, 'P', 0xff, 0)

static const unsigned long sampling[] = {HYPERCALL, MAP_BATCH_V2, MAP_BATCH, 0};
static const unsigned long following[] = {RESTRICT, UNKNOWN, 0};
static const unsigned long guarding[] = {HYPERCALL, 0};

/* To talk to xenstored, whose socket is open. Newer versions of the library send with
 * sendmsg(). */
static const int store[] = {SYS_read, SYS_sendmsg, -1};

const struct host_calls xen_sampling_calls = {.ioctl = sampling};
const struct host_calls xen_following_calls = {.number = store, .ioctl = following};
const struct host_calls xen_guarding_calls = {.ioctl = guarding};
