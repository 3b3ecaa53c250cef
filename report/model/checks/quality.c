/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/checks/quality.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/model/checks/ends.h"
#include "symbols/elf/debuginfod.h"

/* Context for counting the nodes. */
struct survey {
	struct quality *quality;
	const struct stacks *stacks;
	struct frames *frames;
	const struct sources *sources;
	const struct summary *summary;
};

static void count_unnamed_leaf(struct survey *survey, uint32_t node)
{
	struct quality *quality = survey->quality;
	uint64_t address = survey->stacks->tree.nodes[node].key;
	uint64_t samples = survey->stacks->self[node];

	quality->samples_unnamed += samples;
	quality->frames_unnamed += samples;
	if (address >= MAPPED_START && address <= MAPPED_END) {
		quality->in_files += samples;
		if (samples <= quality->most)
			return;
		quality->most = samples;
		quality->place = address;
		return;
	}
	if (address < quality->low)
		quality->low = address;
	if (address > quality->high)
		quality->high = address;
	if (!sources_cover(survey->sources,
			   summary_domain(survey->summary, survey->stacks->domain[node]),
			   address))
		quality->outside += samples;
}

/* Whether the function at @node has a name: 1 or 0; -1 if out of memory. */
static int is_named(struct survey *survey, uint32_t node, enum frame_use use)
{
	uint32_t frame = frames_find(survey->frames, survey->stacks->domain[node],
				     survey->stacks->tree.nodes[node].key, use);

	if (frame == FRAMES_NONE)
		return -1;
	return frames_function_known(survey->frames,
				     frames_get(survey->frames, frame)->function);
}

/* Counts the frames at @node, of chains that end there and of longer ones. */
static int count_node(struct survey *survey, uint32_t node, uint64_t callers)
{
	struct quality *quality = survey->quality;
	uint64_t leaves = survey->stacks->self[node];
	int named;

	quality->frames += leaves + callers;
	if (leaves) {
		named = is_named(survey, node, FRAME_LEAF);
		if (named < 0)
			return -1;
		if (!named)
			count_unnamed_leaf(survey, node);
	}
	if (callers) {
		named = is_named(survey, node, FRAME_CALLER);
		if (named < 0)
			return -1;
		if (!named)
			quality->frames_unnamed += callers;
	}
	return 0;
}

static void note_ways(struct quality *quality, const struct summary *summary)
{
	for (size_t i = 0; i < summary->domain_room; i++) {
		const struct recording_domain *domain = summary->domains[i];

		if (!domain)
			continue;
		quality->by_table |= domain->table_rows != 0;
		quality->can_table |= cpu_kind_has_tables(domain->cpu);
		quality->on_kvm |= domain->type == GUEST_KVM;
	}
}

/* Returns what to do about code without frame pointers. */
static const char *explain_frameless(const struct quality *quality)
{
	if (quality->by_table)
		return "code that the unwind table does not describe: record with the "
		       "ELF files of all the guest's code (record -s ELF)";
	if (quality->can_table)
		return "code without frame pointers: record with the guest's ELF file "
		       "(record -s ELF)";
	return "code without frame pointers: compile the guest with "
	       "-fno-omit-frame-pointer";
}

int quality_measure(struct quality *quality, const struct measure *measure,
		    const struct stacks *stacks, struct frames *frames,
		    const struct sources *sources, const struct summary *summary)
{
	struct survey survey = {quality, stacks, frames, sources, summary};
	uint64_t *inclusive = stacks_inclusive(stacks);
	int status = 0;

	*quality = (struct quality){.measure = measure, .low = UINT64_MAX};
	if (!inclusive)
		return -1;
	note_ways(quality, summary);
	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++)
		quality->samples += inclusive[i];
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		if (stacks_is_address(stacks, i))
			status = count_node(&survey, i, inclusive[i] - stacks->self[i]);
		else
			quality->samples_empty += stacks->self[i];
	}
	free(inclusive);
	return status < 0 ? -1 : ends_count(quality->ends, stacks, frames);
}

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static bool is_worth_saying(uint64_t part, uint64_t whole, bool all)
{
	return part && (all || percent_of(part, whole) >= 1);
}

/* Returns the first stripped file without a debug file; NULL: none. */
static const struct symbols_file *find_stripped(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++)
			if (files[j].is_stripped)
				return &files[j];
	}
	return NULL;
}

/* Explains the most likely reason why samples have no name, and what to do. */
static void explain_names(const struct quality *quality, const struct sources *sources,
			  char *to, size_t size)
{
	const struct symbols_file *stripped = find_stripped(sources);
	int used = snprintf(to, size, "; they are at 0x%" PRIx64 "-0x%" PRIx64,
			    quality->low, quality->high);
	bool is_covered = 2 * quality->outside < quality->samples_unnamed;
	uint64_t low, high;

	to += used;
	size -= (size_t)used;
	if (!sources_range(sources, &low, &high))
		snprintf(to, size,
			 "; no symbol files given: use --symbols with the guest image or "
			 "a list of its symbols made by nm");
	else if (is_covered && stripped && stripped->debug_missing)
		snprintf(to, size,
			 "; %s is stripped, and its debug file is missing: install %s, "
			 "or give its directory (--debug-dir)%s",
			 stripped->path, stripped->debug_missing, debuginfod_hint());
	else if (is_covered && stripped)
		snprintf(to, size, "; %s is stripped: use the unstripped file",
			 stripped->path);
	else if (is_covered)
		snprintf(to, size,
			 "; the symbol files have gaps there: one may be stripped, or be "
			 "of another part of the guest");
	else if (quality->high >= low && quality->low <= high)
		snprintf(to, size,
			 ", which no symbol file covers: one is missing, is of another "
			 "build, or needs its load address (--symbols FILE@OFFSET)");
	else
		snprintf(to, size,
			 ", but the symbol files cover 0x%" PRIx64 "-0x%" PRIx64
			 ": a file is missing, is of another build, or needs its load "
			 "address (--symbols FILE@OFFSET)",
			 low, high);
}

