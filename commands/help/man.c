/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Shows manual pages without man(1) and groff(1), which dom0s often lack. It knows only
 * the macros and escape sequences of man(7) that docs/man uses.
 */
#include "commands/help/help.h"

#include <stdio.h>
#include <string.h>

#include "base/command/command.h"
#include "commands/report/pager.h"

/* All pages of docs/man, one after the other. */
extern const char man_pages[];

__asm__(".pushsection .rodata\n"
	".globl man_pages\n"
	"man_pages: .incbin \"" MAN_PAGES "\"\n"
	".byte 0\n"
	".popsection\n");

#define INDENT		     7 /* columns before text, and before a tag's text */
#define COLUMNS		     80
#define LINE_SIZE	     1024
#define ARGUMENTS	     32
#define WORD_SIZE	     256
#define IS_MACRO(line, name) (strncmp((line) + 1, name, 2) == 0)

struct man {
	FILE *out;
	bool has_fonts; /* for pagers: bold and underlined letters are typed twice */
	size_t columns;
	size_t margin;	    /* columns before all lines */
	size_t hang;	    /* further columns before a tag's text */
	size_t at;	    /* columns of this line so far; 0: not begun */
	bool needs_gap;	    /* an empty line comes before the next text */
	bool has_text;	    /* something was written */
	bool is_at_heading; /* nothing was written since the last heading */
	bool is_tag, is_example;
	bool is_joined; /* the next line goes on with this word */
	char font;	/* 'R', 'B' or 'I' */
	size_t length;
	struct letter {
		char letter, font;
	} word[WORD_SIZE];
};

static void put_letter(const struct man *man, struct letter letter)
{
	if (man->has_fonts && letter.font != 'R')
		fprintf(man->out, "%c\b", letter.font == 'B' ? letter.letter : '_');
	putc(letter.letter, man->out);
}

static void end_line(struct man *man)
{
	if (man->at)
		putc('\n', man->out);
	man->at = 0;
}

static void begin_line(struct man *man)
{
	if (man->needs_gap)
		putc('\n', man->out);
	man->has_text = true;
	man->needs_gap = man->is_at_heading = false;
	man->at = man->margin + man->hang;
	fprintf(man->out, "%*s", (int)man->at, "");
}

static void end_word(struct man *man)
{
	size_t start = man->margin + man->hang;

	if (!man->length)
		return;
	if (man->at > start && man->at + 1 + man->length > man->columns)
		end_line(man);
	if (!man->at) {
		begin_line(man);
	} else if (man->at > start) {
		putc(' ', man->out);
		man->at++;
	}
	for (size_t i = 0; i < man->length; i++)
		put_letter(man, man->word[i]);
	man->at += man->length;
	man->length = 0;
}

static void add_letter(struct man *man, char letter)
{
	if (man->length == WORD_SIZE)
		end_word(man);
	man->word[man->length++] = (struct letter){letter, man->font};
}

/* Adds what an escape sequence stands for. Returns its end. */
static const char *add_escape(struct man *man, const char *at)
{
	static const char special[][4] = {"bu*", "aq'", "dq\"", "ha^"};

	if (*at == 'f' && at[1]) {
		man->font = at[1] == 'B' || at[1] == 'I' ? at[1] : 'R';
		return at + 2;
	}
	for (size_t i = 0; *at == '(' && i < sizeof(special) / sizeof(special[0]); i++) {
		if (strncmp(at + 1, special[i], 2) == 0) {
			add_letter(man, special[i][2]);
			return at + 3;
		}
	}
	man->is_joined = *at == 'c';
	if (*at && !man->is_joined && *at != '&')
		add_letter(man, *at == 'e' ? '\\' : *at);
	return *at ? at + 1 : at;
}

static void add_text(struct man *man, const char *text, char font)
{
	man->font = font;
	while (*text) {
		char c = *text++;

		if (c == '\\')
			text = add_escape(man, text);
		else if (c == ' ' && !man->is_example)
			end_word(man);
		else
			add_letter(man, c);
	}
}

/* Splits a macro's arguments, in place. Returns their number. */
static size_t split_arguments(char *line, char *argument[ARGUMENTS])
{
	size_t count = 0;

	while (*line && count < ARGUMENTS) {
		char end = ' ';

		line += strspn(line, " ");
		if (*line == '"')
			end = *line++;
		if (!*line)
			break;
		argument[count++] = line;
		while (*line && *line != end)
			line += *line == '\\' && line[1] ? 2 : 1;
		if (*line)
			*line++ = 0;
	}
	return count;
}

