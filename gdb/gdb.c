/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/gdb.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "gdb/internal.h"

static const struct host_call calls[] = {
	/* Without an address: only on an existing connection. */
	HOST_CALL_WITH(SYS_sendto, 4, 0),
	HOST_CALL_WITH(SYS_recvfrom, 4, 0),
	HOST_CALLS_END,
};

static const struct host_needs needs = {
	.sampling = calls,
	.guarding = calls,
	.kept = "the connection to the GDB stub",
};

static void close_gdb(struct host *host)
{
	struct gdb *gdb = gdb_of(host);

	stub_close(&gdb->stub);
	if (gdb->shared)
		munmap(gdb->shared, sizeof(*gdb->shared));
	free(gdb);
}

/* Creates the socket, which the guard will share, but does not connect it yet. */
static int arm_gdb(struct host *host, struct error *err)
{
	struct gdb *gdb = gdb_of(host);

	gdb->shared = mmap(NULL, sizeof(*gdb->shared), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (gdb->shared == MAP_FAILED) {
		gdb->shared = NULL;
		return error_errno(err, errno, "can't allocate memory");
	}
	if (stub_init(&gdb->stub, gdb->place, &gdb->address, err) < 0)
		return -1;
	host->connection = gdb->stub.fd;
	return 0;
}

static int adopt_gdb(struct host *host, struct error *err)
{
	(void)host, (void)err;
	return 0;
}

static uint64_t gdb_paused_since(const struct host *host)
{
	return atomic_load(&((const struct gdb *)host)->shared->since);
}

static int resume_gdb(struct host *host, struct error *err)
{
	struct gdb *gdb = gdb_of(host);

	if (stub_release(&gdb->stub, err) < 0)
		return -1;
	gdb_hold(gdb, false);
	return 0;
}

static int gdb_info(struct host *host, uint32_t id, struct guest_info *found,
		    struct error *err)
{
	struct gdb *gdb = gdb_of(host);

	if (gdb_connect(gdb, err) < 0)
		return -1;
	if (id != gdb->id)
		return 1;
	*found = (struct guest_info){
		.id = id,
		.type = GUEST_GDB,
		.vcpus = gdb->vcpus,
		.online = gdb->vcpus,
		.memory = gdb_regions_size(&gdb->regions),
		.paused = gdb->is_held,
		.running = !gdb->is_held,
		.vmm = "QEMU",
	};
	snprintf(found->name, sizeof(found->name), "%s", gdb->name);
	return 0;
}

static int gdb_list(struct host *host, struct guest_info **guests, size_t *count,
		    struct error *err)
{
	*guests = guest_infos_new(err);
	if (!*guests)
		return -1;
	*count = 1;
	if (gdb_info(host, gdb_of(host)->id, *guests, err) == 0)
		return 0;
	free(*guests);
	return -1;
}

static const struct host_ops operations = {
	.needs = &needs,
	.close = close_gdb,
	.info = gdb_info,
	.list = gdb_list,
	.arm = arm_gdb,
	.adopt = adopt_gdb,
	.paused_since = gdb_paused_since,
	.resume = resume_gdb,
	.open = gdb_guest_open,
};

struct host *gdb_open(const char *address, const struct gdb_identity *identity,
		      struct error *err)
{
	struct gdb *gdb = calloc(1, sizeof(*gdb));

	if (!gdb) {
		error_set(err, "out of memory");
		return NULL;
	}
	gdb->host.ops = &operations;
	gdb->host.connection = -1;
	gdb->stub.fd = -1;
	gdb->id = identity ? identity->id : 1;
	snprintf(gdb->place, sizeof(gdb->place), "%s", address);
	snprintf(gdb->name, sizeof(gdb->name), "%s", identity ? identity->name : address);
	gdb->is_expected = identity != NULL;
	if (identity)
		snprintf(gdb->qemus_name, sizeof(gdb->qemus_name), "%s",
			 identity->qemus_name);
	snprintf(gdb->host.version, sizeof(gdb->host.version), "GDB stub");
	if (gdb_address_find(address, &gdb->address, err) == 0)
		return &gdb->host;
	close_gdb(&gdb->host);
	return NULL;
}
