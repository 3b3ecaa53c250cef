/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,symoff,dso`
 * prints (tools/perf/builtin-script.c), so that all readers of perf's text can read ours:
 * stackcollapse-perf.pl, gprof2dot, speedscope, the Firefox Profiler.
 *
 * Domains, vCPUs and counts are as described in perf.h. If all names are from ELF files,
 * the text is byte for byte what perf prints for our perf-data.
 */
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "output/perf/perf.h"

/* The text for an address; NULL until it is needed */
struct line {
	char *text;
	size_t length;
};

struct perf_script {
	const struct report *report;
	struct perf_maps maps;
	struct line *lines; /* by frame */
	uint32_t line_count;
	struct line *nodes[2]; /* the texts by enum frame_use and node of the stacks */
	uint32_t node_count;
	struct perf_threads threads;
};

static void perf_script_free(void *state)
{
	struct perf_script *script = state;

	if (!script)
		return;
	perf_threads_free(&script->threads);
	perf_maps_free(&script->maps);
	for (uint32_t i = 0; i < script->line_count; i++)
		free(script->lines[i].text);
	free(script->lines);
	free(script->nodes[FRAME_LEAF]);
	free(script->nodes[FRAME_CALLER]);
	free(script);
}

static void *perf_script_begin(const struct report *report)
{
	struct perf_script *script = calloc(1, sizeof(*script));

	if (!script)
		return NULL;
	script->report = report;
	if (perf_maps_init(&script->maps, report->sources) < 0 ||
	    perf_threads_init(&script->threads, report->summary) < 0) {
		perf_script_free(script);
		return NULL;
	}
	return script;
}

/* Makes what perf prints as the location of an address: the file, or a name in brackets
 * if there is none. Readers would stop at a blank or a parenthesis. */
static char *make_dso(const struct perf_map *map, const struct frame *frame)
{
	/* An imported name may have no file. */
	const char *file = frame->dso && *frame->dso ? frame->dso : "[unknown]";
	const char *name = map ? map->path : file;
	char *dso = malloc(strlen(name) + 1);

	if (!dso)
		return NULL;
	text_clean(dso, name);
	for (char *c = dso; *c; c++)
		if (strchr(" ()", *c))
			*c = '_';
	return dso;
}

/*
 * Writes a line for each function at the address. Readers mistake "(word) (word)" for the
 * process's name and drop the frame. In C++, "(anonymous namespace)::name" can be written
 * with a leading "::".
 */
static void put_functions(FILE *out, const struct frames *frames,
			  const struct frame *frame, uint64_t address, uint64_t offset,
			  const char *dso)
{
	for (uint32_t i = 0; i < frame->function_count; i++) {
		uint32_t function = frames_function_at(frames, frame, i);
		const char *name = frames_function_name(frames, function);

		fprintf(out, "\t%16" PRIx64 " %s%s+0x%" PRIx64 " (%s)\n", address,
			*name == '(' ? "::" : "", name, offset,
			i + 1 == frame->function_count ? dso : "inlined");
	}
}

/*
 * Makes the lines for an address. If an ELF file is mapped, perf shows its full path, and
 * addresses as offsets in the file (tools/perf/util/evsel_fprintf.c,
 * sample__fprintf_callchain()). Lists of names are not mapped: they are shown by the last
 * component of the path, with the address unchanged.
 */
static char *make_lines(const struct perf_script *script, uint32_t domain,
			const struct frame *frame, enum frame_use use)
{
	const struct report *report = script->report;
	const struct recording_domain *of = summary_domain(report->summary, domain);
	uint64_t address = use == FRAME_LEAF
				   ? frame->address
				   : frames_return_address(report->frames, domain,
							   frame->address);
	const struct perf_map *map = perf_maps_find(&script->maps, of, domain, address);
	uint64_t offset = frame->offset;
	char *dso = make_dso(map, frame), *lines = NULL;
	size_t size;
	FILE *out = dso ? open_memstream(&lines, &size) : NULL;

	if (!out) {
		free(dso);
		return NULL;
	}
	if (map) {
		offset -= frame->address - address;
		address += map->segment.offset - map->segment.address;
	} else {
		address = frame->address;
	}
	if (frames_function_known(report->frames, frame->function))
		put_functions(out, report->frames, frame, address, offset, dso);
	else
		fprintf(out, "\t%16" PRIx64 " [unknown] (%s)\n", address, dso);
	free(dso);
	if (!fclose(out))
		return lines;
	free(lines);
	return NULL;
}

/* Returns the lines for an address; NULL if out of memory. */
static const struct line *line_at(struct perf_script *script, uint32_t domain,
				  uint64_t address, enum frame_use use)
{
	struct frames *frames = script->report->frames;
	uint32_t number = frames_find(frames, domain, address, use);
	struct line *line;

	if (number == FRAMES_NONE)
		return NULL;
	if (number >= script->line_count) {
		uint32_t count = (number + 1) * 2;

		/* New lines have no text. */
		if (!array_grow_zeroed(&script->lines, script->line_count, count,
				       sizeof(*script->lines)))
			return NULL;
		script->line_count = count;
	}
	line = &script->lines[number];
	if (!line->text && perf_maps_update(&script->maps) == 0) {
		line->text = make_lines(script, domain, frames_get(frames, number), use);
		line->length = line->text ? strlen(line->text) : 0;
	}
	return line->text ? line : NULL;
}

/* Returns the lines for a node of the stacks, which is looked up once; NULL if out of
 * memory. */
static const struct line *line_of(struct perf_script *script, uint32_t domain,
				  uint32_t node, enum frame_use use)
{
	const struct tree *tree = &script->report->stacks->tree;
	const struct line *line;

	if (node >= script->node_count) {
		for (int i = FRAME_LEAF; i <= FRAME_CALLER; i++)
			if (!array_grow_zeroed(&script->nodes[i], script->node_count,
					       tree->capacity, sizeof(*script->nodes[i])))
				return NULL;
		script->node_count = tree->capacity;
	}
	if (script->nodes[use][node].text)
		return &script->nodes[use][node];
	line = line_at(script, domain, tree->nodes[node].key, use);
	if (line)
		script->nodes[use][node] = *line;
	return line;
}

/* Writes @value in decimal, at least @width characters; returns its end. */
static char *put_decimal(char *at, uint64_t value, unsigned int width, char pad)
{
	char digits[20];
	unsigned int count = 0;

	do {
		digits[count++] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	for (unsigned int i = count; i < width; i++)
		*at++ = pad;
	while (count)
		*at++ = digits[--count];
	return at;
}

/* Writes "%s %5u/%-5u [%03u] %5lu.%06lu: %10lu %s: \n" by hand, as printf() would take a
 * third of the total time. */
static void put_event(struct perf_script *script, const struct counted_sample *sample)
{
	const struct measure *measure = script->report->measure;
	char line[PERF_COMM_SIZE + 128], *at = line, *tid;
	FILE *out = script->report->out;
	struct perf_thread thread;

	perf_thread(&script->threads, &thread, sample->domain, sample->vcpu);
	at = stpcpy(at, thread.comm);
	*at++ = ' ';
	at = put_decimal(at, thread.pid, 5, ' ');
	*at++ = '/';
	tid = at;
	at = put_decimal(at, thread.tid, 0, ' ');
	while (at < tid + 5)
		*at++ = ' ';
	at = stpcpy(at, " [");
	at = put_decimal(at, sample->vcpu, 3, '0');
	at = stpcpy(at, "] ");
	at = put_decimal(at, sample->time / 1000000000, 5, ' ');
	*at++ = '.';
	at = put_decimal(at, sample->time / 1000 % 1000000, 6, '0');
	at = stpcpy(at, ": ");
	at = put_decimal(at, perf_period(measure, sample), 10, ' ');
	*at++ = ' ';
	fwrite_unlocked(line, 1, (size_t)(at - line), out);
	fputs_unlocked(perf_event(measure), out);
	fputs_unlocked(": \n", out);
}

static int put_chain(struct perf_script *script, uint32_t domain, uint32_t stack)
{
	const struct stacks *stacks = script->report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	enum frame_use use = FRAME_LEAF;
	FILE *out = script->report->out;

	/* Some readers drop samples without frames. */
	if (!stacks_is_address(stacks, stack))
		fputs("\t               0 [unknown] ([unknown])\n", out);
	for (; stacks_is_address(stacks, stack); stack = nodes[stack].parent) {
		const struct line *line = line_of(script, domain, stack, use);

		if (!line)
			return -1;
		fwrite_unlocked(line->text, 1, line->length, out);
		use = FRAME_CALLER;
	}
	putc_unlocked('\n', out);
	return 0;
}

static int perf_script_sample(void *state, const struct counted_sample *sample)
{
	struct perf_script *script = state;

	put_event(script, sample);
	return put_chain(script, sample->domain, sample->stack);
}

static int perf_script_end(void *state)
{
	(void)state;
	return 0;
}

const struct output output_perf_script = {
	.name = "perf-script",
	.about = "the text of perf script, for stackcollapse-perf.pl, gprof2dot",
	.bare_names = true,
	.lines = OUTPUT_LINES_NONE,
	.begin = perf_script_begin,
	.sample = perf_script_sample,
	.end = perf_script_end,
	.free = perf_script_free,
};
