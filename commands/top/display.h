/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_DISPLAY_H
#define UNIPROF_COMMANDS_TOP_DISPLAY_H

#include "commands/top/feed.h"
#include "commands/top/line.h"
#include "commands/top/table.h"
#include "commands/top/view.h"

/* Columns before the rows of a tree, for a mark of closed branches */
#define DISPLAY_MARK 2

/* What is shown on a terminal of some size, and the choices of its user. */
struct display {
	struct feed *feed;
	struct view *view;
	uint64_t delay; /* time between tables, ns */
	uint64_t next;	/* when to make the next table, ns, monotonic */
	size_t columns; /* width of the terminal */
	struct table table;
	bool is_opened;		/* the tree was opened at a function of the table */
	bool was_inverted;	/* before that */
	struct snapshot frozen; /* shown instead of new samples */
	struct line note;	/* message about the latest event; empty: none */
	/* What was shown before waits, by display_next_waits() */
	struct {
		enum measure_weight weight;
		enum report_rows rows;
		bool per_thread, per_vcpu;
	} before;
	bool is_help; /* the list of keys is shown instead of the table */
};

/* Starts with no table; @feed and @view must outlive it. */
void display_init(struct display *display, struct feed *feed, struct view *view,
		  uint64_t delay);
void display_free(struct display *display);

/* Reads new samples, and makes a new table when the recording ends. -1 with @err set if
 * they can't be read, and no table was shown; later, the note says why. */
int display_read(struct display *display, struct error *err);

/* Makes a new table as soon as there are samples. On failure, the note says why, and the
 * old table stays. */
void display_update(struct display *display);

/* Makes a new table if it is time to. */
void display_update_if_due(struct display *display);

bool display_is_frozen(const struct display *display);

/*
 * Actions of keys. Each makes a new table, and the note says what has changed if the
 * table does not show it, or why nothing has changed.
 */
void display_toggle_tree(struct display *display);
void display_toggle_inverted(struct display *display);
void display_toggle_vcpus(struct display *display);
/* Shows what threads wait for by function, then by thread, then no waits again. */
void display_next_waits(struct display *display);
void display_sort_next(struct display *display);
/* In the table: shows who calls the function at the cursor, in a tree. In a tree: opens
 * or closes the branch at the cursor. */
void display_open(struct display *display);
void display_toggle_frozen(struct display *display);

/* Actions of answers to questions: view_set_filter() and so on, with the answer as text.
 */
void display_set_filter(struct display *display, const char *regex);
void display_set_domains(struct display *display, const char *domains);
void display_add_symbols(struct display *display, const char *spec);

/* Saves the recording that is shown as @path ("": uniprof.data). */
void display_save(struct display *display, const char *path);

#endif
