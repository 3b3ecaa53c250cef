/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/screen/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "commands/top/screen/curses.h"
#include "commands/top/screen/keys.h"
#include "report/model/domains.h"
#include "record/safety/privileges.h"

#define GUESTS_SIZE 256

/* Rows of this share at least are of this colour, as in perf. */
#define RED_PERCENT   5
#define GREEN_PERCENT 0.5

/* The terminal, which shows a display and reads keys. */
struct screen {
	struct terminal terminal;
	struct curses curses;
	int signals; /* descriptor of signalfd() */
	struct display *display;
	struct keys keys;
};

/* Writes a line, truncated to the columns that there are. */
static void put_line(const struct screen *screen, int y, const char *text, int attributes)
{
	const struct curses *curses = &screen->curses;
	int columns = curses->getmaxx(curses->screen), count = 0;
	size_t length = 0;

	/* Never writes characters that the terminal would interpret. */
	for (; count < columns && text_character(text + length); count++)
		length += text_character(text + length);
	if (curses->wmove(curses->screen, y, 0) < 0)
		return; /* below the last line */
	if (attributes)
		curses->wattron(curses->screen, attributes);
	curses->waddnstr(curses->screen, text, (int)length);
	for (; attributes & CURSES_REVERSE && count < columns; count++)
		curses->waddnstr(curses->screen, " ", 1);
	if (attributes)
		curses->wattroff(curses->screen, attributes);
	else if (count < columns)
		curses->wclrtoeol(curses->screen);
}

/* Names the guests, as far as there is room. */
static void put_guests(char guests[GUESTS_SIZE], const struct summary *summary)
{
	size_t length = 0, rest = summary->domain_count;
	char name[DOMAIN_NAME_SIZE];

	guests[0] = 0;
	for (size_t i = 0; i < summary->domain_room; i++) {
		if (!summary->domains[i])
			continue;
		domain_name(name, summary->domains[i]);
		if (length && length + strlen(name) > GUESTS_SIZE / 3) {
			snprintf(guests + length, GUESTS_SIZE - length, " and %zu more",
				 rest);
			return;
		}
		length += (size_t)snprintf(guests + length, GUESTS_SIZE - length, "%s%s",
					   length ? ", " : "", name);
		if (length >= GUESTS_SIZE)
			return;
		rest--;
	}
}

static void put_title(const struct screen *screen)
{
	const struct display *display = screen->display;
	const struct feed *feed = display->feed;
	const struct view *view = display->view;
	const char *domains = view->options->rules.domains;
	const char *state = feed->recent.more ? "" : ", ended";
	struct line title, filter = {""};
	char name[sizeof(view->filter)], guests[GUESTS_SIZE];

	text_clean(name, view->filter);
	if (*name)
		line_set(&filter, ", functions: %s", name);
	if (feed->recent.more && feed->is_recording && !recent_is_written(&feed->recent))
		state = ", not being written";
	put_guests(guests, &feed->recent.summary);
	line_set(&title, "uniprof top%s%s%s%s%s%s%s", *guests ? ": " : "", guests,
		 domains ? ", domain: " : "", domains ? domains : "", filter.text,
		 display_is_frozen(display) ? ", frozen" : "", state);
	put_line(screen, 0, title.text, CURSES_REVERSE);
}

/* Says, in place of a table, why there is none. */
static void put_no_table(const struct screen *screen)
{
	const struct feed *feed = screen->display->feed;
	const char *what = "no table";

	if (!recent_is_ready(&feed->recent))
		what = feed->is_recording ? "waiting for the start of the recording"
					  : "waiting for the first samples";
	put_line(screen, 1, what, 0);
}

static void put_help(const struct screen *screen)
{
	const char *line;
	int y = 1;

	for (size_t i = 0; (line = keys_help(i)); i++)
		put_line(screen, y++, line, 0);
}

/* Writes the heading without its '#', and without empty lines. Returns the next free
 * line. */
