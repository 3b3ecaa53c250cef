/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A page in Markdown (GitHub Flavored, with tables) that a person or a language model
 * reads in a minute: what was recorded, what is missing or doubtful, where the vCPUs'
 * time went, the top functions and call chains, and where vCPUs were blocked; or, of
 * waits, which threads waited longest, and for what. Each table
 * ends with what it leaves out, so that the counts in it add up to the total.
 */
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/model/checks/ends.h"
#include "report/model/domains.h"
#include "output/counts.h"
#include "output/heading.h"
#include "output/histogram/histogram.h"
#include "output/markdown/cells.h"
#include "output/markdown/threads.h"
#include "output/paths.h"
#include "output/write/markdown.h"

/* Maximum number of rows of the tables */
#define MOST_DOMAINS   16
#define MOST_VCPUS     32
#define MOST_FUNCTIONS 25
#define MOST_CHAINS    10

/* Functions of a chain that are shown: outermost, innermost */
#define MOST_OUTERMOST 8
#define MOST_INNERMOST 12

struct markdown {
	const struct report *report;
	struct histogram *histogram;
	struct paths paths; /* of functions */
	/* Keys: domain's index << 40 | state << 32 | path or vCPU */
	struct counts by_path, by_vcpu;
	struct wait_threads threads; /* of waits */
};

/* What was counted for one path or vCPU of the domains with one name. */
struct row {
	uint32_t domain; /* function that represents the domain */
	uint32_t number; /* path or vCPU */
	uint64_t states[SUMMARY_STATES];
	uint64_t total;
};

static void markdown_free(void *state)
{
	struct markdown *markdown = state;

	if (!markdown)
		return;
	histogram_free(markdown->histogram);
	paths_free(&markdown->paths);
	counts_free(&markdown->by_path);
	counts_free(&markdown->by_vcpu);
	wait_threads_free(&markdown->threads);
	free(markdown);
}

static void *markdown_begin(const struct report *report)
{
	struct markdown *markdown = calloc(1, sizeof(*markdown));

	if (!markdown)
		return NULL;
	markdown->report = report;
	markdown->histogram = histogram_begin(report);
	markdown->paths = (struct paths){
		.report = report, .number = paths_function, .arg = report->frames};
	if (markdown->histogram && paths_init(&markdown->paths) == 0 &&
	    counts_init(&markdown->by_path) == 0 && counts_init(&markdown->by_vcpu) == 0)
		return markdown;
	markdown_free(markdown);
	return NULL;
}

static int markdown_sample(void *state, const struct counted_sample *sample)
{
	struct markdown *markdown = state;
	uint32_t path = paths_find(&markdown->paths, sample->stack);
	uint64_t vcpu_state = sample->state < SUMMARY_STATES ? sample->state
							     : VCPU_UNKNOWN;
	uint64_t key = (uint64_t)sample->domain << 40 | vcpu_state << 32;

	if (path == TREE_NONE ||
	    counts_add(&markdown->by_path, key | path, sample->count) < 0 ||
	    counts_add(&markdown->by_vcpu, key | sample->vcpu, sample->count) < 0)
		return -1;
	return histogram_sample(markdown->histogram, sample);
}

static int markdown_wait(void *state, const struct counted_wait *wait)
{
	struct markdown *markdown = state;
	uint32_t path = paths_find(&markdown->paths, wait->stack);

	if (path == TREE_NONE ||
	    counts_add(&markdown->by_path, (uint64_t)wait->domain << 40 | path,
		       wait->count) < 0)
		return -1;
	return wait_threads_add(&markdown->threads, wait) ? 0 : -1;
}

