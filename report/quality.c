/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/quality.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_covered(const struct symbols *symbols, uint64_t address)
{
	const struct symbols_file *files;
	size_t count = symbols_files(symbols, &files);

	for (size_t i = 0; i < count; i++)
		if (files[i].low <= address && address <= files[i].high)
			return true;
	return false;
}

static void count_unnamed_leaf(struct quality *quality, const struct symbols *symbols,
			       uint64_t address, uint64_t samples)
{
	if (!quality->samples_unnamed || address < quality->low)
		quality->low = address;
	if (address > quality->high)
		quality->high = address;
	quality->samples_unnamed += samples;
	quality->frames_unnamed += samples;
	if (!is_covered(symbols, address))
		quality->outside += samples;
}

static bool is_named(const struct frames *frames, uint32_t frame)
{
	return frames_function_known(frames, frames_get(frames, frame)->function);
}

/* Counts the frames that are @node, of chains that end there and of longer ones. */
static int count_node(struct quality *quality, const struct tree_node *node,
		      uint64_t leaves, uint64_t callers, struct frames *frames,
		      const struct symbols *symbols)
{
	uint32_t frame;

	quality->frames += leaves + callers;
	if (leaves) {
		frame = frames_find(frames, node->key, FRAME_LEAF);
		if (frame == FRAMES_NONE)
			return -1;
		if (!is_named(frames, frame))
			count_unnamed_leaf(quality, symbols, node->key, leaves);
	}
	if (callers) {
		frame = frames_find(frames, node->key, FRAME_CALLER);
		if (frame == FRAMES_NONE)
			return -1;
		if (!is_named(frames, frame))
			quality->frames_unnamed += callers;
	}
	return 0;
}

int quality_measure(struct quality *quality, const struct stacks *stacks,
		    struct frames *frames, const struct symbols *symbols)
{
	uint64_t *inclusive = stacks_inclusive(stacks);
	int status = 0;

	*quality = (struct quality){0};
	if (!inclusive)
		return -1;
	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++) {
		quality->ends[i] = inclusive[i];
		quality->samples += inclusive[i];
	}
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++)
		status = count_node(quality, &stacks->tree.nodes[i], stacks->self[i],
				    inclusive[i] - stacks->self[i], frames, symbols);
	free(inclusive);
	return status;
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

static bool is_worth_saying(uint64_t part, uint64_t whole, bool all)
{
	return part && (all || percent(part, whole) >= 1);
}

/* What may be wrong when most samples have no name. */
static void explain_names(const struct quality *quality, const struct symbols *symbols,
			  char *to, size_t size)
{
	const struct symbols_file *files;
	size_t count = symbols_files(symbols, &files);
	uint64_t low, high;

	if (!count) {
		snprintf(to, size,
			 "; no --symbols were given: name the guest's program, or a list "
			 "that nm made of it");
		return;
	}
	if (quality->outside < quality->samples_unnamed / 2) {
		snprintf(to, size,
			 "; the symbols leave gaps there: a file may be stripped, or of "
			 "another part of the guest");
		return;
	}
	low = files[0].low;
	high = files[0].high;
	for (size_t i = 1; i < count; i++) {
		low = files[i].low < low ? files[i].low : low;
		high = files[i].high > high ? files[i].high : high;
	}
	snprintf(to, size,
		 ", but the symbols cover 0x%" PRIx64 "-0x%" PRIx64
		 ": a file is missing or of another build, or needs the address it was "
		 "loaded at (--symbols FILE@OFFSET)",
		 low, high);
}

bool quality_note_names(const struct quality *quality, const struct symbols *symbols,
			bool all, struct error *line)
{
	char why[256] = "";

	if (!is_worth_saying(quality->frames_unnamed, quality->frames, all))
		return false;
	if (!quality->samples_unnamed) {
		error_set(line, "%.1f %% of the callers' addresses have no name",
			  percent(quality->frames_unnamed, quality->frames));
		return true;
	}
	if (percent(quality->samples_unnamed, quality->samples) > 20)
		explain_names(quality, symbols, why, sizeof(why));
	error_set(line,
		  "%.1f %% of the samples (%.1f %% of all addresses) have no name; they "
		  "lie at 0x%" PRIx64 "-0x%" PRIx64 "%s",
		  percent(quality->samples_unnamed, quality->samples),
		  percent(quality->frames_unnamed, quality->frames), quality->low,
		  quality->high, why);
	return true;
}

/* How chains end that follow registers which hold no frame pointer. */
static bool is_stray(unsigned int end)
{
	return end == CHAIN_NOT_PRESENT || end == CHAIN_NOT_CANONICAL ||
	       end == CHAIN_NOT_ASCENDING || end == CHAIN_UNALIGNED ||
	       end == CHAIN_NO_PAGE;
}

bool quality_note_chains(const struct quality *quality, bool all, struct error *line)
{
	uint64_t cut = quality->samples - quality->ends[CHAIN_WHOLE], stray = 0;
	char reasons[256] = "";
	size_t used = 0;

	if (!is_worth_saying(cut, quality->samples, all))
		return false;
	for (unsigned int i = CHAIN_WHOLE + 1; i < SAMPLES_ROOTS; i++) {
		if (!quality->ends[i])
			continue;
		if (is_stray(i))
			stray += quality->ends[i];
		used += (size_t)snprintf(reasons + used, sizeof(reasons) - used,
					 "%s%.1f %% %s", used ? ", " : "",
					 percent(quality->ends[i], quality->samples),
					 chain_end_name(i));
		if (used >= sizeof(reasons))
			break;
	}
	error_set(line, "%.1f %% of the call chains are cut short: %s%s",
		  percent(cut, quality->samples), reasons,
		  percent(stray, quality->samples) > 20
			  ? "; was the guest compiled with -fno-omit-frame-pointer?"
			  : "");
	return true;
}
