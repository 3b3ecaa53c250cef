/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/pages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "arch/arch.h"

/* The bit of an entry of /proc/PID/pagemap for a page that is in memory
 * (Documentation/admin-guide/mm/pagemap.rst). */
#define PRESENT (1ull << 63)

int vmm_pages_open(struct vmm_pages *pages, pid_t pid, struct error *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", pid);
	pages->pid = pid;
	pages->size = (uint64_t)sysconf(_SC_PAGESIZE);
	pages->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	if (pages->pagemap < 0)
		return error_errno(err, errno, "can't open %s", path);
	return 0;
}

void vmm_pages_close(struct vmm_pages *pages)
{
	if (pages->pagemap >= 0)
		close(pages->pagemap);
	pages->pagemap = -1;
}

static bool is_present(const struct vmm_pages *pages, uint64_t address)
{
	off_t at = (off_t)(address / pages->size * sizeof(uint64_t));
	uint64_t entry;

	return pread(pages->pagemap, &entry, sizeof(entry), at) == sizeof(entry) &&
	       entry & PRESENT;
}

bool vmm_pages_copy(const struct vmm_pages *pages, uint64_t address, void *to)
{
	struct iovec here = {to, GUEST_PAGE_SIZE};
	struct iovec there = {(void *)(uintptr_t)address, GUEST_PAGE_SIZE};

	return is_present(pages, address) &&
	       process_vm_readv(pages->pid, &here, 1, &there, 1, 0) == GUEST_PAGE_SIZE;
}
