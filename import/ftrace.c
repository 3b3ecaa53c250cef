/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The text of a function graph tracer: Nanos' (src/unix/ftrace.c,
 * function_graph_print_entry()), as its HTTP server returns it for /ftrace/trace, and
 * Linux's, with its default options (Documentation/trace/ftrace.rst;
 * kernel/trace/trace_functions_graph.c):
 *
 *    0)               |  caller() {
 *    0)   0.071 us    |    leaf();
 *    0) ! 207.666 us  |  }
 *
 * with the CPU, the duration of the call, and two blanks before a function for each of
 * its callers. Linux can have the task in a separate column (funcgraph-proc). A mark
 * before a duration only says that it is long. After "}", a comment may name the
 * function. Only Linux has lines for a CPU's change to another task ("0) sh-7 =>
 * init-1"), for interrupts (arrows), and for lost events. Nanos completes the calls of a
 * thread when the CPU leaves it, and prints only the first eight digits of 100 s and
 * more.
 *
 * A call becomes a sample, whose weight is the time in ns that the call took, without the
 * calls it made.
 */
#include "import/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "import/scan.h"

/* A call that has not ended yet. */
struct call {
	uint32_t name;
	uint64_t inside; /* time taken by the calls it has made, ns */
};

/* The known open calls of a CPU, outermost first. The first has @depth callers. */
struct calls {
	struct call *call;
	uint32_t depth, count, capacity;
};

struct graph {
	struct names *names;
	struct calls cpu[RECORDING_MAX_VCPU + 1];
	uint64_t unknown; /* calls without a beginning or without an end in the text */
	uint64_t lost;	  /* places where Linux lost events */
};

enum entry_kind {
	ENTRY_NONE,   /* neither begins nor ends a call */
	ENTRY_BEGIN,  /* name() { */
	ENTRY_END,    /* } */
	ENTRY_WHOLE,  /* name(); */
	ENTRY_SWITCH, /* the CPU changes to another task */
};

struct entry {
	enum entry_kind kind;
	uint64_t cpu;
	bool has_duration;
	uint64_t duration; /* ns */
	uint32_t depth;
	struct recording_text name; /* empty: not in the text */
};

static struct recording_text between(const char *from, const char *end)
{
	return (struct recording_text){from, (size_t)(end - from)};
}

/* Takes [MARK] USECS[.FRACTION] us; empty if the call has not ended. */
static bool take_duration(struct recording_text text, struct entry *entry)
{
	struct recording_text word = scan_word(&text);

	if (!word.length)
		return true;
	if (word.length == 1 && strchr("+!#*@$", word.at[0]))
		word = scan_word(&text);
	entry->has_duration = scan_is(text, "us") &&
			      scan_fixed(word, 3, &entry->duration);
	return entry->has_duration;
}

/* Returns the name in the comment after "}". Linux may write the returned value there,
 * alone or after the name. */
static struct recording_text name_of_end(struct recording_text comment)
{
	struct recording_text none = {0};

	comment = scan_trim(comment);
	if (!scan_past(&comment, "/*") || comment.length < 2)
		return none;
	comment.length -= 2;
	comment = scan_trim(comment);
	return memchr(comment.at, '=', comment.length) ? none : comment;
}

/* Takes the column after the '|'. */
static bool take_function(struct recording_text text, struct entry *entry)
{
	struct recording_text function = scan_trim(text);
	size_t blanks = (size_t)(function.at - text.at);
	const char *bracket;

	if (!function.length || scan_past(&function, "/*"))
		return true;
	if (blanks < 2 || blanks / 2 - 1 > RECORDING_MAX_DEPTH)
		return false;
	entry->depth = (uint32_t)(blanks / 2 - 1);
	if (scan_past(&function, "}")) {
		entry->kind = ENTRY_END;
		entry->name = name_of_end(function);
		return true;
	}
	bracket = memchr(function.at, '(', function.length);
	if (!bracket)
		return false;
	entry->name = between(function.at, bracket);
	entry->kind = function.at[function.length - 1] == '{' ? ENTRY_BEGIN : ENTRY_WHOLE;
	return true;
}

/* Takes the columns before the function. The first column that is empty or has a
 * duration is the duration's; other columns are the task's. */
static bool take_columns(struct recording_text rest, struct entry *entry)
{
	const char *end = rest.at + rest.length, *bar;

	for (; (bar = memchr(rest.at, '|', rest.length)); rest = between(bar + 1, end)) {
		struct recording_text column = scan_trim(between(rest.at, bar));

		if (scan_is(column, "==========>") || scan_is(column, "<=========="))
			return true;
		if (take_duration(column, entry))
			return take_function(between(bar + 1, end), entry);
	}
	return false;
}

