/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_SHARE_H
#define UNIPROF_KVM_MEMORY_SHARE_H

#include "kvm/memory/layout.h"

/*
 * Maps a region of a VMM's memory into this process, read-only; the caller unmaps its
 * region->size bytes. NULL if the memory is private, or its file can't be mapped.
 */
const char *share_map(pid_t pid, const struct proc_map *maps, size_t count,
		      const struct region *region);

#endif
