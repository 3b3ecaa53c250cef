/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/pause.h"
#include "xen/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xen/version.h>

#define DEVICE	   "/dev/xen/privcmd"
#define HYPERVISOR "/sys/hypervisor/type"

static bool xen_exists(void)
{
	return access(DEVICE, F_OK) == 0 || access(HYPERVISOR, F_OK) == 0;
}

/* Reports errors that the libraries would report less clearly. */
static int check_access(struct error *err)
{
	const char *path = DEVICE;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (errno == EACCES || errno == EPERM)
		return error_set(err, "no permission to open %s: run this as root", path);
	if (errno != ENOENT && errno != ENXIO && errno != ENODEV)
		return error_errno(err, errno, "can't open %s", path);
	if (access(HYPERVISOR, F_OK) == 0)
		return error_set(
			err,
			"%s is missing: this is a Xen guest, or dom0 without its "
			"driver (modprobe xen-privcmd); run uniprof in dom0",
			path);
	return error_set(err,
			 "Xen is not running here (%s is missing): run uniprof in "
			 "dom0 of a Xen host",
			 path);
}

/* Only "Xen" if the version can't be queried, for example in a domU. */
static void find_version(struct xen *xen)
{
	char *extra = xen->scratch;
	int version = xen->lib.call2(xen->call, __HYPERVISOR_xen_version, XENVER_version,
				     0);

	if (version < 0) {
		snprintf(xen->host.version, sizeof(xen->host.version), "Xen");
		return;
	}
	memset(extra, 0, sizeof(xen_extraversion_t) + 1);
	xen->lib.call2(xen->call, __HYPERVISOR_xen_version, XENVER_extraversion,
		       (uint64_t)(uintptr_t)extra);
	snprintf(xen->host.version, sizeof(xen->host.version), "Xen %d.%d%s",
		 version >> 16, version & 0xffff, extra);
}

static void close_xen(struct host *host)
{
	struct xen *xen = xen_of(host);

	pause_free(xen);
	if (xen->store_stuck)
		return;
	if (xen->store)
		xen->lib.store_close(xen->store);
	if (xen->scratch)
		xen->lib.free_pages(xen->call, xen->scratch, 1);
	if (xen->call)
		xen->lib.call_close(xen->call);
	free(xen);
}

static const struct host_ops operations = {
	.needs = &xen_needs,
	.close = close_xen,
	.info = xen_domain_info,
	.list = xen_domain_list,
	.arm = xen_arm,
	.adopt = xen_adopt,
	.paused_since = xen_paused_since,
	.resume = xen_resume,
	.find_left = xen_find_left,
	.unpause_left = xen_unpause_left,
	.unpause_command = "xl unpause",
	.open = xen_guest_open,
};

static struct host *xen_open(bool force, struct error *err)
{
	struct xen *xen;

	if (check_access(err) < 0)
		return NULL;
	xen = calloc(1, sizeof(*xen));
	if (!xen) {
		error_set(err, "out of memory");
		return NULL;
	}
	xen->host.ops = &operations;
	xen->host.connection = -1;
	if (xen_library_load(&xen->lib, err) < 0)
		goto fail;
	xen->call = xen->lib.call_open(xen_library_silence(), 0);
	if (!xen->call) {
		error_errno(err, errno, "can't open Xen's hypercall interface");
		goto fail;
	}
	xen->scratch = xen->lib.alloc_pages(xen->call, 1);
	if (!xen->scratch) {
		error_errno(err, errno, "can't allocate memory for hypercalls");
		goto fail;
	}
	find_version(xen);
	store_open(xen);
	if (xen_find_domctl_version(xen, force, err) < 0)
		goto fail;
	return &xen->host;
fail:
	close_xen(&xen->host);
	return NULL;
}

const struct hypervisor xen_hypervisor = {
	.exists = xen_exists,
	.open = xen_open,
	.request_types = XEN_REQUESTS,
};
