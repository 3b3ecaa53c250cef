/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/reading.h"

#include <stdlib.h>

/* As reading_set_window(), for waits: one that began in an earlier file, before a
 * rotation, counts from the start of this one. */
static int set_wait_window(const struct reading *reading, struct error *err)
{
	const struct summary *summary = reading->summary;

	reading->profile->measure.since = summary->has_info
						  ? summary->info.monotonic_start
						  : 0;
	return reading_set_window(reading, err);
}

static struct wait_listener wait_listener(const struct reading *reading)
{
	const struct profile *profile = reading->profile;

	return (struct wait_listener){
		.wait = reading->listener->wait,
		.arg = reading->listener->arg,
		.recording = (uint32_t)(reading->recording - profile->recordings),
		.is_beside = profile->measure.weight != MEASURE_WAIT,
	};
}

/* Returns what measures waits; NULL if they are not wanted. */
static struct measure *wait_measure(struct profile *profile)
{
	if (profile->measure.weight == MEASURE_WAIT)
		return &profile->measure;
	return profile->rules->keeps_waits ? &profile->wait_measure : NULL;
}

/* Counts the batch's waits, and passes on those that are over. -1 if out of memory. */
static int count_waits(const struct reading *reading, struct waits_batch *batch)
{
	const struct wait_listener listener = wait_listener(reading);
	struct profile *profile = reading->profile;
	struct measure *measure = wait_measure(profile);
	struct samples_batch *samples = &batch->samples;

	measure->from = profile->measure.from;
	measure->to = profile->measure.to;
	measure->since = profile->measure.since;
	if (measure_waits(measure, &profile->summary, batch) < 0)
		return -1;
	if (profile_by_process(profile) &&
	    processes_split(&profile->processes, &profile->summary, samples) < 0)
		return -1;
	if (stacks_find(profile->stacks, samples, measure->counts) < 0 ||
	    filter_batch(profile->filter, profile->stacks, measure, samples->count) < 0 ||
	    stacks_count(profile->stacks, measure->counts,
			 listener.is_beside ? 0 : samples->count) < 0)
		return -1;
	return open_waits_follow(&profile->waits, measure, profile->stacks, batch,
				 &listener);
}

/* Adds the waits' chains to those that are wanted besides the samples'. -1 if out of
 * memory. */
static int keep_chains(struct profile *profile, const struct samples_batch *samples)
{
	uint64_t *ones = calloc(samples->count + 1, sizeof(*ones));
	int status = -1;

	for (size_t i = 0; ones && i < samples->count; i++)
		ones[i] = 1;
	if (ones)
		status = stacks_add(profile->wait_stacks, samples, ones);
	free(ones);
	return status;
}

int reading_take_waits(void *arg, struct waits_batch *batch, struct error *err)
{
	struct reading *reading = arg;
	struct profile *profile = reading->profile;

	if (!profile->wait_stacks && !wait_measure(profile))
		return 0;
	if (reading_shift_domains(reading, &batch->samples, err) < 0)
		return -1;
	if (relocate(&profile->relocation, profile->sources.mappings, &batch->samples) <
		    0 ||
	    (profile->wait_stacks && keep_chains(profile, &batch->samples) < 0))
		return profile_out_of_memory(err);
	if (!wait_measure(profile))
		return 0;
	if (set_wait_window(reading, err) < 0)
		return -1;
	if (count_waits(reading, batch) < 0)
		return profile_out_of_memory(err);
	return reading_check_output(reading, err);
}

int reading_end_waits(const struct reading *reading, struct error *err)
{
	struct profile *profile = reading->profile;
	const struct waits_counts *counts = &reading->summary->waits;
	const struct wait_listener listener = wait_listener(reading);

	if (!wait_measure(profile))
		return 0;
	if (!counts->rounds && !listener.is_beside)
		return error_set(err, "no waits in %s: they are recorded with --waits",
				 reading->recording->input.name);
	if (open_waits_end(&profile->waits, wait_measure(profile), profile->stacks,
			   counts->until, &listener) < 0)
		return profile_out_of_memory(err);
	return reading_check_output(reading, err);
}
