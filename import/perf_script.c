/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The output of `perf script` (Linux, tools/perf/builtin-script.c,
 * perf_sample__fprintf_start(); util/evsel_fprintf.c, sample__fprintf_callchain()):
 *
 *   COMM PID[/TID] [[CPU]] [SECONDS.FRACTION:] [PERIOD] [EVENT:]
 *           ADDRESS [NAME[+0xOFFSET]] [(DSO)]
 *     [FILE:LINE]
 *
 * with one line per frame, innermost first, and an empty line at the end. Without call
 * chains, the frame is in the first line. COMM may contain blanks, also at its start.
 * Source lines (-F +srcline) are skipped.
 *
 * A process becomes a domain with the PID as its id, and the CPU becomes the vCPU: the
 * inverse of output/perf/perf_script.c.
 */
#include "import/format.h"

#include <string.h>

#include "import/events.h"
#include "import/scan.h"

struct script {
	struct events events;
	bool is_open;	 /* within a sample that is imported */
	bool is_passed;	 /* within a sample that is skipped */
	bool is_zero;	 /* the sample's first frame, not added yet, is a nameless 0 */
	bool has_tab;	 /* the line of the last frame starts with a tab */
	uint64_t period; /* period of the sample; 0: not in the text */
};

struct header {
	struct import_place place;
	struct recording_text event; /* empty: not in the text */
	uint64_t period;	     /* 0: not in the text */
	struct recording_text rest;  /* the rest of the line, not parsed yet */
};

static bool is_pid(struct recording_text word, uint64_t *pid)
{
	const char *slash = memchr(word.at, '/', word.length);
	uint64_t tid;

	if (scan_is(word, "-1") || scan_is(word, "-1/-1")) {
		*pid = 0;
		return true;
	}
	if (slash) {
		struct recording_text last = {
			slash + 1, (size_t)(word.at + word.length - slash - 1)};

		if (!scan_decimal(last, &tid))
			return false;
		word.length = (size_t)(slash - word.at);
	}
	return scan_decimal(word, pid);
}

static bool is_cpu(struct recording_text word, uint64_t *cpu)
{
	if (word.length < 3 || word.at[0] != '[' || word.at[word.length - 1] != ']')
		return false;
	return scan_decimal((struct recording_text){word.at + 1, word.length - 2}, cpu);
}

/* Parses SECONDS.FRACTION, with up to nine digits after the point. */
static bool is_time(struct recording_text word, uint64_t *ns)
{
	if (word.length < 3 || word.at[word.length - 1] != ':' ||
	    word.at[word.length - 2] == '.' || !memchr(word.at, '.', word.length))
		return false;
	word.length--;
	return scan_fixed(word, 9, ns);
}

/* Takes CPU and time, which follow the PID; false if both are missing. */
static bool take_cpu_and_time(struct header *header)
{
	struct recording_text rest = header->rest, word = scan_word(&rest);
	uint64_t cpu = 0;
	bool has_cpu = is_cpu(word, &cpu), has_time;

	header->place.vcpu = cpu < UINT32_MAX ? (uint32_t)cpu : UINT32_MAX;
	if (has_cpu) {
		header->rest = rest;
		word = scan_word(&rest);
	}
	has_time = is_time(word, &header->place.time);
	/* Trace flags may precede the time. */
	if (has_cpu && !has_time)
		has_time = is_time(scan_word(&rest), &header->place.time);
	if (has_time)
		header->rest = rest;
	return has_cpu || has_time;
}

/* Parses a header. With @strict, CPU or time must follow the PID; otherwise the line may
 * also end after the PID or an event. */
static bool find_header(struct recording_text line, bool strict, struct header *header)
{
	struct recording_text rest = scan_trim(line);
	const char *start = rest.at;
	struct recording_text word = scan_word(&rest);

	while (rest.length) {
		const char *behind = word.at + word.length;

		word = scan_word(&rest);
		*header = (struct header){
			.place.domain = {start, (size_t)(behind - start)},
			.rest = rest,
		};
		if (!is_pid(word, &header->place.id))
			continue;
		if (take_cpu_and_time(header))
			return true;
		if (!strict && (!rest.length || rest.at[rest.length - 1] == ':'))
			return true;
	}
	return false;
}

