/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One page that shows everything, for web browsers: heat map, flame graph, table. It has
 * the call chains and every sample's time, thread, state and weights (columns.h), so that
 * it answers on exact counts for any time and selection. It needs no network.
 *
 * Samples are written as they come; only the call chains are kept.
 */
#include "output/output.h"

#include <stdlib.h>

#include "base/array.h"
#include "output/chunks.h"
#include "output/html/about.h"
#include "output/html/columns.h"
#include "output/html/page.h"
#include "output/markdown/threads.h"
#include "output/paths.h"

/* Samples in a part: small enough for a browser to show progress. */
#define SAMPLES_PART 65536

struct html {
	const struct report *report;
	struct page_data *data;
	uint64_t first;	     /* time 0 of the first recording, us */
	uint64_t origin;     /* time 0 of the current recording, us */
	uint32_t recordings; /* number of recordings with samples so far */
	uint64_t last;	     /* the last sample's time since the origin, us */
	uint64_t step;	     /* time between samples that is subtracted, us */
	uint32_t rows;	     /* number of samples in the current part */
	uint64_t cpu, wall;  /* sums so far, us */
	struct tree threads; /* one root; keys: domain and vCPU */
	uint64_t *seen;	     /* by thread: its last sample's time since the origin, us */
	uint32_t *recording; /* by thread: index of its recording */
	uint32_t thread_room;
	struct page_data *waits;
	struct wait_threads wait_threads;
	uint64_t *waited; /* by wait_threads: the end of its last wait, us since the start
			   */
	size_t waited_room;
	struct tree exits;    /* one root; keys: exits */
	struct chunks chunks; /* of the first recording */
	uint32_t
		*numbers; /* by node of the report's stacks: number plus 1; 0: none yet */
	uint32_t number_room;
	uint32_t *stacks; /* by number: the node of the report's stacks */
	uint32_t stack_count, stack_room;
	struct paths paths; /* of functions */
	struct tree chains; /* one root; its children are domains; keys: functions */
	struct page_functions functions;
};

static void html_free(void *state)
{
	struct html *html = state;

	if (!html)
		return;
	page_data_free(html->data);
	page_data_free(html->waits);
	wait_threads_free(&html->wait_threads);
	free(html->waited);
	tree_free(&html->threads);
	tree_free(&html->exits);
	tree_free(&html->chains);
	chunks_free(&html->chunks);
	paths_free(&html->paths);
	free(html->seen);
	free(html->recording);
	free(html->numbers);
	free(html->stacks);
	free(html->functions.list);
	free(html->functions.index);
	free(html);
}

static void *html_begin(const struct report *report)
{
	struct html *html = calloc(1, sizeof(*html));

	if (!html)
		return NULL;
	html->report = report;
	html->data = page_data_new(report->out);
	html->waits = page_data_new(report->out);
	html->paths = (struct paths){
		.report = report, .number = paths_function, .arg = report->frames};
	if (html->data && html->waits && tree_init(&html->threads, 1) == 0 &&
	    tree_init(&html->exits, 1) == 0 && tree_init(&html->chains, 1) == 0 &&
	    paths_init(&html->paths) == 0) {
		page_begin(report->out);
		return html;
	}
	html_free(html);
	return NULL;
}

/* Sets the sample's thread. -1 if out of memory. */
static int find_thread(struct html *html, const struct counted_sample *sample,
		       uint32_t *thread)
{
	uint64_t key = (uint64_t)sample->domain << 32 | sample->vcpu;
	uint32_t node = tree_intern(&html->threads, 0, key);
	uint32_t room = html->threads.capacity;

	if (node == TREE_NONE)
		return -1;
	if (node >= html->thread_room) {
		if (!array_grow_zeroed(&html->seen, html->thread_room, room,
				       sizeof(*html->seen)) ||
		    !array_grow_zeroed(&html->recording, html->thread_room, room,
				       sizeof(*html->recording)))
			return -1;
		html->thread_room = room;
	}
	html->recording[node] = sample->recording;
	*thread = node - 1;
	return 0;
}

/* Sets the number of the sample's call chain. -1 if out of memory. */
static int find_number(struct html *html, uint32_t stack, uint32_t *number)
{
	uint32_t room = html->report->stacks->tree.capacity;

	if (stack >= html->number_room) {
		if (!array_grow_zeroed(&html->numbers, html->number_room, room,
				       sizeof(*html->numbers)))
			return -1;
		html->number_room = room;
	}
	if (!html->numbers[stack]) {
		if (html->stack_count == html->stack_room) {
			room = html->stack_room * 2 + 1024;
			if (!array_grow(&html->stacks, room, sizeof(*html->stacks)))
				return -1;
			html->stack_room = room;
		}
		html->stacks[html->stack_count] = stack;
		html->numbers[stack] = ++html->stack_count;
	}
	*number = html->numbers[stack] - 1;
	return 0;
}

