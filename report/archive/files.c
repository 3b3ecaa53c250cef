/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/archive.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/command/message.h"
#include "symbols/spec.h"

/* Symbol files for domains. */
struct files {
	char **spec;
	size_t count;
};

static void files_free(struct files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->spec[i]);
	free(files->spec);
}

/* Adds @path for the domain with this @id, or for all if that is NULL. */
static int add(struct files *files, const char *path, const char *id, struct error *err)
{
	char *spec = NULL;

	if (!array_grow(&files->spec, files->count + 1, sizeof(*files->spec)) ||
	    asprintf(&spec, "%s%s%s", path, id ? ",domain=" : "", id ? id : "") < 0)
		return error_set(err, "out of memory");
	files->spec[files->count++] = spec;
	return 0;
}

/* Adds those given with the domain name @own, or without one if that is NULL; for the
 * domain with this @id, or for all. */
static int add_given(struct files *files, const struct archive_names *names,
		     const char *own, const char *id, struct error *err)
{
	for (size_t i = 0; i < names->symbol_count; i++) {
		char *path = strdup(names->symbols[i]);
		const char *domain;
		int status = path ? 0 : error_set(err, "out of memory");

		if (status == 0)
			status = symbols_spec_cut_domain(path, &domain, err);
		if (status == 0 &&
		    (own && domain ? strcmp(own, domain) == 0 : own == domain))
			status = add(files, path, id, err);
		free(path);
		if (status < 0)
			return -1;
	}
	return 0;
}

/* The files that unwinding_table() chooses for the domain. */
static int add_for(struct files *files, const struct archive_names *names,
		   const struct recording_domain *domain, struct error *err)
{
	size_t before = files->count;
	char id[24];

	snprintf(id, sizeof(id), "%" PRIu64, domain->id);
	if (add_given(files, names, domain->name, id, err) < 0)
		return -1;
	if (files->count == before && add_given(files, names, id, id, err) < 0)
		return -1;
	if (files->count == before && add_given(files, names, NULL, id, err) < 0)
		return -1;
	return 0;
}

static bool has_table(const struct recording_domain *domain)
{
	return domain->unwind_way == UNWIND_BY_TABLE ||
	       domain->unwind_way == UNWIND_BY_TABLE_LATER;
}

/* If all domains run the same programs, they share names. */
static int choose(struct files *files, const struct archive_names *names,
		  const struct summary *summary, struct error *err)
{
	bool all = true;

	for (size_t i = 0; i < summary->domain_room; i++)
		all &= !summary->domains[i] || has_table(summary->domains[i]);
	for (size_t i = 0; i < names->symbol_count; i++)
		all &= !strstr(names->symbols[i], ",domain=");
	if (all)
		return add_given(files, names, NULL, NULL, err);
	for (size_t i = 0; i < summary->domain_room; i++)
		if (summary->domains[i] && has_table(summary->domains[i]) &&
		    add_for(files, names, summary->domains[i], err) < 0)
			return -1;
	return 0;
}

static int pass_over(void *arg, struct samples_batch *batch, struct error *err)
{
	(void)arg, (void)batch, (void)err;
	return 0;
}

/* Reads which domains the recording has, and with which tables. */
static int choose_for(struct files *files, const struct archive_names *names,
		      const char *path, struct error *err)
{
	const struct load_visitor visitor = {.samples = pass_over};
	struct summary summary = {0};
	struct input input;
	int status;

	if (input_open(&input, path, err) < 0)
		return -1;
	status = load_recording(&input, 0, &summary, &visitor, err);
	if (status == 0)
		status = choose(files, names, &summary, err);
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

static int store(const struct archive_names *names, const struct files *files,
		 const char *path)
{
	struct archive_options options;
	struct profile_rules *rules = &options.profile.rules;
	int exit_code = EXIT_DONE;

	options = (struct archive_options){0};
	if (profile_options_init(&options.profile, names->command, (int)files->count) < 0)
		return EXIT_FAILED;
	options.replaces = options.must_fit = true;
	options.is_brief = names->is_brief;
	rules->inputs[rules->input_count++] = path;
	rules->demangle = DEMANGLE_NOT;
	rules->names_only = true;
	rules->srcline = names->lines;
	rules->verbose = names->verbose;
	for (size_t i = 0; i < files->count; i++)
		if (has_names(files->spec[i]))
			rules->symbols[rules->symbol_count++] = files->spec[i];
	if (rules->symbol_count)
		exit_code = archive_run(&options);
	profile_options_free(&options.profile);
	return exit_code;
}

int archive_store(const struct archive_names *names, const char *path)
{
	struct files files = {0};
	int exit_code = EXIT_FAILED;
	struct rlimit memory;
	struct error err;
	struct stat st;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return EXIT_DONE;
	/* What limits the memory for a recording (report/load/memory.h) is not meant for
	 * symbol files, which are read after it here. */
	getrlimit(RLIMIT_DATA, &memory);
	if (choose_for(&files, names, path, &err) == 0) {
		setrlimit(RLIMIT_DATA, &memory);
		exit_code = store(names, &files, path);
	} else {
		message(names->command, "%s", err.text);
	}
	setrlimit(RLIMIT_DATA, &memory);
	files_free(&files);
	return exit_code;
}
