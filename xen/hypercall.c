/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/hypercall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE_BYTES 4096u

/* Whether the mapping at @address is shared, according to /proc/self/maps. The library's
 * memory is shared if the kernel has /dev/xen/hypercall (Linux 4.18). */
static bool is_shared(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end, wanted = (unsigned long)(uintptr_t)address;
	char line[512], flags[5];
	bool shared = false;

	if (!maps)
		return false;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %4s", &start, &end, flags) != 3)
			continue;
		if (start <= wanted && wanted < end) {
			shared = flags[3] == 's';
			break;
		}
	}
	fclose(maps);
	return shared;
}

/* Allocates the memory as the library does without /dev/xen/hypercall, but shared. */
static int map_memory(struct hypercall_memory *memory, struct error *err)
{
	memory->from_library = false;
	memory->data = mmap(NULL, memory->pages * PAGE_BYTES, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1,
			    0);
	if (memory->data != MAP_FAILED)
		return 0;
	memory->data = NULL;
	return error_errno(err, errno,
			   "can't lock %zu KiB of memory for hypercalls (ulimit -l)",
			   memory->pages * PAGE_BYTES / 1024);
}

int hypercall_memory_get(struct xen *xen, struct hypercall_memory *memory, size_t size,
			 struct error *err)
{
	memory->pages = (size + PAGE_BYTES - 1) / PAGE_BYTES;
	memory->data = xen->lib.alloc_pages(xen->call, memory->pages);
	memory->from_library = true;
	if (!memory->data)
		return map_memory(memory, err);
	memset(memory->data, 0, memory->pages * PAGE_BYTES);
	return 0;
}

int hypercall_memory_share(struct xen *xen, struct hypercall_memory *memory, size_t size,
			   struct error *err)
{
	if (hypercall_memory_get(xen, memory, size, err) < 0)
		return -1;
	if (!memory->from_library || is_shared(memory->data))
		return 0;
	hypercall_memory_put(xen, memory);
	return map_memory(memory, err);
}

void hypercall_memory_put(struct xen *xen, struct hypercall_memory *memory)
{
	if (!memory->data)
		return;
	if (memory->from_library)
		xen->lib.free_pages(xen->call, memory->data, memory->pages);
	else
		munmap(memory->data, memory->pages * PAGE_BYTES);
	memory->data = NULL;
}

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
