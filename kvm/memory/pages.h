/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_PAGES_H
#define UNIPROF_KVM_MEMORY_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Copies pages of a VMM that are in memory. A page that is not may have to be made by
 * another program first (userfaultfd(2)), which can take any time, or not be worth
 * making: a VMM gives back pages that its guest does not need (ballooning). So whether a
 * page is there is asked first.
 */
struct vmm_pages {
	pid_t pid;
	int pagemap;   /* descriptor of /proc/PID/pagemap; -1: not open */
	uint64_t size; /* size of the host's pages, bytes */
};

/* Opens the pages of @pid. -1 with the reason in @err if they may not be read. */
int vmm_pages_open(struct vmm_pages *pages, pid_t pid, struct error *err);
void vmm_pages_close(struct vmm_pages *pages);

/* Copies the page at @address (a multiple of GUEST_PAGE_SIZE) to @to; returns false, at
 * once, if it is not in memory. */
bool vmm_pages_copy(const struct vmm_pages *pages, uint64_t address, void *to);

#endif
