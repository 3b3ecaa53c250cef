/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/svg.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "report/text.h"

/* Of names in the heading. */
#define MOST_OF_NAME 60

static const char style_of_all[] =
	"svg{color-scheme:light dark;font:12px system-ui,'Segoe UI',Roboto,Helvetica,"
	"'DejaVu Sans',Arial,sans-serif}"
	".page{fill:#fff}text{fill:#1b1f24}.dim{fill:#57606a}"
	".kind{font-size:17px;font-weight:600}"
	"@media(prefers-color-scheme:dark){svg{background:#16191d}.page{fill:#16191d}"
	"text{fill:#e8eaed}"
	".dim{fill:#a3abb5}}\n";

/* XML 1.0, section 2.2, on top of what is no text for a terminal. */
static size_t xml_character(const char *text)
{
	size_t length = text_character(text);
	bool is_noncharacter = length == 3 && (memcmp(text, "\xef\xbf\xbe", 3) == 0 ||
					       memcmp(text, "\xef\xbf\xbf", 3) == 0);

	return is_noncharacter ? 0 : length;
}

void svg_text(FILE *out, const char *text, size_t most)
{
	while (*text && most--) {
		size_t length = xml_character(text);

		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else if (length)
			fwrite(text, 1, length, out);
		else
			fputs("\xef\xbf\xbd", out);
		text += length ? length : 1;
	}
	if (*text)
		fputs("…", out);
}

void svg_count(FILE *out, const struct measure *measure, uint64_t count)
{
	const char *unit = measure_is_time(measure) ? "us"
			   : count == 1		    ? "sample"
						    : "samples";

	fprintf(out, "%" PRIu64 " %s", count, unit);
}

static void put_name(const struct report *report)
{
	FILE *out = report->out;

	if (report->domain_count > 1)
		fprintf(out, "%zu domains", report->domain_count);
	else
		svg_text(out, report->domain ? report->domain : "an unknown domain",
			 MOST_OF_NAME);
}

static void put_recording(const struct report *report)
{
	const struct recording_info *info = &report->summary->info;
	char time[TEXT_TIME_SIZE];
	FILE *out = report->out;

	fprintf(out, "%.1f s", (double)report->duration / 1e9);
	if (info->frequency)
		fprintf(out, " at %.6g Hz", (double)info->frequency / 1000);
	if (info->wall_start) {
		text_time(time, info->wall_start, true);
		fprintf(out, " from %s", time);
	}
	if (*info->host) {
		fputs(" on ", out);
		svg_text(out, info->host, MOST_OF_NAME);
	}
}

void svg_line_begin(FILE *out, unsigned int line)
{
	fprintf(out, "<text class=\"dim\" x=\"%d\" y=\"%u\">", SVG_MARGIN,
		44 + SVG_LINE * line);
}

void svg_line_end(FILE *out)
{
	fputs("</text>\n", out);
}

void svg_recorded(const struct report *report, const char *label, unsigned int line)
{
	const struct measure *measure = report->measure;
	FILE *out = report->out;

	svg_line_begin(out, line);
	svg_text(out, label, SIZE_MAX);
	if (measure_is_time(measure))
		fprintf(out, "%.3f s of %s", (double)measure->total / 1e6,
			measure->weight == MEASURE_CPU_TIME ? "CPU time" : "vCPU time");
	else
		svg_count(out, measure, measure->total);
	fprintf(out, "%s in ", measure_states_note(measure));
	put_recording(report);
	svg_line_end(out);
}

void svg_begin(const struct report *report, const char *kind, unsigned int height,
	       const char *style)
{
	FILE *out = report->out;

	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%u\" "
		"viewBox=\"0 0 %d %u\">\n<title>%s of ",
		SVG_WIDTH, height, SVG_WIDTH, height, kind);
	put_name(report);
	fprintf(out,
		"</title>\n<style>%s%s</style>\n"
		"<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n"
		"<text class=\"kind\" x=\"%d\" y=\"26\">%s of ",
		style_of_all, style, SVG_MARGIN, kind);
	put_name(report);
	fputs("</text>\n", out);
}
