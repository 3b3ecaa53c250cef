/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "format/writer.h"
#include "record/domains/target.h"
#include "record/file/sink.h"
#include "record/safety/priority.h"
#include "tests/bench/ways.h"
#include "xen/internal.h"

struct current {
	struct host *host;
	struct target target;
	int output;
	struct series series;
	struct sink *sink;
};

/* Counts map calls. Global, because Xen's library passes its handle only. */
static struct {
	__typeof__(xenforeignmemory_map) *map;
	const struct host *host; /* NULL: not sampling */
	uint64_t in_pause;	 /* map calls while a domain was paused */
} watch;

static void *watched_map(xenforeignmemory_handle *memory, uint32_t domain, int access,
			 size_t pages, const xen_pfn_t *frames, int *failures)
{
	watch.in_pause += watch.host && watch.host->ops->paused_since(watch.host) != 0;
	return watch.map(memory, domain, access, pages, frames, failures);
}

uint64_t current_maps_in_pause(void)
{
	return watch.in_pause;
}

static int current_start(struct current *way, const struct guest_info *domain,
			 const struct program_table *table, struct error *err)
{
	const struct sampling sampling = {.table = table};
	const struct recording_info info = {.tool = "bench"};
	struct recording_domain described;

	if (target_open(&way->target, way->host, domain, NULL, &sampling, err) < 0)
		return -1;
	target_describe(&way->target, true, &described);
	way->output = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (way->output < 0)
		return error_errno(err, errno, "can't open /dev/null");
	way->series.writer = writer_new(way->output, &info, NULL, 0, err);
	way->sink = way->series.writer ? sink_new(err) : NULL;
	if (!way->sink)
		return -1;
	if (sink_start(way->sink, &way->series, NULL, err) < 0) {
		sink_free(way->sink);
		way->sink = NULL;
		return -1;
	}
	if (!sink_domain(way->sink, &described))
		return error_set(err, "no room for a domain");
	mlockall(MCL_CURRENT);
	priority_set(PRIORITY_SAMPLER);
	return 0;
}

struct current *current_new(struct host *host, const struct guest_info *domain,
			    const struct program_table *table, struct error *err)
{
	struct current *way = calloc(1, sizeof(*way));

	if (!way) {
		error_set(err, "out of memory");
		return NULL;
	}
	way->host = host;
	way->output = -1;
	if (!watch.map) {
		watch.map = xen_of(host)->lib.memory_map;
		xen_of(host)->lib.memory_map = watched_map;
	}
	if (current_start(way, domain, table, err) < 0) {
		current_free(way);
		return NULL;
	}
	watch.host = host;
	return way;
}

void current_free(struct current *way)
{
	struct recording_end end = {0};
	struct error ignored;
	sigset_t none;

	if (!way)
		return;
	watch.host = NULL;
	priority_set(PRIORITY_USUAL);
	sigemptyset(&none);
	if (way->sink)
		sink_end(way->sink, &end, &none, &ignored);
	writer_free(way->series.writer);
	if (way->output >= 0)
		close(way->output);
	target_close(&way->target);
	free(way);
}

int current_sample(struct current *way, struct round *round, uint64_t *whole,
		   struct error *err)
{
	uint64_t begin = whole ? clock_monotonic() : 0;

	if (sampler_round(way->target.sampler, 1, round, err) < 0)
		return -1;
	if (round->outcome != ROUND_TAKEN)
		return error_set(err, "the domain does not run");
	sink_round(way->sink, round, 0);
	if (whole)
		*whole = clock_monotonic() - begin;
	return 0;
}

int current_look(struct current *way, uint64_t *cpu_time, struct error *err)
{
	struct guest *guest = way->target.guest;
	enum observation observation;

	if (guest->ops->observe(guest, clock_monotonic(), &observation, err) < 0)
		return -1;
	if (cpu_time)
		*cpu_time = guest->vcpu[0].cpu_time;
	return 0;
}