/* Says in which of the guest's files most samples without a name are, and what to do. */
static void explain_files(const struct quality *quality, const struct sources *sources,
			  char *to, size_t size)
{
	uint64_t offset;
	const struct mapped_file *file = mappings_file(sources->mappings, quality->place,
						       &offset);

	snprintf(to, size,
		 "; most are in files of the guest's processes, such as %.200s: give a "
		 "directory that has the guest's files (--symfs DIR)",
		 file && *file->path ? file->path : "one of unknown name");
}

/* Whether nearly all sampled addresses have names. */
static bool is_about_callers(const struct quality *quality)
{
	return !is_worth_saying(quality->samples_unnamed, quality->samples, false) &&
	       quality->samples_unnamed < quality->frames_unnamed / 2;
}

bool quality_note_names(const struct quality *quality, const struct sources *sources,
			bool all, struct error *line)
{
	char why[448];

	if (!is_worth_saying(quality->frames_unnamed, quality->frames, all))
		return false;
	if (is_about_callers(quality)) {
		error_set(line,
			  "%.1f %% of all addresses, %s of them callers, have no name: a "
			  "symbol file may be missing, or there is %s",
			  percent_of(quality->frames_unnamed, quality->frames),
			  quality->samples_unnamed ? "most" : "all",
			  explain_frameless(quality));
		return true;
	}
	if (2 * quality->in_files >= quality->samples_unnamed)
		explain_files(quality, sources, why, sizeof(why));
	else
		explain_names(quality, sources, why, sizeof(why));
	error_set(line, "%s%.1f %% of the %s (%.1f %% of all addresses) have no name%s",
		  measure_is_time(quality->measure) ? "samples for " : "",
		  percent_of(quality->samples_unnamed, quality->samples),
		  measure_noun(quality->measure),
		  percent_of(quality->frames_unnamed, quality->frames), why);
	return true;
}

/* Returns the most likely reason why chains are cut short, and what to do. */
static const char *explain_ends(const struct quality *quality, uint64_t cut)
{
	if (2 * quality->ends[CHAIN_NOT_READY] >= cut)
		return "; the recorder read that memory for the first time: this is "
		       "rarer in longer recordings";
	if (2 * quality->ends[CHAIN_EARLY] >= cut)
		return "; the recorder had not examined that code yet: this is rarer in "
		       "longer recordings";
	if (2 * quality->ends[CHAIN_NO_PAGE] >= cut && quality->on_kvm)
		return "; likely it is not known where the VMM has the guest's memory: "
		       "KVM tells whoever has CAP_BPF and CAP_PERFMON, and QEMU's GDB "
		       "stub does (record --gdb)";
	if (2 * quality->ends[CHAIN_NOT_CAPTURED] >= cut)
		return "; give the guest's ELF files (-s ELF), by which the captured "
		       "stacks are unwound; or record with more bytes (--call-graph "
		       "stack,BYTES)";
	if (2 * quality->ends[CHAIN_TOO_DEEP] >= cut)
		return "; the outermost callers are missing there: --max-depth cuts all "
		       "chains to the same depth";
	return "";
}

bool quality_note_ends(const struct quality *quality, bool all, struct error *line)
{
	uint64_t unknown = quality->ends[CHAIN_UNKNOWN];

	if (!is_worth_saying(unknown, quality->samples, all))
		return false;
	error_set(line,
		  "%.1f %% of the call chains have an unknown end: no frame follows, but "
		  "their last function may have callers; symbols or the ELF file of that "
		  "code may tell (-s FILE)",
		  percent_of(unknown, quality->samples));
	return true;
}

bool quality_note_chains(const struct quality *quality, bool all, struct error *line)
{
	uint64_t cut = ends_cut(quality->ends), stray = 0;
	char reasons[256] = "";
	bool is_frameless;
	size_t used = 0;

	if (!is_worth_saying(cut, quality->samples, all))
		return false;
	for (unsigned int i = CHAIN_WHOLE + 1; i < SAMPLES_ROOTS; i++) {
		if (!quality->ends[i] || !chain_end_is_cut(i))
			continue;
		if (chain_end_is_stray(i))
			stray += quality->ends[i];
		used += (size_t)snprintf(reasons + used, sizeof(reasons) - used,
					 "%s%.1f %% %s", used ? ", " : "",
					 percent_of(quality->ends[i], quality->samples),
					 chain_end_name(i));
		if (used >= sizeof(reasons))
			break;
	}
	is_frameless = 2 * stray >= cut;
	error_set(line, "%.1f %% of the call chains are cut short: %s%s%s",
		  percent_of(cut, quality->samples), reasons,
		  is_frameless ? "; likely " : "",
		  is_frameless ? explain_frameless(quality) : explain_ends(quality, cut));
	return true;
}