static int put_heading(const struct screen *screen)
{
	const struct table *table = &screen->display->table;
	bool has_columns = screen->display->view->format == output_find("histogram");
	int y = 1;

	for (size_t i = 0; i < table->heading_count; i++) {
		bool is_last = has_columns && i + 1 == table->heading_count;
		const char *line = table->heading[i];
		char aligned[512];

		if (!line[1])
			continue;
		/* The columns are aligned with the rows, whose lines have no '#'. */
		snprintf(aligned, sizeof(aligned), is_last ? "  %s" : "%s", line + 2);
		put_line(screen, y++, aligned, is_last ? CURSES_REVERSE : 0);
	}
	return y;
}

/* Writes the percentage in a row of plain characters again, in the colour of its size, as
 * perf does. */
static void put_percentage(const struct screen *screen, int y, const char *text)
{
	const struct curses *curses = &screen->curses;
	const char *end = strchr(text, '%'), *start = end;
	int colour;

	while (start && start > text && strchr("0123456789.", start[-1]))
		start--;
	if (start == end || end - text >= curses->getmaxx(curses->screen))
		return;
	colour = atof(start) >= RED_PERCENT	? CURSES_RED
		 : atof(start) >= GREEN_PERCENT ? CURSES_GREEN
						: 0;
	for (const char *at = text; at < start; at++)
		if ((unsigned char)*at > '~')
			return;
	if (!colour || curses->wmove(curses->screen, y, (int)(start - text)) < 0)
		return;
	curses->wattron(curses->screen, colour);
	curses->waddnstr(curses->screen, start, (int)(end + 1 - start));
	curses->wattroff(curses->screen, colour);
}

static void put_row(const struct screen *screen, int y, size_t number)
{
	const struct table *table = &screen->display->table;
	const struct table_row *row = &table->rows[table->shown[number]];
	bool is_cursor = number == table->cursor;
	char marked[1024];

	snprintf(marked, sizeof(marked), "%.*s%s", table->is_tree ? DISPLAY_MARK : 0,
		 table_is_closed(table, row) ? "+ " : "  ", row->text);
	put_line(screen, y, marked, is_cursor ? CURSES_REVERSE : 0);
	if (screen->curses.has_colours && !is_cursor)
		put_percentage(screen, y, marked);
}

/* Writes the heading, and as many rows as fit above line @end. */
static void put_table(const struct screen *screen, int end)
{
	struct table *table = &screen->display->table;
	int y = put_heading(screen);

	table_set_page(table, end > y ? (size_t)(end - y) : 0);
	for (size_t row = table->first; y < end && row < table->shown_count; row++)
		put_row(screen, y++, row);
}

/* Writes the last line: a question, the message about the latest event, or the keys. */
static void put_bottom(const struct screen *screen, int y)
{
	const struct line *note = &screen->display->note;
	struct line prompt;

	if (keys_prompt(&screen->keys, &prompt))
		put_line(screen, y, prompt.text, CURSES_BOLD);
	else
		put_line(screen, y, note->text[0] ? note->text : KEYS_SUMMARY,
			 CURSES_BOLD);
}

static void screen_draw(const struct screen *screen)
{
	const struct curses *curses = &screen->curses;
	int last = curses->getmaxy(curses->screen) - 1;

	curses->wmove(curses->screen, 0, 0);
	curses->wclrtobot(curses->screen);
	put_title(screen);
	if (screen->display->is_help)
		put_help(screen);
	else if (!screen->display->table.text)
		put_no_table(screen);
	else
		put_table(screen, last);
	put_bottom(screen, last);
	curses->wrefresh(curses->screen);
}

/* Makes tables as wide as the terminal is now. */
static void screen_fit(const struct screen *screen)
{
	int columns = screen->curses.getmaxx(screen->curses.screen);

	screen->display->columns = columns > 1 ? (size_t)columns : 1;
}

/* Handles the keys typed. False if the user wants to quit. */
static bool take_keys(struct screen *screen)
{
	const struct curses *curses = &screen->curses;
	bool goes_on = true;
	int key;

	while ((key = curses->wgetch(curses->screen)) != CURSES_NO_KEY)
		goes_on &= keys_take(&screen->keys, screen->display, key);
	return goes_on;
}

