/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/text_line.h"

#include <string.h>

#include "base/parse.h"
#include "symbols/table.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_blanks(struct text *text)
{
	while (text->at < text->end && is_blank(*text->at))
		text->at++;
}

/* Removes and returns the next word of @text, up to a blank. */
static struct text take_word(struct text *text)
{
	struct text word = *text;

	while (text->at < text->end && !is_blank(*text->at))
		text->at++;
	word.end = text->at;
	skip_blanks(text);
	return word;
}

static bool parse_hex(struct text word, uint64_t *value)
{
	*value = 0;
	if (text_length(word) > 2 && word.at[0] == '0' &&
	    (word.at[1] == 'x' || word.at[1] == 'X'))
		word.at += 2;
	if (word.at == word.end)
		return false;
	for (; word.at < word.end; word.at++) {
		int digit = parse_hex_digit(*word.at);

		if (digit < 0 || *value >> 60)
			return false;
		*value = *value << 4 | (uint64_t)digit;
	}
	return true;
}

/* Returns whether the word is a symbol type of nm(1), "The symbol type". */
static bool is_type(struct text word)
{
	return text_length(word) == 1 &&
	       memchr("AaBbCcDdGgIiNnpRrSsTtUuVvWw-?", *word.at, 29);
}

/* Takes the module: in /proc/kallsyms, a tab and [module] follow the name (Linux,
 * kernel/kallsyms.c). */
static void take_module(struct line *line)
{
	const char *open = line->name.end;

	if (open == line->name.at || open[-1] != ']')
		return;
	do
		open--;
	while (open > line->name.at && !is_blank(*open));
	if (!is_blank(*open) || open[1] != '[')
		return;
	line->module = (struct text){open + 1, line->name.end};
	while (open > line->name.at && is_blank(open[-1]))
		open--;
	line->name.end = open;
}

int symbols_rank_of(char type)
{
	switch (type) {
	case 'T':
	case 'i':
		return RANK_GLOBAL;
	case 't':
		return RANK_LOCAL;
	case 'W':
	case 'w':
		return RANK_WEAK;
	default:
		return -1;
	}
}

/* Parses ADDRESS [SIZE] TYPE NAME [MODULE], or TYPE NAME for undefined symbols. */
static enum line_kind parse_nm(struct text text, struct line *line)
{
	struct text word, rest;
	const char *tab;
	int rank;

	if (is_blank(*text.at)) {
		skip_blanks(&text);
		word = take_word(&text);
		return is_type(word) && text_length(text) ? LINE_NEUTRAL : LINE_BAD;
	}
	if (!parse_hex(take_word(&text), &line->address))
		return LINE_BAD;
	word = take_word(&text);
	rest = text;
	if (text_length(word) > 1) {
		if (!parse_hex(word, &line->size))
			return LINE_BAD;
		word = take_word(&rest);
	}
	if (!is_type(word))
		return LINE_BAD;
	/* clang makes symbols without a name for relaxation on RISC-V. */
	if (!text_length(rest))
		return LINE_NEUTRAL;
	line->name = rest;
	take_module(line);
	/* nm -l: a tab, then the source line. */
	tab = memchr(line->name.at, '\t', text_length(line->name));
	if (tab)
		line->name.end = tab;

	rank = symbols_rank_of(*word.at);
	if (rank >= 0) {
		line->rank = (uint8_t)rank;
		return LINE_FUNCTION;
	}
	switch (*word.at) {
	case 'A': /* a constant, possibly within the range of addresses */
	case 'a':
	case 'C': /* the value is a size */
	case 'c':
	case 'I':
	case 'N': /* debug sections start at address 0 */
	case 'n':
	case 'U':
	case '-':
	case '?':
		return LINE_NEUTRAL;
	}
	return LINE_BOUNDARY;
}

/* objdump prints a non-default visibility before the name. */
static void skip_visibility(struct text *name)
{
	static const char *const words[] = {".hidden", ".internal", ".protected"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		size_t size = strlen(words[i]);

		if (text_length(*name) > size && !memcmp(name->at, words[i], size) &&
		    is_blank(name->at[size])) {
			name->at += size;
			skip_blanks(name);
			return;
		}
	}
}

/*
 * Parses ADDRESS SIZE NAME. Such lists are often extracted from the output of `objdump
 * -x`, and then also contain sections (named .text or by a number) and source files
 * (address and size 0).
 */
