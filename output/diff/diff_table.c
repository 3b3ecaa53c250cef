/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Differences as tables: as in `perf diff`, the share of a function in the baseline, its
 * change in percentage points with its 95 % interval, and the function.
 */
#include "output/diff/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "output/heading.h"
#include "output/write/csv.h"
#include "output/write/json.h"

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

/* Says how many differences may be due to chance. */
static void put_noise(const struct diff *diff, const struct diff_rows *rows)
{
	size_t noise = 0;

	for (size_t i = 0; i < rows->count; i++)
		noise += diff_is_noise(rows, diff_shown(diff, &rows->list[i]));
	if (noise == rows->count)
		fputs("# no function changed by more than noise\n", diff->out);
	else
		fprintf(diff->out,
			"# %zu of %zu functions changed by more than noise; ~ marks the "
			"others\n",
			rows->count - noise, rows->count);
}

static void put_text_row(const struct diff *diff, const struct diff_row *row, int domains,
			 size_t columns, bool is_noise)
{
	const struct diff_value *value = diff_shown(diff, row);
	FILE *out = diff->out;

	if (value->count[DIFF_BASELINE])
		fprintf(out, "%9.2f%%", value->percent[DIFF_BASELINE]);
	else
		fprintf(out, "%10s", "");
	fprintf(out, " %+7.2f%% %+8.2f %+8.2f %c", value->delta, value->low, value->high,
		is_noise ? '~' : ' ');
	if (domains)
		fprintf(out, "  %-*s", domains, row->domain);
	fputs("  ", out);
	text_put(out, row->function, columns);
}

static void put_text(const struct diff *diff, const struct diff_rows *rows)
{
	int domains = domain_width(diff, rows);
	FILE *out = diff->out;
	size_t columns = diff->columns ?: text_columns(out);
	size_t used = strlen("# baseline    delta  95 %: from     to    ") +
		      (domains ? (size_t)domains + 2 : 0);
	/* Noise is grey. */
	bool is_grey = columns != SIZE_MAX && text_may_have_colours();

	for (int side = 0; side < DIFF_SIDES; side++) {
		fprintf(out, "# %s: %s\n", side == DIFF_BASELINE ? "baseline" : "new",
			diff->names[side]);
		heading_write(&diff->reports[side]);
	}
	put_noise(diff, rows);
	fputs("# baseline    delta  95 %: from     to  ", out);
	if (domains)
		fprintf(out, "  %-*s", domains, "domain");
	fputs("  function\n", out);
	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->list[i];
		bool is_noise = diff_is_noise(rows, diff_shown(diff, row));

		fputs(is_noise && is_grey ? "\033[2m" : "", out);
		put_text_row(diff, row, domains, columns > used ? columns - used : 0,
			     is_noise);
		fputs(is_noise && is_grey ? "\033[m\n" : "\n", out);
	}
}

static void put_csv_value(FILE *out, const struct diff_value *value)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		fprintf(out, ",%" PRIu64 ",%.3f", value->count[side],
			value->percent[side]);
	fprintf(out, ",%.3f,%.3f,%.3f", value->delta, value->low, value->high);
}

static void put_csv(const struct diff *diff, const struct diff_rows *rows)
{
	bool is_time = measure_is_time(diff->reports[DIFF_NEW].measure);
	const char *unit = is_time ? "_us" : "";
	FILE *out = diff->out;

	fprintf(out,
		"%sfunction,baseline%s,baseline_percent,new%s,new_percent,"
		"delta_percent,delta_low,delta_high,"
		"baseline_total%s,baseline_total_percent,new_total%s,new_total_percent,"
		"total_delta_percent,total_delta_low,total_delta_high\n",
		diff->has_domains ? "domain," : "", unit, unit, unit, unit);
	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->list[i];

		if (diff->has_domains) {
			csv_text(out, row->domain);
			putc(',', out);
		}
		csv_text(out, row->function);
		put_csv_value(out, &row->self);
		put_csv_value(out, &row->total);
		putc('\n', out);
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

/* The fields of a value; @what is "" or "_total". */
static void put_json_value(struct json *json, const struct diff_value *value,
			   const char *what, bool is_time)
{
	static const char *const sides[] = {"baseline", "new"};
	char key[40];

	for (int side = 0; side < DIFF_SIDES; side++) {
		snprintf(key, sizeof(key), "%s%s%s", sides[side], what,
			 is_time ? "_us" : "");
		json_number(json, key, value->count[side]);
		snprintf(key, sizeof(key), "%s%s_percent", sides[side], what);
		json_real(json, key, value->percent[side], 3);
	}
	snprintf(key, sizeof(key), "%sdelta_percent", *what ? "total_" : "");
	json_real(json, key, value->delta, 3);
	snprintf(key, sizeof(key), "%sdelta_low", *what ? "total_" : "");
	json_real(json, key, value->low, 3);
	snprintf(key, sizeof(key), "%sdelta_high", *what ? "total_" : "");
	json_real(json, key, value->high, 3);
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
		put_json_value(json, &row->self, "", is_time);
		put_json_value(json, &row->total, "_total", is_time);
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
