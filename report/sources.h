/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_SOURCES_H
#define UNIPROF_REPORT_SOURCES_H

#include "format/recording.h"
#include "symbols/symbols.h"

/* The symbol files of one domain, or of all. */
struct source {
	char *domain; /* its name or id; NULL: of all */
	struct symbols *symbols;
};

/* All symbol files of a report. Starts as zeros but for what is wanted of them. */
struct sources {
	struct source *list;
	size_t count;
	struct symbols_options options;
	const char *symfs; /* files are looked for below this directory; NULL: as given */
	bool srcline;	   /* functions have their source line after their name */
	bool inlined;	   /* inlined functions are functions of their own */
};

void sources_free(struct sources *sources);

/*
 * Adds the file of @spec: what symbols_add() takes, and perhaps ",domain=" and a
 * domain's name or id after it; then it is for that domain alone. A path that
 * exists is taken whole. -1 with one line in @err.
 */
int sources_add(struct sources *sources, const char *spec, struct error *err);

/* Whether the source is for that domain, which is NULL when it is unknown. */
bool source_is_for(const struct source *source, const struct recording_domain *domain);

/* Like symbols_find(), in the domain's own files first, then in those of all. */
bool sources_find(const struct sources *sources, const struct recording_domain *domain,
		  uint64_t address, struct symbol *symbol);

/* Whether the address is between the first and the last that one of the domain's
 * files names. */
bool sources_cover(const struct sources *sources, const struct recording_domain *domain,
		   uint64_t address);

/* The first and last address that any file names; false when there are no files. */
bool sources_range(const struct sources *sources, uint64_t *low, uint64_t *high);

#endif