/* Lays out the screen anew if the terminal has another size. */
static int screen_resize(struct screen *screen, struct error *err)
{
	terminal_read_size(&screen->terminal);
	if (curses_resize(&screen->curses, &screen->terminal, err) < 0)
		return -1;
	screen_fit(screen);
	display_update(screen->display);
	return 0;
}

/* How long to wait for keys and samples, ms. */
static int wait_ms(const struct display *display)
{
	uint64_t now = clock_monotonic(), until = now + NS_PER_S;

	if (!display->feed->recent.more)
		return (int)((until - now) / 1000000);
	if (feed_descriptor(display->feed) < 0)
		until = now + FEED_LOOK_NS;
	if (!display_is_frozen(display) && display->next < until)
		until = display->next;
	return until > now ? (int)((until - now) / 1000000) + 1 : 0;
}

static void handle_stop(int number)
{
	(void)number;
}

/* Stops this process as SIGTSTP does; returns when it continues. */
static void screen_stop(struct screen *screen)
{
	struct sigaction action;
	sigset_t stop;

	screen->curses.endwin();
	sigemptyset(&stop);
	sigaddset(&stop, SIGTSTP);
	sigaction(SIGTSTP, &(struct sigaction){.sa_handler = SIG_DFL}, &action);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stop, NULL);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	sigaction(SIGTSTP, &action, NULL);
	/* Modes that were set meanwhile are for the shell. */
	screen->curses.def_shell_mode();
	terminal_read_mode(&screen->terminal);
}

/* Acts on the signals that have arrived: 0; 1 if one ends the command; -1 with @err set
 * on failure. */
static int take_signals(struct screen *screen, struct error *err)
{
	struct signalfd_siginfo info;
	bool is_resized = false;

	while (read(screen->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGTSTP)
			screen_stop(screen);
		else if (info.ssi_signo != SIGWINCH)
			return 1;
		/* The size may have changed while this process was stopped. */
		is_resized = true;
	}
	return is_resized ? screen_resize(screen, err) : 0;
}

/* Draws until the user or a signal ends it. */
static int screen_loop(struct screen *screen, struct messages *messages,
		       struct error *err)
{
	struct display *display = screen->display;
	bool goes_on = true;

	screen_fit(screen);
	while (goes_on) {
		struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0},
				       {screen->signals, POLLIN, 0},
				       {feed_descriptor(display->feed), POLLIN, 0}};
		int status;

		poll(fds, 3, wait_ms(display));
		status = take_signals(screen, err);
		if (status)
			return status < 0 ? -1 : 0;
		/* The terminal may be gone. */
		if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return 0;
		if (display_read(display, err) < 0)
			return -1;
		goes_on = take_keys(screen);
		messages_last(messages, &display->note);
		display_update_if_due(display);
		screen_draw(screen);
	}
	return 0;
}

/* Shows the display with the signals blocked. */
static int screen_show(struct screen *screen, struct messages *messages,
		       struct error *err)
{
	int status;

	terminal_guard(&screen->terminal);
	status = curses_start(&screen->curses, &screen->terminal, err);
	if (status == 0) {
		privileges_keep_files(); /* after dlopen() of ncurses */
		status = screen_loop(screen, messages, err);
		screen->curses.endwin();
	}
	terminal_unguard(&screen->terminal);
	return status;
}

int screen_run(struct display *display, struct messages *messages, struct error *err)
{
	struct screen screen = {.display = display};
	struct sigaction stop;
	sigset_t signals, before;
	int status;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGQUIT);
	sigaddset(&signals, SIGWINCH);
	/* With a handler, which never runs, ncurses leaves SIGTSTP alone; its own handler
	 * draws, whatever it interrupts. */
	sigaction(SIGTSTP, NULL, &stop);
	if (stop.sa_handler == SIG_DFL) {
		sigaddset(&signals, SIGTSTP);
		sigaction(SIGTSTP, &(struct sigaction){.sa_handler = handle_stop}, NULL);
	}
	sigprocmask(SIG_BLOCK, &signals, &before);
	screen.signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	status = screen.signals < 0 ? error_errno(err, errno, "can't wait for signals")
				    : screen_show(&screen, messages, err);
	if (screen.signals >= 0)
		close(screen.signals);
	sigaction(SIGTSTP, &stop, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}
