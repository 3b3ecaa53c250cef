/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/replace.h"
#include "report/load/ends.h"
#include "report/model/domains.h"
#include "report/model/profile_notes.h"
#include "symbols/spec.h"

/* Source lines are read once the addresses they are needed for are known. */
#define DWARF_MEMORY ((uint64_t)1 << 30)

int profile_out_of_memory(struct error *err)
{
	return error_set(err, "out of memory: narrow the report with --time, --domain or "
			      "--vcpu");
}

bool profile_by_process(const struct profile *profile)
{
	return profile->rules->per_process || sources_by_process(&profile->sources);
}

/* Prefixes the domain's name with the host, for recordings of several hosts. */
static void name_host(const struct profile *profile, struct recording_domain *domain)
{
	const char *host = profile->recording->host;
	char name[sizeof(profile->recording->host) + sizeof(domain->name) + 32];
	size_t length, excess;

	if (!*host)
		host = *profile->reading->info.host ? profile->reading->info.host : "?";
	if (*domain->name)
		snprintf(name, sizeof(name), "%s/%s", host, domain->name);
	else
		snprintf(name, sizeof(name), "%s/domain-%" PRIu64, host, domain->id);
	/* If it is too long, the end matters more. */
	length = strlen(name) + 1;
	excess = length > sizeof(domain->name) ? length - sizeof(domain->name) : 0;
	memcpy(domain->name, name + excess, length - excess);
}

static int too_many_domains(const struct profile *profile, struct error *err)
{
	return error_set(err, "more than %d domains up to and including %s",
			 RECORDING_MAX_DOMAIN + 1, profile->recording->input->name);
}

static int take_domain(void *arg, struct recording_domain *domain, struct error *err)
{
	struct profile *profile = arg;
	struct recording_domain shifted;

	if (profile->several_hosts)
		name_host(profile, domain);
	if (domain_in_list(domain, profile->rules->domains) &&
	    profile_check_symbols(profile, domain, err) < 0)
		return -1;
	if (profile->reading == &profile->summary)
		return 0;
	shifted = *domain;
	shifted.index += profile->base;
	if (shifted.index > RECORDING_MAX_DOMAIN)
		return too_many_domains(profile, err);
	return summary_add_domain(&profile->summary, &shifted) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

static int take_names(void *arg, const struct name_list_reader *names, struct error *err)
{
	struct profile *profile = arg;

	return recorded_add(profile->sources.recorded, *names) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

static int take_program(void *arg, const struct recording_program *program,
			struct error *err)
{
	struct profile *profile = arg;

	return recorded_add_program(profile->sources.recorded, program) < 0
		       ? profile_out_of_memory(err)
		       : 0;
}

static int set_window(struct profile *profile, struct error *err)
{
	const struct recording *recording = profile->recording;
	const struct summary *reading = profile->reading;
	const struct window_span span = {
		.start = recording->length ? recording->start : summary_start(reading),
		.wall = reading->has_info ? reading->info.wall_start : 0,
		.length = recording->length,
	};

	if (window_place(&profile->rules->window, &span, &profile->measure.from,
			 &profile->measure.to) == 0)
		return 0;
	return error_set(err,
			 "%s does not say at what time of day it started: give --time in "
			 "seconds or percent",
			 recording->input->name);
}

/* How much of the recording that was read is in the window, in ns. */
static uint64_t duration_in_window(struct profile *profile)
{
	uint64_t from = summary_start(profile->reading);
	uint64_t to = from + summary_duration(profile->reading);
	struct error ignored; /* a recording without samples */

	if (set_window(profile, &ignored) < 0)
		return 0;
	if (from < profile->measure.from)
		from = profile->measure.from;
	if (to > profile->measure.to)
		to = profile->measure.to;
	return to > from ? to - from : 0;
}

static int give_samples(struct profile *profile, const struct samples_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		struct output_sample sample = {
			.time = batch->time[i],
			.domain = batch->domain[i],
			.vcpu = batch->vcpu[i],
			.stack = profile->stacks->chains[i],
			.state = batch->state[i],
			.count = profile->measure.counts[i],
			.rounds = batch->weight[i],
		};
		bool is_seen = profile->rules->gives_all ? profile->measure.chosen[i]
							 : sample.count > 0;

		if (is_seen && profile->sample(profile->arg, &sample) < 0)
			return -1;
	}
	return 0;
}

static int take_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct profile *profile = arg;
	struct measure *measure = &profile->measure;

	profile->bytes = profile->bytes_before + profile->reading->bytes;
	progress_update(&profile->progress, profile->reading->bytes);
	if (measure->weight == MEASURE_CPU_TIME && batch->count && !batch->has_cpu_time)
		return error_set(err,
				 "%s contains no CPU times: use --weight samples or wall",
				 profile->recording->input->name);
	for (size_t i = 0; i < batch->count && profile->base; i++) {
		batch->domain[i] += profile->base;
		if (batch->domain[i] > RECORDING_MAX_DOMAIN)
			return too_many_domains(profile, err);
	}
	if (set_window(profile, err) < 0)
		return -1;
	if (measure_batch(measure, &profile->summary, batch) < 0 ||
	    (profile_by_process(profile) &&
	     processes_split(&profile->processes, &profile->summary, batch) < 0) ||
	    stacks_find(profile->stacks, batch, measure->counts) < 0 ||
	    filter_batch(profile->filter, profile->stacks, measure, batch->count) < 0 ||
	    stacks_count(profile->stacks, measure->counts, batch->count) < 0 ||
	    (profile->sample && give_samples(profile, batch) < 0))
		return profile_out_of_memory(err);
	if (ferror(profile->out)) {
		err->text[0] = 0; /* reported when the output is closed */
		return -1;
	}
	return 0;
}