/* Recognizes also a header without CPU and time if it has an event: no other format has
 * lines that end in ':' after a number, except for comments. */
static bool perf_script_recognize(struct recording_text line)
{
	struct header header;

	if (find_header(line, true, &header))
		return true;
	return line.length && line.at[0] != '#' && find_header(line, false, &header) &&
	       header.rest.length;
}

/* Removes " (DSO)" from the end and returns the last path component of DSO. */
static struct recording_text take_dso(struct recording_text *rest)
{
	static const char deleted[] = " (deleted)";
	struct recording_text dso = {0};
	size_t end = rest->length, start;
	const char *slash;

	if (!end || rest->at[end - 1] != ')')
		return dso;
	end--;
	if (end > strlen(deleted) &&
	    !memcmp(rest->at + end - strlen(deleted), deleted, strlen(deleted)))
		end -= strlen(deleted);
	for (start = end; start > 0; start--)
		if (rest->at[start - 1] == '(' &&
		    (start == 1 || rest->at[start - 2] == ' '))
			break;
	if (!start)
		return dso;
	dso = (struct recording_text){rest->at + start, end - start};
	slash = memrchr(dso.at, '/', dso.length);
	if (slash) {
		dso.length -= (size_t)(slash + 1 - dso.at);
		dso.at = slash + 1;
	}
	rest->length = start - 1;
	*rest = scan_trim(*rest);
	return dso;
}

/* Parses a frame; false if the line is not one. */
static bool find_frame(struct recording_text line, struct import_frame *frame)
{
	struct recording_text rest = line, address = scan_word(&rest);

	*frame = (struct import_frame){.has_address = true};
	if (!scan_hex(address, &frame->address))
		return false;
	frame->dso = take_dso(&rest);
	if (!scan_name_offset(rest, &frame->name, &frame->offset))
		frame->name = rest;
	if (scan_is(frame->dso, "[unknown]"))
		frame->dso.length = 0;
	if (scan_is(frame->name, "[unknown]"))
		frame->name.length = 0;
	/* output/perf/perf_script.c writes names that start with '(' like this. */
	if (frame->name.length > 2 && !memcmp(frame->name.at, "::(", 3)) {
		frame->name.at += 2;
		frame->name.length -= 2;
	}
	return true;
}

/* Returns whether the line is FILE:LINE, below a frame. It starts with two blanks, and is
 * [DSO][ADDRESS] if perf has no source line. */
static bool is_source_line(const struct script *script, struct recording_text line)
{
	struct recording_text rest = line, word = scan_word(&rest), number = line;
	const char *colon;
	uint64_t value;

	if (line.length < 3 || memcmp(line.at, "  ", 2) != 0 || !word.length)
		return false;
	if (script->has_tab || word.at[0] == '[')
		return true;
	colon = memrchr(line.at, ':', line.length);
	if (!colon || scan_hex(word, &value))
		return false;
	number.at = colon + 1;
	number.length -= (size_t)(colon + 1 - line.at);
	return scan_decimal(number, &value);
}

static int add_frame(struct script *script, struct importer *importer,
		     const struct import_frame *frame, struct error *err)
{
	static const struct import_frame zero = {.has_address = true};

	if (script->is_zero && importer_frame(importer, &zero, err) < 0)
		return -1;
	script->is_zero = !importer_depth(importer) && !frame->address &&
			  !frame->name.length;
	return script->is_zero ? 0 : importer_frame(importer, frame, err);
}

/* Completes a sample. If its only frame is address 0 without a name, it has no frames. */
static int close_sample(struct script *script, struct importer *importer,
			struct error *err)
{
	bool was_open = script->is_open;

