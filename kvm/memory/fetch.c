/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/fetch.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "kvm/proc.h"

/* Maximum number of requests that wait. */
#define REQUESTS 64
/* Time for which what is known of a VMM's mappings is used, ns. */
#define KNOWN_NS NS_PER_S
/* Bytes of the thread's stack. */
#define STACK_SIZE (64u << 10)

struct request {
	pid_t pid;
	uint64_t address;
};

struct range {
	uint64_t start, end;
};

/* Mappings of a VMM whose pages can be fetched. */
struct ranges {
	pid_t pid;
	uint64_t read; /* time when they were read, ns, monotonic */
	size_t count;
	struct range *range;
};

struct fetch {
	sem_t ready; /* posted when the thread runs */
	sem_t wake;  /* posted for each request, and at the end */
	atomic_bool is_ended;
	atomic_uint owners; /* the sampling thread and the fetching one */
	bool is_started;
	void (*begin)(void);
	/* A ring, written by the sampling thread. @taken is increased after a page was
	 * fetched. */
	struct request request[REQUESTS];
	atomic_uint given, taken;
	struct ranges ranges; /* the fetching thread's */
};

struct fetch *fetch_new(struct error *err)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));

	if (!fetch) {
		error_set(err, "out of memory");
		return NULL;
	}
	sem_init(&fetch->ready, 0, 0);
	sem_init(&fetch->wake, 0, 0);
	atomic_init(&fetch->owners, 1);
	return fetch;
}

static void fetch_put(struct fetch *fetch)
{
	if (atomic_fetch_sub(&fetch->owners, 1) > 1)
		return;
	sem_destroy(&fetch->ready);
	sem_destroy(&fetch->wake);
	free(fetch->ranges.range);
	free(fetch);
}

/* Reading a private page changes nothing but the reader's time. A shared page without a
 * userfaultfd ("um" in VmFlags, proc(5)) is one that was never used, or was given back.
 */
static void ranges_add(struct ranges *ranges, const struct proc_map *map,
		       const char *flags)
{
	/* Guest memory is in large mappings. */
	if (map->end - map->start < 1u << 20 || (map->shared && !strstr(flags, " um ")))
		return;
	/* Without memory, pages of the other mappings can still be fetched. */
	if (array_grow(&ranges->range, ranges->count + 1, sizeof(*ranges->range)))
		ranges->range[ranges->count++] = (struct range){map->start, map->end};
}

/* Reads /proc/PID/smaps. For a large VMM, this takes some ms. */
static void ranges_read(struct ranges *ranges, pid_t pid)
{
	static const char flags[] = "VmFlags:";
	int fd = proc_open(pid, 0, "smaps");
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	struct proc_map map = {0}, next;
	char *line = NULL;
	size_t size = 0;

	ranges->pid = pid;
	ranges->count = 0;
	while (file && getline(&line, &size, file) > 0) {
		if (strncmp(line, flags, sizeof(flags) - 1) == 0)
			ranges_add(ranges, &map, line);
		else if (proc_parse_map(line, &next))
			map = next;
	}
	free(line);
	if (file)
		fclose(file);
	else if (fd >= 0)
		close(fd);
	ranges->read = clock_monotonic();
}

static bool ranges_have(const struct ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->count; i++)
		if (ranges->range[i].start <= address && address < ranges->range[i].end)
			return true;
	return false;
}

/* Makes the VMM's kernel provide a page, by reading a byte. */
static void fetch_page(struct fetch *fetch, const struct request *request)
{
	struct ranges *ranges = &fetch->ranges;
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)request->address, 1};

	if (ranges->pid != request->pid || clock_monotonic() - ranges->read > KNOWN_NS)
		ranges_read(ranges, request->pid);
	if (ranges_have(ranges, request->address))
		process_vm_readv(request->pid, &here, 1, &there, 1, 0);
}

static void *fetch_run(void *context)
{
	struct fetch *fetch = context;

	if (fetch->begin)
		fetch->begin();
	sem_post(&fetch->ready);
	for (;;) {
		unsigned int taken = atomic_load(&fetch->taken);

		while (sem_wait(&fetch->wake) < 0)
			;
		if (atomic_load(&fetch->is_ended))
			break;
		fetch_page(fetch, &fetch->request[taken % REQUESTS]);
		atomic_store(&fetch->taken, taken + 1);
	}
	fetch_put(fetch);
	return NULL;
}

int fetch_start(struct fetch *fetch, void (*begin)(void), struct error *err)
{
	pthread_attr_t small;
	pthread_t thread;
	int status;

	fetch->begin = begin;
	atomic_fetch_add(&fetch->owners, 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK_SIZE);
	pthread_attr_setdetachstate(&small, PTHREAD_CREATE_DETACHED);
	status = pthread_create(&thread, &small, fetch_run, fetch);
	pthread_attr_destroy(&small);
	if (status) {
		fetch_put(fetch);
		return error_errno(err, status, "can't start a thread");
	}
	fetch->is_started = true;
	while (sem_wait(&fetch->ready) < 0)
		;
	return 0;
}

void fetch_ask(struct fetch *fetch, pid_t pid, uint64_t address)
{
	unsigned int given = atomic_load(&fetch->given);
	unsigned int taken = atomic_load(&fetch->taken);

	if (!fetch->is_started || given - taken == REQUESTS)
		return;
	for (unsigned int i = taken; i != given; i++) {
		const struct request *request = &fetch->request[i % REQUESTS];

		if (request->pid == pid && request->address == address)
			return;
	}
	fetch->request[given % REQUESTS] = (struct request){pid, address};
	atomic_store(&fetch->given, given + 1);
	sem_post(&fetch->wake);
}

void fetch_end(struct fetch *fetch)
{
	if (!fetch)
		return;
	atomic_store(&fetch->is_ended, true);
	sem_post(&fetch->wake);
	fetch_put(fetch);
}