/* Parses an entry; false if the line is not one. */
static bool find_entry(struct recording_text line, struct entry *entry)
{
	struct recording_text rest = scan_trim(line);
	const char *bracket = memchr(rest.at, ')', rest.length);

	*entry = (struct entry){.kind = ENTRY_NONE};
	if (!bracket || !scan_decimal(between(rest.at, bracket), &entry->cpu))
		return false;
	rest = between(bracket + 1, rest.at + rest.length);
	if (take_columns(rest, entry))
		return true;
	if (memmem(rest.at, rest.length, " => ", 4))
		entry->kind = ENTRY_SWITCH;
	return entry->kind == ENTRY_SWITCH;
}

static bool ftrace_recognize(struct recording_text line)
{
	struct entry entry;

	return scan_past(&line, "# tracer: function_graph") ||
	       (find_entry(line, &entry) && entry.kind != ENTRY_SWITCH);
}

/* Drops the open calls with @depth callers or more, whose ends are missing in the
 * text. */
static void calls_leave(struct graph *graph, struct calls *calls, uint32_t depth)
{
	uint32_t left = depth > calls->depth ? depth - calls->depth : 0;

	if (left < calls->count) {
		graph->unknown += calls->count - left;
		calls->count = left;
	}
}

/* Forgets all open calls. */
static void calls_forget(struct calls *calls)
{
	calls->count = 0;
}

/* Prepares for a call with @depth callers: forgets the open calls if they are not the
 * callers. */
static void calls_follow(struct graph *graph, struct calls *calls, uint32_t depth)
{
	calls_leave(graph, calls, depth);
	if (!calls->count || depth != calls->depth + calls->count) {
		calls_forget(calls);
		calls->depth = depth;
	}
}

static uint32_t name_number(struct graph *graph, struct recording_text name)
{
	char *copy = strndup(name.length ? name.at : RECORDING_NO_NAME,
			     name.length ? name.length : strlen(RECORDING_NO_NAME));
	uint32_t number = copy ? names_intern(graph->names, copy) : NAMES_NONE;

	free(copy);
	return number;
}

static int begin_call(struct calls *calls, uint32_t name)
{
	if (calls->count == calls->capacity) {
		uint32_t capacity = calls->capacity ? 2 * calls->capacity : 8;

		if (!array_grow(&calls->call, capacity, sizeof(*calls->call)))
			return -1;
		calls->capacity = capacity;
	}
	calls->call[calls->count++] = (struct call){.name = name};
	return 0;
}

/* Ends the innermost call: adds a sample of the call and its callers, weighted by the
 * time spent in the call itself. */
static int end_call(struct graph *graph, struct importer *importer,
		    const struct entry *entry, struct error *err)
{
	static const char domain[] = "imported";
	const struct import_place place = {.domain = {domain, sizeof(domain) - 1},
					   .vcpu = (uint32_t)entry->cpu};
	/* A gap stands for callers that are not known. */
	const char *mark = chain_mark_name(CHAIN_GAP);
	const struct import_frame gap = {.name = {mark, strlen(mark)}};
	struct calls *calls = &graph->cpu[entry->cpu];
	uint64_t inside = calls->call[calls->count - 1].inside;
	uint32_t i = calls->count--;

	/* Each duration is rounded, so the calls inside can seem longer. */
	if (entry->duration <= inside)
		return 0;
	if (importer_begin(importer, &place, err) < 0)
		return -1;
	while (i-- > 0) {
		const char *name = names_get(graph->names, calls->call[i].name);
		/* A name is one place, sampled or not: callers are looked up one byte
		 * earlier. */
		const struct import_frame frame = {
			.name = {name, strlen(name)},
			.offset = importer_depth(importer) > 0,
		};

		if (importer_frame(importer, &frame, err) < 0)
			return -1;
	}
	if (calls->depth && importer_frame(importer, &gap, err) < 0)
		return -1;
	return importer_sample(importer, entry->duration - inside, CHAIN_WHOLE, err);
}

/* Adds an ended call to the time of its caller's calls, if the caller is known. */
static void count_inside(struct calls *calls, uint64_t duration)
{
	if (calls->count)
		calls->call[calls->count - 1].inside += duration;
}

/* Handles "}". If it does not end the innermost call, the trace lacks the beginning of
 * its call. */
static int take_end(struct graph *graph, struct importer *importer,
		    const struct entry *entry, uint32_t name, struct error *err)
{
	struct calls *calls = &graph->cpu[entry->cpu];

	calls_leave(graph, calls, entry->depth + 1);
	if (calls->count && calls->depth + calls->count == entry->depth + 1) {
		if (!entry->name.length || calls->call[calls->count - 1].name == name)
			return end_call(graph, importer, entry, err);
		calls_forget(calls);
	}
	graph->unknown++;
	calls_follow(graph, calls, entry->depth);
	return 0;
}

