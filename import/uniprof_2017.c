/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The output of the first uniprof (sysml/uniprof, uniprof.c: write_file_header() and
 * walk_stack_fp()) and of its symbolize tool. One frame per line, innermost first: an
 * address, NAME+0xOFFSET, or a name alone. Then "1", or "0" if the stack could not be
 * read further. Lines that start with '#' are comments; one of them contains the
 * domain's id. The text has neither times nor vCPUs.
 */
#include "import/format.h"

#include "import/scan.h"

/* Minimum length of a hexadecimal word that is an address without "0x" */
#define PLAIN_DIGITS 8

struct trace {
	uint64_t domain;
	bool is_open;
	bool is_bad; /* the trace has an invalid frame, and is skipped */
};

static bool uniprof_2017_recognize(struct recording_text line)
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

static int end_trace(struct trace *trace, struct importer *importer, bool is_whole,
		     struct error *err)
{
	bool is_bad = trace->is_bad;

	trace->is_open = trace->is_bad = false;
	if (is_bad)
		return error_set(err, "the trace has an invalid frame");
	return importer_sample(importer, 1, is_whole ? CHAIN_WHOLE : CHAIN_NOT_PRESENT,
			       err);
}

static int take_frame(struct importer *importer, struct recording_text text,
		      struct error *err)
{
	struct recording_text rest = text;
	struct import_frame frame = {0};

	frame.has_address = scan_address(text, &frame.address) ||
			    (text.length >= PLAIN_DIGITS &&
			     scan_hex(text, &frame.address));
	if (!frame.has_address && !scan_name_offset(text, &frame.name, &frame.offset)) {
		frame.name = scan_word(&rest);
		if (rest.length)
			return error_set(err,
					 "expected an address, NAME+0xOFFSET, or the 0 "
					 "or 1 at the end of a trace");
	}
	return importer_frame(importer, &frame, err);
}

static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	struct recording_text text = scan_trim(line), name;
	struct trace *trace = state;
	uint64_t offset;

	if (!text.length)
		return 0;
	if (text.at[0] == '#' && !scan_name_offset(text, &name, &offset)) {
		take_comment(trace, text);
		return 0;
	}
	if (open_trace(trace, importer, err) < 0)
		return -1;
	if (scan_is(text, "1") || scan_is(text, "0"))
		return end_trace(trace, importer, text.at[0] == '1', err);
	if (take_frame(importer, text, err) == 0)
		return 0;
	trace->is_bad = true;
	return -1;
}

static int uniprof_2017_end(void *state, struct importer *importer,
			    struct import_result *result, struct error *err)
{
	const struct trace *trace = state;

	(void)importer;
	(void)err;
	result->is_cut = trace->is_open;
	return 0;
}

const struct import_format import_uniprof_2017 = {
	.name = "uniprof-2017",
	.about = "text of sysml/uniprof (2017): one frame per line, then 1 or 0",
	.recognize = uniprof_2017_recognize,
	.state_size = sizeof(struct trace),
	.line = take_line,
	.end = uniprof_2017_end,
};
