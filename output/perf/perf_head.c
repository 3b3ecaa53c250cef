/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The head of a perf.data file: magic, sections and the event; and the "features" after
 * the records, as described in tools/perf/Documentation/perf.data-file-format.txt and
 * tools/perf/util/header.c.
 *
 * What the recording doesn't contain is omitted, except the host's name. Mapping to
 * perf's terms: hostname is the recording host, os release the hypervisor, perf version
 * the recorder's version, arch and CPUs those of the guests. Build-ids are from the ELF
 * files' notes.
 */
#include "output/perf/perf.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "base/parse.h"
#include "report/model/domains.h"

struct section {
	uint64_t offset, size; /* bytes, from the file's start */
};

/* struct perf_event_attr up to clockid, which any perf since Linux 4.1 supports; its size
 * shows which later fields are present. The headers of older kernels lack some of it. */
struct attr {
	uint32_t type, size;
	uint64_t config, sample_freq, sample_type, read_format;
	uint64_t flags;
	uint32_t wakeup_events, bp_type;
	uint64_t config1, config2, branch_sample_type, sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
};

/* The bit-fields of struct perf_event_attr, in flags. */
#define ATTR_EXCLUDE_KERNEL (1u << 5)
#define ATTR_MMAP	    (1u << 8)
#define ATTR_COMM	    (1u << 9)
#define ATTR_FREQ	    (1u << 10)
#define ATTR_MMAP2	    (1u << 23)
#define ATTR_USE_CLOCKID    (1u << 25)

_Static_assert(sizeof(struct attr) == PERF_ATTR_SIZE_VER3, "ends with clockid");

struct file_attr {
	struct attr attr;
	struct section ids;
};

/* The features written; their numbers are bits, and their order. */
enum feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_VERSION = 5,
	FEATURE_ARCH = 6,
	FEATURE_NRCPUS = 7,
	FEATURE_CMDLINE = 11,
	FEATURE_EVENT_DESC = 12,
	FEATURE_SAMPLE_TIME = 21,
	FEATURES
};

struct head {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4]; /* one bit each */
	/* At any place in the file: */
	struct file_attr attr;
};

#define HEADER_SIZE offsetof(struct head, attr)

/* tools/lib/perf/include/perf/event.h */
#define RECORD_BUILD_ID	   67
#define MISC_BUILD_ID_SIZE (1 << 15)

/* Sizes of texts and names in features are multiples of this (NAME_ALIGN). */
#define TEXT_ALIGN 64

void perf_head_reserve(FILE *file)
{
	static const struct head zeros;

	fwrite(&zeros, sizeof(zeros), 1, file);
}

static struct attr make_attr(const struct report *report)
{
	/* Rounds in 1,000 s */
	uint64_t hertz = (report->summary->info.frequency + 500) / 1000;
	struct event_kind kind;
	struct error ignored;

	if (parse_event(perf_event(report->measure), &kind, &ignored) < 0)
		kind = (struct event_kind){.type = PERF_TYPE_SOFTWARE,
					   .config = PERF_COUNT_SW_DUMMY};
	return (struct attr){
		.type = kind.type,
		.size = sizeof(struct attr),
		.config = kind.config,
		.sample_freq = hertz ? hertz : 1, /* or else sample_period */
		.sample_type = PERF_HEAD_SAMPLE_TYPE,
		/* No sample is in the kernel: otherwise perf warns that it can't read the
		   symbols of the kernel it runs on. */
		.flags = ATTR_EXCLUDE_KERNEL | ATTR_MMAP | ATTR_COMM |
			 (hertz ? ATTR_FREQ : 0) | ATTR_MMAP2 | ATTR_USE_CLOCKID,
		.clockid = CLOCK_MONOTONIC,
	};
}

static void put_padded(FILE *file, const char *text, size_t size)
{
	size_t length = strlen(text);

	fwrite(text, 1, length, file);
	for (; length < size; length++)
		putc(0, file);
}

