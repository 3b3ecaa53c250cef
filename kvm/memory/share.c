/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/share.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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
		 map->start, map->end);
	return open_read_only(path);
}

const char *share_map(pid_t pid, const struct proc_map *maps, size_t count,
		      const struct region *region)
{
	const struct proc_map *map = find_map(maps, count, region);
	uint64_t offset;
	struct stat file;
	void *at = MAP_FAILED;
	int fd;

	if (!map || !map->shared || !map->inode)
		return NULL;
	fd = open_file(pid, map);
	if (fd < 0)
		return NULL;
	offset = map->offset + (region->address - map->start);
	/* Beyond the end of the file, there would be a SIGBUS. The descriptor's number
	 * may have been used for another file meanwhile. */
	if (fstat(fd, &file) == 0 && is_file_of(map, &file) && file.st_size >= 0 &&
	    offset <= (uint64_t)file.st_size &&
	    (uint64_t)file.st_size - offset >= region->size)
		at = mmap(NULL, region->size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd,
			  (off_t)offset);
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}
