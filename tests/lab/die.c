/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ends recorders in the middle of a pause, which a signal at a random moment rarely does:
 * lab-die DOMAIN HOW COUNT. HOW is "kill" (SIGKILL) or "crash" (SIGSEGV): prints, for
 * each of COUNT deaths, the time until the guard's call that resumes the guest had
 * returned, in us, shortest first. With "hold", the recorder prints "paused" and keeps
 * the guest paused.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "record/open.h"
#include "record/safety/priority.h"
#include "record/safety/guard.h"
#include "record/sampler.h"
#include "xen/internal.h"

/* The size of a recorder in memory: a core dump must write it, and each group of guest
 * pages must be unmapped with a call. */
#define BALLAST (40u << 20)
#define GROUPS	1000

/* Global, because the replaced library function has no context argument. */
static struct {
	__typeof__(xencall2) *call2;
	pid_t recorder;
	struct times {
		uint64_t died, resumed; /* ns, monotonic; 0: not yet */
	} * times;			/* shared */
} watched;

/* The guard makes only one call. */
static int watched_call2(xencall_handle *call, unsigned int op, uint64_t argument1,
			 uint64_t argument2)
{
	int status = watched.call2(call, op, argument1, argument2);

	if (getpid() != watched.recorder)
		__atomic_store_n(&watched.times->resumed, clock_monotonic(),
				 __ATOMIC_SEQ_CST);
	return status;
}

static int be_recorder(const char *name, const char *how, struct error *err)
{
	char *ballast = malloc(BALLAST);
	struct host *host = host_open(NULL, false, err);
	const struct sampling sampling = {0};
	struct sampler *sampler = NULL;
	struct guest_info info;
	struct guest *guest = NULL;
	struct round round;
	int status;

	if (!ballast || !host)
		return -1;
	memset(ballast, 1, BALLAST);
	watched.recorder = getpid();
	watched.call2 = xen_of(host)->lib.call2;
	xen_of(host)->lib.call2 = watched_call2;
	if (!guard_start(host, NULL, err) || host_find(host, name, &info, err) < 0)
		return -1;
	guest = host->ops->open(host, &info, NULL, err);
	sampler = guest ? sampler_new(guest, &sampling, err) : NULL;
	if (!sampler)
		return -1;
	mlockall(MCL_CURRENT);
	priority_set(PRIORITY_SAMPLER);
	for (unsigned int i = 0; i < 10; i++)
		if (sampler_round(sampler, 1, &round, err) < 0)
			return -1;
	/* A guest that has not run since the last round needs no pause. */
	do {
		if (sampler_round(sampler, 1, &round, err) < 0)
			return -1;
		guest->ops->begin_pages(guest->memory, clock_monotonic(), GROUPS);
		for (uint64_t i = 0; i < GROUPS; i++)
			guest->ops->map_page(guest->memory, 8 * i);
		guest->ops->prepare(guest);
		status = guest->ops->pause(guest, err);
	} while (status == PAUSE_NEEDLESS && round.outcome != ROUND_GONE);
	if (status)
		return -1;
	watched.times->died = clock_monotonic();
	if (strcmp(how, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(how, "crash") == 0)
		raise(SIGSEGV);
	puts("paused");
	fflush(stdout);
	for (;;)
		pause();
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* @took: how long the guest had to wait, ns. */
static int die(const char *name, const char *how, uint64_t *took, struct error *err)
{
	struct times *times = watched.times;
	pid_t recorder;

	*times = (struct times){0, 0};
	recorder = fork();
	if (recorder == 0) {
		if (be_recorder(name, how, err) < 0)
			fprintf(stderr, "lab-die: %s\n", err->text);
		_exit(EXIT_FAILED);
	}
	waitpid(recorder, NULL, 0);
	for (unsigned int i = 0; i < 5000; i++) {
		uint64_t resumed = __atomic_load_n(&times->resumed, __ATOMIC_SEQ_CST);

		if (resumed && times->died) {
			*took = resumed - times->died;
			return 0;
		}
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
	return error_set(err, "the guest was not resumed");
}

static int run(const char *name, const char *how, size_t count, struct error *err)
{
	uint64_t *took = calloc(count + 1, sizeof(*took));

	watched.times = mmap(NULL, sizeof(*watched.times), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < count; i++)
		if (die(name, how, &took[i], err) < 0)
			return -1;
	qsort(took, count, sizeof(*took), compare);
	for (size_t i = 0; i < count; i++)
		printf("%.0f\n", (double)took[i] / NS_PER_US);
	return 0;
}

int main(int argc, char **argv)
{
	struct error err = {"not done"};

	if (argc != 4)
		return EXIT_USAGE;
	if (run(argv[1], argv[2], strtoul(argv[3], NULL, 10), &err) < 0) {
		fprintf(stderr, "lab-die: %s\n", err.text);
		return EXIT_FAILED;
	}
	return EXIT_DONE;
}
