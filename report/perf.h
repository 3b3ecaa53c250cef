/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PERF_H
#define UNIPROF_REPORT_PERF_H

/*
 * What a recording looks like to perf, be it in perf's text or in its own file.
 *
 * A domain is a process and a vCPU is a thread of it: pid is the domain's id, as far as
 * it is the only one with that (domain_pid()), and tid is pid * 10000 + vCPU, as readers
 * expect a tid to be one thread's alone.
 * The period is always 1, and a sample that stands for several is there as often:
 * some readers add periods up and others count samples, and so all of them come to
 * the same numbers as our other outputs.
 *
 * Where samples count for time, each is there once and its period is that time in
 * ns, as with perf's own clock events: task-clock is the time on a CPU, cpu-clock
 * the time that passes. Samples for no time are left out, as readers take a period
 * of 0 for none and count 1.
 */

#include <stdbool.h>
#include <stdint.h>

#include "report/measure.h"
#include "report/output.h"
#include "report/sources.h"

#define PERF_COMM_SIZE 160

/* The thread that a sample is of. */
struct perf_thread {
	uint32_t pid, tid;
	/* The domain's name as a word that readers take for a command: no number,
	 * and, for the patterns of some, not a single character. */
	char comm[PERF_COMM_SIZE];
};

struct perf_threads {
	const struct summary *summary;
	uint32_t *pids; /* by domain: 1 more than its pid; 0 until it is needed */
};

/* @summary stays the caller's, and is needed as long. -1 when memory is short;
 * perf_threads_free() is due either way, and does nothing to zeros. */
int perf_threads_init(struct perf_threads *threads, const struct summary *summary);
void perf_threads_free(struct perf_threads *threads);

/* Sets @thread for a vCPU of the domain of that index. */
void perf_thread(struct perf_threads *threads, struct perf_thread *thread,
		 uint32_t domain, uint32_t vcpu);

bool perf_is_task_clock(const struct measure *measure);
/* The event's name; how often a sample is there, and with which period. */
const char *perf_event(const struct measure *measure);
uint64_t perf_times(const struct measure *measure, const struct output_sample *sample);
uint64_t perf_period(const struct measure *measure, const struct output_sample *sample);

/*
 * Where the ELF files among the symbol files are mapped: their executable segments.
 * That is where perf finds names, as it reads the ELF again. Lists of names are
 * mapped nowhere.
 *
 * hotspot wants more of files whose start is not where it would be by the segment's
 * offset, as is the rule for kernels: a mapping of offset 0 where the first segment
 * is (its perfparser, perfsymboltable.cpp, module()). A byte is enough, and is all
 * that perf has the wrong offset of: one that code is entered at, but hardly ever
 * sampled.
 */
struct perf_map {
	const struct source *source;
	const struct symbols_file *file;
	struct symbols_segment segment;
	char *path; /* the file's, absolute where that can be known */
};

/* What comes first names an address first, as with sources_find(). */
struct perf_maps {
	struct perf_map *list;
	size_t count;
};

/* @sources stays the caller's, and is needed as long. -1 when memory is short;
 * perf_maps_free() is due either way. */
int perf_maps_init(struct perf_maps *maps, const struct sources *sources);
void perf_maps_free(struct perf_maps *maps);

/* What is mapped there in the domain, which is NULL when it is unknown; NULL when
 * nothing is. */
const struct perf_map *perf_maps_find(const struct perf_maps *maps,
				      const struct recording_domain *domain,
				      uint64_t address);

/*
 * What perf is told of a return address. perf looks it up as it is (tools/perf/util/
 * machine.c, add_callchain_ip()) and takes the function behind for the caller where
 * the call is its function's last instruction: there it is one less, within the call.
 */
uint64_t perf_return_address(const struct sources *sources,
			     const struct recording_domain *domain, uint64_t address);

#endif
