/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/notes/profile_notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/model/checks/match.h"
#include "report/model/domains.h"

static void describe_file(struct profile *profile, const struct symbols_file *file,
			  const struct source *source)
{
	const char *domain = source->domain;

	notes_add(&profile->notes, NOTE_DETAIL,
		  "%s: %s, %zu functions at 0x%" PRIx64 "-0x%" PRIx64 "%s%s%s%s%s%s",
		  file->path, file->kind, file->functions, file->low, file->high,
		  file->names_from ? ", names from " : "", file->names_from ?: "",
		  file->lines_from ? ", lines from " : "", file->lines_from ?: "",
		  domain ? ", for the domain " : "", domain ?: "");
}

/* Notes problems with a symbol file. */
static void note_file(struct profile *profile, const struct symbols_file *file)
{
	if (file->debug_refused)
		notes_add(&profile->notes, NOTE_HINT, "%s", file->debug_refused);
	if (file->lines_refused)
		notes_add(&profile->notes, NOTE_HINT, "%s", file->lines_refused);
	if (!profile->sources.options.lines || file->has_lines || file->lines_refused)
		return;
	notes_add(&profile->notes, NOTE_HINT, "%s has no source lines (DWARF)%s%s",
		  file->path,
		  file->debug_missing ? "; its debug file is missing: "
				      : ": it must be an ELF file compiled with -g and "
					"without -gsplit-dwarf",
		  file->debug_missing ?: "");
}

void profile_note_symbols(struct profile *profile, const struct note_options *options)
{
	const struct sources *sources = &profile->sources;

	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++) {
			if (options->verbose)
				describe_file(profile, &files[j], &sources->list[i]);
			note_file(profile, &files[j]);
		}
	}
}

/* Says how many functions were merged because their demangled names are equal. */
static void describe_merged(struct profile *profile)
{
	const char *example;
	uint32_t count = frames_merged(profile->frames, &example);

	if (!count)
		return;
	notes_add(&profile->notes, NOTE_DETAIL,
		  "names that stand for several functions (--no-demangle separates "
		  "them): %" PRIu32 ", such as %s",
		  count, example);
}

static void describe_recording(struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	uint32_t nodes = 0;

	for (uint32_t i = 0; i < profile->stacks->tree.count; i++)
		nodes += stacks_is_address(profile->stacks, i);
	notes_add(&profile->notes, NOTE_DETAIL,
		  "%s: %" PRIu64 " samples in %" PRIu64 " chunks, %" PRIu64
		  " bytes, %" PRIu32 " nodes of call chains; the recorder lost %" PRIu64
		  " samples and missed %" PRIu64 " rounds",
		  profile_name(profile), summary->samples, summary->chunks,
		  summary->bytes, nodes, summary->counts.lost, summary->counts.missed);
}

static void describe_frameless(struct profile *profile)
{
	const struct summary *summary = &profile->summary;

	if (!summary->frameless)
		return;
	notes_add(&profile->notes, NOTE_DETAIL,
		  "direct caller taken from the link register or the top of the stack in "
		  "%.1f %% of the samples, which hit functions without a frame",
		  100.0 * (double)summary->frameless / (double)summary->weight);
}

/* Notes symbol files for domains that are in no recording: they are never used. */
static void note_unused_sources(struct profile *profile)
{
	const struct sources *sources = &profile->sources;
	struct error why;

	for (size_t i = 0; i < sources->count; i++) {
		const char *domain = sources->list[i].domain;

		if (!domain || domain_is_known(&profile->summary, domain,
					       profile_name(profile), &why))
			continue;
		notes_add(&profile->notes, NOTE_HINT, "unused symbol file: %s", why.text);
	}
}

/* Writes which processes the source is for. */
static void describe_process(char *to, size_t size, const struct source *source)
{
	size_t used = 0;

	if (source->comm)
		used += (size_t)snprintf(to, size, "the name '%s'%s", source->comm,
					 source->space ? " and " : "");
	if (source->space && used < size)
		snprintf(to + used, size - used, "the address space 0x%" PRIx64,
			 source->space);
}