static int pass_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct profile *profile = arg;

	(void)batch;
	(void)err;
	progress_update(&profile->progress, profile->reading->bytes);
	return 0;
}

/* Reads the whole recording for what its first and last chunk don't contain. */
static int read_through(struct profile *profile, const struct input *input,
			struct summary *summary, bool is_watched, struct error *err)
{
	const struct load_visitor visitor = {.samples = pass_samples, .arg = profile};
	int status;

	profile->reading = summary;
	progress_start(&profile->progress, is_watched, input->size);
	status = load_recording(input, 0, summary, &visitor, err);
	progress_end(&profile->progress);
	return status < 0 ? -1 : input_rewind(input, err);
}

/* Reads what must be known about the recording before it is processed. */
static int survey(struct profile *profile, struct recording *recording, bool is_watched,
		  struct error *err)
{
	struct summary summary = {0};
	int status = 0;

	if (!ends_read(recording->input, &summary))
		status = read_through(profile, recording->input, &summary, is_watched,
				      err);
	memcpy(recording->host, summary.info.host, sizeof(recording->host));
	recording->start = summary_start(&summary);
	recording->length = summary_duration(&summary);
	summary_free(&summary);
	profile->reading = NULL;
	return status;
}

/* Collects the hosts of several recordings, and what --time may need. */
static int survey_all(struct profile *profile, bool is_watched, struct error *err)
{
	bool needs_length = window_needs_length(&profile->rules->window);

	if (profile->opened == 1 && !needs_length)
		return 0;
	for (size_t i = 0; i < profile->opened; i++) {
		struct recording *recording = &profile->recordings[i];

		if (recording->input->start >= 0) {
			if (survey(profile, recording, is_watched, err) < 0)
				return -1;
		} else if (needs_length) {
			return error_set(err,
					 "%s is a pipe, so its length is not known in "
					 "advance: give --time in seconds, or use a file",
					 recording->input->name);
		}
		profile->several_hosts |= profile->opened > 1 &&
					  (!*recording->host ||
					   strcmp(recording->host,
						  profile->recordings[0].host) != 0);
	}
	return 0;
}