/* Ends a tag. The text after a short one begins in its line. */
static void end_tag(struct man *man)
{
	size_t start = man->margin + man->hang;

	end_word(man);
	if (man->at >= start)
		end_line(man);
	if (man->at)
		fprintf(man->out, "%*s", (int)(start - man->at), "");
	if (man->at)
		man->at = start;
}

static void end_paragraph(struct man *man, size_t hang)
{
	end_word(man);
	end_line(man);
	man->needs_gap = !man->is_at_heading;
	man->hang = hang;
}

static void put_heading(struct man *man, const char *text, size_t column)
{
	end_paragraph(man, 0);
	man->needs_gap = man->has_text;
	man->margin = column;
	add_text(man, text, 'B');
	end_word(man);
	end_line(man);
	man->margin = INDENT;
	man->is_at_heading = true;
}

/* Adds a macro's arguments: as words in one font, or as one word in two by turns. */
static void put_fonts(struct man *man, const char *fonts, char *line)
{
	char *argument[ARGUMENTS];
	size_t count = split_arguments(line, argument);

	for (size_t i = 0; i < count; i++) {
		if (i && !fonts[1])
			end_word(man);
		add_text(man, argument[i], fonts[fonts[1] ? i % 2 : 0]);
	}
}

static void begin_tag(struct man *man, char *line)
{
	char *argument[ARGUMENTS];
	size_t count = split_arguments(line, argument);

	end_paragraph(man, count ? 0 : INDENT);
	if (!count)
		return;
	add_text(man, argument[0], 'R');
	end_word(man);
	man->hang = count > 1 ? (size_t)(argument[1][0] - '0') : INDENT;
	end_tag(man);
}

static void show_macro(struct man *man, char *line)
{
	char *rest = line + strcspn(line, " ");
	char fonts[3] = {line[1], line[2] == ' ' ? 0 : line[2], 0};

	if (IS_MACRO(line, "SH")) {
		put_heading(man, rest, 0);
	} else if (IS_MACRO(line, "SS")) {
		put_heading(man, rest, 3);
	} else if (IS_MACRO(line, "PP")) {
		end_paragraph(man, 0);
	} else if (IS_MACRO(line, "IP")) {
		begin_tag(man, rest);
	} else if (IS_MACRO(line, "TP")) {
		end_paragraph(man, 0);
		man->is_tag = true;
	} else if (IS_MACRO(line, "RS") || IS_MACRO(line, "RE")) {
		end_word(man);
		end_line(man);
		man->margin += line[2] == 'S' ? INDENT : (size_t)-INDENT;
		man->hang = 0;
	} else if (IS_MACRO(line, "EX") || IS_MACRO(line, "EE") || IS_MACRO(line, "br")) {
		end_word(man);
		end_line(man);
		man->is_example = IS_MACRO(line, "EX");
	} else if (strspn(fonts, "BRI") == strlen(fonts)) {
		put_fonts(man, fonts, rest);
	}
}

static void show_line(struct man *man, char *line)
{
	bool was_tag = man->is_tag;

	if (*line == '.')
		show_macro(man, line);
	else
		add_text(man, line, 'R');
	if (!man->is_joined)
		end_word(man);
	man->is_joined = false;
	if (man->is_example)
		end_line(man);
	if (was_tag) {
		man->is_tag = false;
		man->hang = INDENT;
		end_tag(man);
	}
}

/* Returns the page's first line, which has its name in capital letters; NULL if there is
 * none. */
static const char *page_of(const char *command)
{
	char first[64];

	snprintf(first, sizeof(first), ".TH UNIPROF%s%s 1 ", command ? "\\-" : "",
		 command ?: "");
	for (char *c = first; *c; c++)
		if (*c >= 'a' && *c <= 'z')
			*c -= 'a' - 'A';
	return strstr(man_pages, first);
}

int man_show(const char *command)
{
	const char *at = page_of(command);
	struct pager pager;
	struct man man = {.margin = INDENT};
	char line[LINE_SIZE];

	if (!at)
		return EXIT_FAILED;
	pager_start(&pager, true);
	man.out = stdout;
	man.has_fonts = pager.pid;
	man.columns = pager.columns && pager.columns < COLUMNS ? pager.columns : COLUMNS;
	for (at += strcspn(at, "\n"); *at && !IS_MACRO(at + 1, "TH");
	     at += strcspn(at, "\n")) {
		at++;
		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		show_line(&man, line);
	}
	end_line(&man);
	pager_end(&pager);
	return EXIT_DONE;
}
