/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_SOURCES_H
#define UNIPROF_REPORT_MODEL_SOURCES_H

#include "format/recording.h"
#include "report/load/mappings.h"
#include "report/load/recorded.h"
#include "report/model/places/mapped.h"
#include "report/model/places/places.h"
#include "symbols/found.h"
#include "symbols/symbols.h"

/* The symbol files of one domain, or of one of its processes, or of all domains. */
struct source {
	char *domain;	/* its name or id; NULL: all domains */
	uint64_t space; /* the process's address space; 0: all */
	char *comm;	/* the process's name; NULL: all */
	bool is_found;	/* they are used only for a domain that is unwound by a table */
	struct symbols *symbols;
};

/* Where a report has source lines. */
enum source_lines {
	SOURCE_LINES_NONE,
	SOURCE_LINES_IN_NAMES, /* functions are named "NAME FILE:LINE" */
	SOURCE_LINES_APART,    /* in separate fields: struct frame_place */
};

/* Where the names of a report are from. Starts as zeros, apart from the options. */
struct sources {
	struct source *list;
	size_t count;
	struct symbols_options options;
	const char *symfs;	     /* prefix of the files' paths; NULL: none */
	const char *debug_directory; /* of this machine, without that prefix */
	enum source_lines lines;
	bool inlined;		       /* inlined functions are separate functions */
	struct recorded *recorded;     /* names in the recordings; the caller keeps it */
	struct places places;	       /* of files that guests moved */
	struct mappings *mappings;     /* in the recordings; the caller keeps them */
	struct mapped_symbols *mapped; /* found by them; NULL: none are looked for */
};

void sources_free(struct sources *sources);

/*
 * Adds the file of @spec: what symbols_add() takes, optionally followed by ",domain=" and
 * a domain's name or id, by ",comm=" and a process's name, and by ",space=" and a
 * process's address space, to which its use is restricted. If a file with the whole @spec
 * as its path exists, that file is added. -1 with @err set on error.
 */
int sources_add(struct sources *sources, const char *spec, struct error *err);

/* Adds a file that was found for one domain, which has no other file: it is used once the
 * recorder has seen that its table fits the domain. -1 with @err set on error. */
int sources_add_found(struct sources *sources, const struct symbols_found *file,
		      struct error *err);

/* Returns the symbol file, or debug file of a symbol file, that writing to @path would
 * change; NULL if none. */
const char *sources_read_from(const struct sources *sources, const char *path);

/* Whether the source is for some domain or process only. */
bool source_is_own(const struct source *source);

/* Whether the source is for some process only, and whether one of the sources is. */
bool source_is_for_process(const struct source *source);
bool sources_by_process(const struct sources *sources);

/* Whether an address can have different names from the files in two domains. */
bool sources_by_domain(const struct sources *sources);

/* Whether the source is for the domain; NULL is an unknown domain. A source for a process
 * is not for its domain. */
bool source_is_for(const struct source *source, const struct recording_domain *domain);

/* Whether the source is for the domain or one of its processes. */
bool source_is_in(const struct source *source, const struct recording_domain *domain);

/* Like symbols_find(): first in the domain's own files, then in the files for all
 * domains. */
bool sources_find(const struct sources *sources, const struct recording_domain *domain,
		  uint64_t address, struct symbol *symbol);

/* Whether the address is between the first and the last symbol of one of the domain's
 * files. */
bool sources_cover(const struct sources *sources, const struct recording_domain *domain,
		   uint64_t address);

/* The lowest and highest address of all files; false if there are no files. */
bool sources_range(const struct sources *sources, uint64_t *low, uint64_t *high);

/* Returns the only file whose last path component is @name or else the only program
 * called @name in the recordings; NULL if there is none, or several. */
const struct symbols_file *sources_file(const struct sources *sources, const char *name);

/* Whether a program in the recordings is for the domain with this @index, described by
 * @domain; NULL is an unknown domain. */
bool sources_recorded_for(const struct sources *sources,
			  const struct recorded_program *program,
			  const struct recording_domain *domain, uint32_t index);

#endif
