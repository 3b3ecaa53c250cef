/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Differences as tables: as in `perf diff`, the self share of a function in the baseline,
 * its change in percentage points, and the function.
 */
#include "report/diff/diff.h"

#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "report/output/heading.h"
#include "report/write/csv.h"
#include "report/write/json.h"

static double delta_of(const struct diff_row *row)
{
	return row->percent[DIFF_NEW] - row->percent[DIFF_BASELINE];
}

static int domain_width(const struct diff *diff, const struct diff_rows *rows)
{
	int width = (int)strlen("domain");

	if (!diff->has_domains)
		return 0;
	for (size_t i = 0; i < rows->count; i++)
		if ((int)strlen(rows->list[i].domain) > width)
			width = (int)strlen(rows->list[i].domain);
	return width;
}

static void put_text(const struct diff *diff, const struct diff_rows *rows)
{
	int domains = domain_width(diff, rows);
	FILE *out = diff->out;
	size_t columns = text_columns(out);
	size_t used = strlen("# baseline    delta  ") +
		      (domains ? (size_t)domains + 2 : 0);

	for (int side = 0; side < DIFF_SIDES; side++) {
		fprintf(out, "# %s: %s\n", side == DIFF_BASELINE ? "baseline" : "new",
			diff->names[side]);
		heading_write(&diff->reports[side]);
	}
	fputs("# baseline    delta", out);
	if (domains)
		fprintf(out, "  %-*s", domains, "domain");
	fputs("  function\n", out);
	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->list[i];

		if (row->count[DIFF_BASELINE])
			fprintf(out, "%9.2f%%", row->percent[DIFF_BASELINE]);
		else
			fprintf(out, "%10s", "");
		fprintf(out, " %+7.2f%%", delta_of(row));
		if (domains)
			fprintf(out, "  %-*s", domains, row->domain);
		fputs("  ", out);
		text_put(out, row->function, columns > used ? columns - used : 0);
		putc('\n', out);
	}
}

static void put_csv(const struct diff *diff, const struct diff_rows *rows)
{
	bool is_time = measure_is_time(diff->reports[DIFF_NEW].measure);
	const char *unit = is_time ? "_us" : "";
	FILE *out = diff->out;

	fprintf(out,
		"%sfunction,baseline%s,baseline_percent,new%s,new_percent,"
		"delta_percent\n",
		diff->has_domains ? "domain," : "", unit, unit);
	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->list[i];

		if (diff->has_domains) {
			csv_text(out, row->domain);
			putc(',', out);
		}
		csv_text(out, row->function);
		for (int side = 0; side < DIFF_SIDES; side++)
			fprintf(out, ",%" PRIu64 ",%.3f", row->count[side],
				row->percent[side]);
		fprintf(out, ",%.3f\n", delta_of(row));
	}
}

static void put_side(struct json *json, const struct diff *diff, enum diff_side side)
{
	const struct measure *measure = diff->reports[side].measure;

	json_object(json, side == DIFF_BASELINE ? "baseline" : "new");
	json_string(json, "recording", diff->names[side]);
	json_number(json, measure_name(measure), measure->total);
	json_number(json, measure_is_time(measure) ? "percent_of_us" : "percent_of",
		    measure->whole);
	json_end(json);
}

static void put_json(const struct diff *diff, const struct diff_rows *rows,
		     struct json *json)
{
	bool is_time = measure_is_time(diff->reports[DIFF_NEW].measure);

	json_object(json, NULL);
	put_side(json, diff, DIFF_BASELINE);
	put_side(json, diff, DIFF_NEW);
	json_array(json, "functions");
	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->list[i];

		json_object(json, NULL);
		if (diff->has_domains)
			json_string(json, "domain", row->domain);
		json_string(json, "function", row->function);
		json_number(json, is_time ? "baseline_us" : "baseline",
			    row->count[DIFF_BASELINE]);
		json_real(json, "baseline_percent", row->percent[DIFF_BASELINE], 3);
		json_number(json, is_time ? "new_us" : "new", row->count[DIFF_NEW]);
		json_real(json, "new_percent", row->percent[DIFF_NEW], 3);
		json_real(json, "delta_percent", delta_of(row), 3);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

int diff_text_write(const struct diff *diff)
{
	struct diff_rows rows;
	int status = diff_rows_make(&rows, diff);

	if (status == 0)
		put_text(diff, &rows);
	diff_rows_free(&rows);
	return status;
}

int diff_csv_write(const struct diff *diff)
{
	struct diff_rows rows;
	int status = diff_rows_make(&rows, diff);

	if (status == 0)
		put_csv(diff, &rows);
	diff_rows_free(&rows);
	return status;
}

int diff_json_write(const struct diff *diff)
{
	struct diff_rows rows;
	int status = diff_rows_make(&rows, diff);
	struct json *json = status == 0 ? json_new(diff->out) : NULL;

	if (json) {
		put_json(diff, &rows, json);
		json_free(json);
	}
	diff_rows_free(&rows);
	return json ? 0 : -1;
}
