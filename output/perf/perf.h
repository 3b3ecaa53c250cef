/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_PERF_PERF_H
#define UNIPROF_OUTPUT_PERF_PERF_H

/*
 * How a recording is presented to perf, both in perf's text and in its file format.
 *
 * A domain is a process, and its vCPUs are threads: pid is the domain's id, if that is
 * unique (domain_pid()), or the guest's own pid and name of a process, and tid is pid *
 * 10000 + vCPU, as readers expect tids to be unique. If threads of a guest's processes
 * are told apart, they are what perf calls threads: tid is the guest's own, if it is
 * unique, and the processes' pids are those of perf in the guest. Each sample is one
 * record. Its period is its weight: the number of samples it stands for or, in ns, its
 * time, as in perf's own clock events (task-clock is CPU time, cpu-clock elapsed time).
 * Readers that sum periods, such as perf report and stackcollapse-perf.pl, agree with our
 * other outputs; readers that count records agree if all samples stand for 1. Samples
 * with no time are omitted, because readers treat a period of 0 as missing and count 1.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "report/model/measure.h"
#include "report/model/sources.h"
#include "output/output.h"

#define PERF_COMM_SIZE 160

/* The thread of a sample */
struct perf_thread {
	uint32_t pid, tid;
	/* The name of the domain, process or thread, and that of the process's first
	 * thread, as words that readers accept as a command: not a number and, because of
	 * some readers' patterns, not a single character. Valid until the next thread. */
	const char *comm, *leader;
};

struct perf_threads {
	const struct summary *summary;
	/* By domain: pid + 1, and tid of a guest's thread + 1; 0 until they are needed */
	uint32_t *pids, *tids;
	const struct recording_domain *last; /* the last sample's domain; can be NULL */
	char comm[PERF_COMM_SIZE];	     /* its names, for the next sample */
	char leader[PERF_COMM_SIZE];
};

/* The caller keeps @summary, which must live as long. -1 if out of memory;
 * perf_threads_free() must be called either way, and accepts zeros. */
int perf_threads_init(struct perf_threads *threads, const struct summary *summary);
void perf_threads_free(struct perf_threads *threads);

/* Sets @thread for a vCPU of the domain with index @domain. */
void perf_thread(struct perf_threads *threads, struct perf_thread *thread,
		 uint32_t domain, uint32_t vcpu);

bool perf_is_task_clock(const struct measure *measure);
/* Return the event's name, and a sample's period. */
const char *perf_event(const struct measure *measure);
uint64_t perf_period(const struct measure *measure, const struct counted_sample *sample);

/*
 * Where the ELF files among the symbol files are mapped: their executable segments. perf
 * finds names by these mappings and reads the ELF files again. Lists of names are not
 * mapped.
 *
 * If the start of the file is not where the segment's offset implies, as is usual for
 * kernels, hotspot also needs a mapping of offset 0 at the first segment (its perfparser,
 * perfsymboltable.cpp, module()). One byte is enough; only for this byte does perf get a
 * wrong offset, and an entry point is hardly ever sampled.
 */
struct perf_map {
	const struct source
		*source; /* NULL: a program in a recording, or a mapped file */
	const struct recorded_program *program; /* NULL: another one */
	const struct symbols_file *file;	/* NULL: a mapped file */
	struct symbols_segment segment;
	uint8_t build_id[SYMBOLS_BUILD_ID];
	size_t build_id_size; /* bytes; 0: none */
	char *path;	      /* path of the file, absolute if possible */
};

/* Mappings; earlier ones have priority, as in sources_find() */
struct perf_maps {
	const struct sources *sources;
	struct perf_map *list;
	size_t count;
	size_t recorded; /* programs in the recordings whose mappings are in the list */
	size_t mapped;	 /* likewise, numbers of files that processes had in memory */
};

/* The caller keeps @sources, which must live as long. -1 if out of memory;
 * perf_maps_free() must be called either way, and accepts zeros. */
int perf_maps_init(struct perf_maps *maps, const struct sources *sources);
void perf_maps_free(struct perf_maps *maps);

/* Adds the programs that were read from the recordings since the last call; -1 if out of
 * memory. */
int perf_maps_update(struct perf_maps *maps);

/* Whether the mapping is one of the domain with this @index, described by @domain, which
 * is NULL if unknown. */
bool perf_map_is_for(const struct perf_maps *maps, const struct perf_map *map,
		     const struct recording_domain *domain, uint32_t index);

/* Returns the mapping at the address in such a domain; NULL if there is none. */
const struct perf_map *perf_maps_find(const struct perf_maps *maps,
				      const struct recording_domain *domain,
				      uint32_t index, uint64_t address);

/*
 * The parts of a perf.data file before and after its records. The FILE keeps write
 * errors; it must be seekable.
 */

/* The fields of each sample. There is one event, so samples need no id. */
#define PERF_HEAD_SAMPLE_TYPE                                                    \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

/* The times of the first and the last sample, ns; any is false if there are no samples.
 */
struct perf_span {
	uint64_t first, last;
	bool any;
};

/* Leaves space for the head; records follow. */
void perf_head_reserve(FILE *file);
/* Writes what follows the last record, and the head. */
void perf_head_finish(FILE *file, const struct report *report,
		      const struct perf_maps *maps, const struct perf_span *span);

#endif
