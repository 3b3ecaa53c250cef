/* SPDX-License-Identifier: BSD-3-Clause */

/* The histogram as a human-readable table, with times in ms and comments after '#'. On a
 * terminal there are also bars, and long names are shortened. */
#include "output/histogram/histogram.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "output/heading.h"

#define MAX_BAR	 40
#define MIN_BAR	 5
#define MAX_NAME 40 /* maximum of columns that bars leave to functions */

/* The layout of the table; widths are in columns. */
struct layout {
	const struct report *report;
	const struct histogram *histogram;
	const struct histogram_row *rows;
	uint32_t row_count;
	const uint32_t *vcpus;
	uint32_t vcpu_count;
	bool is_time;
	int count;   /* width of a number of samples, or of a time with its unit */
	int domain;  /* width of a domain's name; 0: not shown */
	int file;    /* width of a file's name; 0: not shown */
	int bar;     /* width of a bar for 100 %; 0: no bars */
	size_t name; /* maximum width of a function's name */
};

static int digits_of(uint64_t number)
{
	int digits = 1;

	while (number /= 10)
		digits++;
	return digits;
}

/* Returns the maximum width of domain names, in columns; 0 if they are not shown. */
static int domain_width(const struct layout *layout)
{
	int width = (int)strlen("domain");

	if (!report_shows_domains(layout->report))
		return 0;
	for (uint32_t i = 0; i < layout->row_count; i++)
		if ((int)strlen(layout->rows[i].domain) > width)
			width = (int)strlen(layout->rows[i].domain);
	return width;
}

/* Returns the maximum width of files' names, in columns; 0 if they are not shown. */
static int file_width(const struct layout *layout)
{
	int width = 0;

	for (uint32_t i = 0; i < layout->row_count && layout->rows[i].file; i++)
		if ((int)strlen(layout->rows[i].file) > width)
			width = (int)strlen(layout->rows[i].file);
	return width && width < 4 ? 4 : width;
}

/* Returns the part of @columns that numbers and a domain's name leave. */
static int room_of(const struct layout *layout, size_t columns)
{
	int shares = layout->report->view.no_children ? 1 : 2;
	int used = shares * (layout->count + 9) +
		   (int)layout->vcpu_count * (layout->count + 2);

	if (layout->domain)
		used += layout->domain + 2;
	if (layout->file)
		used += layout->file + 2;
	return (int)columns - used;
}

/* Returns the width of bars, which are between the numbers and the names. */
static int bar_width(const struct layout *layout, int room)
{
	int name = 8;

	for (uint32_t i = 0; i < layout->row_count && name < MAX_NAME; i++)
		if ((int)strlen(layout->rows[i].function) > name)
			name = (int)strlen(layout->rows[i].function);
	if (name > MAX_NAME)
		name = MAX_NAME;
	room -= name + 2;
	return room > MAX_BAR ? MAX_BAR : room < MIN_BAR ? 0 : room;
}

/* Distributes the width of the terminal. */
static void layout_fit(struct layout *layout)
{
	size_t columns = heading_columns(layout->report);
	int room;

	layout->name = columns;
	if (columns == SIZE_MAX)
		return;
	room = room_of(layout, columns);
	layout->bar = bar_width(layout, room);
	if (layout->bar)
		room -= layout->bar + 2;
	layout->name = room > 0 ? (size_t)room : 0;
}

static void put_count(const struct layout *layout, uint64_t count)
{
	FILE *out = layout->report->out;

	if (layout->is_time)
		fprintf(out, "%*" PRIu64 ".%03" PRIu64 " ms", layout->count - 7,
			count / 1000, count % 1000);
	else
		fprintf(out, "%*" PRIu64, layout->count, count);
}

/* Writes a row's names, each in its column, or the columns' names. */
static void put_names(const struct layout *layout, const char *domain, const char *file,
		      const char *function)
{
	enum report_rows rows = layout->report->view.rows;
	FILE *out = layout->report->out;

	if (layout->domain)
		fprintf(out, "  %-*s", rows == REPORT_ROWS_DOMAINS ? 0 : layout->domain,
			domain);
	if (layout->file)
		fprintf(out, "  %-*s", rows == REPORT_ROWS_FILES ? 0 : layout->file,
			file);
	if (rows == REPORT_ROWS_FUNCTIONS) {
		fputs("  ", out);
		text_put(out, function, layout->name);
	}
	putc('\n', out);
}

static void put_head(const struct layout *layout)
{
	FILE *out = layout->report->out;

	heading_write(layout->report);
	fprintf(out, "# %*s      %%", layout->count - 2, "self");
	if (!layout->report->view.no_children)
		fprintf(out, "  %*s      %%", layout->count, "total");
	for (uint32_t i = 0; i < layout->vcpu_count; i++)
		fprintf(out, "  %*s%-*" PRIu32,
			layout->count - digits_of(layout->vcpus[i]), "vcpu",
			digits_of(layout->vcpus[i]), layout->vcpus[i]);
	if (layout->bar)
		fprintf(out, "  %-*s", layout->bar, "");
	put_names(layout, "domain", "file", "function");
}

static void put_bar(const struct layout *layout, uint64_t count)
{
	double share = histogram_percent(layout->histogram, count) / 100;
	int length = (int)(share * layout->bar + 0.5);

	fputs("  ", layout->report->out);
	for (int i = 0; i < layout->bar; i++)
		putc(i < length ? '#' : ' ', layout->report->out);
}

static void put_row(const struct layout *layout, const struct histogram_row *row)
{
	const struct histogram *histogram = layout->histogram;
	FILE *out = layout->report->out;

	put_count(layout, row->self);
	fprintf(out, " %5.1f%%", histogram_percent(histogram, row->self));
	if (!layout->report->view.no_children) {
		fputs("  ", out);
		put_count(layout, row->total);
		fprintf(out, " %5.1f%%", histogram_percent(histogram, row->total));
	}
	for (uint32_t v = 0; v < layout->vcpu_count; v++) {
		fputs("  ", out);
		put_count(layout, row->vcpus[v]);
	}
	if (layout->bar)
		put_bar(layout, row->self);
	put_names(layout, row->domain, row->file, row->function);
}

static int histogram_text_end(void *state)
{
	struct histogram *histogram = state;
	const struct report *report = histogram_report(histogram);
	uint64_t whole = report->measure->whole;
	struct layout layout = {
		.report = report,
		.histogram = histogram,
		.is_time = measure_is_time(report->measure),
	};

	if (histogram_finish(histogram) < 0)
		return -1;
	layout.row_count = histogram_rows(histogram, &layout.rows);
	layout.vcpu_count = histogram_vcpus(histogram, &layout.vcpus);
	layout.domain = domain_width(&layout);
	layout.file = file_width(&layout);
	layout.count = layout.is_time ? digits_of(whole / 1000) + 7 : digits_of(whole);
	if (layout.count < 6)
		layout.count = 6;
	layout_fit(&layout);
	put_head(&layout);
	for (uint32_t i = 0; i < layout.row_count; i++)
		put_row(&layout, &layout.rows[i]);
	if (histogram_left_out(histogram))
		fprintf(report->out, "# %" PRIu32 " more rows\n",
			histogram_left_out(histogram));
	return 0;
}

const struct output output_histogram = {
	.name = "histogram",
	.about = "a table of functions (human-readable)",
	.has_columns = true,
	.has_limit = true,
	.counts_waits = true,
	.begin = histogram_begin,
	.sample = histogram_sample,
	.end = histogram_text_end,
	.free = histogram_free,
};
