/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/share.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Missing in headers older than Linux 4.14 and 5.11 (include/uapi/linux/userfaultfd.h):
 * faults raise SIGBUS; only faults of user mode count, which needs no privilege. */
#ifndef UFFD_FEATURE_SIGBUS
#define UFFD_FEATURE_SIGBUS (1 << 7)
#endif
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* All shares. Only the thread that samples changes the list and reads shares; the signals
 * of its reads interrupt no change of the list. */
static struct share *shares;

/* Where share_has() continues if its read fails; NULL: no such read is being made. */
static _Thread_local sigjmp_buf *volatile fallback;

static struct share *share_of(const char *address)
{
	struct share *share = shares;

	while (share && (uint64_t)(address - share->start) >= share->size)
		share = share->next;
	return share;
}

/* Puts zeros in place of a page that has vanished after share_has(): whether that was
 * possible. */
static bool put_zeros(struct share *share, const char *address)
{
	uint64_t offset = (uint64_t)(address - share->start);

	offset -= offset % share->granule;
	share->is_spoiled = true;
	return mmap((char *)share->start + offset, share->granule, PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static void handle_bus_error(int number, siginfo_t *info, void *context)
{
	struct share *share = share_of(info->si_addr);
	sigjmp_buf *there = fallback;

	(void)context;
	if (share && there)
		siglongjmp(*there, 1);
	if (share && put_zeros(share, info->si_addr))
		return;
	/* Another mistake ends the process as usual, when the read is made again. */
	signal(number, SIG_DFL);
}

int share_watch(void)
{
	const struct sigaction action = {
		.sa_sigaction = handle_bus_error,
		/* share_has() leaves the handler without unblocking the signal. */
		.sa_flags = SA_SIGINFO | SA_NODEFER,
	};
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_SIGBUS};
	int watch = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);

	/* Older kernels don't know the flag, and need the privilege or the permission of
	 * vm.unprivileged_userfaultfd. */
	if (watch < 0)
		watch = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (watch < 0)
		return -1;
	if (ioctl(watch, UFFDIO_API, &api) < 0 || sigaction(SIGBUS, &action, NULL) < 0) {
		close(watch);
		return -1;
	}
	return watch;
}

/* The mapping that contains the whole region; NULL if there is none. */
static const struct proc_map *find_map(const struct proc_map *maps, size_t count,
				       const struct region *region)
{
	for (size_t i = 0; i < count; i++)
		if (maps[i].start <= region->address && region->address < maps[i].end &&
		    maps[i].end - region->address >= region->size)
			return &maps[i];
	return NULL;
}

static bool is_file_of(const struct proc_map *map, const struct stat *file)
{
	return S_ISREG(file->st_mode) && file->st_ino == map->inode &&
	       file->st_dev == map->device;
}

/* Opens what should be a regular file, but whose link may refer to a device by now. */
static int open_read_only(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Opens the mapping's file by one of the VMM's descriptors, or by the mapping itself,
 * which not every user may open (proc(5), /proc/pid/map_files). */
static int open_file(pid_t pid, const struct proc_map *map)
{
	struct dirent *entry;
	char path[96];
	int fd = -1;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && fd < 0 && (entry = readdir(dir))) {
		struct stat file;

		if (fstatat(dirfd(dir), entry->d_name, &file, 0) < 0 ||
		    !is_file_of(map, &file))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, atoi(entry->d_name));
		fd = open_read_only(path);
	}
	if (dir)
		closedir(dir);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
		 map->start, map->first_end);
	return open_read_only(path);
}

/* Maps the file from @offset on. A private mapping shows the file as a shared one does
 * until it is written to, and can be watched without the permission to write to the file.
 */
static bool map_watched(struct share *share, int watch, uint64_t offset)
{
	struct uffdio_register watched = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	void *at = mmap(NULL, share->size, PROT_READ, MAP_PRIVATE | MAP_NORESERVE,
			share->fd, (off_t)offset);

	if (at == MAP_FAILED)
		return false;
	watched.range.start = (uintptr_t)at;
	watched.range.len = share->size;
	if (ioctl(watch, UFFDIO_REGISTER, &watched) < 0) {
		munmap(at, share->size);
		return false;
	}
	share->start = at;
	share->next = shares;
	shares = share;
	return true;
}

bool share_map(struct share *share, int watch, pid_t pid, const struct proc_map *maps,
	       size_t count, const struct region *region)
{
	const struct proc_map *map = find_map(maps, count, region);
	struct stat file;
	uint64_t offset;

	*share = (struct share){.fd = -1};
	if (watch < 0 || !map || !map->shared || !map->inode)
		return false;
	offset = map->offset + (region->address - map->start);
	share->fd = open_file(pid, map);
	/* The descriptor's number may have been used for another file meanwhile. */
	if (share->fd >= 0 && fstat(share->fd, &file) == 0 && is_file_of(map, &file)) {
		share->size = region->size;
		share->end = offset + region->size;
		share->granule = (uint64_t)file.st_blksize;
		if (!share_is_cut(share) && map_watched(share, watch, offset))
			return true;
	}
	share_unmap(share);
	return false;
}

void share_unmap(struct share *share)
{
	struct share **link = &shares;

	while (*link && *link != share)
		link = &(*link)->next;
	if (*link)
		*link = share->next;
	if (share->start)
		munmap((void *)share->start, share->size);
	if (share->fd >= 0)
		close(share->fd);
	*share = (struct share){.fd = -1};
}

bool share_has(const char *page)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 0)) {
		fallback = NULL;
		return false;
	}
	fallback = &here;
	(void)*(const volatile char *)page;
	fallback = NULL;
	return true;
}

bool share_is_cut(const struct share *share)
{
	struct stat file;

	return fstat(share->fd, &file) == 0 &&
	       (file.st_size < 0 || (uint64_t)file.st_size < share->end);
}
