/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/markdown/cells.h"

#include <inttypes.h>

#include "base/text.h"
#include "output/write/markdown.h"

/* Writes text from outside, which is not clean, as a code span. */
void cell_text(FILE *out, const char *text)
{
	char clean[1024];

	snprintf(clean, sizeof(clean), "%s", text);
	text_make_printable(clean);
	markdown_cell(out, clean, MOST_OF_NAME);
}

/* Writes a count: samples, or a time in ms. */
void cell_count(const struct report *report, uint64_t count)
{
	if (measure_is_time(report->measure))
		fprintf(report->out, "%" PRIu64 ".%03" PRIu64 " ms", count / 1000,
			count % 1000);
	else
		fprintf(report->out, "%" PRIu64, count);
}

double cell_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

/* Writes two cells: a count and its share of all. */
void cells_share(const struct report *report, uint64_t count)
{
	fputs("| ", report->out);
	cell_count(report, count);
	fprintf(report->out, " | %.1f ", cell_percent(count, report->measure->whole));
}

/* Writes a cell with the domain's name, if domains are told apart. */
void cell_domain(const struct report *report, const char *name)
{
	if (!report_shows_domains(report))
		return;
	fputs("| ", report->out);
	if (*name)
		markdown_cell(report->out, name, MOST_OF_NAME);
	putc(' ', report->out);
}

void cell_domain_head(const struct report *report, const char *text)
{
	if (report_shows_domains(report))
		fputs(text, report->out);
}

/* Writes a row for @count further rows that have @sum. */
void cells_others(const struct report *report, size_t count, uint64_t sum,
		  const char *cells, const char *what)
{
	if (!count && !sum)
		return;
	cells_share(report, sum);
	fputs(cells, report->out);
	cell_domain(report, "");
	fprintf(report->out, "| other %s: %zu |\n", what, count);
}
