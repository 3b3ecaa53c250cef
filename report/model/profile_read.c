/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/profile_read.h"

#include <stdlib.h>
#include <string.h>

#include "report/load/ends.h"
#include "report/model/checks/match.h"
#include "report/model/domains.h"
#include "report/model/reading.h"

static void progress_start(const struct reading *reading)
{
	const struct profile_progress *progress = reading->listener->progress;

	if (progress)
		progress->start(progress->arg, reading->recording->input.size);
}

static void progress_update(const struct reading *reading)
{
	const struct profile_progress *progress = reading->listener->progress;

	if (progress)
		progress->update(progress->arg, reading->summary->bytes);
}

static void progress_end(const struct reading *reading)
{
	const struct profile_progress *progress = reading->listener->progress;

	if (progress)
		progress->end(progress->arg);
}

/* Returns the host of the recording; "?" if it is unknown. */
static const char *host_of(const struct reading *reading)
{
	const char *host = reading->recording->host;

	if (!*host)
		host = reading->summary->info.host;
	return *host ? host : "?";
}

static int too_many_domains(const struct reading *reading, struct error *err)
{
	return error_set(err, "more than %d domains up to and including %s",
			 RECORDING_MAX_DOMAIN + 1, reading->recording->input.name);
}

static int read_domain(void *arg, struct recording_domain *domain, struct error *err)
{
	struct reading *reading = arg;
	struct profile *profile = reading->profile;
	struct recording_domain shifted;

	if (reading->has_several_hosts)
		domain_name_host(domain, host_of(reading));
	if (!summary_domain(reading->summary, domain->index) &&
	    domain_in_list(domain, profile->rules->domains) &&
	    match_machines(&profile->sources, domain, &profile->notes, err) < 0)
		return -1;
	if (reading->summary == &profile->summary)
		return 0;
	shifted = *domain;
	shifted.index += reading->base;
	if (shifted.index > RECORDING_MAX_DOMAIN)
		return too_many_domains(reading, err);
	return summary_add_domain(&profile->summary, &shifted) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

static int read_names(void *arg, const struct name_list_reader *names, struct error *err)
{
	struct reading *reading = arg;

	struct sources *sources = &reading->profile->sources;

	return recorded_add(sources->recorded, sources->mappings, *names) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

static int read_mappings(void *arg, const struct mapping_list_reader *mappings,
			 struct error *err)
{
	struct reading *reading = arg;

	return mappings_add(reading->profile->sources.mappings, *mappings) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

static int read_program(void *arg, const struct recording_program *program,
			struct error *err)
{
	struct reading *reading = arg;

	return recorded_add_program(reading->profile->sources.recorded, program) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

int reading_set_window(const struct reading *reading, struct error *err)
{
	const struct recording *recording = reading->recording;
	const struct summary *summary = reading->summary;
	struct profile *profile = reading->profile;
	const struct window_span span = {
		.start = recording->length ? recording->start : summary_start(summary),
		.wall = summary->has_info ? summary->info.wall_start : 0,
		.length = recording->length,
	};

	if (window_place(&profile->rules->window, &span, &profile->measure.from,
			 &profile->measure.to) == 0)
		return 0;
	return error_set(err,
			 "%s does not say at what time of day it started: give --time in "
			 "seconds or percent",
			 recording->input.name);
}

/* The part of the recording that was read and is in the window, in ns. */
static uint64_t duration_in_window(const struct reading *reading)
{
	const struct measure *measure = &reading->profile->measure;
	uint64_t from = summary_start(reading->summary);
	uint64_t to = from + summary_duration(reading->summary);
	struct error ignored; /* a recording without samples */

	if (reading_set_window(reading, &ignored) < 0)
		return 0;
	if (from < measure->from)
		from = measure->from;
	if (to > measure->to)
		to = measure->to;
	return to > from ? to - from : 0;
}

/* Passes the batch's samples to the listener. -1 if out of memory. */
static int give_samples(const struct reading *reading, const struct samples_batch *batch)
{
	const struct profile_listener *listener = reading->listener;
	const struct profile *profile = reading->profile;

	for (size_t i = 0; i < batch->count; i++) {
		struct counted_sample sample = {
			.time = batch->time[i],
			.domain = batch->domain[i],
			.vcpu = batch->vcpu[i],
			.stack = profile->stacks->chains[i],
			.recording = (uint32_t)(reading->recording - profile->recordings),
			.state = batch->state[i],
			.count = profile->measure.counts[i],
			.rounds = batch->weight[i],
			.exit = batch->exit[i],
		};
		bool is_seen;

		if (profile->measure.keeps_times)
			sample.times = profile->measure.times[i];
		is_seen = listener->sees_all ? profile->measure.chosen[i]
					     : sample.count > 0;

		if (is_seen && listener->sample(listener->arg, &sample) < 0)
			return -1;
	}
	return 0;
}

/* Finds symbol files by the batch, of a recording that can be read only once: what
 * earlier batches have shown without names stays so. -1 if out of memory. */
static int find_places(const struct reading *reading, const struct samples_batch *batch)
{
	if (!reading->places || survey_is_done(reading->places))
		return 0;
	return survey_add(reading->places, batch) < 0
		       ? -1
		       : survey_vote(reading->places, reading->summary);
}

/* Counts the batch's samples, and passes them on. -1 if out of memory. */
static int count_samples(const struct reading *reading, struct samples_batch *batch)
{
	struct profile *profile = reading->profile;
	struct measure *measure = &profile->measure;

	if (measure_batch(measure, &profile->summary, batch) < 0)
		return -1;
	if (profile_by_process(profile) &&
	    processes_split(&profile->processes, &profile->summary, batch) < 0)
		return -1;
	if (stacks_find(profile->stacks, batch, measure->counts) < 0 ||
	    (measure->states == MEASURE_EXIT &&
	     filter_exits(profile->filter, profile->stacks, measure, batch) < 0) ||
	    (profile->rules->exits &&
	     stacks_add_exits(profile->stacks, batch, measure->counts) < 0) ||
	    filter_batch(profile->filter, profile->stacks, measure, batch->count) < 0 ||
	    stacks_count(profile->stacks, measure->counts, batch->count) < 0)
		return -1;
	return reading->listener->sample ? give_samples(reading, batch) : 0;
}

int reading_check_output(const struct reading *reading, struct error *err)
{
	FILE *out = reading->listener->out;

	if (!out || !ferror(out))
		return 0;
	err->text[0] = 0; /* reported when the output is closed */
	return -1;
}

int reading_shift_domains(const struct reading *reading, struct samples_batch *batch,
			  struct error *err)
{
	for (size_t i = 0; i < batch->count && reading->base; i++) {
		batch->domain[i] += reading->base;
		if (batch->domain[i] > RECORDING_MAX_DOMAIN)
			return too_many_domains(reading, err);
	}
	return 0;
}

static int read_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct reading *reading = arg;
	struct profile *profile = reading->profile;

	profile->bytes = reading->bytes_before + reading->summary->bytes;
	progress_update(reading);
	if (profile->measure.weight == MEASURE_CPU_TIME && batch->count &&
	    !batch->has_cpu_time)
		return error_set(err,
				 "%s contains no CPU times: use --weight samples or wall",
				 reading->recording->input.name);
	if (find_places(reading, batch) < 0)
		return profile_out_of_memory(err);
	if (profile->measure.weight == MEASURE_WAIT)
		return 0;
	if (reading_shift_domains(reading, batch, err) < 0 ||
	    reading_set_window(reading, err) < 0)
		return -1;
	if (relocate(&profile->relocation, profile->sources.mappings, batch) < 0 ||
	    count_samples(reading, batch) < 0)
		return profile_out_of_memory(err);
	return reading_check_output(reading, err);
}

static int pass_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	(void)batch;
	(void)err;
	progress_update(arg);
	return 0;
}

/* Reads the whole recording for what its first and last chunk don't contain. */
static int read_through(struct reading *reading, struct error *err)
{
	const struct load_visitor visitor = {.samples = pass_samples, .arg = reading};
	const struct input *input = &reading->recording->input;
	int status;

	progress_start(reading);
	status = load_recording(input, 0, reading->summary, &visitor, err);
	progress_end(reading);
	return status < 0 ? -1 : input_rewind(input, err);
}

/* Reads the properties of the recording that must be known to count its samples. */
static int survey_recording(const struct reading *reading, struct recording *recording,
			    struct error *err)
{
	struct summary summary = {0};
	struct reading survey = *reading;
	int status = 0;

	survey.recording = recording;
	survey.summary = &summary;
	if (!ends_read(&recording->input, &summary))
		status = read_through(&survey, err);
	memcpy(recording->host, summary.info.host, sizeof(recording->host));
	recording->start = summary_start(&summary);
	recording->length = summary_duration(&summary);
	summary_free(&summary);
	return status;
}

/* Collects the hosts of several recordings, and what --time may need. */
static int survey_all(struct reading *reading, struct error *err)
{
	const struct profile *profile = reading->profile;
	bool needs_length = window_needs_length(&profile->rules->window);

	if (profile->opened == 1 && !needs_length)
		return 0;
	for (size_t i = 0; i < profile->opened; i++) {
		struct recording *recording = &profile->recordings[i];

		if (recording->input.start >= 0) {
			if (survey_recording(reading, recording, err) < 0)
				return -1;
		} else if (needs_length) {
			return error_set(err,
					 "%s is a pipe, so its length is not known in "
					 "advance: give --time in seconds, or use a file",
					 recording->input.name);
		}
		reading->has_several_hosts |= profile->opened > 1 &&
					      (!*recording->host ||
					       strcmp(recording->host,
						      profile->recordings[0].host) != 0);
	}
	return 0;
}

/* The highest index of a domain, plus 1. */
static uint32_t domain_indexes(const struct summary *summary)
{
	uint32_t count = (uint32_t)summary->domain_room;

	for (size_t i = 0; i < summary->vcpu_count; i++)
		if (summary->vcpus[i].domain >= count)
			count = summary->vcpus[i].domain + 1;
	return count;
}

/* Whether the recording can be read more than once. */
static bool can_read_again(const struct reading *reading)
{
	return reading->recording->input.start >= 0;
}

/* Whether names are needed as soon as the samples are read, and can be read before. */
static bool needs_names_first(const struct reading *reading)
{
	const struct filter_rules *rules = &reading->profile->rules->filter;
	const struct profile_listener *listener = reading->listener;

	return can_read_again(reading) &&
	       (listener->sample || listener->wait || rules->parent || rules->symbol);
}

/* Loads the recording into reading->summary. -1 with @err set on failure. */
static int load_counted(struct reading *reading, struct error *err)
{
	bool names_first = needs_names_first(reading);
	const struct load_visitor visitor = {
		.domain = read_domain,
		.names = names_first ? NULL : read_names,
		.mappings = can_read_again(reading) ? NULL : read_mappings,
		.program = read_program,
		.samples = read_samples,
		.waits = reading_take_waits,
		.arg = reading,
		.replay = reading->profile->replay,
	};
	const struct load_visitor names = {
		.names = names_first ? read_names : NULL,
		.mappings = read_mappings,
		.arg = reading,
	};
	const struct input *input = &reading->recording->input;
	int status;

	if ((names_first || (can_read_again(reading) && load_has_mappings(input))) &&
	    load_names(input, &names, err) < 0)
		return -1;
	progress_start(reading);
	status = load_recording(input, 0, reading->summary, &visitor, err);
	progress_end(reading);
	return status;
}

static int survey_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct reading *reading = arg;

	if (survey_add(reading->places, batch) < 0)
		return profile_out_of_memory(err);
	err->text[0] = 0;
	return survey_is_done(reading->places) ? -1 : 0;
}

/* Finds symbol files by the start of the recording, which is read again afterwards. */
static int survey_places(struct reading *reading, struct error *err)
{
	struct replay *words = replay_new_words();
	const struct load_visitor visitor = {
		.samples = survey_samples, .arg = reading, .replay = words};
	const struct input *input = &reading->recording->input;
	struct summary summary = {0};
	int status = words ? load_recording(input, 1, &summary, &visitor, err)
			   : profile_out_of_memory(err);

	if (status < 0 && survey_is_done(reading->places))
		status = 0;
	if (status == 0 &&
	    (survey_vote(reading->places, &summary) < 0 ||
	     survey_move(reading->places, &summary, reading->profile->replay) < 0))
		status = profile_out_of_memory(err);
	replay_free(words);
	summary_free(&summary);
	return status < 0 ? -1 : input_rewind(input, err);
}

/* Prepares to find symbol files in the recording. -1 with @err set on failure. */
static int begin_places(struct reading *reading, struct error *err)
{
	struct sources *sources = &reading->profile->sources;
	int status;

	reading->places = NULL;
	replay_forget_moves(reading->profile->replay);
	if (!survey_is_needed(sources))
		return 0;
	reading->places = survey_new(sources, reading->base);
	if (!reading->places)
		return profile_out_of_memory(err);
	if (!can_read_again(reading))
		return 0;
	status = survey_places(reading, err);
	survey_free(reading->places);
	reading->places = NULL;
	return status;
}

/* Counts a recording. The first recording's summary becomes the profile's; the others'
 * are added to it. */
static int read_recording(struct reading *reading, struct recording *recording,
			  struct error *err)
{
	struct profile *profile = reading->profile;
	bool is_first = recording == profile->recordings;
	struct summary other = {0};
	int status;

	reading->recording = recording;
	reading->summary = is_first ? &profile->summary : &other;
	reading->base = domain_indexes(&profile->summary);
	mappings_begin(profile->sources.mappings, reading->base);
	if (recorded_begin(profile->sources.recorded, reading->base) < 0)
		return profile_out_of_memory(err);
	status = begin_places(reading, err);
	if (status == 0)
		status = load_counted(reading, err);
	if (status == 0)
		status = reading_end_waits(reading, err);
	survey_free(reading->places);
	if (status == 0 &&
	    !summary_damage(reading->summary, recording->input.name, &recording->damage))
		recording->damage.text[0] = 0;
	reading->bytes_before += reading->summary->bytes;
	profile->bytes = reading->bytes_before;
	profile->coverage.duration += duration_in_window(reading);
	if (status == 0 && !is_first)
		status = summary_append(&profile->summary, &other, reading->base) < 0
				 ? profile_out_of_memory(err)
				 : 0;
	summary_free(&other);
	return status;
}

/* Sets what is known once all recordings are read. -1 if out of memory. */
static int profile_complete(struct profile *profile)
{
	struct coverage *coverage = &profile->coverage;

	profile->domains = domain_names(&profile->summary, profile->rules->domains,
					profile->stacks);
	if (!profile->domains)
		return -1;
	coverage->has_processes = profile->summary.process_count > 0;
	coverage->has_threads = coverage->has_processes && profile->processes.threads;
	coverage->domain_count = names_count(profile->domains);
	if (coverage->domain_count)
		coverage->domain = names_get(profile->domains, 0);
	if (quality_measure(&profile->quality, &profile->measure, profile->stacks,
			    profile->frames, &profile->sources, &profile->summary) < 0)
		return -1;
	return fit_measure(&profile->fit, profile->stacks, profile->frames,
			   &profile->summary);
}

int profile_read(struct profile *profile, const struct profile_listener *listener,
		 struct error *err)
{
	struct reading reading = {.profile = profile, .listener = listener};

	if (survey_all(&reading, err) < 0)
		return -1;
	for (size_t i = 0; i < profile->opened; i++)
		if (read_recording(&reading, &profile->recordings[i], err) < 0)
			return -1;
	if (!domain_list_is_known(&profile->summary, profile->rules->domains,
				  profile_name(profile), err))
		return -1;
	if (profile_complete(profile) < 0 || profile->notes.failed)
		return profile_out_of_memory(err);
	return 0;
}
