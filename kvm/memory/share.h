/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_SHARE_H
#define UNIPROF_KVM_MEMORY_SHARE_H

#include <stdbool.h>

#include "kvm/memory/layout.h"

/*
 * A region of a VMM's shared memory, mapped into this process, read-only.
 *
 * A page that the VMM has not filled yet, or has given back, is a hole in the file. An
 * ordinary mapping would fill the hole with zeros when it is read: the VMM, which waits
 * for the guest's first access to fill it by userfaultfd(2), would never be asked, and
 * the guest would read zeros. So the mapping itself is watched by a userfaultfd, with
 * UFFD_FEATURE_SIGBUS: a read of a hole, by whichever of both programs' races, changes
 * nothing and raises SIGBUS here. A file that its VMM has truncated does so, too.
 */
struct share {
	const char *start; /* NULL: not mapped */
	uint64_t size;	   /* bytes */
	uint64_t granule;  /* size of the file's pages, bytes */
	uint64_t end;	   /* offset of the end in the file, bytes */
	int fd;		   /* the file */
	/* A page has vanished between share_has() and a read: the read found zeros. The
	 * region must be unmapped. */
	volatile bool is_spoiled;
	struct share *next;
};

/* Creates the userfaultfd for all shares of this process, and handles SIGBUS from now on.
 * Returns its descriptor, or -1 if the kernel has none (Linux 4.14), or permits none. */
int share_watch(void);

/*
 * Maps a region, whose fields need not be set before. False if its memory is private, its
 * file can't be mapped, or can't be watched, as on a file system on a disk. @watch is the
 * descriptor from share_watch(); -1: false is returned.
 */
bool share_map(struct share *share, int watch, pid_t pid, const struct proc_map *maps,
	       size_t count, const struct region *region);
void share_unmap(struct share *share);

/* Returns whether the page of a share at @page is in the file. It can be read then. */
bool share_has(const char *page);

/* Returns whether the file has become smaller than the region. */
bool share_is_cut(const struct share *share);

#endif