/* Sets the options for symbol files. -1 if out of memory. */
static int choose_symbols(struct profile *profile)
{
	const struct profile_rules *rules = profile->rules;

	if (asprintf(&profile->debug_directory, "%s%s", rules->symfs ?: "",
		     rules->debug_directory) < 0) {
		profile->debug_directory = NULL;
		return -1;
	}
	profile->sources = (struct sources){
		.options = {rules->demangle, rules->srcline || rules->inlined,
			    profile->debug_directory},
		.symfs = rules->symfs,
		.lines = !rules->srcline      ? SOURCE_LINES_NONE
			 : rules->lines_apart ? SOURCE_LINES_APART
					      : SOURCE_LINES_IN_NAMES,
		.inlined = rules->inlined,
	};
	return 0;
}

/* Opens the recordings, and prepares to count their samples. */
static int open_recordings(struct profile *profile, struct error *err)
{
	const struct profile_rules *rules = profile->rules;

	profile->recordings = calloc(rules->input_count, sizeof(*profile->recordings));
	profile->inputs = calloc(rules->input_count, sizeof(*profile->inputs));
	profile->stacks = stacks_new();
	profile->sources.recorded = recorded_new(rules->demangle);
	if (!profile->recordings || !profile->inputs || !profile->stacks ||
	    !profile->sources.recorded ||
	    measure_init(&profile->measure, rules->weight, rules->states,
			 rules->domains) < 0)
		return profile_out_of_memory(err);
	profile->measure.vcpus = rules->vcpus;
	profile->measure.part = rules->part;
	for (size_t i = 0; i < rules->input_count; i++) {
		if (input_open(&profile->inputs[i], rules->inputs[i], err) < 0)
			return -1;
		if (rules->symbol_count && (rules->srcline || rules->inlined))
			profile->inputs[i].extra_memory = DWARF_MEMORY;
		profile->recordings[i].input = &profile->inputs[i];
		profile->opened++;
	}
	return 0;
}

/* Prepares to look names up. */
static int open_names(struct profile *profile, struct error *err)
{
	profile->frames = frames_new(&profile->sources, &profile->summary);
	if (!profile->frames)
		return profile_out_of_memory(err);
	profile->filter = filter_new(&profile->rules->filter, profile->frames);
	return profile->filter ? 0 : profile_out_of_memory(err);
}

/* Captured stacks are unwound by the same files. -1 if out of memory. */
static int prepare_replay(struct profile *profile)
{
	const struct profile_rules *rules = profile->rules;
	int status = 0;

	profile->replay = replay_new(profile->debug_directory);
	if (!profile->replay)
		return -1;
	for (size_t i = 0; i < rules->symbol_count && status == 0; i++) {
		char *spec = symbols_spec_place(rules->symfs, rules->symbols[i]);

		status = spec ? replay_add(profile->replay, spec) : -1;
		free(spec);
	}
	return status;
}

int profile_open(struct profile *profile, const struct profile_rules *rules,
		 struct error *err)
{
	profile->rules = rules;
	profile->said = names_new();
	if (!profile->said || choose_symbols(profile) < 0)
		return profile_out_of_memory(err);
	if (open_recordings(profile, err) < 0)
		return -1;
	for (size_t i = 0; i < rules->symbol_count; i++)
		if (sources_add(&profile->sources, rules->symbols[i], err) < 0)
			return -1;
	if (prepare_replay(profile) < 0)
		return profile_out_of_memory(err);
	return open_names(profile, err);
}

/* Frees all but the symbols. */
static void close_recordings(struct profile *profile)
{
	filter_free(profile->filter);
	frames_free(profile->frames);
	if (profile->domains)
		names_free(profile->domains);
	recorded_free(profile->sources.recorded);
	profile->sources.recorded = NULL;
	measure_free(&profile->measure);
	processes_free(&profile->processes);
	fit_free(&profile->fit);
	stacks_free(profile->stacks);
	summary_free(&profile->summary);
	for (size_t i = 0; i < profile->opened; i++)
		input_close(&profile->inputs[i]);
	free(profile->inputs);
	free(profile->recordings);
}

void profile_close(struct profile *profile)
{
	close_recordings(profile);
	sources_free(&profile->sources);
	replay_free(profile->replay);
	free(profile->debug_directory);
	if (profile->said)
		names_free(profile->said);
}

