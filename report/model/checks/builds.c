/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/checks/builds.h"

#include <stdio.h>
#include <string.h>

/* The comparison of one file. */
struct check {
	const struct sources *sources;
	const struct summary *summary;
	const struct source *source;
	const struct symbols_file *file;
	char own[SYMBOLS_BUILD_ID_TEXT]; /* its build-id */
	void (*warn)(void *arg, const struct error *line);
	void *arg;
};

static void warn(const struct check *check, const char *name, size_t length,
		 const char *how, const char *other)
{
	struct error line;

	error_set(&line,
		  "%s has the build-id %s, but %.*s, %s, has %s: its names may be wrong",
		  check->file->path, check->own, (int)length, name, how, other);
	check->warn(check->arg, &line);
}

static bool do_overlap(const struct symbols_file *a, const struct symbols_file *b)
{
	for (size_t i = 0; i < a->segment_count; i++) {
		for (size_t j = 0; j < b->segment_count; j++) {
			const struct symbols_segment *x = &a->segments[i];
			const struct symbols_segment *y = &b->segments[j];

			if (x->address - y->address < y->size ||
			    y->address - x->address < x->size)
				return true;
		}
	}
	return false;
}

/* Whether some domain can have names from both. The names of one process do not apply to
 * all of it. */
static bool is_for_both(const struct check *check, const struct recorded_program *program)
{
	for (uint32_t i = 0; i < check->summary->domain_room; i++) {
		const struct recording_domain *domain = check->summary->domains[i];

		if (domain && source_is_for(check->source, domain) &&
		    sources_recorded_for(check->sources, program, domain, i))
			return true;
	}
	return false;
}

/* Two builds can't be at the same addresses. */
static void compare_programs(const struct check *check)
{
	struct recorded_program *const *list;
	size_t count = recorded_programs(check->sources->recorded, &list);

	for (size_t i = 0; i < count; i++)
		if (*list[i]->build_id && strcmp(list[i]->build_id, check->own) != 0 &&
		    do_overlap(check->file, &list[i]->file) &&
		    is_for_both(check, list[i]))
			warn(check, list[i]->name, strlen(list[i]->name),
			     "which the recording has names of", list[i]->build_id);
}

static size_t count_of(const char *text, char separator)
{
	size_t count = *text != 0;

	for (; *text; text++)
		count += *text == separator;
	return count;
}

/* Without the build-id of each file, it is not known whose they are. */
static bool has_all_ids(const struct recording_domain *domain)
{
	return count_of(domain->table_files, ',') == count_of(domain->build_ids, ' ') &&
	       strlen(domain->table_files) + 1 < sizeof(domain->table_files);
}

/* Compares the file with that of the same name. */
static void compare_table(const struct check *check,
			  const struct recording_domain *domain)
{
	const char *name = domain->table_files, *id = domain->build_ids;
	const char *own_name = basename(check->file->path);
	char other[sizeof(domain->build_ids)];

	while (*name && *id) {
		size_t length = strcspn(name, ","), id_length = strcspn(id, " ");

		snprintf(other, sizeof(other), "%.*s", (int)id_length, id);
		if (strlen(own_name) == length && memcmp(own_name, name, length) == 0 &&
		    strcmp(other, check->own) != 0)
			warn(check, name, length, "which the domain was recorded with",
			     other);
		name += length + strspn(name + length, ", ");
		id += id_length + strspn(id + id_length, " ");
	}
}

static void check_file(struct check *check, const struct symbols_file *file)
{
	check->file = file;
	symbols_build_id(file, check->own);
	if (!file->build_id_size)
		return;
	compare_programs(check);
	for (size_t i = 0; i < check->summary->domain_room; i++) {
		const struct recording_domain *domain = check->summary->domains[i];

		if (domain && source_is_in(check->source, domain) && has_all_ids(domain))
			compare_table(check, domain);
	}
}

void builds_check(const struct sources *sources, const struct summary *summary,
		  void (*warn_of)(void *arg, const struct error *line), void *arg)
{
	struct check check = {
		.sources = sources, .summary = summary, .warn = warn_of, .arg = arg};

	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		check.source = &sources->list[i];
		for (size_t j = 0; j < count; j++)
			check_file(&check, &files[j]);
	}
}
