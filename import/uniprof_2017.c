/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The text of the first uniprof (sysml/uniprof, uniprof.c: write_file_header() and
 * walk_stack_fp()), and what its symbolize made of that. A frame on each line, the
 * innermost first: an address, NAME+0xOFFSET, or a name alone. Then "1", or "0" where
 * the stack could not be read further. Lines with '#' first are comments, and one of
 * them tells the domain's id. Times and vCPUs are not in it.
 */
#include "import/format.h"

#include "import/scan.h"

/* Digits that make a word without "0x" an address rather than a name. */
#define PLAIN_DIGITS 8

struct trace {
	uint64_t domain;
	bool is_open;
};

static bool recognize(struct recording_text line)
{
	struct recording_text name;
	uint64_t number;

	return scan_past(&line, "#unikernel stack tracer") || scan_is(line, "0") ||
	       scan_is(line, "1") || scan_address(line, &number) ||
	       scan_name_offset(line, &name, &number);
}

static void take_comment(struct trace *trace, struct recording_text line)
{
	if (scan_past(&line, "#tracing domid "))
		scan_decimal(scan_word(&line), &trace->domain);
}

static int open_trace(struct trace *trace, struct importer *importer, struct error *err)
{
	const struct import_place place = {.id = trace->domain};

	if (trace->is_open)
		return 0;
	trace->is_open = true;
	return importer_begin(importer, &place, err);
}

static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	struct import_frame frame = {0};
	struct recording_text text = scan_trim(line), rest = text;
	struct trace *trace = state;
	bool is_end = scan_is(text, "1") || scan_is(text, "0");

	if (!text.length)
		return 0;
	if (text.at[0] == '#') {
		take_comment(trace, text);
		return 0;
	}
	if (open_trace(trace, importer, err) < 0)
		return -1;
	if (is_end) {
		trace->is_open = false;
		return importer_sample(
			importer, 1, text.at[0] == '1' ? CHAIN_WHOLE : CHAIN_NOT_PRESENT,
			err);
	}
	frame.has_address = scan_address(text, &frame.address) ||
			    (text.length >= PLAIN_DIGITS &&
			     scan_hex(text, &frame.address));
	if (!frame.has_address && !scan_name_offset(text, &frame.name, &frame.offset)) {
		frame.name = scan_word(&rest);
		if (rest.length)
			return error_set(err,
					 "neither an address nor NAME+0xOFFSET, nor the "
					 "0 or 1 behind a trace");
	}
	return importer_frame(importer, &frame, err);
}

static int end(void *state, struct importer *importer, struct error *err)
{
	const struct trace *trace = state;

	(void)importer;
	(void)err;
	return trace->is_open ? IMPORT_CUT : 0;
}

const struct import_format import_uniprof_2017 = {
	.name = "uniprof-2017",
	.about = "the first uniprof's text: a frame a line, then 1 or 0",
	.recognize = recognize,
	.state_size = sizeof(struct trace),
	.line = take_line,
	.end = end,
};
