/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/spec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define DOMAIN_KEY ",domain="
#define SPACE_KEY  ",space="

/* In messages, the start of longer paths is cut, so that the reason fits too. */
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
	path = at ? strndup(spec, (size_t)(at - spec)) : strdup(spec);
	if (!path)
		error_set(err, "%s: out of memory", symbols_shown_path(spec));
	return path;
}

/* The last @key in @spec; NULL if there is none, or if @spec is an existing path. */
static char *find_key(char *spec, const char *key)
{
	char *found = NULL;
	struct stat st;

	for (char *at = spec; (at = strstr(at, key)); at++)
		found = at;
	return found && stat(spec, &st) < 0 ? found : NULL;
}

int symbols_spec_cut_domain(char *spec, const char **domain, struct error *err)
{
	char *key = find_key(spec, DOMAIN_KEY);

	*domain = NULL;
	if (!key)
		return 0;
	*domain = key + strlen(DOMAIN_KEY);
	if (!**domain)
		return error_set(err, "%s: no domain name or id after '%s'", spec,
				 DOMAIN_KEY);
	*key = 0;
	return 0;
}

int symbols_spec_cut_space(char *spec, uint64_t *space, struct error *err)
{
	char *key = find_key(spec, SPACE_KEY);
	struct symbols_offset number;

	*space = 0;
	if (!key)
		return 0;
	if (!parse_offset(key + strlen(SPACE_KEY), &number) || number.down ||
	    !number.distance)
		return error_set(
			err,
			"%s: the text after '%s' is not an address space such as "
			"0x3a5c000",
			symbols_shown_path(spec), SPACE_KEY);
	*space = number.distance;
	*key = 0;
	return 0;
}

char *symbols_spec_place(const char *symfs, const char *spec)
{
	char *placed;

	if (!symfs)
		return strdup(spec);
	return asprintf(&placed, "%s/%s", symfs, spec) < 0 ? NULL : placed;
}