static enum line_kind parse_columns(struct text text, struct line *line)
{
	uint64_t number;

	skip_blanks(&text);
	if (!parse_hex(take_word(&text), &line->address) ||
	    !parse_hex(take_word(&text), &line->size) || !text_length(text))
		return LINE_BAD;
	line->name = text;
	skip_visibility(&line->name);
	if (*line->name.at == '.' || (!line->address && !line->size) ||
	    (*line->name.at <= '9' && parse_hex(line->name, &number)))
		return LINE_NEUTRAL;
	return LINE_FUNCTION;
}

/*
 * Parses ADDRESS FLAGS SECTION<tab>SIZE NAME: one flag in each of seven columns, of which
 * the last is F for a function (objdump(1), --syms). No other format looks like this, and
 * `objdump -x` prints much other text first, so no line counts as bad.
 */
static enum line_kind parse_objdump(struct text text, struct line *line)
{
	struct text address = take_word(&(struct text){text.at, text.end});
	const char *flags, *tab;
	struct text size;

	if (!parse_hex(address, &line->address) || text.end - address.end < 9)
		return LINE_NEUTRAL;
	flags = address.end + 1;
	for (size_t i = 0; i < 7; i++)
		if (!memchr(" lgu!wCWIidDFfO", flags[i], 15))
			return LINE_NEUTRAL;
	if (flags[7] != ' ')
		return LINE_NEUTRAL;
	text.at = flags + 8;
	tab = memchr(text.at, '\t', text_length(text));
	if (!tab || tab == text.at)
		return LINE_NEUTRAL;
	size = (struct text){tab + 1, text.end};
	if (!parse_hex(take_word(&size), &line->size) || !text_length(size))
		return LINE_NEUTRAL;
	line->name = size;
	skip_visibility(&line->name);
	if (*text.at == '*') /* *UND*, *ABS*, *COM* */
		return LINE_NEUTRAL;
	line->rank = flags[1] == 'w'   ? RANK_WEAK
		     : flags[0] == 'l' ? RANK_LOCAL
				       : RANK_GLOBAL;
	if (flags[6] == 'F' || flags[4] == 'i')
		return LINE_FUNCTION;
	return flags[6] == 'O' ? LINE_BOUNDARY : LINE_NEUTRAL;
}

enum line_kind line_parse(enum line_format format, struct text text, struct line *line)
{
	*line = (struct line){0};
	if (!text_length(text) || *text.at == '#')
		return LINE_NEUTRAL;
	if (memchr(text.at, '\0', text_length(text)))
		return LINE_BAD;
	switch (format) {
	case FORMAT_OBJDUMP:
		return parse_objdump(text, line);
	case FORMAT_COLUMNS:
		return parse_columns(text, line);
	default:
		return parse_nm(text, line);
	}
}

static bool is_word(struct text text, const char *word)
{
	return text_length(text) == strlen(word) && !memcmp(text.at, word, strlen(word));
}

/* Returns whether the line is the first one of objdump: "NAME:     file format FORMAT".
 */
static bool is_objdump_header(struct text text)
{
	bool after_colon = false;

	while (text_length(text)) {
		struct text word = take_word(&text);

		if (after_colon && is_word(word, "file") &&
		    is_word(take_word(&text), "format"))
			return true;
		after_colon = text_length(word) && word.end[-1] == ':';
	}
	return false;
}

enum line_format line_format(struct text text)
{
	struct text words = text;
	struct text address, second, third;
	struct line line;
	uint64_t value;

	if (is_objdump_header(text) ||
	    (line_parse(FORMAT_OBJDUMP, text, &line) != LINE_BAD && line.name.at))
		return FORMAT_OBJDUMP;
	skip_blanks(&words);
	address = take_word(&words);
	second = take_word(&words);
	if (!parse_hex(address, &value) || !text_length(words))
		return FORMAT_UNKNOWN;
	if (!parse_hex(second, &value))
		return is_type(second) ? FORMAT_NM : FORMAT_UNKNOWN;
	/* A word such as "b" is ambiguous: the type of a data symbol, or the size of a
	 * function of 10 to 13 bytes. */
	if (is_type(second))
		return FORMAT_UNKNOWN;
	/* nm -S pads both numbers to the same width. */
	third = take_word(&words);
	if (is_type(third) && text_length(words) &&
	    text_length(address) == text_length(second) && text_length(address) >= 8)
		return FORMAT_NM;
	return FORMAT_COLUMNS;
}
