/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/perf/perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "report/model/domains.h"

#define TIDS_PER_DOMAIN 10000

int perf_threads_init(struct perf_threads *threads, const struct summary *summary)
{
	*threads = (struct perf_threads){
		.summary = summary,
		.pids = calloc(SUMMARY_FIRST_PROCESS + SUMMARY_PROCESSES,
			       sizeof(*threads->pids)),
		.tids = calloc(SUMMARY_FIRST_PROCESS + SUMMARY_PROCESSES,
			       sizeof(*threads->tids)),
	};
	return threads->pids && threads->tids ? 0 : -1;
}

void perf_threads_free(struct perf_threads *threads)
{
	free(threads->pids);
	free(threads->tids);
}

/* Whether one of the @count domains has this pid or tid. */
static bool is_taken(const uint32_t *ids, size_t count, uint32_t id)
{
	for (size_t i = 0; i < count; i++)
		if (ids[i] == id + 1)
			return true;
	return false;
}

/* Whether both are threads of one process. */
static bool is_one_process(const struct recording_domain *a,
			   const struct recording_domain *b)
{
	return a->index == b->index && a->process.pid == b->process.pid &&
	       a->process.space == b->process.space &&
	       strcmp(a->process.comm, b->process.comm) == 0;
}

/* Returns the pid + 1 that another thread of the process has got; 0 if there is none. */
static uint32_t pid_of_others(const struct perf_threads *threads, uint32_t domain)
{
	const struct summary *summary = threads->summary;
	const struct recording_domain *of = summary_domain(summary, domain);

	for (uint32_t i = 0; of->process.tid && i < summary->process_count; i++) {
		uint32_t other = SUMMARY_FIRST_PROCESS + i;

		if (threads->pids[other] &&
		    is_one_process(summary_domain(summary, other), of))
			return threads->pids[other];
	}
	return 0;
}

/* Returns a pid for the domain: a process keeps its guest's pid, unless that is too large
 * or has been given to another process. */
static uint32_t new_pid(const struct perf_threads *threads, uint32_t domain)
{
	const struct summary *summary = threads->summary;
	uint32_t pid = summary_domain(summary, domain)->process.pid;

	if (!pid || pid >= DOMAIN_PROCESS_PIDS ||
	    is_taken(threads->pids, summary->domain_room, pid) ||
	    is_taken(threads->pids + SUMMARY_FIRST_PROCESS, summary->process_count, pid))
		return domain_pid(summary, domain);
	return pid;
}

static uint32_t pid_of(struct perf_threads *threads, uint32_t domain)
{
	/* A domain that is unknown now may be known later. */
	if (!summary_domain(threads->summary, domain))
		return domain_pid(threads->summary, domain);
	if (!threads->pids[domain])
		threads->pids[domain] = pid_of_others(threads, domain);
	if (!threads->pids[domain])
		threads->pids[domain] = new_pid(threads, domain) + 1;
	return threads->pids[domain] - 1;
}

/* Whether a vCPU of a domain can have this tid. */
static bool is_of_vcpu(const struct summary *summary, uint64_t tid)
{
	for (uint32_t i = 0; i < summary->domain_room; i++)
		if (tid / TIDS_PER_DOMAIN == domain_pid(summary, i))
			return true;
	return false;
}

/* Returns a tid for a guest's thread, which keeps its own unless that is too large or is
 * another's. */
static uint32_t new_tid(const struct perf_threads *threads, uint32_t domain)
{
	const struct summary *summary = threads->summary;
	uint64_t tid = summary_domain(summary, domain)->process.tid;

	if (tid >= (uint64_t)DOMAIN_PROCESS_PIDS * TIDS_PER_DOMAIN ||
	    is_of_vcpu(summary, tid) ||
	    is_taken(threads->tids + SUMMARY_FIRST_PROCESS, summary->process_count,
		     (uint32_t)tid))
		return domain_pid(summary, domain) * TIDS_PER_DOMAIN;
	return (uint32_t)tid;
}

static uint32_t tid_of(struct perf_threads *threads, uint32_t domain, uint32_t pid,
		       uint32_t vcpu)
{
	const struct recording_domain *of = summary_domain(threads->summary, domain);

	if (!of || !of->process.tid)
		return pid * TIDS_PER_DOMAIN + vcpu;
	if (!threads->tids[domain])
		threads->tids[domain] = new_tid(threads, domain) + 1;
	return threads->tids[domain] - 1;
}

/* Names the thread, or the first one of its process: for a process as perf does. */
static void name_thread(char to[DOMAIN_NAME_SIZE], const struct recording_domain *domain,
			bool is_leader)
{
	if (domain->process.tid && *domain->process.thread && !is_leader)
		snprintf(to, DOMAIN_NAME_SIZE, "%s", domain->process.thread);
	else if (*domain->process.comm)
		snprintf(to, DOMAIN_NAME_SIZE, "%s", domain->process.comm);
	else
		domain_name(to, domain);
}

/* Sets @comm to the name of a domain, which may be unknown. */
static void make_comm(char comm[PERF_COMM_SIZE], const struct recording_domain *of,
		      bool is_leader)
{
	char name[DOMAIN_NAME_SIZE], word[128] = "domain-?";

	if (of) {
		name_thread(name, of, is_leader);
		text_word(word, sizeof(word), name);
	}
	if (!word[1] || strspn(word, "0123456789") == strlen(word))
		comm = stpcpy(comm, "domain-");
	strcpy(comm, word);
}

