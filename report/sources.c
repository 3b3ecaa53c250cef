/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/domains.h"

#define DOMAIN_KEY ",domain="

void sources_free(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		free(sources->list[i].domain);
		symbols_free(sources->list[i].symbols);
	}
	free(sources->list);
	*sources = (struct sources){0};
}

static bool is_same_domain(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The symbols of @domain, or of all when it is NULL; NULL when memory is short. */
static struct symbols *symbols_of(struct sources *sources, const char *domain)
{
	struct source source = {0}, *grown;

	for (size_t i = 0; i < sources->count; i++)
		if (is_same_domain(sources->list[i].domain, domain))
			return sources->list[i].symbols;
	grown = realloc(sources->list, (sources->count + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	sources->list = grown;
	source.symbols = symbols_new(&sources->options);
	source.domain = domain ? strdup(domain) : NULL;
	if (!source.symbols || (domain && !source.domain)) {
		symbols_free(source.symbols);
		free(source.domain);
		return NULL;
	}
	sources->list[sources->count++] = source;
	return source.symbols;
}

/* Where the last ",domain=" is in @spec; NULL without one. */
static char *find_key(char *spec)
{
	char *found = NULL;

	for (char *at = spec; (at = strstr(at, DOMAIN_KEY)); at++)
		found = at;
	return found;
}

/* @spec below the directory of --symfs; NULL when memory is short. */
static char *place(const struct sources *sources, const char *spec)
{
	char *placed;

	if (!sources->symfs)
		return strdup(spec);
	return asprintf(&placed, "%s/%s", sources->symfs, spec) < 0 ? NULL : placed;
}

int sources_add(struct sources *sources, const char *spec, struct error *err)
{
	char *copy = place(sources, spec), *key = copy ? find_key(copy) : NULL;
	char *domain = NULL;
	struct symbols *symbols;
	struct stat st;
	int status = -1;

	if (key && stat(copy, &st) < 0) {
		*key = 0;
		domain = key + strlen(DOMAIN_KEY);
		if (!*domain) {
			error_set(err, "%s: no domain's name or id is behind '%s'", spec,
				  DOMAIN_KEY);
			goto out;
		}
	}
	symbols = copy ? symbols_of(sources, domain) : NULL;
	if (symbols)
		status = symbols_add(symbols, copy, err);
	else
		error_set(err, "not enough memory for the symbols");
out:
	free(copy);
	return status;
}

bool source_is_for(const struct source *source, const struct recording_domain *domain)
{
	return !source->domain || domain_is(domain, source->domain);
}

bool sources_find(const struct sources *sources, const struct recording_domain *domain,
		  uint64_t address, struct symbol *symbol)
{
	for (int own = 1; own >= 0; own--) {
		for (size_t i = 0; i < sources->count; i++) {
			const struct source *source = &sources->list[i];

			if ((source->domain != NULL) == own &&
			    source_is_for(source, domain) &&
			    symbols_find(source->symbols, address, symbol))
				return true;
		}
	}
	return false;
}

bool sources_cover(const struct sources *sources, const struct recording_domain *domain,
		   uint64_t address)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		if (!source_is_for(&sources->list[i], domain))
			continue;
		for (size_t j = 0; j < count; j++)
			if (files[j].low <= address && address <= files[j].high)
				return true;
	}
	return false;
}

bool sources_range(const struct sources *sources, uint64_t *low, uint64_t *high)
{
	bool found = false;

	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++) {
			if (!found || files[j].low < *low)
				*low = files[j].low;
			if (!found || files[j].high > *high)
				*high = files[j].high;
			found = true;
		}
	}
	return found;
}
