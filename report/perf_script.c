/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso`
 * prints (tools/perf/builtin-script.c), so that whatever reads perf's text reads
 * ours: stackcollapse-perf.pl, gprof2dot, speedscope, the Firefox Profiler.
 *
 * A domain is a process and a vCPU is a thread of it: pid is the domain's id, as far as
 * it is the only one with that (domain_pid()), and tid is pid * 10000 + vCPU, as readers
 * expect a tid to be one thread's alone.
 * The period is always 1, and a sample that stands for several is printed as
 * often: some readers add periods up and others count samples, and so all of
 * them come to the same numbers as our other outputs.
 *
 * Where samples count for time, each is printed once and its period is that time in
 * ns, as with perf's own clock events: task-clock is the time on a CPU, cpu-clock
 * the time that passes. Samples for no time are left out, as readers take a period
 * of 0 for none and count 1.
 */
#include "report/output.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/domains.h"
#include "report/text.h"

#define TIDS_PER_DOMAIN 10000

struct perf_script {
	const struct report *report;
	char **lines; /* by frame: as printed; NULL until it is needed */
	uint32_t line_count;
	uint32_t *pids; /* by domain: 1 more than its pid; 0 until it is needed */
};

static void *perf_script_begin(const struct report *report)
{
	struct perf_script *script = calloc(1, sizeof(*script));

	if (!script)
		return NULL;
	script->report = report;
	script->pids = calloc(RECORDING_MAX_DOMAIN + 1, sizeof(*script->pids));
	if (script->pids)
		return script;
	free(script);
	return NULL;
}

static void perf_script_free(void *state)
{
	struct perf_script *script = state;

	if (!script)
		return;
	for (uint32_t i = 0; i < script->line_count; i++)
		free(script->lines[i]);
	free(script->lines);
	free(script->pids);
	free(script);
}

/* A formatted string of its own; NULL when memory is short. */
static char *make_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

static char *make_text(const char *format, ...)
{
	va_list args;
	char *text;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	return length < 0 ? NULL : text;
}

static char *make_line(const struct frames *frames, const struct frame *frame)
{
	const char *name = frames_function_name(frames, frame->function);
	char dso[64];

	if (!frame->dso)
		return make_text("\t%16" PRIx64 " [unknown] ([unknown])\n",
				 frame->address);
	text_word(dso, sizeof(dso), frame->dso);
	/*
	 * Readers take "(word) (word)" for the process's name and drop the frame.
	 * C++ has "(anonymous namespace)::name", which may as well start with "::".
	 */
	return make_text("\t%16" PRIx64 " %s%s+0x%" PRIx64 " (%s)\n", frame->address,
			 *name == '(' ? "::" : "", name, frame->offset, dso);
}

/* The line for an address; NULL when memory is short. */
static const char *line_of(struct perf_script *script, uint32_t domain, uint64_t address,
			   enum frame_use use)
{
	struct frames *frames = script->report->frames;
	uint32_t number = frames_find(frames, domain, address, use);

	if (number == FRAMES_NONE)
		return NULL;
	if (number >= script->line_count) {
		uint32_t count = (number + 1) * 2;
		char **lines = realloc(script->lines, count * sizeof(*lines));

		if (!lines)
			return NULL;
		memset(lines + script->line_count, 0,
		       (count - script->line_count) * sizeof(*lines));
		script->lines = lines;
		script->line_count = count;
	}
	if (!script->lines[number])
		script->lines[number] = make_line(frames, frames_get(frames, number));
	return script->lines[number];
}

/* The domain's name as a word that readers take for a command: no number, and,
 * for the patterns of some, not a single character. */
static void make_comm(char *to, size_t size, const struct recording_domain *domain)
{
	char word[128] = "?";

	if (domain && *domain->name)
		text_word(word, sizeof(word), domain->name);
	snprintf(to, size, "%s%s",
		 !word[1] || strspn(word, "0123456789") == strlen(word) ? "domain-" : "",
		 word);
}

static uint32_t pid_of(const struct perf_script *script, uint32_t domain)
{
	/* What is not known yet may be later. */
	if (!summary_domain(script->report->summary, domain))
		return 0;
	if (!script->pids[domain])
		script->pids[domain] = domain_pid(script->report->summary, domain) + 1;
	return script->pids[domain] - 1;
}

static void put_event(const struct perf_script *script,
		      const struct output_sample *sample)
{
	const struct recording_domain *domain = summary_domain(script->report->summary,
							       sample->domain);
	uint32_t pid = pid_of(script, sample->domain);
	const struct measure *measure = script->report->measure;
	char comm[160];

	make_comm(comm, sizeof(comm), domain);
	fprintf(script->report->out,
		"%s %5u/%-5u [%03u] %5" PRIu64 ".%06" PRIu64 ": %10" PRIu64 " %s: \n",
		comm, pid, pid * TIDS_PER_DOMAIN + sample->vcpu, sample->vcpu,
		sample->time / 1000000000, sample->time / 1000 % 1000000,
		measure_is_time(measure) ? sample->count * 1000 : 1,
		measure->weight == MEASURE_CPU_TIME ? "task-clock" : "cpu-clock");
}

static int put_chain(struct perf_script *script, uint32_t domain, uint32_t stack)
{
	const struct stacks *stacks = script->report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	enum frame_use use = FRAME_LEAF;
	FILE *out = script->report->out;

	/* Some readers forget a sample that has no frames. */
	if (!stacks_is_address(stacks, stack))
		fputs("\t               0 [unknown] ([unknown])\n", out);
	for (; stacks_is_address(stacks, stack); stack = nodes[stack].parent) {
		const char *line = line_of(script, domain, nodes[stack].key, use);

		if (!line)
			return -1;
		fputs(line, out);
		use = FRAME_CALLER;
	}
	putc('\n', out);
	return 0;
}

static int perf_script_sample(void *state, const struct output_sample *sample)
{
	struct perf_script *script = state;
	uint64_t times = measure_is_time(script->report->measure) ? 1 : sample->count;

	for (uint64_t i = 0; i < times && !ferror(script->report->out); i++) {
		put_event(script, sample);
		if (put_chain(script, sample->domain, sample->stack) < 0)
			return -1;
	}
	return 0;
}

static int perf_script_end(void *state)
{
	(void)state;
	return 0;
}

const struct output output_perf_script = {
	.name = "perf-script",
	.about = "the text of perf script, for stackcollapse-perf.pl, gprof2dot, "
		 "speedscope",
	.begin = perf_script_begin,
	.sample = perf_script_sample,
	.end = perf_script_end,
	.free = perf_script_free,
};
