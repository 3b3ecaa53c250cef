/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Maximum length of a path in messages, bytes: the start of a longer one is cut, so that
 * the reason fits, too */
#define SHOWN_PATH_MAX 256

const char *symbols_shown_path(const char *path)
{
	size_t length = strlen(path);

	return length > SHOWN_PATH_MAX ? path + length - SHOWN_PATH_MAX : path;
}

static bool parse_offset(const char *text, struct symbols_offset *offset)
{
	int base = 10;
	char *end;

	offset->down = *text == '-';
	if (*text == '-' || *text == '+')
		text++;
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		base = 16;
		text += 2;
	}
	/* strtoull() would accept blanks and a second sign. */
	if (!*text || strspn(text, "0123456789abcdefABCDEF") != strlen(text))
		return false;
	errno = 0;
	offset->distance = strtoull(text, &end, base);
	return !errno && !*end;
}

char *symbols_spec_split(const char *spec, struct symbols_offset *offset,
			 struct error *err)
{
	const char *at = strrchr(spec, '@');
	struct stat st;
	char *path;

	*offset = (struct symbols_offset){0};
	if (at == spec || !stat(spec, &st))
		at = NULL;
	if (at && !parse_offset(at + 1, offset)) {
		error_set(
			err,
			"%s: no such file, and the text after '@' is not an offset such "
			"as 0x1000 or -4096",
			symbols_shown_path(spec));
		return NULL;
	}
	offset->is_given = at;
	path = at ? strndup(spec, (size_t)(at - spec)) : strdup(spec);
	if (!path)
		error_set(err, "%s: out of memory", symbols_shown_path(spec));
	return path;
}

/* The parts that may follow a path and its offset. */
enum key {
	KEY_DOMAIN,
	KEY_COMM,
	KEY_SPACE,
	KEYS
};

static const char *const keys[KEYS] = {",domain=", ",comm=", ",space="};

/* Returns the last occurrence of @key in @spec; NULL if there is none. */
static char *find_key(char *spec, enum key key)
{
	char *found = NULL;

	for (char *at = spec; (at = strstr(at, keys[key])); at++)
		found = at;
	return found;
}

static bool is_path(const char *spec)
{
	struct stat st;

	return stat(spec, &st) == 0;
}

static int no_name(const char *spec, enum key key, const char *what, struct error *err)
{
	return error_set(err, "%s: no %s after '%s'", symbols_shown_path(spec), what,
			 keys[key]);
}

int symbols_spec_cut_domain(char *spec, const char **domain, struct error *err)
{
	char *key = find_key(spec, KEY_DOMAIN);

	*domain = NULL;
	if (!key || is_path(spec))
		return 0;
	*domain = key + strlen(keys[KEY_DOMAIN]);
	if (!**domain)
		return no_name(spec, KEY_DOMAIN, "domain name or id", err);
	*key = 0;
	return 0;
}

/* Cuts the last part of @spec and returns its text; NULL if there is none. */
static char *cut_last(char *spec, enum key *key)
{
	char *last = NULL;

	for (enum key i = 0; i < KEYS; i++) {
		char *found = find_key(spec, i);

		if (!found || (last && found < last))
			continue;
		last = found;
		*key = i;
	}
	if (!last)
		return NULL;
	*last = 0;
	return last + strlen(keys[*key]);
}

static int take_space(const char *spec, const char *text, uint64_t *space,
		      struct error *err)
{
	struct symbols_offset number;

	if (!parse_offset(text, &number) || number.down || !number.distance)
		return error_set(err,
				 "%s: '%s' after '%s' is not an address space such as "
				 "0x3a5c000",
				 symbols_shown_path(spec), text, keys[KEY_SPACE]);
	*space = number.distance;
	return 0;
}

int symbols_spec_cut(char *spec, const char **domain, const char **comm, uint64_t *space,
		     struct error *err)
{
	bool seen[KEYS] = {false};
	enum key key;
	char *text;

	*domain = *comm = NULL;
	*space = 0;
	while (!is_path(spec) && (text = cut_last(spec, &key))) {
		if (seen[key])
			return error_set(err, "%s: more than one '%s'",
					 symbols_shown_path(spec), keys[key]);
		seen[key] = true;
		if (key == KEY_SPACE && take_space(spec, text, space, err) < 0)
			return -1;
		if (key == KEY_DOMAIN && !*text)
			return no_name(spec, key, "domain name or id", err);
		if (key == KEY_COMM && !*text)
			return no_name(spec, key, "name of a process", err);
		if (key == KEY_DOMAIN)
			*domain = text;
		if (key == KEY_COMM)
			*comm = text;
	}
	return 0;
}

char *symbols_spec_place(const char *symfs, const char *spec)
{
	char *placed;

	if (!symfs)
		return strdup(spec);
	return asprintf(&placed, "%s/%s", symfs, spec) < 0 ? NULL : placed;
}
