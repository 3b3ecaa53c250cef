/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "xen/internal.h"

/*
 * The requests of Xen's driver in Linux, include/uapi/xen/privcmd.h. That header can't be
 * included: it needs another header, which is not installed. Only the sizes of the
 * structures matter.
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

/* The flags of open() that must not be set: files are neither created nor truncated. */
#define CHANGE (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

#define IOCTL(request) HOST_CALL_WITH(SYS_ioctl, 1, request)

static const struct host_call sampling[] = {
	IOCTL(HYPERCALL),
	IOCTL(MAP_BATCH_V2),
	IOCTL(MAP_BATCH),
	/* A file, not a folder (xen/left.c). */
	HOST_CALL_WITH(SYS_unlinkat, 2, 0),
	HOST_CALLS_END,
};

static const struct host_call following[] = {
	IOCTL(RESTRICT),
	IOCTL(UNKNOWN),
	HOST_CALL_IF(SYS_openat, 2, CHANGE, 0),
#ifdef SYS_open
	HOST_CALL_IF(SYS_open, 1, CHANGE, 0),
#endif
	/* Xen's libraries before 4.10 set FD_CLOEXEC after open(). */
	HOST_CALL_WITH(SYS_fcntl, 1, F_GETFD),
	HOST_CALL_WITH(SYS_fcntl, 1, F_SETFD),
	/* To talk to xenstored, by the kernel's device or a socket that is open. Newer
	 * versions of the library use writev() for the one and sendmsg() for the other.
	 */
	HOST_CALL(SYS_read),
	HOST_CALL(SYS_writev),
	HOST_CALL(SYS_sendmsg),
	HOST_CALLS_END,
};

static const struct host_call guarding[] = {IOCTL(HYPERCALL), HOST_CALLS_END};

const struct host_needs xen_needs = {
	.sampling = sampling,
	.following = following,
	.guarding = guarding,
	.devices = "/dev/xen",
	.removes = true,
	.kept = "the interface to Xen (to pause guests and read their memory)",
};
