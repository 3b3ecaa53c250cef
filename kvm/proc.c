/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/chain.h"

int proc_open(pid_t pid, pid_t tid, const char *name)
{
	char path[64];

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

ssize_t proc_read(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	int fd = proc_open(pid, tid, name), errnum;
	ssize_t length;

	if (fd < 0)
		return -1;
	length = read(fd, text, size - 1);
	errnum = errno;
	close(fd);
	errno = errnum;
	text[length > 0 ? length : 0] = 0;
	return length;
}

bool proc_parse_stat(const char *text, struct proc_stat *stat)
{
	const char *name = strchr(text, '('), *end = strrchr(text, ')');
	size_t length;

	if (!name || !end || end < name ||
	    sscanf(end, ") %c %d", &stat->state, &stat->parent) != 2)
		return false;
	length = (size_t)(end - name - 1);
	if (length >= sizeof(stat->command))
		length = sizeof(stat->command) - 1;
	memcpy(stat->command, name + 1, length);
	stat->command[length] = 0;
	return true;
}

bool proc_parse_field(const char *text, enum proc_field field, uint64_t *value)
{
	/* The second field, the command, ends with the last bracket. */
	const char *at = strrchr(text, ')');

	for (int i = 2; at && i < (int)field; i++)
		at = strchr(at + 1, ' ');
	return at && sscanf(at, " %" SCNu64, value) == 1;
}

bool proc_parse_schedstat(const char *text, uint64_t *ran, uint64_t *waited)
{
	return sscanf(text, "%" SCNu64 " %" SCNu64, ran, waited) == 2;
}

bool proc_parse_tracer(const char *text, pid_t *tracer)
{
	const char *at = strstr(text, "\nTracerPid:");

	return at && sscanf(at, "\nTracerPid: %d", tracer) == 1;
}

/* Whether a line of maps is of a device's memory: mapped by VFIO, or a file in /dev that
 * is not just memory. */
static bool is_device(const char *line)
{
	const char *path = strchr(line, '/');

	return strstr(line, " anon_inode:") ||
	       (path && strncmp(path, "/dev/", 5) == 0 &&
		strncmp(path, "/dev/shm/", 9) != 0 &&
		strncmp(path, "/dev/hugepages", 14) != 0 &&
		strncmp(path, "/dev/zero", 9) != 0);
}

bool proc_parse_map(const char *line, struct proc_map *map)
{
	unsigned int major, minor;
	char flags[5];

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
		   &map->start, &map->end, flags, &map->offset, &major, &minor,
		   &map->inode) != 7 ||
	    strlen(flags) != 4 || map->start >= map->end)
		return false;
	map->first_end = map->end;
	map->device = makedev(major, minor);
	map->readable = flags[0] == 'r';
	map->writable = flags[1] == 'w';
	map->executable = flags[2] == 'x';
	map->shared = flags[3] == 's';
	map->is_device = is_device(line);
	return true;
}

enum proc_doing proc_parse_syscall(const char *text, long call, int *fd)
{
	uint64_t first, second, pc;
	long number;

	if (strncmp(text, "running", 7) == 0)
		return PROC_RUNS;
	/* A worker of the kernel, which KVM_RUN has started, has its starter's registers,
	 * but no code (copy_thread() in arch/x86/kernel/process.c). */
	if (sscanf(text, "%ld %" SCNx64 " %" SCNx64 " %*x %*x %*x %*x %*x %" SCNx64,
		   &number, &first, &second, &pc) != 4 ||
	    !pc || number != call || (uint32_t)second != PROC_KVM_RUN ||
	    first > INT32_MAX)
		return PROC_DOES_OTHER;
	*fd = (int)first;
	return PROC_RUNS_VCPU;
}

/* By the starts of the names of the kernel's functions that wait (Linux 5.10 to 6.18). */
uint64_t proc_parse_wchan(const char *text)
{
	static const struct {
		const char *start;
		enum exit_kind kind;
		enum exit_wait wait;
	} waits[] = {
		{"kvm_vcpu_block", VMEXIT_HALT, 0},
		{"kvm_vcpu_halt", VMEXIT_HALT, 0},
		{"folio_wait_bit", VMEXIT_WAIT, EXIT_WAIT_PAGE},
		{"wait_on_page_bit", VMEXIT_WAIT, EXIT_WAIT_PAGE},
		{"migration_entry_wait", VMEXIT_WAIT, EXIT_WAIT_PAGE},
		{"handle_userfault", VMEXIT_WAIT, EXIT_WAIT_USERFAULT},
		{"rwsem_", VMEXIT_WAIT, EXIT_WAIT_LOCK},
		{"__mutex_lock", VMEXIT_WAIT, EXIT_WAIT_LOCK},
		{"reclaim_throttle", VMEXIT_WAIT, EXIT_WAIT_MEMORY},
		{"throttle_direct_reclaim", VMEXIT_WAIT, EXIT_WAIT_MEMORY},
		{"congestion_wait", VMEXIT_WAIT, EXIT_WAIT_MEMORY},
		{"wait_iff_congested", VMEXIT_WAIT, EXIT_WAIT_MEMORY},
		{"mem_cgroup_handle_over", VMEXIT_WAIT, EXIT_WAIT_MEMORY},
	};

	if (!*text || *text == '0')
		return 0;
	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
		if (strncmp(text, waits[i].start, strlen(waits[i].start)) == 0)
			return exit_make(waits[i].kind, waits[i].wait);
	return exit_make(VMEXIT_WAIT, EXIT_WAIT_OTHER);
}

bool proc_parse_vcpu(const char *target, unsigned int *number)
{
	int end = 0;

	return sscanf(target, "anon_inode:kvm-vcpu:%u%n", number, &end) == 1 && end &&
	       !target[end];
}

/* Joins the mapping with the one before it, if both may be parts of one (proc.h). */
static bool join_map(struct proc_map *before, const struct proc_map *map)
{
	if (before->end != map->start || !before->shared || !map->shared ||
	    before->device != map->device || before->inode != map->inode ||
	    before->offset + (before->end - before->start) != map->offset ||
	    !before->readable || !map->readable || before->executable != map->executable)
		return false;
	before->end = map->end;
	before->writable |= map->writable;
	return true;
}

int proc_read_maps(pid_t pid, struct proc_map **maps, size_t *count)
{
	int fd = proc_open(pid, 0, "maps"), status = 0;
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct proc_map *map;
	char *line = NULL;
	size_t size = 0;

	*maps = NULL;
	*count = 0;
	if (!file) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (*count < PROC_MAPS_MAX && getline(&line, &size, file) > 0) {
		if (!array_grow(maps, *count + 1, sizeof(**maps))) {
			errno = ENOMEM;
			status = -1;
			break;
		}
		map = *maps + *count;
		*count += proc_parse_map(line, map) &&
			  !(*count && join_map(map - 1, map));
	}
	free(line);
	fclose(file);
	if (status < 0)
		free(*maps);
	return status;
}