/* Returns the size of a text with its padding: at least one zero byte. */
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
		const struct perf_map *map = &maps->list[i];
		struct {
			struct perf_event_header header;
			int32_t pid; /* machine: the host */
			uint8_t id[20], id_size, reserved[3];
		} record = {
			.header = {.type = RECORD_BUILD_ID,
				   .misc = PERF_RECORD_MISC_USER | MISC_BUILD_ID_SIZE},
			.pid = -1,
			.id_size = (uint8_t)map->build_id_size,
		};
		size_t size = padded_size(map->path);

		/* Mappings of one file are neighbours. */
		if (!map->build_id_size ||
		    (i && map->file && map[-1].file == map->file) || size > PATH_MAX)
			continue;
		memcpy(record.id, map->build_id, map->build_id_size);
		record.header.size = (uint16_t)(sizeof(record) + size);
		fwrite(&record, sizeof(record), 1, file);
		put_padded(file, map->path, size);
		any = true;
	}
	return any;
}

/* Returns the architecture of all domains in the report, as `uname -m` names it; "" if
 * they differ. */
static const char *machine_of(const struct report *report)
{
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
	return cpu_kind_machine(cpu);
}

/* Writes the maximum of all domains' vCPUs: a sample's CPU is a vCPU of its domain. */
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
	put_number(file, sizeof(head->attr.attr));
	fwrite(&head->attr.attr, sizeof(head->attr.attr), 1, file);
	put_number(file, 0); /* ids */
	put_text(file, name);
	return true;
}

static bool put_command(FILE *file, const char *command)
{
	if (!*command)
		return false;
	/* As a single argument: arguments can contain blanks, so it can't be split. */
	put_number(file, 1);
	return put_text(file, command);
}

/* Writes the base of percentages in perf's --time. */
static bool put_span(FILE *file, const struct perf_span *span)
{
	if (!span->any)
		return false;
	fwrite(&span->first, sizeof(span->first), 1, file);
	fwrite(&span->last, sizeof(span->last), 1, file);
	return true;
}

/* The inputs of all features */
struct content {
	const struct report *report;
	const struct perf_maps *maps;
	const struct perf_span *span;
};

/* Writes a feature; false if it is omitted. */
static bool put_feature(FILE *file, const struct head *head,
			const struct content *content, enum feature feature)
{
	const struct report *report = content->report;
	const struct recording_info *info = &report->summary->info;

	switch (feature) {
	case FEATURE_BUILD_ID:
		return put_build_ids(file, content->maps);
	case FEATURE_HOSTNAME:
		/* Without this feature, hotspot assumes that BUILD_ID is the only one
		 * present. */
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
	case FEATURE_SAMPLE_TIME:
		return put_span(file, content->span);
	default:
		return false;
	}
}

/* Writes the features, which follow the records: first a section for each feature
 * present, in the order of their numbers. Space is reserved for all possible sections. */
static void put_features(FILE *file, struct head *head, const struct content *content)
{
	struct section sections[FEATURES] = {{0}};
	size_t count = 0;
	off_t start = ftello(file);

	fwrite(sections, sizeof(sections), 1, file);
	for (int feature = 0; feature < FEATURES; feature++) {
		off_t from = ftello(file);

		if (!put_feature(file, head, content, (enum feature)feature))
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
		      const struct perf_maps *maps, const struct perf_span *span)
{
	const struct content content = {report, maps, span};
	struct head head = {
		.magic = {'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'},
		.size = HEADER_SIZE,
		.attr_size = sizeof(struct file_attr),
		.attrs = {offsetof(struct head, attr), sizeof(struct file_attr)},
		.data = {.offset = sizeof(struct head)},
	};
	off_t end = ftello(file);

	if (end < 0)
		return; /* a write error, kept in the FILE */
	head.data.size = (uint64_t)end - sizeof(head);
	head.attr.attr = make_attr(report);
	put_features(file, &head, &content);
	/* Not rewind(), which would clear errors. */
	fseeko(file, 0, SEEK_SET);
	fwrite(&head, sizeof(head), 1, file);
	fseeko(file, 0, SEEK_END);
}
