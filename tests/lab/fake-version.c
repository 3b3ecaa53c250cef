/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Replaces libxencall, to simulate a Xen with another version of the domctl interface: it
 * accepts only $FAKE_VERSION, like do_domctl() in xen/common/domctl.c, and says that it
 * is Xen 4.99. The calls are then made to the real Xen by the real library, $FAKE_REAL.
 * With $FAKE_MOVED, what Xen says of a domain is as if a member had been inserted. If
 * $FAKE_VERSION is not set, it refuses everything, even the query for the version. This
 * is a fake because no Xen in the lab has such a version.
 */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __XEN_TOOLS__ 1
#include <xen/domctl.h>
#include <xen/version.h>
#include <xencall.h>

static struct {
	xencall_handle *(*open)(struct xentoollog_logger *logger, unsigned int flags);
	int (*close)(xencall_handle *call);
	int (*call1)(xencall_handle *call, unsigned int op, uint64_t first);
	int (*call2)(xencall_handle *call, unsigned int op, uint64_t first,
		     uint64_t second);
	void *(*alloc)(xencall_handle *call, size_t pages);
	void (*free)(xencall_handle *call, void *pages, size_t count);
	uint32_t version; /* of the real Xen's domctls */
} real;

static void find(void *library, const char *name, void *to)
{
	void *function = dlsym(library, name);

	if (!function)
		abort();
	memcpy(to, &function, sizeof(function));
}

/* Which version the real Xen accepts. */
static void find_version(xencall_handle *call)
{
	struct xen_domctl *domctl = real.alloc(call, 1);

	for (real.version = 0x0b; domctl && real.version < 0x40; real.version++) {
		memset(domctl, 0, sizeof(*domctl));
		domctl->cmd = XEN_DOMCTL_getdomaininfo;
		domctl->interface_version = real.version;
		if (real.call1(call, __HYPERVISOR_domctl, (uintptr_t)domctl) == 0)
			break;
	}
	real.free(call, domctl, 1);
}

xencall_handle *xencall_open(struct xentoollog_logger *logger, unsigned int flags)
{
	const char *path = getenv("FAKE_REAL");
	void *library = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
	xencall_handle *call;

	if (!path || !library)
		abort();
	find(library, "xencall_open", &real.open);
	find(library, "xencall_close", &real.close);
	find(library, "xencall1", &real.call1);
	find(library, "xencall2", &real.call2);
	find(library, "xencall_alloc_buffer_pages", &real.alloc);
	find(library, "xencall_free_buffer_pages", &real.free);
	call = real.open(logger, flags);
	if (call && !real.version)
		find_version(call);
	return call;
}

int xencall_close(xencall_handle *call)
{
	return real.close(call);
}

void *xencall_alloc_buffer_pages(xencall_handle *call, size_t pages)
{
	return real.alloc(call, pages);
}

void xencall_free_buffer_pages(xencall_handle *call, void *pages, size_t count)
{
	real.free(call, pages, count);
}

/* Gives the domctl the version that the real Xen accepts. */
static int enter(struct xen_domctl *domctl)
{
	const char *wanted = getenv("FAKE_VERSION");

	if (wanted && domctl->interface_version == strtoul(wanted, NULL, 0)) {
		domctl->interface_version = real.version;
		return 0;
	}
	errno = wanted ? EACCES : EPERM;
	return -1;
}

static void leave(struct xen_domctl *domctl)
{
	char *at = (char *)&domctl->u.getdomaininfo.max_pages;

	domctl->interface_version = (uint32_t)strtoul(getenv("FAKE_VERSION"), NULL, 0);
	if (domctl->cmd == XEN_DOMCTL_getdomaininfo && getenv("FAKE_MOVED")) {
		memmove(at + 8, at, (size_t)((char *)(domctl + 1) - at) - 8);
		memset(at, 0, 8);
	}
}

static struct xen_domctl *domctl_of(uint64_t argument)
{
	return (struct xen_domctl *)(uintptr_t)argument;
}

int xencall1(xencall_handle *call, unsigned int op, uint64_t first)
{
	int status;

	if (op != __HYPERVISOR_domctl)
		abort();
	if (enter(domctl_of(first)) < 0)
		return -1;
	status = real.call1(call, op, first);
	leave(domctl_of(first));
	return status;
}

static int multicall(xencall_handle *call, multicall_entry_t *entry, uint64_t count)
{
	struct xen_domctl *domctls[64];
	int status;

	if (count > 64)
		abort();
	for (uint64_t i = 0; i < count; i++) {
		domctls[i] = domctl_of(entry[i].args[0]);
		if (enter(domctls[i]) < 0)
			abort();
	}
	status = real.call2(call, __HYPERVISOR_multicall, (uintptr_t)entry, count);
	for (uint64_t i = 0; i < count; i++)
		leave(domctls[i]);
	return status;
}

int xencall2(xencall_handle *call, unsigned int op, uint64_t first, uint64_t second)
{
	if (op == __HYPERVISOR_multicall)
		return multicall(call, (void *)(uintptr_t)first, second);
	if (getenv("FAKE_VERSION"))
		return first == XENVER_version ? 4 << 16 | 99
					       : real.call2(call, op, first, second);
	errno = EPERM;
	return -1;
}
