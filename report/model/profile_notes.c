/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/profile_notes.h"

#include <inttypes.h>

#include "report/model/checks/builds.h"
#include "report/model/domains.h"
#include "report/model/machine.h"

static void say(const struct profile *profile, const char *text)
{
	fprintf(stderr, "uniprof %s: %s\n", profile->rules->command, text);
}

static void say_about(const struct profile *profile, const char *kind, const char *text)
{
	const char *about = profile->rules->about;
	uint32_t said = names_count(profile->said);

	/* If out of memory, it is rather written twice than not at all. */
	if (names_intern(profile->said, text) < said)
		return;
	fprintf(stderr, "uniprof %s: %s: %s%s%s\n", profile->rules->command, kind,
		about ? about : "", about ? ": " : "", text);
}

static void say_note(const struct profile *profile, const char *text)
{
	say_about(profile, "note", text);
}

const char *profile_name(const struct profile *profile)
{
	return profile->opened == 1 ? profile->inputs[0].name : "the recordings";
}

static int check_files(const struct profile *profile, const struct symbols *symbols,
		       const struct recording_domain *domain, struct error *err)
{
	const struct symbols_file *files;
	size_t count = symbols_files(symbols, &files);
	struct error why;

	for (size_t i = 0; i < count; i++) {
		switch (machine_compare(&files[i], domain, &why)) {
		case MACHINE_FITS:
			break;
		case MACHINE_DOUBTS:
			say_note(profile, why.text);
			break;
		case MACHINE_WRONG:
			return error_set(
				err,
				"%s; use the symbol files of that domain's guest image",
				why.text);
		}
	}
	return 0;
}

int profile_check_symbols(const struct profile *profile,
			  const struct recording_domain *domain, struct error *err)
{
	const struct sources *sources = &profile->sources;

	for (size_t i = 0; i < sources->count; i++)
		if (source_is_in(&sources->list[i], domain) &&
		    check_files(profile, sources->list[i].symbols, domain, err) < 0)
			return -1;
	return 0;
}

static void describe_file(const struct profile *profile, const struct symbols_file *file,
			  const struct source *source)
{
	const char *domain = source->domain;
	struct error line;

	error_set(&line,
		  "%s: %s, %zu functions at 0x%" PRIx64 "-0x%" PRIx64 "%s%s%s%s%s%s",
		  file->path, file->kind, file->functions, file->low, file->high,
		  file->names_from ? ", names from " : "", file->names_from ?: "",
		  file->lines_from ? ", lines from " : "", file->lines_from ?: "",
		  domain ? ", for the domain " : "", domain ?: "");
	say(profile, line.text);
}

/* Notes problems with a symbol file. */
static void remark_on_file(const struct profile *profile, const struct symbols_file *file)
{
	struct error line;

	if (file->debug_refused)
		say_note(profile, file->debug_refused);
	if (file->lines_refused)
		say_note(profile, file->lines_refused);
	if (!profile->sources.options.lines || file->has_lines || file->lines_refused)
		return;
	error_set(&line, "%s has no source lines (DWARF)%s%s", file->path,
		  file->debug_missing ? "; its debug file is missing: "
				      : ": it must be an ELF file compiled with -g and "
					"without -gsplit-dwarf",
		  file->debug_missing ?: "");
	say_note(profile, line.text);
}

void profile_describe_symbols(const struct profile *profile)
{
	const struct sources *sources = &profile->sources;

	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++) {
			if (profile->rules->verbose)
				describe_file(profile, &files[j], &sources->list[i]);
			remark_on_file(profile, &files[j]);
		}
	}
}

/* Functions that were merged because their demangled names are equal. */
static void describe_merged(const struct profile *profile)
{
	const char *example;
	uint32_t count = frames_merged(profile->frames, &example);
	struct error line;

	if (!count)
		return;
	error_set(&line,
		  "names that stand for several functions (--no-demangle separates "
		  "them): %" PRIu32 ", such as %s",
		  count, example);
	say(profile, line.text);
}

static void describe_recording(const struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	uint32_t nodes = 0;
	struct error line;

	for (uint32_t i = 0; i < profile->stacks->tree.count; i++)
		nodes += stacks_is_address(profile->stacks, i);
	error_set(&line,
		  "%s: %" PRIu64 " samples in %" PRIu64 " chunks, %" PRIu64
		  " bytes, %" PRIu32 " nodes of call chains; the recorder lost %" PRIu64
		  " samples and missed %" PRIu64 " rounds",
		  profile_name(profile), summary->samples, summary->chunks,
		  summary->bytes, nodes, summary->counts.lost, summary->counts.missed);
	say(profile, line.text);
}

static void describe_frameless(const struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	struct error line;

	if (!summary->frameless)
		return;
	error_set(&line,
		  "direct caller taken from the link register or the top of the stack in "
		  "%.1f %% of the samples, which hit functions without a frame",
		  100.0 * (double)summary->frameless / (double)summary->weight);
	say(profile, line.text);
}

/* Symbol files for a domain that isn't in the recording are never used. */
static void check_sources(const struct profile *profile)
{
	const struct sources *sources = &profile->sources;
	struct error line, why;

	for (size_t i = 0; i < sources->count; i++) {
		const char *domain = sources->list[i].domain;

		if (!domain || domain_is_known(&profile->summary, domain,
					       profile_name(profile), &why))
			continue;
		error_set(&line, "unused symbol file: %s", why.text);
		say_note(profile, line.text);
	}
}