	script->is_open = script->is_passed = script->is_zero = script->has_tab = false;
	return was_open ? importer_hold(importer, script->period, CHAIN_WHOLE, err) : 0;
}

/* Takes [PERIOD] EVENT: after the time, if they are there. */
static void take_event(struct header *header)
{
	struct recording_text rest = header->rest, first = scan_word(&rest), word = first;

	while (word.length && word.at[word.length - 1] != ':')
		word = scan_word(&rest);
	if (!word.length)
		return;
	header->event = (struct recording_text){word.at, word.length - 1};
	header->rest = rest;
	scan_decimal(first, &header->period);
}

/* Decides by the event whether to import the sample; -1 if out of memory. */
static int choose_event(struct script *script, struct importer *importer,
			const struct header *header, struct error *err)
{
	int status = events_take(&script->events, header->event);
	const char *event = events_chosen(&script->events);

	if (status < 0)
		return importer_out_of_memory(importer, err);
	if (event && events_is(event, "task-clock"))
		importer_set_unit(importer, IMPORT_CPU_NS);
	return status;
}

static int open_sample(struct script *script, struct importer *importer,
		       struct header *header, struct error *err)
{
	struct import_frame frame;
	int status;

	if (close_sample(script, importer, err) < 0)
		return -1;
	script->is_passed = true;
	/* Not a sample but another record, such as lost samples (--show-lost-events). */
	if (scan_past(&header->rest, "PERF_RECORD_"))
		return 0;
	take_event(header);
	status = choose_event(script, importer, header, err);
	if (status <= 0)
		return status;
	if (importer_begin(importer, &header->place, err) < 0)
		return -1;
	script->is_open = true;
	script->is_passed = false;
	script->period = header->period;
	if (find_frame(header->rest, &frame))
		return add_frame(script, importer, &frame, err);
	return 0;
}

/* Takes a line within a sample. */
static int take_frame_line(struct script *script, struct importer *importer,
			   struct recording_text line, struct error *err)
{
	struct import_frame frame;

	if (is_source_line(script, line))
		return 0;
	if (!find_frame(line, &frame))
		return error_set(err, "neither a sample nor a frame");
	script->has_tab = line.at[0] == '\t';
	if (script->is_passed || add_frame(script, importer, &frame, err) == 0)
		return 0;
	/* Without this frame, the chain would be wrong. */
	script->is_open = false;
	script->is_passed = true;
	return -1;
}

static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	struct script *script = state;
	struct header header;

	if (!scan_trim(line).length)
		return close_sample(script, importer, err);
	if (line.at[0] == '#' &&
	    (line.length == 1 || line.at[1] == ' ' || !find_header(line, true, &header)))
		return 0;
	if (find_header(line, true, &header))
		return open_sample(script, importer, &header, err);
	if (script->is_open || script->is_passed)
		return take_frame_line(script, importer, line, err);
	if (find_header(line, false, &header))
		return open_sample(script, importer, &header, err);
	return error_set(err, "neither a sample nor a frame");
}

static void perf_script_begin(void *state, const struct import_options *options)
{
	struct script *script = state;

	script->events.wanted = options->event;
}

static int perf_script_end(void *state, struct importer *importer,
			   struct import_result *result, struct error *err)
{
	struct script *script = state;

	(void)result;
	if (close_sample(script, importer, err) < 0)
		return -1;
	if (script->events.left_out && !script->events.chosen)
		return events_missing(&script->events, err);
	return 0;
}

static void perf_script_note(const void *state, struct error *note)
{
	const struct script *script = state;

	events_note(&script->events, note);
}

static void perf_script_release(void *state)
{
	struct script *script = state;

	events_free(&script->events);
}

const struct import_format import_perf_script = {
	.name = "perf-script",
	.about = "the output of perf script or uniprof report",
	.has_events = true,
	.recognize = perf_script_recognize,
	.state_size = sizeof(struct script),
	.begin = perf_script_begin,
	.line = take_line,
	.end = perf_script_end,
	.note = perf_script_note,
	.release = perf_script_release,
};
