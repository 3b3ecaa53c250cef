/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What `perf script` prints (Linux, tools/perf/builtin-script.c,
 * perf_sample__fprintf_start(); util/evsel_fprintf.c, sample__fprintf_callchain()):
 *
 *   COMM PID[/TID] [[CPU]] [SECONDS.FRACTION:] [PERIOD] [EVENT:]
 *           ADDRESS [NAME[+0xOFFSET]] [(DSO)]
 *
 * with a line for each frame, the innermost first, and an empty line behind; without
 * call chains, the frame is in the first line. COMM may hold blanks, and stand behind
 * some. Each sample counts 1, whatever its period is.
 *
 * A process is a domain, its id is the PID, and the CPU is the vCPU: the other way
 * round than report/perf_script.c has it.
 */
#include "import/format.h"

#include <string.h>

#include "base/clock.h"
#include "import/scan.h"

struct sample_state {
	bool is_open;
	bool zero; /* its first frame, not yet added, is address 0 without a name */
};

struct header {
	struct import_place place;
	struct recording_text rest; /* what is behind the time */
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

/* SECONDS.FRACTION: with up to nine digits behind the point. */
static bool is_time(struct recording_text word, uint64_t *ns)
{
	const char *point = memchr(word.at, '.', word.length);
	struct recording_text seconds, fraction;
	uint64_t whole, part;

	if (!point || word.at[word.length - 1] != ':')
		return false;
	seconds = (struct recording_text){word.at, (size_t)(point - word.at)};
	fraction = (struct recording_text){point + 1, word.length - seconds.length - 2};
	if (fraction.length > 9 || !scan_decimal(seconds, &whole) ||
	    !scan_decimal(fraction, &part) || whole >= UINT64_MAX / NS_PER_S)
		return false;
	for (size_t i = fraction.length; i < 9; i++)
		part *= 10;
	*ns = whole * NS_PER_S + part;
	return true;
}

/* Takes what is behind the PID; false when it has neither CPU nor time. */
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
	/* Flags of the trace may be before it. */
	if (has_cpu && !has_time)
		has_time = is_time(scan_word(&rest), &header->place.time);
	if (has_time)
		header->rest = rest;
	return has_cpu || has_time;
}

/* With @strict, CPU or time have to be behind the PID; else the line may as well end
 * there, or with an event. */
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

static bool recognize(struct recording_text line)
{
	struct header header;

	return find_header(line, true, &header);
}

/* Cuts " (DSO)" off the end, and gives its last path component. */
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

/* False when the line is no frame. */
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
	/* So report/perf_script.c writes names that begin with '('. */
	if (frame->name.length > 2 && !memcmp(frame->name.at, "::(", 3)) {
		frame->name.at += 2;
		frame->name.length -= 2;
	}
	return true;
}

static int add_frame(struct sample_state *state, struct importer *importer,
		     const struct import_frame *frame, struct error *err)
{
	static const struct import_frame zero = {.has_address = true};

	if (state->zero && importer_frame(importer, &zero, err) < 0)
		return -1;
	state->zero = !importer_depth(importer) && !frame->address && !frame->name.length;
	return state->zero ? 0 : importer_frame(importer, frame, err);
}

/* A sample whose only frame is an unknown 0 has none. */
static int close_sample(struct sample_state *state, struct importer *importer,
			struct error *err)
{
	bool was_open = state->is_open;

	*state = (struct sample_state){0};
	return was_open ? importer_sample(importer, 1, CHAIN_WHOLE, err) : 0;
}

static int open_sample(struct sample_state *state, struct importer *importer,
		       struct header *header, struct error *err)
{
	struct import_frame frame;
	struct recording_text word;

	if (close_sample(state, importer, err) < 0)
		return -1;
	/* Not a sample, but what perf has to say of them (--show-lost-events). */
	if (scan_past(&header->rest, "PERF_RECORD_"))
		return 0;
	if (importer_begin(importer, &header->place, err) < 0)
		return -1;
	state->is_open = true;
	do
		word = scan_word(&header->rest);
	while (word.length && word.at[word.length - 1] != ':');
	if (find_frame(header->rest, &frame))
		return add_frame(state, importer, &frame, err);
	return 0;
}

static int take_line(void *arg, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	struct sample_state *state = arg;
	struct import_frame frame;
	struct header header;

	if (!scan_trim(line).length)
		return close_sample(state, importer, err);
	if (line.at[0] == '#')
		return 0;
	if (find_header(line, true, &header))
		return open_sample(state, importer, &header, err);
	if (state->is_open && find_frame(line, &frame))
		return add_frame(state, importer, &frame, err);
	if (!state->is_open && find_header(line, false, &header))
		return open_sample(state, importer, &header, err);
	return error_set(err, "neither a sample nor a frame of one");
}

static int end(void *state, struct importer *importer, struct error *err)
{
	return close_sample(state, importer, err);
}

const struct import_format import_perf_script = {
	.name = "perf-script",
	.about = "the text of perf script, and of uniprof report",
	.recognize = recognize,
	.state_size = sizeof(struct sample_state),
	.line = take_line,
	.end = end,
};
