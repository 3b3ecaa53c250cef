/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples a guest as `uniprof record` does, until the time is over or SIGTERM arrives,
 * and prints for each round what a recording does not contain: lab-probe DOMAIN SECONDS.
 * A line has the first vCPU's sampled address, how its chain ended, the number of
 * addresses in the chain, the number of pauses in the round, the length of the last one
 * in ns (0 without a pause: the guest had not run since its last sample), and the number
 * of map calls. The last line has the number of map calls made while the guest was
 * paused, and the maximum number of pages mapped at a time.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/open.h"
#include "record/safety/guard.h"
#include "record/sampler.h"
#include "xen/internal.h"
#include "xen/pages.h"

/* Global, because the replaced library functions have no context argument. */
static struct {
	const struct host *host;
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

	probe.in_pause += probe.host->ops->paused_since(probe.host) != 0;
	if (map)
		probe.mapped += pages;
	if (probe.mapped > probe.most)
		probe.most = probe.mapped;
	return map;
}

static int probe_unmap(xenforeignmemory_handle *handle, void *map, size_t pages)
{
	probe.in_pause += probe.host->ops->paused_since(probe.host) != 0;
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
			return error_set(err, "the domain is not running");
		printf("%" PRIx64 " %d %u %u %" PRIu64 " %" PRIu64 "\n",
		       round.sample[0].chain.address[0], (int)round.sample[0].chain.end,
		       round.sample[0].chain.count, round.pauses,
		       round.pauses ? round.pause[round.pauses - 1] : 0,
		       pages_map_calls(pages) - calls);
	}
	printf("in-pause %" PRIu64 " most %" PRIu64 "\n", probe.in_pause, probe.most);
	return 0;
}

static int run(struct host *host, const char *name, uint64_t seconds, struct error *err)
{
	struct xen *xen = xen_of(host);
	struct guest_info info;
	struct guest *guest = NULL;
	struct guard *guard;
	const struct sampling sampling = {0};
	struct sampler *sampler = NULL;
	int status = -1;

	guard = guard_start(host, NULL, err);
	if (!guard || host_find(host, name, &info, err) < 0)
		goto out;
	probe.host = host;
	probe.lib = xen->lib;
	xen->lib.memory_map = probe_map;
	xen->lib.memory_unmap = probe_unmap;
	guest = host->ops->open(host, &info, NULL, err);
	if (guest)
		sampler = sampler_new(guest, &sampling, err);
	if (sampler) {
		mlockall(MCL_CURRENT);
		status = sample(sampler, guest->memory,
				clock_monotonic() + seconds * NS_PER_S, err);
	}
	sampler_free(sampler);
	if (guest)
		guest->ops->close(guest);
out:
	guard_stop(guard);
	return status;
}

int main(int argc, char **argv)
{
	struct error err;
	struct host *host;

	if (argc != 3)
		return EXIT_USAGE;
	signal(SIGTERM, stop);
	host = host_open(NULL, false, &err);
	if (!host || run(host, argv[1], strtoul(argv[2], NULL, 10), &err) < 0) {
		fprintf(stderr, "lab-probe: %s\n", err.text);
		return EXIT_FAILED;
	}
	host_close(host);
	return EXIT_DONE;
}
