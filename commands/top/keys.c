/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/compat.h"
#include "base/replace.h"
#include "base/text.h"
#include "report/model/domains.h"

#define ESCAPE 27

static void set_filter(struct screen *screen, const char *text)
{
	struct error err;

	if (profile_options_filter(&screen->top->options.profile, text, &err) < 0) {
		screen_note(screen, "%s", err.text);
		return;
	}
	snprintf(screen->filter, sizeof(screen->filter), "%s", text);
	screen_update(screen);
}

static void set_domain(struct screen *screen, const char *text)
{
	struct top *top = screen->top;
	struct profile_rules *rules = &top->options.profile.rules;
	struct error err;

	if (*text &&
	    !domain_list_is_known(&top->recent.summary, text, top->view.name, &err)) {
		screen_note(screen, "%s", err.text);
		return;
	}
	snprintf(top->domain, sizeof(top->domain), "%s", text);
	rules->domains = *top->domain ? top->domain : NULL;
	screen_update(screen);
}

static void add_symbols(struct screen *screen, const char *text)
{
	struct top *top = screen->top;
	struct error err;
	char *spec;

	if (!*text)
		return;
	spec = strdup(text);
	if (!spec || !array_grow(&top->specs, top->spec_count + 1, sizeof(*top->specs))) {
		free(spec);
		screen_note(screen, "out of memory");
		return;
	}
	top->specs[top->spec_count++] = spec;
	if (view_add_symbols(&top->view, screen_path(screen), spec, &err) < 0)
		screen_note(screen, "%s", err.text);
	screen_update(screen);
}

static void save(struct screen *screen, const char *path)
{
	struct top *top = screen->top;
	struct error err;
	struct stat st;

	if (!*path)
		path = "uniprof.data";
	if (profile_reads(&top->view.profile, path, &err))
		screen_note(screen, "%s", err.text);
	else if (fstat(top->input.fd, &st) == 0 && replace_changes(path, &st))
		screen_note(screen, "refusing to overwrite %s: it is the input", path);
	else if (recent_save(screen_path(screen), path, &err) < 0)
		screen_note(screen, "%s", err.text);
	else
		screen_note(screen, "saved in %s", path);
}

static const struct prompt prompts[] = {
	{'/', "only samples with a function that matches (regular expression)",
	 set_filter},
	{'d', "only these domains (names or ids, separated by commas; empty: all)",
	 set_domain},
	{'y', "symbol file (FILE[@OFFSET][,domain=DOMAIN])", add_symbols},
	{'w', "save as (empty: uniprof.data)", save},
};

static void take_typed(struct screen *screen, int key)
{
	const struct prompt *prompt = screen->prompt;
	size_t length = strlen(screen->typed);

	switch (key) {
	case '\n':
	case '\r':
	case CURSES_KEY_ENTER:
		screen->prompt = NULL;
		prompt->answer(screen, screen->typed);
		break;
	case ESCAPE:
		screen->prompt = NULL;
		break;
	case '\b':
	case 0x7f:
	case CURSES_KEY_BACKSPACE:
		/* A character of UTF-8 as a whole. */
		while (length && (screen->typed[--length] & 0xc0) == 0x80)
			;
		screen->typed[length] = 0;
		break;
	default:
		if (key < ' ' || key > 0xff || length + 1 >= sizeof(screen->typed))
			break;
		screen->typed[length] = (char)key;
		screen->typed[length + 1] = 0;
	}
}

static int copy_bytes(int to, int from)
{
	off_t size = lseek(from, 0, SEEK_END), at = 0;

	while (at < size)
		if (sendfile(to, from, &at, (size_t)(size - at)) <= 0)
			return -1;
	return 0;
}

void keys_unfreeze(struct screen *screen)
{
	if (screen->frozen >= 0)
		close(screen->frozen);
	screen->frozen = -1;
}

