/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collapsed stacks (Brendan Gregg's FlameGraph, stackcollapse*.pl): the names of a
 * stack, the outermost first, joined by ';', then a blank and a count. Names may hold
 * blanks; one that is an address, as uniprof report writes it, is one.
 */
#include "import/format.h"

#include <string.h>

#include "import/scan.h"

/* Cuts the count off the end of the line, and the blanks before it. */
static bool take_count(struct recording_text *line, uint64_t *count)
{
	struct recording_text rest = scan_trim(*line), word;
	size_t start = rest.length;

	while (start > 0 && rest.at[start - 1] != ' ' && rest.at[start - 1] != '\t')
		start--;
	word = (struct recording_text){rest.at + start, rest.length - start};
	if (!start || !scan_decimal(word, count))
		return false;
	rest.length = start;
	*line = scan_trim(rest);
	return true;
}

static bool recognize(struct recording_text line)
{
	uint64_t count;

	return line.length && line.at[0] != '#' && take_count(&line, &count);
}

/* The last frame's name, which is cut off with the ';' before it. */
static struct recording_text take_frame(struct recording_text *stack, bool *is_last)
{
	const char *semicolon = memrchr(stack->at, ';', stack->length);
	const char *from = semicolon ? semicolon + 1 : stack->at;
	struct recording_text name = {from, (size_t)(stack->at + stack->length - from)};

	*is_last = !semicolon;
	stack->length -= name.length + (semicolon != NULL);
	return name;
}

/* An address is taken for one where it comes out as it went in. */
static bool is_address(struct recording_text name, uint64_t *address)
{
	for (size_t i = 2; i < name.length; i++)
		if (name.at[i] >= 'A' && name.at[i] <= 'F')
			return false;
	return name.length > 2 && (name.at[2] != '0' || name.length == 3) &&
	       scan_address(name, address);
}

static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	static const char domain[] = "imported";
	const struct import_place place = {.domain = {domain, sizeof(domain) - 1}};
	uint64_t count;
	bool is_last;

	(void)state;
	if (!scan_trim(line).length || line.at[0] == '#')
		return 0;
	if (!take_count(&line, &count))
		return error_set(err, "no count is at the end of the stack");
	if (!line.length)
		return error_set(err, "there is no stack before the count");
	if (importer_begin(importer, &place, err) < 0)
		return -1;
	do {
		struct import_frame frame = {.name = take_frame(&line, &is_last)};

		if (!frame.name.length)
			return error_set(err, "a frame has no name");
		frame.has_address = is_address(frame.name, &frame.address);
		if (frame.has_address)
			frame.name.length = 0;
		/* One name is one place, whether it is sampled or called from. */
		frame.offset = importer_depth(importer) > 0;
		if (importer_frame(importer, &frame, err) < 0)
			return -1;
	} while (!is_last);
	return importer_sample(importer, count, CHAIN_WHOLE, err);
}

static int end(void *state, struct importer *importer, struct error *err)
{
	(void)state;
	(void)importer;
	(void)err;
	return 0;
}

const struct import_format import_folded = {
	.name = "folded",
	.about = "collapsed stacks: a;b;c COUNT, the outermost first",
	.recognize = recognize,
	.state_size = 1,
	.line = take_line,
	.end = end,
};