static int take_call(struct graph *graph, struct importer *importer,
		     const struct entry *entry, struct error *err)
{
	struct calls *calls = &graph->cpu[entry->cpu];
	uint32_t name = name_number(graph, entry->name);
	int status;

	if (name == NAMES_NONE)
		return importer_out_of_memory(importer, err);
	if (entry->kind != ENTRY_BEGIN && !entry->has_duration)
		return error_set(err, "a call without a duration");
	if (entry->kind == ENTRY_END) {
		status = take_end(graph, importer, entry, name, err);
	} else {
		calls_follow(graph, calls, entry->depth);
		if (begin_call(calls, name) < 0)
			return importer_out_of_memory(importer, err);
		if (entry->kind == ENTRY_BEGIN)
			return 0;
		status = end_call(graph, importer, entry, err);
	}
	count_inside(calls, entry->duration);
	return status;
}

/* Takes a line "CPU:N [LOST M EVENTS]"; false for other lines. */
static bool take_lost(struct graph *graph, struct recording_text line)
{
	struct recording_text word = scan_word(&line);
	uint64_t cpu;

	if (!scan_past(&word, "CPU:") || !scan_decimal(word, &cpu) ||
	    !scan_past(&line, "[LOST "))
		return false;
	graph->lost++;
	if (cpu <= RECORDING_MAX_VCPU)
		calls_forget(&graph->cpu[cpu]);
	return true;
}

/* Returns whether the line is skipped: a comment, or a line between tasks. */
static bool is_passed(struct recording_text text)
{
	size_t dashes = 0;

	while (dashes < text.length && text.at[dashes] == '-')
		dashes++;
	return dashes == text.length || text.at[0] == '#';
}

static int take_line(void *state, struct importer *importer, struct recording_text line,
		     struct error *err)
{
	struct recording_text text = scan_trim(line), tracer = text;
	struct graph *graph = state;
	struct entry entry;

	if (!graph->names)
		graph->names = names_new();
	if (!graph->names)
		return importer_out_of_memory(importer, err);
	if (scan_past(&tracer, "# tracer: ") && !scan_is(tracer, "function_graph"))
		return error_set(err,
				 "the tracer is '%.*s', not function_graph: durations "
				 "are needed",
				 (int)(tracer.length < 32 ? tracer.length : 32),
				 tracer.at);
	if (is_passed(text) || take_lost(graph, text))
		return 0;
	if (!find_entry(text, &entry))
		return error_set(err, "not an entry of the function graph tracer");
	if (entry.cpu > RECORDING_MAX_VCPU)
		return error_set(err, "CPU %" PRIu64 " is above the limit of %u",
				 entry.cpu, RECORDING_MAX_VCPU);
	if (entry.kind == ENTRY_SWITCH)
		calls_forget(&graph->cpu[entry.cpu]);
	else if (entry.kind != ENTRY_NONE)
		return take_call(graph, importer, &entry, err);
	return 0;
}

static int ftrace_end(void *state, struct importer *importer,
		      struct import_result *result, struct error *err)
{
	struct graph *graph = state;

	(void)importer;
	(void)result;
	(void)err;
	for (size_t i = 0; i <= RECORDING_MAX_VCPU; i++)
		calls_leave(graph, &graph->cpu[i], 0);
	return 0;
}

static void ftrace_note(const void *state, struct error *note)
{
	const struct graph *graph = state;
	char cut[160] = "", lost[80] = "";

	if (graph->unknown)
		snprintf(cut, sizeof(cut),
			 "; the own time of %" PRIu64 " call%s is not known: the text "
			 "has only the beginning or the end",
			 graph->unknown, graph->unknown == 1 ? "" : "s");
	if (graph->lost)
		snprintf(lost, sizeof(lost),
			 "; the kernel lost events in %" PRIu64 " place%s", graph->lost,
			 graph->lost == 1 ? "" : "s");
	error_set(note, "a sample is a nanosecond%s%s", cut, lost);
}

static void ftrace_release(void *state)
{
	struct graph *graph = state;

	if (graph->names)
		names_free(graph->names);
	for (size_t i = 0; i <= RECORDING_MAX_VCPU; i++)
		free(graph->cpu[i].call);
}

const struct import_format import_ftrace = {
	.name = "ftrace",
	.about = "the function graph tracer of Nanos (/ftrace/trace) or Linux",
	.recognize = ftrace_recognize,
	.state_size = sizeof(struct graph),
	.line = take_line,
	.end = ftrace_end,
	.note = ftrace_note,
	.release = ftrace_release,
};
