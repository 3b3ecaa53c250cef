/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/view.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"

static void set_path(struct view *view, const char *path)
{
	view->rules->inputs[0] = path;
	view->rules->input_count = 1;
}

/* Messages name the recording, not its copy. */
static void set_name(struct view *view)
{
	if (view->profile.opened)
		view->profile.inputs[0].name = view->name;
}

int view_open(struct view *view, const char *path, struct error *err)
{
	set_path(view, path);
	view->is_open = true;
	if (profile_open(&view->profile, view->rules, err) < 0)
		return -1;
	set_name(view);
	return 0;
}

void view_close(struct view *view)
{
	if (view->is_open)
		profile_close(&view->profile);
	view->is_open = false;
}

/* The rate, and what sampling costs the guests; nothing for imported recordings. */
static void put_rates(const struct summary *summary, FILE *out)
{
	double rate = summary_rate(summary), wanted = (double)summary->info.frequency;
	double seconds = (double)summary_duration(summary) / 1e9;
	bool several = summary->domain_count > 1;

	if (rate <= 0)
		return;
	fprintf(out,
		"# %.4g of %.4g rounds/s%s paused %.3f %% of the time, samples lost: "
		"%" PRIu64 "\n",
		rate, wanted / 1000, several ? " each, domains" : ", domain",
		(double)summary->counts.pauses.sum / 1e7 / seconds, summary->counts.lost);
}

int view_write(struct view *view, const char *path, FILE *out, struct error *err)
{
	char *text = NULL;
	size_t size = 0;
	FILE *table;
	int status;

	set_path(view, path);
	if (profile_restart(&view->profile, err) < 0)
		return -1;
	set_name(view);
	table = open_memstream(&text, &size);
	if (!table)
		return error_set(err, "out of memory");
	status = report_write(&view->profile, view->format, &view->report, false, table,
			      err);
	if (fclose(table) != 0 && status == 0)
		status = error_set(err, "out of memory");
	if (status == 0) {
		put_rates(&view->profile.summary, out);
		fwrite(text, 1, size, out);
		view->is_shown = true;
	}
	free(text);
	return status;
}

int view_add_symbols(struct view *view, const char *path, const char *spec,
		     struct error *err)
{
	struct profile_rules *rules = view->rules;
	struct view other = *view;
	char *text = NULL;
	size_t size = 0;
	FILE *table;
	int status;

	if (!array_grow(&rules->symbols, rules->symbol_count + 1,
			sizeof(*rules->symbols)))
		return error_set(err, "out of memory");
	rules->symbols[rules->symbol_count++] = spec;
	other.profile = (struct profile){0};
	table = open_memstream(&text, &size);
	status = table ? view_open(&other, path, err) : error_set(err, "out of memory");
	if (status == 0)
		status = view_write(&other, path, table, err);
	if (table)
		fclose(table);
	free(text);
	if (status < 0) {
		rules->symbol_count--;
		view_close(&other);
		return -1;
	}
	view_close(view);
	*view = other;
	return 0;
}