/* The properties of the processes that a source is for. */
static void name_process(char *to, size_t size, const struct source *source)
{
	size_t used = 0;

	if (source->comm)
		used += (size_t)snprintf(to, size, "the name '%s'%s", source->comm,
					 source->space ? " and " : "");
	if (source->space && used < size)
		snprintf(to + used, size - used, "the address space 0x%" PRIx64,
			 source->space);
}

/* Why not all processes are told apart, or why symbols of some are not used. */
static void check_processes(const struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	const struct sources *sources = &profile->sources;
	struct error line;
	char what[128];

	if (!profile_by_process(profile))
		return;
	if (!summary->process_count && summary->samples) {
		error_set(&line, "%s does not say which processes ran",
			  profile_name(profile));
		say_note(profile, line.text);
	}
	if (profile->processes.is_full) {
		error_set(&line, "only the first %d processes are told apart",
			  SUMMARY_PROCESSES);
		say_note(profile, line.text);
	}
	for (size_t i = 0; i < sources->count && summary->process_count; i++) {
		const struct source *source = &sources->list[i];
		bool is_used = !source_is_for_process(source);

		for (size_t j = 0; j < summary->process_count; j++)
			is_used |= source_is_for(source, summary->processes[j]);
		if (is_used)
			continue;
		name_process(what, sizeof(what), source);
		error_set(&line, "unused symbol file: no process has %s%s%s", what,
			  source->domain ? " in the domain " : "", source->domain ?: "");
		say_note(profile, line.text);
	}
}

/* Warns about symbol files that don't match what ran. */
static void check_fit(const struct profile *profile)
{
	struct error line;

	for (size_t i = 0; i < profile->fit.count; i++) {
		if (profile->rules->verbose) {
			fit_describe(&profile->fit, i, &line);
			say(profile, line.text);
		}
		if (fit_note(&profile->fit, i, &line))
			say_about(profile, "warning", line.text);
	}
}

static void warn(void *profile, const struct error *line)
{
	say_about(profile, "warning", line->text);
}

/* Lines are in a recording only if it was archived with them. */
static void check_recorded_lines(const struct profile *profile)
{
	struct recorded_program *const *list;
	size_t count = recorded_programs(profile->sources.recorded, &list);
	struct error line;

	if (!profile->sources.options.lines || profile->sources.count)
		return;
	for (size_t i = 0; i < count; i++) {
		if (list[i]->file.has_lines)
			continue;
		error_set(&line,
			  "the recording has no source lines of %s: archive it with "
			  "--srcline, or give the file with --symbols",
			  list[i]->name);
		say_note(profile, line.text);
	}
}

/* CPU time that can't be attributed. */
static void note_left(const struct profile *profile)
{
	uint64_t left = measure_left(&profile->measure);
	uint64_t total = profile->measure.total;
	struct error line;

	if (!left || (left < total / 100 && !profile->rules->verbose))
		return;
	error_set(&line,
		  "%.3f s of CPU time are not counted: the vCPUs that used it were "
		  "blocked in all later samples",
		  (double)left / 1e6);
	say_note(profile, line.text);
}

/* Rounds are missed more often while certain code runs, because pauses or the host's
 * other work take longer then. Sample counts are too low for that code. */
static void note_missed(const struct profile *profile)
{
	double missed = summary_missed(&profile->summary);
	struct error line;

	if (measure_is_time(&profile->measure) || missed <= 0.1)
		return;
	error_set(&line,
		  "%.1f %% of the rounds were missed, which biases sample counts: "
		  "--weight wall counts the time that each sample stands for",
		  100 * missed);
	say_note(profile, line.text);
}

/* A recorder that lowered its rate took fewer samples than the report counts. Imported
 * recordings, which have no pauses, contain weights of other kinds. */
static void note_thinned(const struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	double weight = (double)summary->weight / (double)summary->samples;
	struct error line;

	if (!summary->counts.pauses.count || weight < 1.5)
		return;
	error_set(&line,
		  "only %" PRIu64 " samples were taken, each of which counts for %.1f on "
		  "average: the recorder lowered its rate to keep --max-overhead",
		  summary->samples, weight);
	say_note(profile, line.text);
}

static void note_counts(const struct profile *profile)
{
	note_left(profile);
	note_thinned(profile);
	note_missed(profile);
}

int profile_say_notes(const struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	bool all = profile->rules->verbose, counts = !profile->rules->names_only;
	int exit_code = EXIT_DONE;
	struct error line;

	if (all) {
		describe_recording(profile);
		describe_frameless(profile);
		describe_merged(profile);
	}
	if (!summary->samples) {
		error_set(&line, "%s contains no samples", profile_name(profile));
		say_note(profile, line.text);
	} else if (!profile->measure.total) {
		error_set(&line, "none of the %" PRIu64 " samples in %s is counted",
			  summary->samples, profile_name(profile));
		say_note(profile, line.text);
	}
	check_sources(profile);
	check_processes(profile);
	builds_check(&profile->sources, &profile->summary, warn, (void *)profile);
	check_recorded_lines(profile);
	check_fit(profile);
	if (counts)
		note_counts(profile);
	if (quality_note_names(&profile->quality, &profile->sources, all, &line))
		say_note(profile, line.text);
	if (counts && quality_note_chains(&profile->quality, all, &line))
		say_note(profile, line.text);
	for (size_t i = 0; i < profile->opened; i++) {
		if (!profile->recordings[i].damage.text[0])
			continue;
		say(profile, profile->recordings[i].damage.text);
		exit_code = EXIT_DAMAGED;
	}
	return exit_code;
}