static void toggle_frozen(struct screen *screen)
{
	struct recent *recent = &screen->top->recent;
	int fd;

	if (screen->frozen >= 0) {
		keys_unfreeze(screen);
		screen_update(screen);
		return;
	}
	fd = memfd_create("uniprof-frozen", MFD_CLOEXEC);
	if (fd < 0 || copy_bytes(fd, recent->copy.fd) < 0) {
		screen_note(screen, "can't freeze: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	screen->frozen = fd;
	snprintf(screen->frozen_path, sizeof(screen->frozen_path), "/proc/self/fd/%d",
		 fd);
	screen_update(screen);
}

static void sort_next(struct screen *screen)
{
	static const char *const names[] = {"self", "total", "name"};
	enum report_sort *sort = &screen->top->view.report.sort;

	*sort = (*sort + 1) % 3;
	screen_note(screen, "sorted by %s", names[*sort]);
	screen_update(screen);
}

static void toggle_tree(struct screen *screen)
{
	struct view *view = &screen->top->view;
	const struct output *tree = output_find("tree");

	view->format = view->format == tree ? output_find("histogram") : tree;
	screen->first = 0;
	screen_update(screen);
}

static void toggle(struct screen *screen, bool *flag)
{
	*flag = !*flag;
	screen_update(screen);
}

static void take_command(struct screen *screen, int key)
{
	struct report_view *report = &screen->top->view.report;

	switch (key) {
	case 'q':
		screen->quit = true;
		break;
	case 'h':
	case '?':
		screen->is_help = !screen->is_help;
		break;
	case 't':
		toggle_tree(screen);
		break;
	case 'i':
		toggle(screen, &report->invert);
		break;
	case 'v':
		toggle(screen, &report->per_vcpu);
		break;
	case 's':
		sort_next(screen);
		break;
	case 'f':
	case ' ':
		toggle_frozen(screen);
		break;
	default:
		for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++)
			if (prompts[i].key == key)
				screen->prompt = &prompts[i];
		screen->typed[0] = 0;
	}
}

/* False if it is none of these. */
static bool take_scrolling(struct screen *screen, int key)
{
	const long page = screen->page > 1 ? (long)screen->page - 1 : 1;
	const long all = (long)screen->line_count;

	switch (key) {
	case CURSES_KEY_DOWN:
	case 'j':
		screen_scroll(screen, 1);
		return true;
	case CURSES_KEY_UP:
	case 'k':
		screen_scroll(screen, -1);
		return true;
	case CURSES_KEY_NEXT_PAGE:
		screen_scroll(screen, page);
		return true;
	case CURSES_KEY_LAST_PAGE:
		screen_scroll(screen, -page);
		return true;
	case CURSES_KEY_HOME:
		screen_scroll(screen, -all);
		return true;
	case CURSES_KEY_END:
		screen_scroll(screen, all);
		return true;
	default:
		return false;
	}
}

void keys_take(struct screen *screen, int key)
{
	if (key == CURSES_KEY_RESIZE) {
		screen->curses.clearok(screen->curses.screen, true);
		screen_update(screen);
		return;
	}
	if (screen->prompt) {
		take_typed(screen, key);
		return;
	}
	if (take_scrolling(screen, key))
		return;
	screen->note.text[0] = 0;
	take_command(screen, key);
}

int keys_help(struct screen *screen, void (*put_line)(struct screen *screen, int y,
						      const char *text, int attributes))
{
	static const char *const lines[] = {
		"",
		"  t        a call tree, or the table of functions again",
		"  i        in the tree, start at the sampled functions",
		"  v        a column for each vCPU, or none",
		"  s        sort by self, total or name",
		"  /        only samples with a function that matches",
		"  d        only some domains",
		"  y        read another symbol file",
		"  f space  freeze what is shown, or go on",
		"  w        save what is shown as a recording",
		"",
		"  up down page-up page-down home end j k  scroll",
		"  Ctrl-Z   stop, with the sampling; fg goes on",
		"  h ?      this help",
		"  q        quit",
	};
	int y = 1;

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		put_line(screen, y++, lines[i], 0);
	return y;
}