/* Notes why not all processes are told apart, or why symbols of some are not used. */
static void note_processes(struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	const struct sources *sources = &profile->sources;
	char what[128];

	if (!profile_by_process(profile))
		return;
	if (!summary->process_count && summary->samples)
		notes_add(&profile->notes, NOTE_HINT,
			  "%s does not say which processes ran", profile_name(profile));
	if (profile->processes.is_full)
		notes_add(&profile->notes, NOTE_HINT,
			  "only the first %d processes are told apart",
			  SUMMARY_PROCESSES);
	for (size_t i = 0; i < sources->count && summary->process_count; i++) {
		const struct source *source = &sources->list[i];
		bool is_used = !source_is_for_process(source);

		for (size_t j = 0; j < summary->process_count; j++)
			is_used |= source_is_for(source, summary->processes[j]);
		if (is_used)
			continue;
		describe_process(what, sizeof(what), source);
		notes_add(&profile->notes, NOTE_HINT,
			  "unused symbol file: no process has %s%s%s", what,
			  source->domain ? " in the domain " : "", source->domain ?: "");
	}
}

/* Says where symbol files were found that were moved. */
static void describe_places(struct profile *profile)
{
	const struct places *places = &profile->sources.places;

	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];
		const struct symbols_file *files;
		char name[DOMAIN_NAME_SIZE], how[96];

		if (!place->is_moved || places_find(places, place) != place)
			continue;
		symbols_files(place->symbols, &files);
		domain_name(name, summary_domain(&profile->summary, place->domain));
		if (place->votes.inside)
			snprintf(how, sizeof(how),
				 "%" PRIu32 " of %" PRIu32
				 " different return addresses follow a call there",
				 place->votes.behind, place->votes.inside);
		notes_add(&profile->notes, NOTE_DETAIL,
			  "found %s@0x%" PRIx64 " in the domain %s: %s",
			  files[place->at.file].path, place->at.shift, name,
			  place->votes.inside ? how
					      : "by its code, when it was recorded");
	}
}

/* Says where files of the guest's processes were found. */
static void describe_mapped(struct profile *profile)
{
	const struct mapped_symbols *mapped = profile->sources.mapped;

	for (size_t i = 0; i < mapped_symbols_count(mapped); i++) {
		const char *path, *found = mapped_symbols_get(mapped, i, &path);

		if (found)
			notes_add(&profile->notes, NOTE_DETAIL,
				  "the names of %s in the guest are from %s", path,
				  found);
	}
}

/* Warns about symbol files that don't match what ran. */
static void note_fit(struct profile *profile, bool is_verbose)
{
	struct error line;

	for (size_t i = 0; i < profile->fit.count; i++) {
		if (is_verbose) {
			fit_describe(&profile->fit, i, &line);
			notes_add(&profile->notes, NOTE_DETAIL, "%s", line.text);
		}
		if (fit_note(&profile->fit, i, &line))
			notes_add(&profile->notes, NOTE_WARNING, "%s", line.text);
	}
}

/* Notes programs whose source lines were not stored when a recording was archived. */
static void note_recorded_lines(struct profile *profile)
{
	struct recorded_program *const *list;
	size_t count = recorded_programs(profile->sources.recorded, &list);

	if (!profile->sources.options.lines || profile->sources.count)
		return;
	for (size_t i = 0; i < count; i++) {
		if (list[i]->file.has_lines)
			continue;
		notes_add(&profile->notes, NOTE_HINT,
			  "the recording has no source lines of %s: archive it with "
			  "--srcline, or give the file with --symbols",
			  list[i]->name);
	}
}

/* Notes CPU time that can't be attributed. */
static void note_left(struct profile *profile, bool is_verbose)
{
	uint64_t left = measure_left(&profile->measure);
	uint64_t total = profile->measure.total;

	if (!left || (left < total / 100 && !is_verbose))
		return;
	notes_add(&profile->notes, NOTE_HINT,
		  "%.3f s of CPU time are not counted: the vCPUs that used it were "
		  "blocked in all later samples",
		  (double)left / 1e6);
}

