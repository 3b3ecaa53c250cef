/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * Reports of recordings of real guests were seen to need some 10 MB, plus up to 10 bytes
 * for each byte of the recording.
 */
#define FREE_BYTES     ((uint64_t)192 << 20)
#define BYTES_FOR_BYTE 64

/* Returns what setrlimit() counts as data (proc(5), /proc/pid/statm: data and stack), in
 * bytes; 0 if unknown. */
static uint64_t data_in_use(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	uint64_t pages;
	int found = 0;

	if (file) {
		found = fscanf(file, "%*u %*u %*u %*u %*u %" SCNu64, &pages);
		fclose(file);
	}
	return found == 1 ? pages * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

static void bound_set(const struct memory_bound *bound)
{
	uint64_t most = bound->start + FREE_BYTES + BYTES_FOR_BYTE * bound->bytes;
	struct rlimit limit;

#ifdef __SANITIZE_ADDRESS__
	return; /* AddressSanitizer maps far more memory than is allocated */
#endif
	if (!bound->start || getrlimit(RLIMIT_DATA, &limit) < 0 || most > limit.rlim_max)
		return;
	limit.rlim_cur = most;
	setrlimit(RLIMIT_DATA, &limit);
}

void memory_bound_begin(struct memory_bound *bound, uint64_t bytes, uint64_t extra)
{
	uint64_t start = data_in_use();

	*bound = (struct memory_bound){start ? start + extra : 0, bytes};
	bound_set(bound);
}

void memory_bound_raise(struct memory_bound *bound, uint64_t bytes)
{
	/* Each step costs a system call, so small steps are left out. */
	if (bytes < bound->bytes + (1u << 16))
		return;
	bound->bytes = bytes;
	bound_set(bound);
}

void memory_unbound(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_DATA, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_DATA, &limit);
}
