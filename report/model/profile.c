/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/replace.h"
#include "symbols/spec.h"

/* Memory for source lines, which are read once the addresses they are needed for are
 * known, in bytes. */
#define DWARF_MEMORY ((uint64_t)1 << 30)

int profile_out_of_memory(struct error *err)
{
	return error_set(err, "out of memory: narrow the report with --time, --domain or "
			      "--vcpu");
}

const char *profile_name(const struct profile *profile)
{
	return profile->opened == 1 ? profile->recordings[0].input.name
				    : "the recordings";
}

bool profile_by_process(const struct profile *profile)
{
	const struct profile_rules *rules = profile->rules;

	return rules->per_process || rules->per_thread ||
	       sources_by_process(&profile->sources) ||
	       (profile->sources.places.has_rivals && !rules->stores_names);
}

bool profile_is_damaged(const struct profile *profile)
{
	for (size_t i = 0; i < profile->opened; i++)
		if (profile->recordings[i].damage.text[0])
			return true;
	return false;
}

/* Whether source lines are read from symbol files. */
static bool needs_lines(const struct profile_rules *rules)
{
	return rules->lines != SOURCE_LINES_NONE || rules->inlined;
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
		.options = {rules->demangle, needs_lines(rules), profile->debug_directory,
			    rules->debuginfod},
		.symfs = rules->symfs,
		.debug_directory = rules->debug_directory,
		.lines = rules->lines,
		.inlined = rules->inlined,
		.mapped = rules->finds_files ? mapped_symbols_new() : NULL,
	};
	return profile->sources.mapped || !rules->finds_files ? 0 : -1;
}

/* Opens the recordings, and prepares to count their samples. */
static int open_recordings(struct profile *profile, struct error *err)
{
	const struct profile_rules *rules = profile->rules;

	profile->recordings = calloc(rules->input_count, sizeof(*profile->recordings));
	profile->stacks = stacks_new();
	profile->wait_stacks = rules->stores_names ? stacks_new() : NULL;
	profile->sources.recorded = recorded_new(rules->demangle);
	profile->sources.mappings = mappings_new();
	if (!profile->recordings || !profile->stacks ||
	    (rules->stores_names && !profile->wait_stacks) ||
	    !profile->sources.recorded || !profile->sources.mappings ||
	    measure_init(&profile->measure, rules->weight, rules->states,
			 rules->domains) < 0 ||
	    measure_init(&profile->wait_measure, MEASURE_WAIT, MEASURE_ALL_STATES,
			 rules->domains) < 0)
		return profile_out_of_memory(err);
	profile->measure.vcpus = rules->vcpus;
	profile->measure.part = rules->part;
	profile->measure.keeps_times = rules->keeps_times;
	profile->measure.min_wait = profile->wait_measure.min_wait = rules->min_wait;
	profile->measure.no_idle = profile->wait_measure.no_idle = rules->no_idle;
	profile->wait_measure.part = rules->part;
	profile->processes.threads = rules->per_thread;
	for (size_t i = 0; i < rules->input_count; i++) {
		struct input *input = &profile->recordings[i].input;

		if (input_open(input, rules->inputs[i], err) < 0)
			return -1;
		if (rules->symbol_count && needs_lines(rules))
			input->extra_memory = DWARF_MEMORY;
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

/* Prepares to unwind captured stacks by the symbol files. -1 if out of memory. */
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
	if (choose_symbols(profile) < 0)
		return profile_out_of_memory(err);
	if (open_recordings(profile, err) < 0)
		return -1;
	for (size_t i = 0; i < rules->symbol_count; i++)
		if (sources_add(&profile->sources, rules->symbols[i], err) < 0)
			return -1;
	for (size_t i = 0; i < rules->found_count; i++)
		if (sources_add_found(&profile->sources, &rules->found[i], err) < 0)
			return -1;
	if (prepare_replay(profile) < 0)
		return profile_out_of_memory(err);
	return open_names(profile, err);
}

/* Frees all but the symbols and the notes. */
static void close_recordings(struct profile *profile)
{
	filter_free(profile->filter);
	frames_free(profile->frames);
	if (profile->domains)
		names_free(profile->domains);
	recorded_free(profile->sources.recorded);
	mappings_free(profile->sources.mappings);
	profile->sources.recorded = NULL;
	profile->sources.mappings = NULL;
	measure_free(&profile->measure);
	measure_free(&profile->wait_measure);
	open_waits_free(&profile->waits);
	stacks_free(profile->wait_stacks);
	processes_free(&profile->processes);
	relocation_free(&profile->relocation);
	fit_free(&profile->fit);
	stacks_free(profile->stacks);
	summary_free(&profile->summary);
	for (size_t i = 0; i < profile->opened; i++)
		input_close(&profile->recordings[i].input);
	free(profile->recordings);
}

void profile_close(struct profile *profile)
{
	close_recordings(profile);
	sources_free(&profile->sources);
	replay_free(profile->replay);
	free(profile->debug_directory);
	notes_free(&profile->notes);
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
		.notes = kept.notes,
	};
	return open_recordings(profile, err) < 0 ? -1 : open_names(profile, err);
}

bool profile_reads(const struct profile *profile, const char *path, struct error *err)
{
	const char *input = sources_read_from(&profile->sources, path);
	struct stat st;

	for (size_t i = 0; i < profile->opened && !input; i++)
		if (fstat(profile->recordings[i].input.fd, &st) == 0 &&
		    replace_changes(path, &st))
			input = profile->recordings[i].input.name;
	if (input)
		error_set(err, "refusing to overwrite %s: it is the input %s", path,
			  input);
	return input != NULL;
}