/* Notes missed rounds. They are missed more often while certain code runs, because pauses
 * or the host's other work take longer then. Sample counts are too low for that code. */
static void note_missed(struct profile *profile)
{
	double missed = summary_missed(&profile->summary);

	if (measure_is_time(&profile->measure) || missed <= 0.1)
		return;
	notes_add(&profile->notes, NOTE_HINT,
		  "%.1f %% of the rounds were missed, which biases sample counts: "
		  "--weight wall counts the time that each sample stands for",
		  100 * missed);
}

/* Notes that a recorder lowered its rate, and took fewer samples than the report counts.
 * Imported recordings, which have no pauses, contain weights of other kinds. */
static void note_thinned(struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	double weight = (double)summary->weight / (double)summary->samples;

	if (!summary->samples || !summary->counts.pauses.count || *summary->info.event ||
	    weight < 1.5)
		return;
	notes_add(&profile->notes, NOTE_HINT,
		  "only %" PRIu64 " samples were taken, each of which counts for %.1f on "
		  "average: the recorder lowered its rate to keep --max-overhead",
		  summary->samples, weight);
}

static void note_mixed_events(struct profile *profile)
{
	if (measure_is_time(&profile->measure) ||
	    strcmp(profile->summary.info.event, SUMMARY_MIXED_EVENTS) != 0)
		return;
	notes_add(&profile->notes, NOTE_HINT,
		  "the recordings count different events, whose sums mean nothing: only "
		  "--weight cpu-time and wall are common to them");
}

static void note_counts(struct profile *profile, bool is_verbose)
{
	note_mixed_events(profile);
	note_left(profile, is_verbose);
	note_thinned(profile);
	note_missed(profile);
}

static void note_nothing_counted(struct profile *profile)
{
	const struct summary *summary = &profile->summary;

	if (!summary->samples)
		notes_add(&profile->notes, NOTE_HINT, "%s contains no samples",
			  profile_name(profile));
	else if (!profile->measure.total)
		notes_add(&profile->notes, NOTE_HINT,
			  "none of the %" PRIu64 " samples in %s is counted",
			  summary->samples, profile_name(profile));
}

/* Notes frames without a name and, unless @names_only, call chains that are cut short or
 * may be. */
static void note_quality(struct profile *profile, const struct note_options *options)
{
	const struct quality *quality = &profile->quality;
	struct error line;

	if (quality_note_names(quality, &profile->sources, options->verbose, &line))
		notes_add(&profile->notes, NOTE_HINT, "%s", line.text);
	if (options->names_only)
		return;
	if (quality_note_chains(quality, options->verbose, &line))
		notes_add(&profile->notes, NOTE_HINT, "%s", line.text);
	if (quality_note_ends(quality, options->verbose, &line))
		notes_add(&profile->notes, NOTE_HINT, "%s", line.text);
}

static void note_damage(struct profile *profile)
{
	for (size_t i = 0; i < profile->opened; i++)
		if (profile->recordings[i].damage.text[0])
			notes_add(&profile->notes, NOTE_DETAIL, "%s",
				  profile->recordings[i].damage.text);
}

int profile_note_contents(struct profile *profile, const struct note_options *options)
{
	if (options->verbose) {
		describe_recording(profile);
		describe_frameless(profile);
		describe_merged(profile);
		describe_places(profile);
		describe_mapped(profile);
	}
	note_nothing_counted(profile);
	note_unused_sources(profile);
	note_processes(profile);
	match_builds(&profile->sources, &profile->summary, &profile->notes);
	note_recorded_lines(profile);
	note_fit(profile, options->verbose);
	if (!options->names_only)
		note_counts(profile, options->verbose);
	if (!options->lacks_functions)
		note_quality(profile, options);
	note_damage(profile);
	return profile->notes.failed ? -1 : 0;
}
