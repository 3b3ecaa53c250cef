/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples a guest as `uniprof record` does, until the time is up or SIGTERM comes, and
 * tells of each round what a recording does not have: lab-probe DOMAIN SECONDS. A line
 * has: the first vCPU's sampled address, how its chain ended, the chain's addresses, the
 * round's pauses, the last one's length in ns, and the map calls. The last line says how
 * many map calls there were while the guest was paused, and how many pages were mapped at
 * most at a time.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/guard.h"
#include "record/sampler.h"
#include "xen/internal.h"

/* What the library's functions, in whose place the probe's are, don't get told. */
static struct {
	struct capture *capture;
	struct xen_library lib;
	uint64_t in_pause, mapped, most;
	volatile sig_atomic_t stopped;
} probe;

static void stop(int signal)
{
	(void)signal;
	probe.stopped = 1;
}

static void *probe_map(xenforeignmemory_handle *handle, uint32_t domain, int prot,
		       size_t pages, const xen_pfn_t *frames, int *failures)
{
	void *map = probe.lib.memory_map(handle, domain, prot, pages, frames, failures);

	probe.in_pause += capture_left_paused(probe.capture);
	if (map)
		probe.mapped += pages;
	if (probe.mapped > probe.most)
		probe.most = probe.mapped;
	return map;
}

static int probe_unmap(xenforeignmemory_handle *handle, void *map, size_t pages)
{
	probe.in_pause += capture_left_paused(probe.capture);
	probe.mapped -= pages;
	return probe.lib.memory_unmap(handle, map, pages);
}

static int sample(struct sampler *sampler, const struct pages *pages, uint64_t end,
		  struct error *err)
{
	while (!probe.stopped && clock_monotonic() < end) {
		const struct timespec gap = {0, 500000};
		uint64_t calls = pages_map_calls(pages);
		struct round round;

		nanosleep(&gap, NULL);
		if (sampler_round(sampler, 1, &round, err) < 0)
			return -1;
		if (round.outcome != ROUND_TAKEN || !round.samples)
			return error_set(err, "the domain does not run");
		printf("%" PRIx64 " %d %u %u %" PRIu64 " %" PRIu64 "\n",
		       round.sample[0].chain.address[0], (int)round.sample[0].chain.end,
		       round.sample[0].chain.count, round.pauses,
		       round.pause[round.pauses - 1], pages_map_calls(pages) - calls);
	}
	printf("in-pause %" PRIu64 " most %" PRIu64 "\n", probe.in_pause, probe.most);
	return 0;
}

static int run(struct xen *xen, const char *name, uint64_t seconds, struct error *err)
{
	struct xen_domain domain;
	struct guard *guard = NULL;
	struct pages *pages = NULL;
	struct sampler *sampler = NULL;
	int status = -1;

	if (xen_domain_find(xen, name, &domain, err) < 0)
		return -1;
	probe.lib = xen->lib;
	xen->lib.memory_map = probe_map;
	xen->lib.memory_unmap = probe_unmap;
	probe.capture = capture_new(xen, &domain, NULL, err);
	if (probe.capture)
		guard = guard_start(probe.capture, err);
	if (guard)
		pages = pages_new(xen, domain.id, err);
	if (pages)
		sampler = sampler_new(probe.capture, pages, 0, 0, err);
	if (sampler) {
		mlockall(MCL_CURRENT);
		status = sample(sampler, pages, clock_monotonic() + seconds * NS_PER_S,
				err);
	}
	sampler_free(sampler);
	pages_free(pages);
	guard_stop(guard);
	capture_free(probe.capture);
	return status;
}

int main(int argc, char **argv)
{
	struct error err;
	struct xen *xen;

	if (argc != 3)
		return EXIT_USAGE;
	signal(SIGTERM, stop);
	xen = xen_open(&err);
	if (!xen || run(xen, argv[1], strtoul(argv[2], NULL, 10), &err) < 0) {
		fprintf(stderr, "lab-probe: %s\n", err.text);
		return EXIT_FAILED;
	}
	xen_close(xen);
	return EXIT_DONE;
}