/* Returns as much of @count as keeps the sum within MEASURE_MOST. */
static uint64_t limit_sum(uint64_t *sum, uint64_t count)
{
	if (count > MEASURE_MOST - *sum)
		count = MEASURE_MOST - *sum;
	*sum += count;
	return count;
}

static uint64_t zigzag(int64_t value)
{
	uint64_t twice = (uint64_t)value << 1;

	return value < 0 ? ~twice : twice;
}

static int write_samples(struct html *html)
{
	html->rows = 0;
	html->step = 0;
	return page_data_write(html->data, "samples", SAMPLE_COLUMNS,
			       1u << SAMPLE_TIME | 1u << SAMPLE_CPU);
}

/* Writes the time of a sample. Many are about as long after the one before as the second
 * of their part. */
static void put_time(struct html *html, uint64_t time)
{
	uint64_t since = time - html->last;

	page_data_put_split(html->data, SAMPLE_TIME,
			    zigzag((int64_t)(since - html->step)));
	if (html->rows == 1)
		html->step = since;
	html->last = time;
}

/* Sets the number of the sample's exit. -1 if out of memory. */
static int find_exit(struct html *html, uint64_t exit, uint32_t *number)
{
	*number = exit ? tree_intern(&html->exits, 0, exit) : 0;
	return *number == TREE_NONE ? -1 : 0;
}

/* Sets the time 0 of a recording by the time of its first sample or wait that counts,
 * ns. */
static void begin_recording(struct html *html, uint32_t recording, uint64_t time)
{
	uint64_t start = html->report->recordings[recording].start;

	if (recording < html->recordings)
		return;

	/* The start of the only recording is in its summary. */
	if (html->report->recording_count == 1)
		start = summary_start(html->report->summary);
	else if (!start)
		start = time;
	html->origin = (start < time ? start : time) / 1000;
	if (!html->recordings)
		html->first = html->origin;
	html->recordings = recording + 1;
}

static int html_sample(void *state, const struct counted_sample *sample)
{
	struct html *html = state;
	struct page_data *data = html->data;
	uint64_t time, wall = limit_sum(&html->wall, sample->times.wall);
	uint32_t thread, number, exit;

	begin_recording(html, sample->recording, sample->time);
	if (find_thread(html, sample, &thread) < 0 ||
	    find_number(html, sample->stack, &number) < 0 ||
	    find_exit(html, sample->exit, &exit) < 0 ||
	    chunks_note(&html->chunks, html->report->summary, sample->time) < 0)
		return -1;
	time = sample->time / 1000 - html->origin;
	put_time(html, time);
	page_data_put(data, SAMPLE_THREAD, thread);
	page_data_put(data, SAMPLE_STATE, sample->state);
	page_data_put(data, SAMPLE_EXIT, exit);
	page_data_put_split(data, SAMPLE_STACK, number);
	page_data_put(data, SAMPLE_WEIGHT, sample->count - 1);
	page_data_put_split(data, SAMPLE_CPU,
			    limit_sum(&html->cpu, sample->times.cpu_time));
	page_data_put_signed(data, SAMPLE_WALL,
			     (int64_t)(wall - (time - html->seen[thread + 1])));
	html->seen[thread + 1] = time;
	html->rows = page_data_row(data);
	return html->rows < SAMPLES_PART ? 0 : write_samples(html);
}

/* Sets where the end of the last wait of a thread is kept. -1 if out of memory. */
static int find_waited(struct html *html, const struct counted_wait *wait,
		       uint32_t *thread)
{
	const struct wait_thread *found = wait_threads_add(&html->wait_threads, wait);
	size_t room = html->wait_threads.room;

	if (!found)
		return -1;
	if (room > html->waited_room) {
		if (!array_grow_zeroed(&html->waited, html->waited_room, room,
				       sizeof(*html->waited)))
			return -1;
		html->waited_room = room;
	}
	*thread = (uint32_t)(found - html->wait_threads.list);
	return 0;
}

static int write_waits(struct html *html)
{
	return page_data_write(html->waits, "waits", WAIT_COLUMNS, 0);
}

static int html_wait(void *state, const struct counted_wait *wait)
{
	struct html *html = state;
	struct page_data *data = html->waits;
	uint32_t thread, number;
	uint64_t from;

	begin_recording(html, wait->recording, wait->from);
	if (find_waited(html, wait, &thread) < 0 ||
	    find_number(html, wait->stack, &number) < 0)
		return -1;
	from = wait->from / 1000 - html->origin;
	page_data_put_split(data, WAIT_FROM,
			    zigzag((int64_t)(from - html->waited[thread])));
	page_data_put_split(data, WAIT_LENGTH, wait->count);
	page_data_put(data, WAIT_THREAD, thread);
	page_data_put(data, WAIT_STATE, wait->state);
	page_data_put_split(data, WAIT_STACK, number);
	html->waited[thread] = from + wait->count;
	return page_data_row(data) < SAMPLES_PART ? 0 : write_waits(html);
}

