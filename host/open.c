/* SPDX-License-Identifier: BSD-3-Clause */
#include "host/open.h"

#include <stddef.h>

#include "gdb/address.h"
#include "gdb/gdb.h"
#include "kvm/kvm.h"
#include "xen/xen.h"

/* In the order in which they are tried: a machine that has both runs Xen's domains, or is
 * itself a guest of Xen with guests of KVM. */
static const struct {
	bool (*exists)(void);
	struct host *(*open)(bool force, struct error *err);
} hypervisors[] = {
	{xen_exists, xen_open},
	{kvm_exists, kvm_open},
};

int host_check_gdb(const char *gdb, struct error *err)
{
	return gdb_address_check(gdb, err);
}

struct host *host_open(const char *gdb, bool force, struct error *err)
{
	struct host *host = NULL;
	bool any = false;

	if (gdb)
		return gdb_open(gdb, err);
	for (size_t i = 0; i < sizeof(hypervisors) / sizeof(*hypervisors) && !host; i++) {
		struct error later;

		if (!hypervisors[i].exists())
			continue;
		/* The first one's reason is reported. */
		host = hypervisors[i].open(force, any ? &later : err);
		any = true;
	}
	if (!any)
		error_set(err,
			  "neither Xen nor KVM is running here (/dev/xen/privcmd and "
			  "/dev/kvm are missing): run uniprof in dom0 of a Xen host, "
			  "or on a KVM host");
	return host;
}
