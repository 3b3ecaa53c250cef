/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/fibers/description.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

extern const char fiber_systems[], fiber_systems_end[];

asm(".pushsection .rodata\n"
    "fiber_systems: .incbin \"tables/fibers/systems\"\n"
    "fiber_systems_end:\n"
    ".popsection\n");

struct description_text descriptions(void)
{
	return (struct description_text){fiber_systems, fiber_systems_end, 0};
}

/* Keys, and the numbers of the layout that they set. */
static const struct {
	const char *key;
	size_t at;
} keys[] = {
	{"list", offsetof(struct fiber_layout, list)},
	{"sched.list", offsetof(struct fiber_layout, sched_list)},
	{"sched.next", offsetof(struct fiber_layout, sched_next)},
	{"current", offsetof(struct fiber_layout, current)},
	{"stack.size", offsetof(struct fiber_layout, stack_size)},
	{"switch", offsetof(struct fiber_layout, switch_code)},
	{"link", offsetof(struct fiber_layout, link)},
	{"name", offsetof(struct fiber_layout, name)},
	{"flags", offsetof(struct fiber_layout, flags)},
	{"sp", offsetof(struct fiber_layout, sp)},
	{"ip", offsetof(struct fiber_layout, ip)},
	{"stack", offsetof(struct fiber_layout, stack)},
	{"wakeup", offsetof(struct fiber_layout, wakeup)},
	{"runtime", offsetof(struct fiber_layout, runtime)},
	{"runnable", offsetof(struct fiber_layout, runnable)},
	{"exited", offsetof(struct fiber_layout, exited)},
};

/* A line that is split at its blanks. */
#define WORDS 24
struct words {
	char text[256];
	char *word[WORDS];
	size_t count;
};

/* Splits the next line, without its comment; false after the last one. An empty line has
 * no words. */
static bool next_line(struct description_text *text, struct words *words, bool *is_long)
{
	const char *end = memchr(text->at, '\n', (size_t)(text->end - text->at));
	size_t size;

	if (text->at == text->end)
		return false;
	end = end ? end : text->end;
	size = (size_t)(end - text->at);
	*is_long = size >= sizeof(words->text);
	size = *is_long ? 0 : size;
	memcpy(words->text, text->at, size);
	words->text[size] = 0;
	text->at = end + (end < text->end);
	text->line++;
	words->text[strcspn(words->text, "#")] = 0;
	words->count = 0;
	for (char *save, *word = strtok_r(words->text, " \t", &save); word;
	     word = strtok_r(NULL, " \t", &save)) {
		if (words->count == WORDS)
			*is_long = true;
		else
			words->word[words->count++] = word;
	}
	return true;
}

static bool take_text(char *to, size_t size, const char *from, size_t length)
{
	if (!length || length >= size)
		return false;
	memcpy(to, from, length);
	to[length] = 0;
	return true;
}

static bool take_number(const char *word, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 0);
	return *word >= '0' && *word <= '9' && !*end && !errno && *number != FIBER_NONE;
}

/* Takes STRUCT.MEMBER. */
static bool take_member(const char *word, struct description_row *row)
{
	size_t length = strcspn(word, ".");

	return word[length] && take_text(row->type, sizeof(row->type), word, length) &&
	       take_text(row->member, sizeof(row->member), word + length + 1,
			 strlen(word + length + 1));
}

/* Takes what follows a key. */
static bool take_value(const struct words *words, struct description_row *row)
{
	const char *word = words->word[1];

	row->number = FIBER_NONE;
	if (words->count == 2 && *word == '@')
		return take_text(row->symbol, sizeof(row->symbol), word + 1,
				 strlen(word + 1));
	if (words->count == 2)
		return take_number(word, &row->number);
	return words->count == 3 && take_member(word, row) &&
	       take_number(words->word[2], &row->number);
}

/* Returns the number of a register; FIBER_NONE: there is none with the name. */
static uint64_t register_number(const char *name, bool is_arm)
{
	static const char *const x86[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
					  "rsi", "rdi", "r8",  "r9",  "r10", "r11",
					  "r12", "r13", "r14", "r15", "rip"};
	uint64_t number;

	if (strcmp(name, "-") == 0)
		return FIBER_SKIP - 1;
	if (is_arm)
		return *name == 'x' && take_number(name + 1, &number) &&
				       number <= FIBER_RETURN_ARM64
			       ? number
			       : FIBER_NONE;
	for (size_t i = 0; i < sizeof(x86) / sizeof(x86[0]); i++)
		if (strcmp(name, x86[i]) == 0)
			return i;
	return FIBER_NONE;
}

static bool take_frame(const struct words *words, struct description *description)
{
	bool is_arm = words->count > 1 && strcmp(words->word[1], "arm64") == 0;
	uint64_t *frame = is_arm ? description->frame_arm64 : description->frame_x86;

	if (words->count < 3 || words->count - 2 > FIBER_FRAME ||
	    (!is_arm && strcmp(words->word[1], "x86-64") != 0))
		return false;
	for (size_t i = 2; i < words->count; i++) {
		uint64_t number = register_number(words->word[i], is_arm);

		if (number == FIBER_NONE)
			return false;
		frame[i - 2] = number + 1;
	}
	return true;
}

static bool take_line(const struct words *words, struct description *description)
{
	const char *key = words->word[0];
	struct description_row *row = &description->row[description->rows];

	if (strcmp(key, "frame") == 0)
		return take_frame(words, description);
	if (words->count == 2 && strcmp(key, "needs") == 0)
		return take_member(words->word[1], &description->needs);
	if (words->count == 2 && strcmp(key, "lacks") == 0)
		return take_member(words->word[1], &description->lacks);
	if (words->count < 2 || description->rows == DESCRIPTION_ROWS)
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(key, keys[i].key) != 0)
			continue;
		row->at = keys[i].at;
		description->rows++;
		return take_value(words, row);
	}
	return false;
}

/* Takes "[NAME]". */
static bool take_name(const struct words *words, char *name, size_t size)
{
	size_t used = 0;

	*name = 0;
	for (size_t i = 0; i < words->count; i++) {
		size_t length = strlen(words->word[i]);

		if (used + length + 2 > size)
			return false;
		if (i)
			name[used++] = ' ';
		memcpy(name + used, words->word[i], length + 1);
		used += length;
	}
	if (used < 3 || name[0] != '[' || name[used - 1] != ']')
		return false;
	memmove(name, name + 1, used - 2);
	name[used - 2] = 0;
	return true;
}

int description_read(struct description_text *text, struct description *description,
		     struct error *err)
{
	bool is_begun = false, is_long;
	struct words words;

	memset(description, 0, sizeof(*description));
	for (;;) {
		struct description_text before = *text;
		bool is_good;

		if (!next_line(text, &words, &is_long))
			return is_begun;
		if (!is_long && !words.count)
			continue;
		if (!is_long && *words.word[0] == '[' && is_begun) {
			*text = before;
			return 1;
		}
		if (is_long)
			is_good = false;
		else if (is_begun)
			is_good = take_line(&words, description);
		else
			is_good = is_begun = take_name(&words, description->name,
						       sizeof(description->name));
		if (!is_good)
			return error_set(err, "line %u is no part of a description",
					 text->line);
	}
}
