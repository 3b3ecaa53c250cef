/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/display.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/replace.h"

/* The time between tables is at least this many times what making one takes. */
#define LEAST_TIMES 5

void display_init(struct display *display, struct feed *feed, struct view *view,
		  uint64_t delay)
{
	*display = (struct display){
		.feed = feed,
		.view = view,
		.delay = delay,
		.columns = 1,
		.frozen.fd = -1,
	};
}

void display_free(struct display *display)
{
	snapshot_close(&display->frozen);
	table_free(&display->table);
}

bool display_is_frozen(const struct display *display)
{
	return display->frozen.fd >= 0;
}

/* The recording that is shown. */
static const char *shown_path(const struct display *display)
{
	return display_is_frozen(display) ? display->frozen.path
					  : display->feed->recent.path;
}

static bool is_tree(const struct display *display)
{
	return display->view->format == output_find("tree");
}

/* Returns the text of a new table, which the caller frees; NULL with a note on failure.
 */
static char *make_table(struct display *display)
{
	struct view *view = display->view;
	struct error err;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int status;

	view->report.columns = display->columns;
	if (is_tree(display) && display->columns > DISPLAY_MARK)
		view->report.columns -= DISPLAY_MARK;
	status = out ? view_write(view, shown_path(display), out, &err)
		     : error_set(&err, "out of memory");
	if (status < 0)
		line_set(&display->note, "%s", err.text);
	if (out && fclose(out) != 0)
		status = -1;
	if (status == 0)
		return text;
	free(text);
	return NULL;
}

void display_update(struct display *display)
{
	uint64_t began = clock_monotonic(), took;
	char *text;

	display->next = began + display->delay;
	if (!recent_is_ready(&display->feed->recent)) {
		display->next = began + FEED_LOOK_NS;
		return;
	}
	text = make_table(display);
	if (!text)
		return;
	table_set(&display->table, text, is_tree(display));
	took = clock_monotonic() - began;
	if (took * LEAST_TIMES > display->delay)
		display->next = began + took * LEAST_TIMES;
}

void display_update_if_due(struct display *display)
{
	if (!display_is_frozen(display) && display->feed->recent.more &&
	    clock_monotonic() >= display->next)
		display_update(display);
}

int display_read(struct display *display, struct error *err)
{
	struct recent *recent = &display->feed->recent;
	bool more = recent->more;

	if (recent_more(recent, err) < 0) {
		recent->more = false;
		if (!display->view->is_shown)
			return -1;
		line_set(&display->note, "%s", err->text);
	}
	if (more && !recent->more && !display_is_frozen(display))
		display_update(display);
	return 0;
}

void display_toggle_tree(struct display *display)
{
	struct view *view = display->view;

	view->format = output_find(is_tree(display) ? "histogram" : "tree");
	if (display->is_opened)
		view->report.invert = display->was_inverted;
	display->is_opened = false;
	table_open_all(&display->table, true);
	display_update(display);
}

void display_open(struct display *display)
{
	struct view *view = display->view;
	const struct table_row *row = table_at_cursor(&display->table);
	char *name;

	if (is_tree(display) || !row) {
		table_toggle(&display->table);
		return;
	}
	name = strdup(row->name);
	view->format = output_find("tree");
	display->was_inverted = view->report.invert;
	display->is_opened = view->report.invert = true;
	table_open_all(&display->table, false);
	display_update(display);
	if (name)
		table_open(&display->table, name);
	free(name);
}

static void toggle(struct display *display, bool *flag)
{
	*flag = !*flag;
	display_update(display);
}

void display_toggle_inverted(struct display *display)
{
	toggle(display, &display->view->report.invert);
}

static bool shows_waits(const struct display *display)
{
	return display->view->options->rules.weight == MEASURE_WAIT;
}

void display_next_waits(struct display *display)
{
	struct profile_rules *rules = &display->view->options->rules;
	struct report_view *view = &display->view->report;

	if (!shows_waits(display)) {
		display->before.weight = rules->weight;
		display->before.rows = view->rows;
		display->before.per_thread = rules->per_thread;
		display->before.per_vcpu = view->per_vcpu;
		rules->weight = MEASURE_WAIT;
		view->rows = REPORT_ROWS_FUNCTIONS;
		view->per_vcpu = false;
		line_set(&display->note, "what threads wait for, by function");
	} else if (view->rows == REPORT_ROWS_FUNCTIONS) {
		rules->per_thread = true;
		view->rows = REPORT_ROWS_DOMAINS;
		line_set(&display->note, "waiting time by thread");
	} else {
		rules->weight = display->before.weight;
		view->rows = display->before.rows;
		rules->per_thread = display->before.per_thread;
		view->per_vcpu = display->before.per_vcpu;
		line_set(&display->note, "samples");
	}
	display_update(display);
}

void display_toggle_vcpus(struct display *display)
{
	if (shows_waits(display)) {
		line_set(&display->note, "waits are not those of vCPUs");
		return;
	}
	toggle(display, &display->view->report.per_vcpu);
}

void display_sort_next(struct display *display)
{
	static const char *const names[] = {"self", "total", "name"};
	enum report_sort *sort = &display->view->report.sort;

	*sort = (*sort + 1) % 3;
	line_set(&display->note, "sorted by %s", names[*sort]);
	display_update(display);
}

void display_toggle_frozen(struct display *display)
{
	struct error err;

	if (display_is_frozen(display)) {
		snapshot_close(&display->frozen);
	} else if (snapshot_take(&display->frozen, &display->feed->recent, &err) < 0) {
		line_set(&display->note, "%s", err.text);
		return;
	}
	display_update(display);
}

void display_set_filter(struct display *display, const char *regex)
{
	struct error err;

	if (view_set_filter(display->view, regex, &err) < 0)
		line_set(&display->note, "%s", err.text);
	else
		display_update(display);
}

void display_set_domains(struct display *display, const char *domains)
{
	const struct summary *summary = &display->feed->recent.summary;
	struct error err;

	if (view_set_domains(display->view, summary, domains, &err) < 0)
		line_set(&display->note, "%s", err.text);
	else
		display_update(display);
}

void display_add_symbols(struct display *display, const char *spec)
{
	struct error err;

	if (!*spec)
		return;
	if (view_add_symbols(display->view, shown_path(display), spec, &err) < 0)
		line_set(&display->note, "%s", err.text);
	display_update(display);
}

void display_save(struct display *display, const char *path)
{
	struct error err;
	struct stat st;

	if (!*path)
		path = "uniprof.data";
	if (profile_reads(&display->view->profile, path, &err))
		line_set(&display->note, "%s", err.text);
	else if (fstat(display->feed->input.fd, &st) == 0 && replace_changes(path, &st))
		line_set(&display->note, "refusing to overwrite %s: it is the input",
			 path);
	else if (recent_save(shown_path(display), path, &err) < 0)
		line_set(&display->note, "%s", err.text);
	else
		line_set(&display->note, "saved in %s", path);
}
