/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/checks/match.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "symbols/program.h"

/* How code fits a CPU. */
enum machine_match {
	MACHINE_FITS,	/* as far as known */
	MACHINE_DOUBTS, /* unusual, but possible */
	MACHINE_WRONG,
};

/* Compares the CPU that the file is for with the domain's; @why says how they differ. */
static enum machine_match compare_machine(const struct symbols_file *file,
					  const struct recording_domain *domain,
					  struct error *why)
{
	enum cpu_kind cpu = cpu_kind_of_elf(file->machine);
	char name[sizeof(domain->name)], other[24];

	/* A later version may have more CPU types. */
	if (file->machine == EM_NONE || domain->cpu == CPU_UNKNOWN ||
	    domain->cpu >= CPU_KINDS || domain->cpu == cpu)
		return MACHINE_FITS;
	text_clean(name, domain->name);
	snprintf(other, sizeof(other), "CPU type %u", file->machine);
	error_set(why, "%s is for %s, but the domain %s ran on %s", file->path,
		  cpu == CPU_UNKNOWN ? other : cpu_kind_name(cpu), name,
		  cpu_kind_name((unsigned int)domain->cpu));
	/*
	 * 64-bit code is put in ELF32 files for loaders that support nothing else, a
	 * domain that is recorded while it boots is in 32-bit mode first, and 64-bit
	 * kernels run 32-bit programs.
	 */
	if (cpu_kinds_are_related(cpu, domain->cpu))
		return MACHINE_DOUBTS;
	return MACHINE_WRONG;
}

static int check_machines(const struct symbols *symbols,
			  const struct recording_domain *domain, struct notes *notes,
			  struct error *err)
{
	const struct symbols_file *files;
	size_t count = symbols_files(symbols, &files);
	struct error why;

	for (size_t i = 0; i < count; i++) {
		switch (compare_machine(&files[i], domain, &why)) {
		case MACHINE_FITS:
			break;
		case MACHINE_DOUBTS:
			notes_add(notes, NOTE_HINT, "%s", why.text);
			break;
		case MACHINE_WRONG:
			return error_set(
				err,
				"%s; use the symbol files of that domain's guest image",
				why.text);
		}
	}
	return 0;
}

int match_machines(const struct sources *sources, const struct recording_domain *domain,
		   struct notes *notes, struct error *err)
{
	for (size_t i = 0; i < sources->count; i++)
		if (source_is_in(&sources->list[i], domain) &&
		    check_machines(sources->list[i].symbols, domain, notes, err) < 0)
			return -1;
	return 0;
}

/* The comparison of one file's build-id. */
struct build_check {
	const struct sources *sources;
	const struct summary *summary;
	const struct source *source;
	const struct symbols_file *file;
	char own[SYMBOLS_BUILD_ID_TEXT]; /* build-id of the file */
	struct notes *notes;
};

static void warn_of_build(const struct build_check *check, const char *name,
			  size_t length, const char *how, const char *other)
{
	notes_add(check->notes, NOTE_WARNING,
		  "%s has the build-id %s, but %.*s, %s, has %s: its names may be wrong",
		  check->file->path, check->own, (int)length, name, how, other);
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

/* Whether some domain can have names from both the file and the program. The names of one
 * process do not apply to its whole domain. */
static bool is_for_both(const struct build_check *check,
			const struct recorded_program *program)
{
	for (uint32_t i = 0; i < check->summary->domain_room; i++) {
		const struct recording_domain *domain = check->summary->domains[i];

		if (domain && source_is_for(check->source, domain) &&
		    sources_recorded_for(check->sources, program, domain, i))
			return true;
	}
	return false;
}

/* Warns of programs of another build: two builds can't be at the same addresses, but two
 * programs can, in different processes. */
static void compare_programs(const struct build_check *check)
{
	struct recorded_program *const *list;
	size_t count = recorded_programs(check->sources->recorded, &list);

	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i]->build_id, check->own) == 0 &&
		    is_for_both(check, list[i]))
			return;
	for (size_t i = 0; i < count; i++)
		if (*list[i]->build_id && strcmp(list[i]->build_id, check->own) != 0 &&
		    do_overlap(check->file, &list[i]->file) &&
		    is_for_both(check, list[i]))
			warn_of_build(check, list[i]->name, strlen(list[i]->name),
				      "which the recording has names of",
				      list[i]->build_id);
}

static size_t count_of(const char *text, char separator)
{
	size_t count = *text != 0;

	for (; *text; text++)
		count += *text == separator;
	return count;
}

/* Whether each file has a build-id: if not, it is not known which file has which. */
static bool has_all_ids(const struct recording_domain *domain)
{
	return count_of(domain->table_files, ',') == count_of(domain->build_ids, ' ') &&
	       strlen(domain->table_files) + 1 < sizeof(domain->table_files);
}

/* Compares the file with the domain's unwind table file of the same name. */
static void compare_table(const struct build_check *check,
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
			warn_of_build(check, name, length,
				      "which the domain was recorded with", other);
		name += length + strspn(name + length, ", ");
		id += id_length + strspn(id + id_length, " ");
	}
}

static void check_build(struct build_check *check, const struct symbols_file *file)
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

void match_builds(const struct sources *sources, const struct summary *summary,
		  struct notes *notes)
{
	struct build_check check = {
		.sources = sources, .summary = summary, .notes = notes};

	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		check.source = &sources->list[i];
		for (size_t j = 0; j < count; j++)
			check_build(&check, &files[j]);
	}
}
