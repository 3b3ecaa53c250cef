/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/internal.h"

#include <errno.h>
#include <string.h>

void xen_domctl_init(const struct xen *xen, struct xen_domctl *domctl, uint32_t command,
		     uint32_t domain)
{
	memset(domctl, 0, sizeof(*domctl));
	domctl->cmd = command;
	domctl->interface_version = xen->host.domctl_version;
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