/* Returns a function's index in the page; UINT32_MAX if out of memory. */
static uint32_t use_function(struct page_functions *functions, uint32_t function)
{
	if (function >= functions->room) {
		uint32_t room = function * 2 + 1024;

		if (!array_grow_zeroed(&functions->index, functions->room, room,
				       sizeof(*functions->index)) ||
		    !array_grow(&functions->list, room, sizeof(*functions->list)))
			return UINT32_MAX;
		functions->room = room;
	}
	if (!functions->index[function]) {
		functions->list[functions->count++] = function;
		functions->index[function] = functions->count;
	}
	return functions->index[function] - 1;
}

/* Returns the node of a call chain in html->chains: the functions of its path, below its
 * domain. TREE_NONE if out of memory. */
static uint32_t add_chain(struct html *html, uint32_t stack)
{
	const struct report *report = html->report;
	uint32_t domain = frames_domain(report->frames, report->stacks->domain[stack]);
	uint32_t path = paths_find(&html->paths, stack), node, count;
	const uint32_t *list;

	if (domain == FRAMES_NONE || path == TREE_NONE)
		return TREE_NONE;
	count = paths_list(&html->paths, path, &list);
	node = count ? tree_intern(&html->chains, 0, domain) : TREE_NONE;
	for (uint32_t i = 0; i < count && node != TREE_NONE; i++)
		node = tree_intern(&html->chains, node, list[i]);
	return node;
}

/* Writes the node of each call chain. */
static int write_stacks(struct html *html)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < html->stack_count; i++) {
		uint32_t node = add_chain(html, html->stacks[i]);

		if (node == TREE_NONE)
			return -1;
		page_data_put_signed(html->data, STACK_NODE,
				     (int64_t)node - (int64_t)last);
		page_data_row(html->data);
		last = node;
	}
	return page_data_write(html->data, "stacks", STACK_COLUMNS, 0);
}

static int write_tree(struct html *html)
{
	const struct tree_node *nodes = html->chains.nodes;

	for (uint32_t i = 1; i < html->chains.count; i++) {
		uint32_t function = use_function(&html->functions,
						 (uint32_t)nodes[i].key);

		if (function == UINT32_MAX)
			return -1;
		page_data_put(html->data, TREE_PARENT, i - nodes[i].parent);
		page_data_put_split(html->data, TREE_FUNCTION, function);
		page_data_row(html->data);
	}
	return page_data_write(html->data, "tree", TREE_COLUMNS, 0);
}

static int write_chunks(struct html *html)
{
	const struct chunk_counts *list = html->chunks.list;
	uint64_t last = html->first;

	for (size_t i = 0; i < html->chunks.count; i++) {
		uint64_t time = list[i].time / 1000;
		struct chunk_counts own = chunks_own(&html->chunks, i);

		page_data_put_signed(html->data, CHUNK_TIME, (int64_t)(time - last));
		page_data_put(html->data, CHUNK_ROUNDS, chunk_rounds(&own));
		page_data_put(html->data, CHUNK_PAUSED, own.paused / 1000);
		page_data_put(html->data, CHUNK_MISSED, own.missed);
		page_data_row(html->data);
		last = time;
	}
	return page_data_write(html->data, "chunks", CHUNK_COLUMNS, 0);
}

static int write_about(const struct html *html)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	const struct page_lists lists = {
		.origin = html->first,
		.threads = {&html->threads, html->recording},
		.wait_threads = &html->wait_threads,
		.functions = html->functions,
		.exits = &html->exits,
	};
	int status;

	if (!to)
		return -1;
	status = about_write(html->report, &lists, to);
	if (memory_close(to, &text) < 0)
		status = -1;
	if (status == 0)
		status = page_data_text(html->data, "about", text, size);
	free(text);
	return status;
}

static int html_end(void *state)
{
	struct html *html = state;
	const struct report *report = html->report;

	if (report->view.weight == MEASURE_CPU_TIME && report->summary->lacks_cpu_time) {
		error_set(report->why, "the recording contains no CPU times: use "
				       "--weight samples or wall");
		return -1;
	}
	if (report->view.weight == MEASURE_WAIT && !report->summary->waits.rounds) {
		error_set(report->why, "no waits in %s: they are recorded with --waits",
			  report->recordings[0].input.name);
		return -1;
	}
	if (write_samples(html) < 0 || write_waits(html) < 0 || write_stacks(html) < 0 ||
	    write_tree(html) < 0 || write_chunks(html) < 0 || write_about(html) < 0)
		return -1;
	page_end(report->out);
	return 0;
}

const struct output output_html = {
	.name = "html",
	.about = "one page for web browsers: heat map, flame graph, table",
	.one_recording = true,
	.all_weights = true,
	.counts_waits = true,
	.lines = OUTPUT_LINES_IN_NAMES,
	.for_browsers = true,
	.has_baseline = true,
	.begin = html_begin,
	.sample = html_sample,
	.wait = html_wait,
	.end = html_end,
	.free = html_free,
};