static int compare_keys(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Compares rows by the state @arg, or by the total if it is NULL: the largest first. */
static int compare_counts(const void *a, const void *b, void *arg)
{
	const struct row *x = a, *y = b;
	const unsigned int *state = arg;
	uint64_t of_x = state ? x->states[*state] : x->total;
	uint64_t of_y = state ? y->states[*state] : y->total;

	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	return compare_keys(a, b);
}

/* Makes a row of each domain name and path or vCPU. The caller frees it; NULL if out of
 * memory. */
static struct row *make_rows(const struct markdown *markdown, const struct counts *counts,
			     size_t *count)
{
	struct row *rows = calloc(counts->keys.count, sizeof(*rows));
	size_t kept = 0;

	for (uint32_t i = 1; rows && i < counts->keys.count; i++) {
		uint64_t key = counts->keys.nodes[i].key;
		struct row *row = &rows[i - 1];

		row->domain = frames_domain(markdown->report->frames,
					    (uint32_t)(key >> 40));
		row->number = (uint32_t)key;
		row->states[key >> 32 & 0xff] = row->total = counts->sums[i];
		if (row->domain != FRAMES_NONE)
			continue;
		free(rows);
		return NULL;
	}
	*count = counts->keys.count - 1;
	if (!rows || !*count)
		return rows;
	qsort(rows, *count, sizeof(*rows), compare_keys);
	for (size_t i = 1; i < *count; i++) {
		if (compare_keys(&rows[kept], &rows[i]) != 0) {
			rows[++kept] = rows[i];
			continue;
		}
		for (unsigned int s = 0; s < SUMMARY_STATES; s++)
			rows[kept].states[s] += rows[i].states[s];
		rows[kept].total += rows[i].total;
	}
	*count = kept + 1;
	return rows;
}

static void put_domain(FILE *out, const struct recording_domain *domain)
{
	char name[DOMAIN_NAME_SIZE];

	domain_plain_name(name, domain);
	fputs("| guest | ", out);
	cell_text(out, name);
	fprintf(out, ", id %" PRIu64 ", %s, %s", domain->id,
		guest_type_name((unsigned int)domain->type),
		cpu_kind_name((unsigned int)domain->cpu));
	if (domain->vcpus)
		fprintf(out, ", %" PRIu64 " vCPU%s", domain->vcpus,
			domain->vcpus == 1 ? "" : "s");
	fputs(" |\n", out);
}

static void put_domains(const struct report *report)
{
	const struct summary *summary = report->summary;
	size_t shown = 0;

	for (size_t i = 0; i < summary->domain_room && shown < MOST_DOMAINS; i++)
		if (summary->domains[i]) {
			put_domain(report->out, summary->domains[i]);
			shown++;
		}
	if (shown < summary->domain_count)
		fprintf(report->out, "| more guests | %zu |\n",
			summary->domain_count - shown);
}

/* Writes a row with a text from outside; none for an empty text. */
static void put_text_row(FILE *out, const char *label, const char *text)
{
	if (!*text)
		return;
	fprintf(out, "| %s | ", label);
	cell_text(out, text);
	fputs(" |\n", out);
}

static void put_recording(const struct report *report)
{
	const struct summary *summary = report->summary;
	const struct recording_info *info = &summary->info;
	double rate = summary_rate(summary);
	char time[TEXT_TIME_SIZE];
	FILE *out = report->out;

	fputs("# Profile\n\n| recording | |\n|---|---|\n", out);
	put_domains(report);
	put_text_row(out, "host", info->host);
	put_text_row(out, "hypervisor", info->hypervisor);
	put_text_row(out, "command", info->command);
	if (info->wall_start) {
		text_time(time, info->wall_start, true);
		fprintf(out, "| started | %s |\n", time);
	}
	fprintf(out, "| duration | %.3f s |\n", (double)summary_duration(summary) / 1e9);
	if (rate > 0)
		fprintf(out, "| rate | %.4g rounds per second%s |\n", rate,
			summary->domain_count > 1 ? " and domain" : "");
	if (shows_waits(report))
		fprintf(out,
			"| looks at the threads | %" PRIu64 ", at up to %" PRIu64
			" threads; %" PRIu64 " call chains read, %" PRIu64
			" torn, %" PRIu64 " unread |\n",
			summary->waits.rounds, summary->waits.threads,
			summary->waits.read, summary->waits.torn, summary->waits.unread);
	fprintf(out, "| counted below | ");
	cell_count(report, report->measure->total);
	if (report->measure->total != report->measure->whole) {
		fputs(" of ", out);
		cell_count(report, report->measure->whole);
	}
	fprintf(out, " (%s%s) |\n", measure_noun(report->measure),
		measure_states_note(report->measure));
}

static void put_chain_ends(const struct report *report)
{
	const struct quality *quality = report->quality;
	FILE *out = report->out;
	bool is_first = true;

	fputs("| call chains cut short ", out);
	cells_share(report, ends_cut(quality->ends));
	fputs("| ", out);
	for (unsigned int i = 0; i < SAMPLES_ROOTS; i++) {
		if (!chain_end_is_cut(i) || !quality->ends[i])
			continue;
		fprintf(out, "%s%s: ", is_first ? "" : ", ", chain_end_name(i));
		cell_count(report, quality->ends[i]);
		is_first = false;
	}
	fputs(" |\n| call chains of unknown end ", out);
	cells_share(report, quality->ends[CHAIN_UNKNOWN]);
	fputs("| |\n", out);
}

static void put_pauses(const struct report *report)
{
	const struct pauses *pauses = &report->summary->counts.pauses;
	uint64_t duration = summary_duration(report->summary);

	if (!pauses->count)
		return;
	fprintf(report->out,
		"| pauses of the guest%s | %" PRIu64 " | %.3f "
		"| median %.1f us, longest %.1f us |\n",
		report->summary->domain_count > 1 ? "s" : "", pauses->count,
		cell_percent(pauses->sum, duration),
		(double)pauses_quantile(pauses, 0.5) / 1e3, (double)pauses->max / 1e3);
}

/* Writes a note as text: its names of files and guests can contain markup. */
static void put_note(FILE *out, const struct note *note)
{
	fprintf(out, "\n%s: ", note->kind == NOTE_WARNING ? "Warning" : "Note");
	for (const char *c = note->text; *c; c++) {
		if (strchr("\\`*_{}[]<>#|!&", *c))
			putc('\\', out);
		putc(*c, out);
	}
	putc('\n', out);
}

static void put_quality(const struct report *report)
{
	const struct quality *quality = report->quality;
	const struct summary *summary = report->summary;
	FILE *out = report->out;

	fputs("\n## What is missing or doubtful\n\n| | count | % | "
	      "|\n|---|--:|--:|---|\n",
	      out);
	fputs("| without a name ", out);
	cells_share(report, quality->samples_unnamed + quality->samples_empty);
	fputs("| the function that was sampled |\n", out);
	put_chain_ends(report);
	fprintf(out, "| rounds missed | %" PRIu64 " | %.1f | too late |\n",
		summary->counts.missed, 100 * summary_missed(summary));
	fprintf(out, "| samples lost | %" PRIu64 " | %.1f | buffer full |\n",
		summary->counts.lost,
		cell_percent(summary->counts.lost,
			     summary->counts.lost + summary->weight));
	put_pauses(report);
	for (size_t i = 0; i < report->notes->count; i++)
		put_note(out, &report->notes->list[i]);
}

static void put_vcpu_row(const struct report *report, const struct row *row)
{
	FILE *out = report->out;

	cells_share(report, row->total);
	for (unsigned int s = VCPU_RUNNING; s <= VCPU_BLOCKED; s++)
		fprintf(out, "| %.1f ", cell_percent(row->states[s], row->total));
	cell_domain(report, frames_function_name(report->frames, row->domain));
	fprintf(out, "| %" PRIu32 " |\n", row->number);
}

static int put_vcpus(const struct markdown *markdown)
{
	const struct report *report = markdown->report;
	size_t count, shown;
	uint64_t left = report->measure->total;
	struct row *rows = make_rows(markdown, &markdown->by_vcpu, &count);

	if (!rows)
		return -1;
	shown = count < MOST_VCPUS ? count : MOST_VCPUS;
	fprintf(report->out,
		"\n## vCPUs\n\nStates are in %% of the vCPU's %s. Runnable: it waited "
		"for "
		"a physical CPU; blocked: for an event.\n\n"
		"| %s | %% | running | runnable | blocked ",
		measure_noun(report->measure), measure_noun(report->measure));
	cell_domain_head(report, "| domain ");
	fputs("| vCPU |\n|--:|--:|--:|--:|--:", report->out);
	cell_domain_head(report, "|---");
	fputs("|--:|\n", report->out);
	for (size_t i = 0; i < shown; i++) {
		put_vcpu_row(report, &rows[i]);
		left -= rows[i].total;
	}
	cells_others(report, count - shown, left, "| | | ", "vCPUs");
	free(rows);
	return 0;
}

static int put_functions(const struct markdown *markdown)
{
	const struct report *report = markdown->report;
	const struct histogram_row *rows;
	uint64_t left = report->measure->total;
	uint32_t count, shown;

	if (histogram_finish(markdown->histogram) < 0)
		return -1;
	count = histogram_rows(markdown->histogram, &rows);
	shown = count < MOST_FUNCTIONS ? count : MOST_FUNCTIONS;
	fprintf(report->out,
		"\n## Functions\n\nSelf is the function's own %s; total includes the "
		"functions that it called.\n\n| self | %% | total | %% ",
		measure_noun(report->measure));
	cell_domain_head(report, "| domain ");
	fputs("| function |\n|--:|--:|--:|--:", report->out);
	cell_domain_head(report, "|---");
	fputs("|---|\n", report->out);
	for (uint32_t i = 0; i < shown; i++) {
		cells_share(report, rows[i].self);
		cells_share(report, rows[i].total);
		cell_domain(report, rows[i].domain);
		fputs("| ", report->out);
		markdown_cell(report->out, rows[i].function, MOST_OF_NAME);
		fputs(" |\n", report->out);
		left -= rows[i].self;
	}
	cells_others(report, count - shown, left, "| | ", "functions");
	return 0;
}

/* Returns how many of the functions, from @at on, are equal: direct recursion. */
static uint32_t run_length(const uint32_t *functions, uint32_t count, uint32_t at)
{
	uint32_t length = 1;

	while (at + length < count && functions[at + length] == functions[at])
		length++;
	return length;
}

static uint32_t count_runs(const uint32_t *functions, uint32_t count)
{
	uint32_t runs = 0;

	for (uint32_t at = 0; at < count; at += run_length(functions, count, at))
		runs++;
	return runs;
}

/* Writes the functions of a chain, outermost first. -1 if out of memory. */
static int put_chain(struct markdown *markdown, uint32_t path)
{
	struct frames *frames = markdown->report->frames;
	const uint32_t *functions;
	uint32_t count = paths_list(&markdown->paths, path, &functions), length;
	uint32_t runs = count_runs(functions, count), run = 0, left_out = 0;
	FILE *out = markdown->report->out;

	for (uint32_t at = 0; at < count; at += length, run++) {
		length = run_length(functions, count, at);
		if (runs > MOST_OUTERMOST + MOST_INNERMOST && run >= MOST_OUTERMOST &&
		    run < runs - MOST_INNERMOST) {
			left_out += length;
			continue;
		}
		if (left_out)
			fprintf(out, " → (%" PRIu32 " more)", left_out);
		left_out = 0;
		if (at)
			fputs(" → ", out);
		markdown_cell(out, frames_function_name(frames, functions[at]),
			      MOST_OF_NAME);
		if (length > 1)
			fprintf(out, " ×%" PRIu32, length);
	}
	return count ? 0 : -1;
}

/* Writes the chains with the most samples: all, or those in @state if it is not NULL. */
static int put_chain_table(struct markdown *markdown, struct row *rows, size_t count,
			   unsigned int *state)
{
	const struct report *report = markdown->report;
	uint64_t left = 0;
	size_t with_any = 0, shown = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t sum = state ? rows[i].states[*state] : rows[i].total;

		left += sum;
		with_any += sum != 0;
	}
	if (count)
		qsort_r(rows, count, sizeof(*rows), compare_counts, state);
	fprintf(report->out, "| %s | %% ", measure_noun(report->measure));
	cell_domain_head(report, "| domain ");
	fputs("| call chain |\n|--:|--:", report->out);
	cell_domain_head(report, "|---");
	fputs("|---|\n", report->out);
	for (; shown < with_any && shown < MOST_CHAINS; shown++) {
		const struct row *row = &rows[shown];
		uint64_t sum = state ? row->states[*state] : row->total;

		left -= sum;
		cells_share(report, sum);
		cell_domain(report, frames_function_name(report->frames, row->domain));
		fputs("| ", report->out);
		if (put_chain(markdown, row->number) < 0)
			return -1;
		fputs(" |\n", report->out);
	}
	cells_others(report, with_any - shown, left, "", "chains");
	return 0;
}

