/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/tables.h"

#include <stdlib.h>
#include <string.h>

#include "record/find/find.h"
#include "symbols/spec.h"

/* A file from the command line. */
struct table_file {
	char *spec;	    /* specification without the domain; owned */
	const char *domain; /* name or id of the domain, in the memory of @spec; NULL: all
			       domains */
	bool is_table;
};

/* The table of one domain, or of all domains without a table of their own. */
struct domain_table {
	const char *domain; /* name or id, in the memory of a file's @spec or of a found
			       file; NULL: all domains */
	struct program_table *table; /* owned, unless it is of a found file */
};

struct domain_tables {
	struct table_file *file;
	size_t files;
	struct domain_table *entry;
	size_t entries;
};

void domain_tables_free(struct domain_tables *tables)
{
	if (!tables)
		return;
	for (size_t i = 0; i < tables->entries; i++)
		if (!tables->entry[i].table->is_found)
			program_table_free(tables->entry[i].table);
	for (size_t i = 0; i < tables->files; i++)
		free(tables->file[i].spec);
	free(tables->entry);
	free(tables->file);
	free(tables);
}

static int add_files(struct domain_tables *tables, const char **list, size_t count,
		     bool is_table, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct table_file *file = &tables->file[tables->files];

		file->spec = strdup(list[i]);
		if (!file->spec)
			return error_set(err, "out of memory");
		tables->files++;
		file->is_table = is_table;
		if (symbols_spec_cut_domain(file->spec, &file->domain, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_same_domain(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Makes the table for @domain from its ELF files, or reads its table file. */
static struct program_table *make_table(const struct domain_tables *tables,
					const char *domain, struct error *err)
{
	const char **elf = calloc(tables->files + 1, sizeof(*elf));
	struct program_table *table = NULL;
	size_t elfs = 0, table_files = 0;
	const char *path = NULL;

	if (!elf) {
		error_set(err, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < tables->files; i++) {
		const struct table_file *file = &tables->file[i];

		if (!is_same_domain(file->domain, domain))
			continue;
		if (file->is_table)
			path = table_files++ ? path : file->spec;
		else
			elf[elfs++] = file->spec;
	}
	if (table_files > 1 || (table_files && elfs))
		error_set(err,
			  "%s is not the only file for %s%s: make one table of all its "
			  "programs (uniprof table)",
			  path, domain ? "the domain " : "all domains",
			  domain ? domain : "");
	else if (table_files)
		table = program_table_read(path, err);
	else
		table = program_table_make_apart(elf, elfs, DEBUG_DIRECTORY, err);
	free(elf);
	return table;
}

/* Adds the table for @domain, unless the domain has one already. */
static int add_table(struct domain_tables *tables, const char *domain, struct error *err)
{
	struct domain_table *entry = &tables->entry[tables->entries];

	for (size_t i = 0; i < tables->entries; i++)
		if (is_same_domain(tables->entry[i].domain, domain))
			return 0;
	entry->domain = domain;
	entry->table = make_table(tables, domain, err);
	if (!entry->table)
		return -1;
	tables->entries++;
	return program_table_lock(entry->table, err);
}

/* Adds the tables of files that were found. One that can't be locked is left out. */
static void add_found(struct domain_tables *tables, const struct found_files *found)
{
	struct error ignored;

	for (size_t i = 0; i < found->guests; i++) {
		const struct found_guest *guest = &found->guest[i];
		struct program_table *table = found->file[guest->file].table;

		if (program_table_lock(table, &ignored) == 0)
			tables->entry[tables->entries++] = (struct domain_table){
				guest->domain, table};
	}
}

struct domain_tables *domain_tables_open(const struct unwinding_options *options,
					 struct error *err)
{
	const struct found_files *found = options->found;
	size_t most = options->elfs + options->tables + (found ? found->guests : 0);
	struct domain_tables *tables = calloc(1, sizeof(*tables));

	if (tables) {
		tables->file = calloc(most + 1, sizeof(*tables->file));
		tables->entry = calloc(most + 1, sizeof(*tables->entry));
	}
	if (!tables || !tables->file || !tables->entry) {
		error_set(err, "out of memory");
		goto fail;
	}
	if (add_files(tables, options->elf, options->elfs, false, err) < 0 ||
	    add_files(tables, options->table, options->tables, true, err) < 0)
		goto fail;
	for (size_t i = 0; i < tables->files; i++)
		if (add_table(tables, tables->file[i].domain, err) < 0)
			goto fail;
	if (found)
		add_found(tables, found);
	return tables;
fail:
	domain_tables_free(tables);
	return NULL;
}

const struct program_table *domain_tables_find(const struct domain_tables *tables,
					       const struct guest_info *guest)
{
	const struct program_table *table = NULL;

	for (size_t i = 0; i < tables->entries; i++) {
		const struct domain_table *entry = &tables->entry[i];

		if (entry->domain && guest_info_matches(guest, entry->domain))
			return entry->table;
		if (!entry->domain)
			table = entry->table;
	}
	return table;
}
