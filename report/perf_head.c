/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The head of a perf.data file: magic, sections and the event, and behind the
 * records the "features", as tools/perf/Documentation/perf.data-file-format.txt and
 * tools/perf/util/header.c have them.
 *
 * What a recording doesn't tell isn't there, but for the host's name. perf's words for
 * what it does tell: hostname is the recording host's, os release the hypervisor, perf
 * version the recorder's, arch and CPUs the guests'. Build-ids are from the ELF files'
 * notes.
 */
#include "report/perf_head.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "report/domains.h"

struct section {
	uint64_t offset, size; /* bytes, from the file's start */
};

/* struct perf_event_attr up to clockid, which any perf since Linux 4.1 knows; it
 * tells newer parts by its size. */
#define ATTR_SIZE PERF_ATTR_SIZE_VER3

struct file_attr {
	char attr[ATTR_SIZE];
	struct section ids;
};

/* The features that we have; their numbers are bits, and their order. */
enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURES
};

struct head {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4]; /* a bit each */
	/* In no fixed place: */
	uint64_t id;
	struct file_attr attr;
};

#define HEADER_SIZE offsetof(struct head, id)

/* tools/lib/perf/include/perf/event.h */
#define RECORD_BUILD_ID	   67
#define MISC_BUILD_ID_SIZE (1 << 15)

/* Texts and names in features have sizes of multiples of it (NAME_ALIGN). */
#define TEXT_ALIGN 64

void perf_head_reserve(FILE *file)
{
	static const struct head zeros;

	fwrite(&zeros, sizeof(zeros), 1, file);
}

static void make_attr(char to[ATTR_SIZE], const struct report *report)
{
	/* Rounds in 1,000 s */
	uint64_t hertz = (report->summary->info.frequency + 500) / 1000;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = ATTR_SIZE,
		.config = perf_is_task_clock(report->measure) ? PERF_COUNT_SW_TASK_CLOCK
							      : PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_HEAD_SAMPLE_TYPE,
		.mmap = 1,
		.mmap2 = 1,
		/* No sample is of a kernel, or perf warns that it can't read its own's
		 * symbols. */
		.exclude_kernel = 1,
		.comm = 1,
		.freq = hertz > 0,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	attr.sample_freq = hertz ? hertz : 1; /* or else sample_period */
	memcpy(to, &attr, ATTR_SIZE);
}

static void put_padded(FILE *file, const char *text, size_t size)
{
	size_t length = strlen(text);

	fwrite(text, 1, length, file);
	for (; length < size; length++)
		putc(0, file);
}

/* With at least one zero byte at its end. */
static size_t padded_size(const char *text)
{
	return (strlen(text) / TEXT_ALIGN + 1) * TEXT_ALIGN;
}

static void put_number(FILE *file, uint32_t number)
{
	fwrite(&number, sizeof(number), 1, file);
}

static bool put_text(FILE *file, const char *text)
{
	if (!*text)
		return false;
	put_number(file, (uint32_t)padded_size(text));
	put_padded(file, text, padded_size(text));
	return true;
}

static bool put_build_ids(FILE *file, const struct perf_maps *maps)
{
	bool any = false;

	for (size_t i = 0; i < maps->count; i++) {
		const struct symbols_file *from = maps->list[i].file;
		struct {
			struct perf_event_header header;
			int32_t pid; /* of a machine: the host */
			uint8_t id[20], id_size, reserved[3];
		} record = {
			.header = {.type = RECORD_BUILD_ID,
				   .misc = PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE},
			.pid = -1,
			.id_size = (uint8_t)from->build_id_size,
		};
		size_t size = padded_size(maps->list[i].path);

		/* Its segments are neighbours. */
		if (!from->build_id_size || (i && maps->list[i - 1].file == from) ||
		    size > PATH_MAX)
			continue;
		memcpy(record.id, from->build_id, from->build_id_size);
		record.header.size = (uint16_t)(sizeof(record) + size);
		fwrite(&record, sizeof(record), 1, file);
		put_padded(file, maps->list[i].path, size);
		any = true;
	}
	return any;
}

/* As `uname -m` calls what all domains of the report run on. */
static const char *machine_of(const struct report *report)
{
	static const char *const machines[] = {
		[CPU_X86_64] = "x86_64",
		[CPU_X86_32] = "i686",
		[CPU_ARM64] = "aarch64",
		[CPU_ARM32] = "armv7l",
	};
	const struct summary *summary = report->summary;
	uint64_t cpu = CPU_UNKNOWN;

	for (size_t i = 0; i < summary->domain_room; i++) {
		const struct recording_domain *domain = summary->domains[i];

		if (!domain || !domain_in_list(domain, report->measure->list))
			continue;
		if (cpu != CPU_UNKNOWN && domain->cpu != cpu)
			return "";
		cpu = domain->cpu;
	}
	if (cpu >= sizeof(machines) / sizeof(*machines) || !machines[cpu])
		return "";
	return machines[cpu];
}