static int put_chains(struct markdown *markdown)
{
	unsigned int blocked = VCPU_BLOCKED;
	FILE *out = markdown->report->out;
	uint64_t waits = 0;
	size_t count;
	struct row *rows = make_rows(markdown, &markdown->by_path, &count);
	int status = -1;

	if (!rows)
		return -1;
	for (size_t i = 0; i < count; i++)
		waits += rows[i].states[blocked];
	fputs("\n## Call chains\n\nThe outermost caller is first.\n\n", out);
	if (put_chain_table(markdown, rows, count, NULL) < 0)
		goto out;
	if (waits) {
		fputs("\n## Where vCPUs were blocked\n\n", out);
		if (put_chain_table(markdown, rows, count, &blocked) < 0)
			goto out;
	}
	status = 0;
out:
	free(rows);
	return status;
}

static int markdown_end(void *state)
{
	struct markdown *markdown = state;

	put_recording(markdown->report);
	put_quality(markdown->report);
	if ((shows_waits(markdown->report)
		     ? wait_threads_write(&markdown->threads, markdown->report)
		     : put_vcpus(markdown)) < 0 ||
	    put_functions(markdown) < 0)
		return -1;
	return put_chains(markdown);
}

const struct output output_markdown = {
	.name = "markdown",
	.about = "a page for a person or a language model to read",
	.has_limit = true,
	.counts_waits = true,
	.begin = markdown_begin,
	.sample = markdown_sample,
	.wait = markdown_wait,
	.end = markdown_end,
	.free = markdown_free,
};
