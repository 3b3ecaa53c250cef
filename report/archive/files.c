/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/archive.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "report/model/domains.h"
#include "symbols/spec.h"

/* What the files are chosen for. */
struct choice {
	struct archive_files *files;
	const struct archive_choice *had;
	struct error *err;
};

void archive_files_free(struct archive_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->specs[i]);
	for (size_t i = 0; i < files->found_count; i++)
		free((char *)files->found[i].domain);
	free(files->specs);
	free(files->found);
	*files = (struct archive_files){0};
}

/* Adds @path for the domain with this @id, or for all domains if @id is NULL. */
static int add_file(struct choice *choice, const char *path, const char *id)
{
	struct archive_files *files = choice->files;
	char *spec = NULL;

	if (!array_grow(&files->specs, files->count + 1, sizeof(*files->specs)) ||
	    asprintf(&spec, "%s%s%s", path, id ? ",domain=" : "", id ? id : "") < 0)
		return error_set(choice->err, "out of memory");
	files->specs[files->count++] = spec;
	return 0;
}

/* Adds the files given for the domain name @own, or for no domain if @own is NULL, that
 * @unwound was unwound by; they are added for the domain with this @id, or for all
 * domains if @id is NULL. */
static int add_given(struct choice *choice, const char *own, const char *id,
		     const struct recording_domain *unwound)
{
	for (size_t i = 0; i < choice->had->symbol_count; i++) {
		char *path = strdup(choice->had->symbols[i]);
		const char *domain;
		int status = path ? 0 : error_set(choice->err, "out of memory");

		if (status == 0)
			status = symbols_spec_cut_domain(path, &domain, choice->err);
		if (status == 0 &&
		    (own && domain ? strcmp(own, domain) == 0 : own == domain) &&
		    domain_table_file(unwound, symbols_shown_path(path)) >= 0)
			status = add_file(choice, path, id);
		free(path);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* Adds the files that unwinding_table() chooses for the domain. */
static int add_for_domain(struct choice *choice, const struct recording_domain *domain)
{
	size_t before = choice->files->count;
	char id[24];

	snprintf(id, sizeof(id), "%" PRIu64, domain->id);
	if (add_given(choice, domain->name, id, domain) < 0)
		return -1;
	if (choice->files->count == before && add_given(choice, id, id, domain) < 0)
		return -1;
	if (choice->files->count == before && add_given(choice, NULL, id, domain) < 0)
		return -1;
	return 0;
}

/* If all domains run the same programs, they share names. */
static int choose_for_all(struct choice *choice, const struct summary *summary)
{
	const struct recording_domain *first = NULL;
	bool all = true;

	for (size_t i = 0; i < summary->domain_room; i++) {
		const struct recording_domain *domain = summary->domains[i];

		if (!domain)
			continue;
		first = first ? first : domain;
		all &= domain_has_table(domain) &&
		       strcmp(domain->table_files, first->table_files) == 0;
	}
	for (size_t i = 0; i < choice->had->symbol_count; i++)
		all &= !strstr(choice->had->symbols[i], ",domain=");
	if (all && first)
		return add_given(choice, NULL, NULL, first);
	for (size_t i = 0; i < summary->domain_room; i++)
		if (summary->domains[i] && domain_has_table(summary->domains[i]) &&
		    add_for_domain(choice, summary->domains[i]) < 0)
			return -1;
	return 0;
}

/* Adds a file that was found for the domain. */
static int add_found(struct choice *choice, const struct symbols_found *file,
		     const struct recording_domain *domain)
{
	struct archive_files *files = choice->files;
	char *id;

	for (size_t i = 0; i < files->found_count; i++)
		if (files->found[i].data == file->data &&
		    domain_is(domain, files->found[i].domain))
			return 0;
	if (!array_grow(&files->found, files->found_count + 1, sizeof(*files->found)) ||
	    asprintf(&id, "%" PRIu64, domain->id) < 0)
		return error_set(choice->err, "out of memory");
	files->found[files->found_count] = *file;
	files->found[files->found_count++].domain = id;
	return 0;
}

static int choose_found(struct choice *choice, const struct summary *summary)
{
	for (size_t i = 0; i < choice->had->found_count; i++) {
		const struct symbols_found *file = &choice->had->found[i];

		for (size_t j = 0; j < summary->domain_room; j++) {
			const struct recording_domain *domain = summary->domains[j];

			if (file->data && domain && domain_has_table(domain) &&
			    domain_is(domain, file->domain) &&
			    add_found(choice, file, domain) < 0)
				return -1;
		}
	}
	return 0;
}

static int pass_over(void *arg, struct samples_batch *batch, struct error *err)
{
	(void)arg, (void)batch, (void)err;
	return 0;
}

/* Reads which domains the recording has, and with which tables. */
static int choose_for(struct choice *choice, const char *path)
{
	const struct load_visitor visitor = {.samples = pass_over};
	struct summary summary = {0};
	struct input input;
	int status;

	if (input_open(&input, path, choice->err) < 0)
		return -1;
	status = load_recording(&input, 0, &summary, &visitor, choice->err);
	if (status == 0)
		status = choose_for_all(choice, &summary);
	if (status == 0)
		status = choose_found(choice, &summary);
	summary_free(&summary);
	input_close(&input);
	return status;
}

static bool has_names(const char *spec)
{
	struct sources sources = {0};
	struct error why;
	bool has = sources_add(&sources, spec, &why) == 0;

	sources_free(&sources);
	return has;
}

static void drop_nameless(struct archive_files *files)
{
	size_t kept = 0;

	for (size_t i = 0; i < files->count; i++) {
		if (has_names(files->specs[i]))
			files->specs[kept++] = files->specs[i];
		else
			free(files->specs[i]);
	}
	files->count = kept;
}

int archive_files_choose(struct archive_files *files, const struct archive_choice *had,
			 const char *path, struct error *err)
{
	struct choice choice = {files, had, err};
	struct rlimit memory;
	int status;

	/* The limit on memory for reading the recording (report/load/memory.h) is not
	 * meant for symbol files, which are read afterwards. */
	getrlimit(RLIMIT_DATA, &memory);
	status = choose_for(&choice, path);
	setrlimit(RLIMIT_DATA, &memory);
	if (status == 0)
		drop_nameless(files);
	return status;
}
