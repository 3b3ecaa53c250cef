/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/profile_notes.h"

#include <inttypes.h>

#include "report/domains.h"
#include "report/machine.h"

static void say(const struct profile *profile, const char *text)
{
	fprintf(stderr, "uniprof %s: %s\n", profile->rules->command, text);
}

static void say_note(const struct profile *profile, const char *text)
{
	const char *about = profile->rules->about;

	fprintf(stderr, "uniprof %s: note: %s%s%s\n", profile->rules->command,
		about ? about : "", about ? ": " : "", text);
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
			return error_set(err,
					 "%s; give the symbols of what ran in the domain",
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
		if (source_is_for(&sources->list[i], domain) &&
		    check_files(profile, sources->list[i].symbols, domain, err) < 0)
			return -1;
	return 0;
}

static void describe_file(const struct profile *profile, const struct symbols_file *file,
			  const char *domain)
{
	struct error line;

	error_set(&line,
		  "%s: %s, %zu functions at 0x%" PRIx64 "-0x%" PRIx64 "%s%s%s%s%s%s",
		  file->path, file->kind, file->functions, file->low, file->high,
		  file->names_from ? ", names from " : "", file->names_from ?: "",
		  file->lines_from ? ", lines from " : "", file->lines_from ?: "",
		  domain ? ", for the domain " : "", domain ?: "");
	say(profile, line.text);
}

/* What is not as it should be with a symbol file. */
static void remark_on_file(const struct profile *profile, const struct symbols_file *file)
{
	struct error line;

	if (file->debug_refused)
		say_note(profile, file->debug_refused);
	if (!profile->sources.options.lines || file->has_lines)
		return;
	error_set(&line, "%s has no source lines (DWARF)%s%s", file->path,
		  file->debug_missing
			  ? "; its debug file is missing: "
			  : ": it needs to be an ELF program compiled with -g, and "
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
				describe_file(profile, &files[j],
					      sources->list[i].domain);
			remark_on_file(profile, &files[j]);
		}
	}
}

/* Functions whose names are the same only as people read them. */
static void describe_merged(const struct profile *profile)
{
	const char *example;
	uint32_t count = frames_merged(profile->frames, &example);
	struct error line;

	if (!count)
		return;
	error_set(&line,
		  "names that stand for several functions, which --no-demangle tells "
		  "apart: %" PRIu32 ", such as %s",
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
		  "the direct caller is from the link register or the stack's top in "
		  "%.1f %% of the samples, which hit functions without a frame",
		  100.0 * (double)summary->frameless / (double)summary->weight);
	say(profile, line.text);
}

/* Symbols for a domain that isn't there are of no use to anybody. */
static void check_sources(const struct profile *profile)
{
	const struct sources *sources = &profile->sources;
	struct error line, why;

	for (size_t i = 0; i < sources->count; i++) {
		const char *domain = sources->list[i].domain;

		if (!domain || domain_is_known(&profile->summary, domain,
					       profile_name(profile), &why))
			continue;
		error_set(&line, "symbols are of no use: %s", why.text);
		say_note(profile, line.text);
	}
}

/* CPU time that nobody knows where it was used. */
static void note_left(const struct profile *profile)
{
	uint64_t left = measure_left(&profile->measure);
	uint64_t total = profile->measure.total;
	struct error line;

	if (!left || (left < total / 100 && !profile->rules->verbose))
		return;
	error_set(&line,
		  "%.3f s of CPU time are left out: the vCPUs that used them were only "
		  "met blocked afterwards",
		  (double)left / 1e6);
	say_note(profile, line.text);
}

int profile_say_notes(const struct profile *profile)
{
	const struct summary *summary = &profile->summary;
	bool all = profile->rules->verbose;
	int exit_code = EXIT_DONE;
	struct error line;

	if (all) {
		describe_recording(profile);
		describe_frameless(profile);
		describe_merged(profile);
	}
	if (!summary->samples) {
		error_set(&line, "%s holds no samples", profile_name(profile));
		say_note(profile, line.text);
	} else if (!profile->measure.total) {
		error_set(&line, "nothing counts of the %" PRIu64 " samples of %s",
			  summary->samples, profile_name(profile));
		say_note(profile, line.text);
	}
	check_sources(profile);
	note_left(profile);
	if (quality_note_names(&profile->quality, &profile->sources, all, &line))
		say_note(profile, line.text);
	if (quality_note_chains(&profile->quality, all, &line))
		say_note(profile, line.text);
	for (size_t i = 0; i < profile->opened; i++) {
		if (!profile->recordings[i].damage.text[0])
			continue;
		say(profile, profile->recordings[i].damage.text);
		exit_code = EXIT_DAMAGED;
	}
	return exit_code;
}