int profile_restart(struct profile *profile, struct error *err)
{
	const struct profile kept = *profile;

	close_recordings(profile);
	*profile = (struct profile){
		.rules = kept.rules,
		.sources = kept.sources,
		.replay = kept.replay,
		.debug_directory = kept.debug_directory,
		.said = kept.said,
	};
	return open_recordings(profile, err) < 0 ? -1 : open_names(profile, err);
}

bool profile_reads(const struct profile *profile, const char *path, struct error *err)
{
	const char *input = sources_read_from(&profile->sources, path);
	struct stat st;

	for (size_t i = 0; i < profile->opened && !input; i++)
		if (fstat(profile->inputs[i].fd, &st) == 0 && replace_changes(path, &st))
			input = profile->inputs[i].name;
	if (input)
		error_set(err, "refusing to overwrite %s: it is the input %s", path,
			  input);
	return input != NULL;
}

struct report profile_report(const struct profile *profile)
{
	return (struct report){
		.summary = &profile->summary,
		.stacks = profile->stacks,
		.frames = profile->frames,
		.sources = &profile->sources,
		.measure = &profile->measure,
		.filter = profile->filter,
		.quality = &profile->quality,
		.recorded = &profile->bytes,
	};
}

void profile_complete(const struct profile *profile, struct report *report)
{
	report->duration = profile->duration;
	report->per_process = profile->summary.process_count > 0;
	report->domain_count = names_count(profile->domains);
	report->domain = report->domain_count ? names_get(profile->domains, 0) : NULL;
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

/* The first recording's summary becomes that of all; the others' are added to it. */
static int read_recording(struct profile *profile, struct recording *recording,
			  bool is_watched, struct error *err)
{
	const struct load_visitor visitor = {
		.domain = take_domain,
		.names = take_names,
		.program = take_program,
		.samples = take_samples,
		.arg = profile,
		.replay = profile->replay,
	};
	bool is_first = recording == profile->recordings;
	struct summary other = {0};
	int status;

	profile->recording = recording;
	profile->reading = is_first ? &profile->summary : &other;
	profile->base = domain_indexes(&profile->summary);
	if (recorded_begin(profile->sources.recorded, profile->base) < 0)
		return profile_out_of_memory(err);
	progress_start(&profile->progress, is_watched, recording->input->size);
	status = load_recording(recording->input, 0, profile->reading, &visitor, err);
	progress_end(&profile->progress);
	if (status == 0 &&
	    !summary_damage(profile->reading, recording->input->name, &recording->damage))
		recording->damage.text[0] = 0;
	profile->bytes_before += profile->reading->bytes;
	profile->bytes = profile->bytes_before;
	profile->duration += duration_in_window(profile);
	if (status == 0 && !is_first)
		status = summary_append(&profile->summary, &other, profile->base) < 0
				 ? profile_out_of_memory(err)
				 : 0;
	summary_free(&other);
	return status;
}

int profile_read(struct profile *profile, FILE *out, bool is_watched,
		 int (*sample)(void *arg, const struct output_sample *sample), void *arg,
		 struct error *err)
{
	profile->out = out;
	profile->sample = sample;
	profile->arg = arg;
	if (survey_all(profile, is_watched, err) < 0)
		return -1;
	for (size_t i = 0; i < profile->opened; i++)
		if (read_recording(profile, &profile->recordings[i], is_watched, err) < 0)
			return -1;
	if (!domain_list_is_known(&profile->summary, profile->rules->domains,
				  profile_name(profile), err))
		return -1;
	profile->domains = domain_names(&profile->summary, profile->rules->domains,
					profile->stacks);
	if (!profile->domains ||
	    quality_measure(&profile->quality, &profile->measure, profile->stacks,
			    profile->frames, &profile->sources, &profile->summary) < 0 ||
	    fit_measure(&profile->fit, profile->stacks, profile->frames,
			&profile->summary) < 0)
		return profile_out_of_memory(err);
	return 0;
}
