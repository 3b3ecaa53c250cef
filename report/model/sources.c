/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/replace.h"
#include "report/model/domains.h"
#include "symbols/spec.h"

void sources_free(struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		free(sources->list[i].domain);
		free(sources->list[i].comm);
		symbols_free(sources->list[i].symbols);
	}
	free(sources->list);
	places_free(&sources->places);
	mapped_symbols_free(sources->mapped);
	*sources = (struct sources){0};
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Returns the symbols of @domain (NULL: of all domains) and of one process or all; NULL
 * if out of memory. */
static struct symbols *symbols_of(struct sources *sources, const char *domain,
				  const char *comm, uint64_t space)
{
	struct source source = {.space = space};

	for (size_t i = 0; i < sources->count; i++)
		if (is_same(sources->list[i].domain, domain) &&
		    is_same(sources->list[i].comm, comm) &&
		    sources->list[i].space == space)
			return sources->list[i].symbols;
	if (!array_grow(&sources->list, sources->count + 1, sizeof(*sources->list)))
		return NULL;
	source.symbols = symbols_new(&sources->options);
	source.domain = domain ? strdup(domain) : NULL;
	source.comm = comm ? strdup(comm) : NULL;
	if (!source.symbols || (domain && !source.domain) || (comm && !source.comm)) {
		symbols_free(source.symbols);
		free(source.domain);
		free(source.comm);
		return NULL;
	}
	sources->list[sources->count++] = source;
	return source.symbols;
}

int sources_add(struct sources *sources, const char *spec, struct error *err)
{
	char *copy = symbols_spec_place(sources->symfs, spec);
	const char *domain = NULL, *comm = NULL;
	struct symbols *symbols;
	uint64_t space = 0;
	int status = -1;

	if (copy && symbols_spec_cut(copy, &domain, &comm, &space, err) < 0)
		goto out;
	symbols = copy ? symbols_of(sources, domain, comm, space) : NULL;
	if (symbols)
		status = symbols_add(symbols, copy, err);
	else
		error_set(err, "out of memory loading the symbols");
out:
	free(copy);
	return status;
}

int sources_add_found(struct sources *sources, const struct symbols_found *file,
		      struct error *err)
{
	struct symbols *symbols = symbols_of(sources, file->domain, NULL, 0);

	if (!symbols)
		return error_set(err, "out of memory loading the symbols");
	for (size_t i = 0; i < sources->count; i++)
		sources->list[i].is_found |= sources->list[i].symbols == symbols;
	return symbols_add_contents(symbols, file->path, file->data, file->size, err);
}

static bool is_changed(const char *input, const char *path)
{
	struct stat st;

	return input && stat(input, &st) == 0 && replace_changes(path, &st);
}

const char *sources_read_from(const struct sources *sources, const char *path)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++) {
			if (is_changed(files[j].path, path))
				return files[j].path;
			if (is_changed(files[j].names_from, path))
				return files[j].names_from;
			if (is_changed(files[j].lines_from, path))
				return files[j].lines_from;
		}
	}
	return NULL;
}

bool source_is_for_process(const struct source *source)
{
	return source->space || source->comm;
}

bool source_is_own(const struct source *source)
{
	return source->domain || source_is_for_process(source);
}

bool sources_by_process(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		if (source_is_for_process(&sources->list[i]))
			return true;
	return false;
}

bool sources_by_domain(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++)
		if (source_is_own(&sources->list[i]))
			return true;
	return sources->places.has_moved || sources->places.has_rivals;
}

bool source_is_in(const struct source *source, const struct recording_domain *domain)
{
	return !source->domain || domain_is(domain, source->domain);
}

bool source_is_for(const struct source *source, const struct recording_domain *domain)
{
	if (!source_is_in(source, domain) ||
	    (source->is_found && !(domain && domain_has_table(domain))))
		return false;
	if (!source_is_for_process(source))
		return true;
	return domain && (!source->space || domain->process.space == source->space) &&
	       (!source->comm || strcmp(domain->process.comm, source->comm) == 0);
}

/* Returns what is known of the places of the source's files in the domain; they are kept
 * in @places. */
static struct symbols_guest sources_guest(const struct sources *sources,
					  const struct source *source,
					  const struct recording_domain *domain,
					  struct symbols_place places[PLACES_MAX])
{
	struct symbols_guest guest = {
		.linux_text = domain ? domain->linux_text : 0,
		.places = places,
		.is_vague = sources->places.has_rivals &&
			    !(domain && domain->process.space),
	};

	guest.place_count = places_of(&sources->places, source->symbols, domain, places,
				      &guest.own_count);
	return guest;
}

bool sources_find(const struct sources *sources, const struct recording_domain *domain,
		  uint64_t address, struct symbol *symbol)
{
	struct symbols_place places[PLACES_MAX];

	for (int own = 1; own >= 0; own--) {
		for (size_t i = 0; i < sources->count; i++) {
			const struct source *source = &sources->list[i];
			struct symbols_guest guest;

			if (source_is_own(source) != own ||
			    !source_is_for(source, domain))
				continue;
			guest = sources_guest(sources, source, domain, places);
			if (symbols_find_in(source->symbols, &guest, address, symbol))
				return true;
		}
	}
	return false;
}

bool sources_cover(const struct sources *sources, const struct recording_domain *domain,
		   uint64_t address)
{
	struct symbols_place places[PLACES_MAX];

	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->list[i];
		const struct symbols_guest guest = sources_guest(sources, source, domain,
								 places);

		if (source_is_for(source, domain) &&
		    symbols_cover(source->symbols, &guest, address))
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

static const struct symbols_file *recorded_file(const struct recorded *recorded,
						const char *name)
{
	struct recorded_program *const *list;
	size_t count = recorded_programs(recorded, &list);
	const struct symbols_file *found = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i]->name, name) != 0)
			continue;
		if (found)
			return NULL;
		found = &list[i]->file;
	}
	return found;
}

const struct symbols_file *sources_file(const struct sources *sources, const char *name)
{
	const struct symbols_file *found = NULL;

	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (size_t j = 0; j < count; j++) {
			if (strcmp(basename(files[j].path), name) != 0)
				continue;
			if (found)
				return NULL;
			found = &files[j];
		}
	}
	found = found ?: mapped_symbols_file(sources->mapped, name);
	return found ?: recorded_file(sources->recorded, name);
}

bool sources_recorded_for(const struct sources *sources,
			  const struct recorded_program *program,
			  const struct recording_domain *domain, uint32_t index)
{
	const struct source source = {.domain = (char *)program->domain};

	return recorded_is_with(sources->recorded, program,
				domain ? (uint32_t)domain->index : index) &&
	       source_is_for(&source, domain);
}
