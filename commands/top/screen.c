/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/screen.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "commands/top/curses.h"
#include "commands/top/keys.h"
#include "commands/top/screen_internal.h"
#include "record/safety/privileges.h"

/* The time between tables is at least this many times what one takes. */
#define LEAST_TIMES 5

/* Lines of a table. */
static int split(struct screen *screen)
{
	char *at = screen->text, *end;

	screen->line_count = 0;
	screen->heading_count = 0;
	for (; at && *at; at = end + 1) {
		end = strchr(at, '\n');
		if (!end)
			break;
		*end = 0;
		if (screen->line_count == screen->line_room) {
			size_t room = screen->line_room * 2 + 64;

			if (!array_grow(&screen->lines, room, sizeof(*screen->lines)))
				return -1;
			screen->line_room = room;
		}
		screen->lines[screen->line_count++] = at;
		if (*at == '#')
			screen->heading_count = screen->line_count;
	}
	return 0;
}

void screen_update(struct screen *screen)
{
	struct top *top = screen->top;
	uint64_t began = clock_monotonic(), took;
	struct error err;
	char *text = NULL;
	size_t size = 0;
	FILE *out;
	int columns;

	screen->next = began + top->options.delay;
	if (!recent_is_ready(&top->recent)) {
		screen->next = began + TOP_LOOK_NS;
		return;
	}
	columns = screen->curses.getmaxx(screen->curses.screen);
	top->view.report.columns = columns > 1 ? (size_t)columns : 1;
	out = open_memstream(&text, &size);
	if (!out || view_write(&top->view, screen_path(screen), out, &err) < 0) {
		screen_note(screen, "%s", out ? err.text : "out of memory");
		if (out)
			fclose(out);
		free(text);
		return;
	}
	if (fclose(out) != 0) {
		free(text);
		return;
	}
	free(screen->text);
	screen->text = text;
	if (split(screen) < 0)
		screen->line_count = 0;
	took = clock_monotonic() - began;
	if (took * LEAST_TIMES > top->options.delay)
		screen->next = began + took * LEAST_TIMES;
}

