/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collapsed stacks (Brendan Gregg's FlameGraph, stackcollapse*.pl): the names of a
 * stack, outermost first, joined by ';', then a blank and a count. Names may contain
 * blanks. A name that reads as an address in the form written by uniprof report is
 * imported as an address.
 *
 * As in flamegraph.pl, a count may have a fraction, a frame may have no name, and
 * nameless frames at the end of a stack are dropped.
 */
#include "import/format.h"

#include <inttypes.h>
#include <string.h>

#include "import/scan.h"

struct folded {
	uint64_t counts[2]; /* number of lines with one count, and with two */
};

/* Removes the count, and the blanks before it, from the end of the line. */
static bool take_count(struct recording_text *line, uint64_t *count)
{
	struct recording_text rest = scan_trim(*line), word;
	size_t start = rest.length;

	while (start > 0 && rest.at[start - 1] != ' ' && rest.at[start - 1] != '\t')
		start--;
	word = (struct recording_text){rest.at + start, rest.length - start};
	if (!start || !scan_rounded(word, count))
		return false;
	rest.length = start;
	*line = scan_trim(rest);
	return true;
}

/* Returns whether the line is a comment: it starts with '#' and does not read as a stack,
 * whose names may also start with '#'. */
static bool is_comment(struct recording_text line)
{
	uint64_t count;

	if (!line.length || line.at[0] != '#')
		return false;
	return !take_count(&line, &count) || ((line.length == 1 || line.at[1] == ' ') &&
					      !memchr(line.at, ';', line.length));
}

static bool folded_recognize(struct recording_text line)
{
	uint64_t count;

	return !is_comment(line) && take_count(&line, &count);
}

/* Removes and returns the name of the last frame, and the ';' before it. */
static struct recording_text take_frame(struct recording_text *stack, bool *is_last)
{
	const char *semicolon = memrchr(stack->at, ';', stack->length);
	const char *from = semicolon ? semicolon + 1 : stack->at;
	struct recording_text name = {from, (size_t)(stack->at + stack->length - from)};

	*is_last = !semicolon;
	stack->length -= name.length + (semicolon != NULL);
	return name;
}

/* Returns whether the name is an address: only if reports would print the address like
 * this. */
static bool is_address(struct recording_text name, uint64_t *address)
{
	for (size_t i = 2; i < name.length; i++)
		if (name.at[i] >= 'A' && name.at[i] <= 'F')
			return false;
	return name.length > 2 && (name.at[2] != '0' || name.length == 3) &&
	       scan_address(name, address);
}

static int take_stack(struct importer *importer, struct recording_text line,
		      struct error *err)
{
	bool is_last;

	do {
		struct import_frame frame = {.name = take_frame(&line, &is_last)};

		if (!frame.name.length)
			frame.name = (struct recording_text){RECORDING_NO_NAME,
							     strlen(RECORDING_NO_NAME)};
		frame.has_address = is_address(frame.name, &frame.address);
		if (frame.has_address)
			frame.name.length = 0;
		/* A name is one place, sampled or not: callers are looked up one byte
		 * earlier. */
		frame.offset = importer_depth(importer) > 0;
		if (importer_frame(importer, &frame, err) < 0)
			return -1;
	} while (!is_last);
	return 0;
}

static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	static const char domain[] = "imported";
	const struct import_place place = {.domain = {domain, sizeof(domain) - 1}};
	struct folded *folded = state;
	struct recording_text stack;
	uint64_t count, other;

	if (!scan_trim(line).length || is_comment(line))
		return 0;
	if (!take_count(&line, &count))
		return error_set(err, "no count at the end of the stack");
	while (line.length && line.at[line.length - 1] == ';')
		line.length--;
	if (!line.length)
		return error_set(err, "no stack before the count");
	stack = line;
	folded->counts[take_count(&stack, &other)]++;
	if (importer_begin(importer, &place, err) < 0 ||
	    take_stack(importer, line, err) < 0)
		return -1;
	return importer_sample(importer, count, CHAIN_WHOLE, err);
}

static int folded_end(void *state, struct importer *importer,
		      struct import_result *result, struct error *err)
{
	const struct folded *folded = state;

	(void)importer;
	(void)result;
	if (folded->counts[1] && !folded->counts[0])
		return error_set(err,
				 "all stacks have two counts, as in the difference of "
				 "two profiles (uniprof diff --format folded, "
				 "difffolded.pl); import the two profiles instead");
	return 0;
}

static void folded_note(const void *state, struct error *note)
{
	const struct folded *folded = state;

	if (folded->counts[1])
		error_set(note,
			  "%" PRIu64
			  " stacks end with two numbers; the first was taken as part of "
			  "the function name",
			  folded->counts[1]);
}

const struct import_format import_folded = {
	.name = "folded",
	.about = "collapsed stacks: a;b;c COUNT, outermost frame first",
	.recognize = folded_recognize,
	.state_size = sizeof(struct folded),
	.line = take_line,
	.end = folded_end,
	.note = folded_note,
};
