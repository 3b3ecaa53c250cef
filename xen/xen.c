/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xen/version.h>

/* The interface versions of Xen 4.7 and of the newest whose header was compared
 * (xen/include/public/domctl.h); those beyond are only looked for to be named. */
#define DOMCTL_OLDEST 0x0b
#define DOMCTL_NEWEST 0x17
#define DOMCTL_BEYOND 0x3f

void xen_domctl_init(const struct xen *xen, struct xen_domctl *domctl, uint32_t command,
		     uint32_t domain)
{
	memset(domctl, 0, sizeof(*domctl));
	domctl->cmd = command;
	domctl->interface_version = xen->domctl_version;
	domctl->domain = (domid_t)domain;
}

int xen_domctl(struct xen *xen, struct xen_domctl *domctl)
{
	int status;

	memcpy(xen->scratch, domctl, sizeof(*domctl));
	status = xen->lib.call1(xen->call, __HYPERVISOR_domctl,
				(uint64_t)(uintptr_t)xen->scratch);
	memcpy(domctl, xen->scratch, sizeof(*domctl));
	return status < 0 ? -errno : 0;
}

/* Says in words what the libraries would fail with. */
static int check_access(struct error *err)
{
	const char *path = "/dev/xen/privcmd";
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == EACCES || errno == EPERM)
		return error_set(err, "no permission to open %s: run this as root", path);
	if (errno != ENOENT && errno != ENXIO && errno != ENODEV)
		return error_errno(err, errno, "can't open %s", path);
	if (access("/sys/hypervisor/type", F_OK) == 0)
		return error_set(
			err,
			"%s is missing: this is a Xen guest, or dom0 without its "
			"driver (modprobe xen-privcmd); uniprof has to run in dom0",
			path);
	return error_set(err,
			 "no Xen here (%s is missing): uniprof samples guests from "
			 "dom0 of a Xen host",
			 path);
}

static void find_version(struct xen *xen)
{
	char *extra = xen->scratch;
	int version = xen->lib.call2(xen->call, __HYPERVISOR_xen_version, XENVER_version,
				     0);

	memset(extra, 0, sizeof(xen_extraversion_t) + 1);
	xen->lib.call2(xen->call, __HYPERVISOR_xen_version, XENVER_extraversion,
		       (uint64_t)(uintptr_t)extra);
	snprintf(xen->version, sizeof(xen->version), "Xen %d.%d%s", version >> 16,
		 version & 0xffff, extra);
}

/* Xen refuses a domctl of a version that is not its own with EACCES, before it
 * looks at anything else. */
static int find_domctl_version(struct xen *xen, struct error *err)
{
	for (uint32_t version = DOMCTL_OLDEST; version <= DOMCTL_BEYOND; version++) {
		struct xen_domctl domctl;
		int status;

		xen->domctl_version = version;
		xen_domctl_init(xen, &domctl, XEN_DOMCTL_getdomaininfo, 0);
		status = xen_domctl(xen, &domctl);
		if (status == -EACCES)
			continue;
		if (status == -EPERM || status == -ENOSYS)
			return error_set(err,
					 "%s does not let this domain control others: "
					 "uniprof has to run in dom0",
					 xen->version);
		if (status < 0)
			return error_errno(err, -status, "%s refuses domctl calls",
					   xen->version);
		if (version > DOMCTL_NEWEST)
			return error_set(
				err,
				"%s has domctl interface version 0x%x, newer than "
				"the 0x%x that this uniprof knows: update uniprof",
				xen->version, version, DOMCTL_NEWEST);
		return 0;
	}
	return error_set(err,
			 "%s accepts none of the domctl interface versions 0x%x to "
			 "0x%x",
			 xen->version, DOMCTL_OLDEST, DOMCTL_BEYOND);
}

struct xen *xen_open(struct error *err)
{
	struct xen *xen;

	if (check_access(err) < 0)
		return NULL;
	xen = calloc(1, sizeof(*xen));
	if (!xen) {
		error_set(err, "not enough memory");
		return NULL;
	}
	if (xen_library_load(&xen->lib, err) < 0)
		goto fail;
	xen->call = xen->lib.call_open(xen_library_silence(), 0);
	if (!xen->call) {
		error_errno(err, errno, "can't open Xen's hypercall interface");
		goto fail;
	}
	xen->scratch = xen->lib.alloc_pages(xen->call, 1);
	if (!xen->scratch) {
		error_errno(err, errno, "can't get memory for hypercalls");
		goto fail;
	}
	find_version(xen);
	if (find_domctl_version(xen, err) < 0)
		goto fail;
	xen->store = xen->lib.store_open(0);
	return xen;
fail:
	xen_close(xen);
	return NULL;
}

void xen_close(struct xen *xen)
{
	if (!xen)
		return;
	if (xen->store)
		xen->lib.store_close(xen->store);
	if (xen->scratch)
		xen->lib.free_pages(xen->call, xen->scratch, 1);
	if (xen->call)
		xen->lib.call_close(xen->call);
	free(xen);
}

const char *xen_version(const struct xen *xen)
{
	return xen->version;
}

uint32_t xen_domctl_version(const struct xen *xen)
{
	return xen->domctl_version;
}