/* Writes a line, at most as many characters as there are columns. */
static void put_line(struct screen *screen, int y, const char *text, int attributes)
{
	struct curses *curses = &screen->curses;
	int columns = curses->getmaxx(curses->screen), count = 0;
	size_t length = 0;

	/* What the terminal would interpret is not written, whatever its source. */
	for (; count < columns && text_character(text + length); count++)
		length += text_character(text + length);
	curses->wmove(curses->screen, y, 0);
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

static void put_title(struct screen *screen)
{
	const struct top *top = screen->top;
	const char *domains = top->options.profile.rules.domains;
	const char *state = top->recent.more ? "" : ", ended";
	struct error title, filter = {""};
	char name[256];

	text_clean(name, screen->filter);
	if (*name)
		error_set(&filter, ", functions: %s", name);
	if (top->recent.more && top->options.input && !recent_is_written(&top->recent))
		state = ", not being written";
	error_set(&title, "uniprof top%s%s%s%s%s", domains ? ", domain: " : "",
		  domains ? domains : "", filter.text,
		  screen->frozen >= 0 ? ", frozen" : "", state);
	put_line(screen, 0, title.text, CURSES_REVERSE);
}

/* Instead of a table. */
static int put_wait(struct screen *screen, int y)
{
	const struct top *top = screen->top;
	struct error line = {"no table"};

	if (!recent_is_ready(&top->recent))
		error_set(&line, "waiting for %s",
			  top->options.input ? "the start of the recording"
					     : "the first samples");
	put_line(screen, y++, line.text, 0);
	return y;
}

/* The heading without its '#', and without empty lines. Returns the next free line. */
static int put_heading(struct screen *screen)
{
	bool has_columns = screen->top->view.format == output_find("histogram");
	int y = 1;

	for (size_t i = 0; i < screen->heading_count; i++) {
		bool is_last = has_columns && i + 1 == screen->heading_count;
		const char *line = screen->lines[i];
		char aligned[512];

		if (!line[1])
			continue;
		/* The columns are aligned with the rows, whose lines have no '#'. */
		snprintf(aligned, sizeof(aligned), is_last ? "  %s" : "%s", line + 2);
		put_line(screen, y++, aligned, is_last ? CURSES_REVERSE : 0);
	}
	return y;
}

static size_t row_count(const struct screen *screen)
{
	return screen->line_count - screen->heading_count;
}

void screen_scroll(struct screen *screen, long rows)
{
	size_t most = row_count(screen) > screen->page ? row_count(screen) - screen->page
						       : 0;
	long first = (long)screen->first + rows;

	screen->first = first < 0 ? 0 : (size_t)first > most ? most : (size_t)first;
}

static void put_bottom(struct screen *screen, int y)
{
	struct error line;

	if (screen->prompt)
		error_set(&line, "%s: %s_", screen->prompt->label, screen->typed);
	else if (screen->note.text[0])
		line = screen->note;
	else
		error_set(&line, "%s", KEYS_SUMMARY);
	put_line(screen, y, line.text, CURSES_BOLD);
}

static void draw(struct screen *screen)
{
	struct curses *curses = &screen->curses;
	int lines = curses->getmaxy(curses->screen), y = 1;
	size_t row;

	curses->wmove(curses->screen, 0, 0);
	curses->wclrtobot(curses->screen);
	put_title(screen);
	if (screen->is_help) {
		y = keys_help(screen, put_line);
	} else if (!screen->line_count) {
		y = put_wait(screen, y);
	} else {
		y = put_heading(screen);
		screen->page = lines - 1 > y ? (size_t)(lines - 1 - y) : 0;
		screen_scroll(screen, 0);
		row = screen->heading_count + screen->first;
		for (; y < lines - 1 && row < screen->line_count; row++)
			put_line(screen, y++, screen->lines[row], 0);
	}
	put_bottom(screen, lines - 1);
	curses->wrefresh(curses->screen);
}

/* Handles what was typed, and changes of the terminal's size. */
static void take_keys(struct screen *screen)
{
	struct curses *curses = &screen->curses;
	int key;

	while ((key = curses->wgetch(curses->screen)) != CURSES_NO_KEY)
		keys_take(screen, key);
}

/* Reads new samples; -1 with @err set if they can't be read, and none were shown. */
static int take_samples(struct screen *screen, struct error *err)
{
	struct top *top = screen->top;
	bool more = top->recent.more;

	if (recent_more(&top->recent, err) < 0) {
		top->recent.more = false;
		if (!top->view.is_shown)
			return -1;
		screen_note(screen, "%s", err->text);
	}
	if (more && !top->recent.more && screen->frozen < 0)
		screen_update(screen);
	return 0;
}

/* How long nothing happens without keys and samples. */
static int wait_ms(const struct screen *screen)
{
	const struct top *top = screen->top;
	uint64_t now = clock_monotonic(), until = now + NS_PER_S;

	if (!top->recent.more)
		return (int)((until - now) / 1000000);
	if (top_descriptor(top) < 0)
		until = now + TOP_LOOK_NS;
	if (screen->frozen < 0 && screen->next < until)
		until = screen->next;
	return until > now ? (int)((until - now) / 1000000) + 1 : 0;
}

/* Takes a signal that ends it, if there is one, so that it has no other effect. */
static bool take_signal(int signals)
{
	struct signalfd_siginfo info;

	return read(signals, &info, sizeof(info)) == sizeof(info);
}

/* Until the user or a signal ends it. */
static int loop(struct screen *screen, int signals, struct error *err)
{
	const struct top *top = screen->top;

	while (!screen->quit) {
		struct pollfd fds[] = {{STDIN_FILENO, POLLIN, 0},
				       {signals, POLLIN, 0},
				       {top_descriptor(top), POLLIN, 0}};
		struct error message;

		poll(fds, 3, wait_ms(screen));
		/* The terminal may be gone. */
		if (take_signal(signals) ||
		    fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
			return 0;
		if (take_samples(screen, err) < 0)
			return -1;
		take_keys(screen);
		if (messages_last(&screen->top->messages, &message))
			screen_note(screen, "%s", message.text);
		if (screen->frozen < 0 && top->recent.more &&
		    clock_monotonic() >= screen->next)
			screen_update(screen);
		draw(screen);
	}
	return 0;
}

int screen_run(struct top *top, struct error *err)
{
	struct screen screen = {.top = top, .frozen = -1};
	sigset_t ends, before;
	int signals, status;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGHUP);
	sigaddset(&ends, SIGQUIT);
	sigprocmask(SIG_BLOCK, &ends, &before);
	signals = signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
	status = signals < 0 ? error_errno(err, errno, "can't wait for signals")
			     : curses_start(&screen.curses, err);
	if (status == 0) {
		privileges_keep_files(); /* the library of curses is loaded */
		status = loop(&screen, signals, err);
		screen.curses.endwin();
	}
	if (signals >= 0)
		close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	keys_unfreeze(&screen);
	free(screen.lines);
	free(screen.text);
	return status;
}
