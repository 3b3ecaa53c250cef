/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/array.h"
#include "base/clock.h"

static bool rotates(const struct series *series)
{
	return series->rotation.time || series->rotation.size;
}

int series_init(struct series *series, const char *path, const struct rotation *rotation,
		struct error *err)
{
	*series = (struct series){.path = path, .rotation = *rotation};
	return rotates(series) ? opener_start(&series->opener, path, rotation->keep, err)
			       : 0;
}

static int open_next(struct series *series, struct error *err)
{
	uint64_t number;
	int fd = opener_next(&series->opener, &number, err);

	if (fd < 0)
		return -1;
	free(series->name);
	if (asprintf(&series->name, "%s.%" PRIu64, series->path, number) < 0)
		series->name = NULL;
	series->file = (struct recording_file){
		.path = series->name ? series->name : series->path, .fd = fd};
	return 0;
}

int series_open(struct series *series, struct error *err)
{
	return rotates(series) ? open_next(series, err)
			       : recording_file_open(&series->file, series->path, err);
}

int series_begin(struct series *series, const struct recording_info *info,
		 struct error *err)
{
	struct error why;

	if (!series->files++)
		series->start = info->monotonic_start;
	series->info = *info;
	series->writer = writer_new(series->file.fd, info, NULL, 0, &why);
	if (!series->writer)
		return error_set(err, "%s: %s", series_name(series), why.text);
	return recording_file_begin(&series->file, err);
}

/* Ends the current file at @end->monotonic, and adds its counts to the totals. */
static int end_file(struct series *series, struct recording_end *end, struct error *err)
{
	int status = writer_end(series->writer, end, err);

	series->total.samples += end->samples;
	series->total.lost += end->lost;
	series->total.missed += end->missed;
	series->total.pauses += end->pauses;
	series->total.paused += end->paused;
	pauses_merge(&series->pauses, writer_pauses(series->writer));
	series->weight += writer_weight(series->writer);
	series->bytes += writer_bytes(series->writer);
	return status;
}

/* Ends the current file at @end_time, and begins the next one at @start: 1, or -1. */
static int rotate_file(struct series *series, uint64_t end_time, uint64_t start,
		       struct error *err)
{
	struct recording_end end = {.reason = END_ROTATED, .monotonic = end_time};
	struct recording_info info = series->info;
	int status = end_file(series, &end, err);

	writer_free(series->writer);
	series->writer = NULL;
	if (recording_file_close(&series->file, err) < 0 || status < 0 ||
	    open_next(series, err) < 0)
		return -1;
	if (series->rotation.complete)
		eventfd_write(series->rotation.complete, 1);
	info.wall_start = clock_ns(CLOCK_REALTIME) - clock_monotonic() + start;
	info.monotonic_start = start;
	if (series->domains)
		memset(series->described, 0,
		       series->domains * sizeof(*series->described));
	return series_begin(series, &info, err) < 0 ? -1 : 1;
}

int series_advance(struct series *series, uint64_t time, struct error *err)
{
	const struct rotation *rotation = &series->rotation;
	uint64_t begun = series->info.monotonic_start;

	if (rotation->time && time >= begun + rotation->time) {
		uint64_t periods = (time - series->start) / rotation->time;

		return rotate_file(series, begun + rotation->time,
				   series->start + periods * rotation->time, err);
	}
	if (rotation->size && writer_bytes(series->writer) >= rotation->size &&
	    time > begun)
		return rotate_file(series, time, time, err);
	return 0;
}

uint64_t series_next_start(const struct series *series, uint64_t time)
{
	uint64_t length = series->rotation.time;

	if (!length || time < series->start)
		return UINT64_MAX;
	return series->start + ((time - series->start) / length + 1) * length;
}

/* Makes room for the description of a domain with this index, which only rotation
 * needs. */
static bool make_room(struct series *series, uint64_t index)
{
	size_t capacity = 2 * (size_t)index + 2, old = series->capacity;

	if (index < old)
		return true;
	if (!array_grow_zeroed(&series->domain, old, capacity, sizeof(*series->domain)) ||
	    !array_grow_zeroed(&series->described, old, capacity,
			       sizeof(*series->described)))
		return false;
	series->capacity = capacity;
	return true;
}

int series_domain(struct series *series, const struct recording_domain *domain,
		  struct error *err)
{
	if (!rotates(series))
		return writer_domain(series->writer, domain, err);
	if (!make_room(series, domain->index))
		return error_set(err, "out of memory");
	series->domain[domain->index] = *domain;
	series->described[domain->index] = true;
	if (domain->index >= series->domains)
		series->domains = (size_t)domain->index + 1;
	return writer_domain(series->writer, domain, err);
}

/* Describes a domain in the current file, if only an earlier file has its description. */
static int describe_again(struct series *series, uint32_t domain, struct error *err)
{
	if (domain >= series->domains || series->described[domain])
		return 0;
	series->described[domain] = true;
	return writer_domain(series->writer, &series->domain[domain], err);
}

int series_place(struct series *series, const struct recording_name *name,
		 struct error *err)
{
	if (describe_again(series, name->domain, err) < 0)
		return -1;
	return writer_name(series->writer, name, err);
}

int series_mapping(struct series *series, const struct recording_mapping *mapping,
		   struct error *err)
{
	if (describe_again(series, mapping->domain, err) < 0)
		return -1;
	return writer_mapping(series->writer, mapping, err);
}

int series_sample(struct series *series, const struct sample *sample, struct error *err)
{
	if (describe_again(series, sample->domain, err) < 0)
		return -1;
	return writer_sample(series->writer, sample, err);
}

int series_wait(struct series *series, const struct wait *wait, struct error *err)
{
	if (describe_again(series, wait->domain, err) < 0)
		return -1;
	return writer_wait(series->writer, wait, err);
}

void series_waits(struct series *series, const struct waits_counts *counts)
{
	waits_counts_add(writer_waits_counts(series->writer), counts);
	writer_waits(series->writer);
}

int series_flush(struct series *series, struct error *err)
{
	return writer_flush(series->writer, err);
}

struct sampling_counts *series_counts(struct series *series)
{
	return series->writer ? writer_counts(series->writer) : NULL;
}

int series_end(struct series *series, struct recording_end *end, struct error *err)
{
	struct recording_end own = *end;
	int status = series->writer ? end_file(series, &own, err) : -1;

	series->total.reason = end->reason;
	series->total.monotonic = end->monotonic;
	*end = series->total;
	writer_free(series->writer);
	series->writer = NULL;
	return status;
}

uint64_t series_bytes(const struct series *series)
{
	return series->bytes + (series->writer ? writer_bytes(series->writer) : 0);
}

uint64_t series_weight(const struct series *series)
{
	return series->weight + (series->writer ? writer_weight(series->writer) : 0);
}

void series_pauses(const struct series *series, struct pauses *pauses)
{
	*pauses = series->pauses;
	if (series->writer)
		pauses_merge(pauses, writer_pauses(series->writer));
}

const char *series_name(const struct series *series)
{
	return rotates(series) && !series->file.path ? series->path
						     : recording_file_name(&series->file);
}

int series_close(struct series *series, struct error *err)
{
	int status = recording_file_close(&series->file, err);

	opener_stop(&series->opener);
	writer_free(series->writer);
	free(series->name);
	free(series->domain);
	free(series->described);
	*series = (struct series){0};
	return status;
}