/* The most that a domain has: a sample's CPU is a vCPU of its domain. */
static bool put_cpus(FILE *file, const struct report *report)
{
	const struct summary *summary = report->summary;
	uint64_t most = 0;

	for (size_t i = 0; i < summary->domain_room; i++)
		if (summary->domains[i] && summary->domains[i]->vcpus > most)
			most = summary->domains[i]->vcpus;
	for (size_t i = 0; i < summary->vcpu_count; i++)
		if (summary->vcpus[i].vcpu >= most)
			most = summary->vcpus[i].vcpu + 1;
	if (!most || most > RECORDING_MAX_VCPU + 1)
		return false;
	put_number(file, (uint32_t)most); /* available and online */
	put_number(file, (uint32_t)most);
	return true;
}

static bool put_event(FILE *file, const struct head *head, const char *name)
{
	put_number(file, 1); /* events */
	put_number(file, ATTR_SIZE);
	fwrite(head->attr.attr, ATTR_SIZE, 1, file);
	put_number(file, 1); /* ids */
	put_text(file, name);
	fwrite(&head->id, sizeof(head->id), 1, file);
	return true;
}

static bool put_command(FILE *file, const char *command)
{
	if (!*command)
		return false;
	/* Words could have blanks in them: it is known as a whole only. */
	put_number(file, 1);
	return put_text(file, command);
}

/* False when there is nothing to tell. */
static bool put_feature(FILE *file, const struct head *head, const struct report *report,
			const struct perf_maps *maps, enum feature feature)
{
	const struct recording_info *info = &report->summary->info;

	switch (feature) {
	case FEATURE_BUILD_ID:
		return put_build_ids(file, maps);
	case FEATURE_HOSTNAME:
		/* Without it, hotspot takes BUILD_ID to be the only one that is there. */
		return put_text(file, *info->host ? info->host : "unknown");
	case FEATURE_OSRELEASE:
		return put_text(file, info->hypervisor);
	case FEATURE_VERSION:
		return put_text(file, info->tool);
	case FEATURE_ARCH:
		return put_text(file, machine_of(report));
	case FEATURE_NRCPUS:
		return put_cpus(file, report);
	case FEATURE_CMDLINE:
		return put_command(file, info->command);
	case FEATURE_EVENT_DESC:
		return put_event(file, head, perf_event(report->measure));
	default:
		return false;
	}
}

/* The features are where the records end: first a section for each that is there,
 * in the order of their numbers. Room is left for one of each that could be. */
static void put_features(FILE *file, struct head *head, const struct report *report,
			 const struct perf_maps *maps)
{
	struct section sections[FEATURES] = {{0}};
	size_t count = 0;
	off_t start = ftello(file);

	fwrite(sections, sizeof(sections), 1, file);
	for (int feature = 0; feature < FEATURES; feature++) {
		off_t from = ftello(file);

		if (!put_feature(file, head, report, maps, (enum feature)feature))
			continue;
		head->features[0] |= (uint64_t)1 << feature;
		sections[count++] = (struct section){
			.offset = (uint64_t)from,
			.size = (uint64_t)(ftello(file) - from),
		};
	}
	fseeko(file, start, SEEK_SET);
	fwrite(sections, sizeof(*sections), count, file);
}

void perf_head_finish(FILE *file, const struct report *report,
		      const struct perf_maps *maps)
{
	struct head head = {
		.magic = "PERFILE2",
		.size = HEADER_SIZE,
		.attr_size = sizeof(struct file_attr),
		.attrs = {offsetof(struct head, attr), sizeof(struct file_attr)},
		.data = {.offset = sizeof(struct head)},
		.id = PERF_HEAD_EVENT_ID,
		.attr.ids = {offsetof(struct head, id), sizeof(head.id)},
	};
	off_t end = ftello(file);

	if (end < 0)
		return; /* writing failed, which the file knows */
	head.data.size = (uint64_t)end - sizeof(head);
	make_attr(head.attr.attr, report);
	put_features(file, &head, report, maps);
	/* Not rewind(), which would forget errors. */
	fseeko(file, 0, SEEK_SET);
	fwrite(&head, sizeof(head), 1, file);
	fseeko(file, 0, SEEK_END);
}