void perf_thread(struct perf_threads *threads, struct perf_thread *thread,
		 uint32_t domain, uint32_t vcpu)
{
	const struct recording_domain *of = summary_domain(threads->summary, domain);

	if (!of || of != threads->last) {
		make_comm(threads->comm, of, false);
		make_comm(threads->leader, of, true);
	}
	threads->last = of;
	thread->comm = threads->comm;
	thread->leader = threads->leader;
	thread->pid = pid_of(threads, domain);
	thread->tid = tid_of(threads, domain, thread->pid, vcpu);
}

bool perf_is_task_clock(const struct measure *measure)
{
	return measure->weight == MEASURE_CPU_TIME;
}

const char *perf_event(const struct measure *measure)
{
	if (measure_is_event(measure))
		return measure->event;
	return perf_is_task_clock(measure) ? "task-clock" : "cpu-clock";
}

uint64_t perf_period(const struct measure *measure, const struct counted_sample *sample)
{
	return measure_is_time(measure) ? sample->count * 1000 : sample->count;
}

/* Takes over the path. -1 if it is NULL or out of memory. */
static int add_map(struct perf_maps *maps, struct perf_map map)
{
	if (!map.path || !array_grow(&maps->list, maps->count + 1, sizeof(*maps->list))) {
		free(map.path);
		return -1;
	}
	maps->list[maps->count++] = map;
	return 0;
}

static char *path_of(const struct perf_map *map)
{
	/* The path of a program in a recording is a path on another machine. */
	char *path = map->source ? realpath(map->file->path, NULL) : NULL;

	/* A pipe that has been read has no real path. */
	return path ?: strdup(map->file->path);
}

static int add_file(struct perf_maps *maps, struct perf_map map)
{
	const struct symbols_file *file = map.file;
	bool needs_start = false;

	memcpy(map.build_id, file->build_id, file->build_id_size);
	map.build_id_size = file->build_id_size;
	for (size_t i = 0; i < file->segment_count; i++) {
		map.segment = file->segments[i];
		if (map.segment.address - map.segment.offset != file->image)
			needs_start = true;
		if (needs_start && map.segment.address == file->image) {
			map.segment.address++;
			map.segment.offset++;
			map.segment.size--;
		}
		map.path = map.segment.size ? path_of(&map) : NULL;
		if (map.segment.size && add_map(maps, map) < 0)
			return -1;
	}
	if (!needs_start)
		return 0;
	map.segment = (struct symbols_segment){.address = file->image, .size = 1};
	map.path = path_of(&map);
	return add_map(maps, map);
}

static int add_source(struct perf_maps *maps, const struct source *source)
{
	const struct symbols_file *files;
	size_t count = symbols_files(source->symbols, &files);

	for (size_t i = 0; i < count; i++)
		if (add_file(maps,
			     (struct perf_map){.source = source, .file = &files[i]}) < 0)
			return -1;
	return 0;
}

int perf_maps_init(struct perf_maps *maps, const struct sources *sources)
{
	*maps = (struct perf_maps){.sources = sources};
	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < sources->count; i++)
			if (source_is_own(&sources->list[i]) == own &&
			    add_source(maps, &sources->list[i]) < 0)
				return -1;
	return 0;
}

/* Adds the mapped file with this number, if there is one. */
static int add_mapped(struct perf_maps *maps, size_t number)
{
	struct perf_map map = {0};
	const struct mapped_file *file = mappings_get(maps->sources->mappings, number,
						      &map.segment.address);

	if (!file || !file->size || !*file->path)
		return 0;
	map.segment.size = file->size;
	if (file->id_size <= sizeof(map.build_id)) {
		memcpy(map.build_id, file->id, file->id_size);
		map.build_id_size = file->id_size;
	}
	map.path = strdup(file->path);
	return add_map(maps, map);
}

int perf_maps_update(struct perf_maps *maps)
{
	size_t numbers = mappings_numbers(maps->sources->mappings);
	struct recorded_program *const *list;
	size_t count = recorded_programs(maps->sources->recorded, &list);

	for (; maps->recorded < count; maps->recorded++) {
		const struct recorded_program *program = list[maps->recorded];

		if (add_file(maps, (struct perf_map){.program = program,
						     .file = &program->file}) < 0)
			return -1;
	}
	for (; maps->mapped < numbers; maps->mapped++)
		if (add_mapped(maps, maps->mapped) < 0)
			return -1;
	return 0;
}

void perf_maps_free(struct perf_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->list[i].path);
	free(maps->list);
}

bool perf_map_is_for(const struct perf_maps *maps, const struct perf_map *map,
		     const struct recording_domain *domain, uint32_t index)
{
	if (map->source)
		return source_is_for(map->source, domain);
	return !map->program ||
	       sources_recorded_for(maps->sources, map->program, domain, index);
}

const struct perf_map *perf_maps_find(const struct perf_maps *maps,
				      const struct recording_domain *domain,
				      uint32_t index, uint64_t address)
{
	for (size_t i = 0; i < maps->count; i++) {
		const struct perf_map *map = &maps->list[i];

		if (address - map->segment.address < map->segment.size &&
		    perf_map_is_for(maps, map, domain, index))
			return map;
	}
	return NULL;
}
