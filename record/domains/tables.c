/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/parse.h"
#include "symbols/spec.h"
#include "unwind/stack/stack.h"

/* A file from the command line. */
struct file {
	char *spec;	    /* without the domain */
	const char *domain; /* a name or id, in spec; NULL: all domains */
	bool is_table;
};

/* The table of one domain, or of all domains without an own one. */
struct entry {
	const char *domain;
	struct program_table *table;
};

struct unwinding {
	struct file *file;
	size_t files;
	struct entry *entry;
	size_t entries;
};

static int add(const char ***list, size_t *count, const char *argument)
{
	if (!array_grow(list, *count + 1, sizeof(**list)))
		return COMMAND_NO_MEMORY;
	(*list)[(*count)++] = argument;
	return 0;
}

int unwinding_add_elf(void *to, const char *argument, struct error *err)
{
	struct unwinding_options *options = to;

	(void)err;
	return add(&options->elf, &options->elfs, argument);
}

int unwinding_add_table(void *to, const char *argument, struct error *err)
{
	struct unwinding_options *options = to;

	(void)err;
	return add(&options->table, &options->tables, argument);
}

struct option_word unwinding_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"auto", NULL, CALL_GRAPH_AUTO},
		{"fp", NULL, CALL_GRAPH_FP},
		{"table", NULL, CALL_GRAPH_TABLE},
		{"stack", NULL, CALL_GRAPH_STACK},
		{0},
	};

	return words[i];
}

static int set_stack(struct unwinding_options *options, const char *bytes)
{
	uint64_t value = STACK_BYTES;

	if (bytes && parse_number(bytes, STACK_BYTES_MIN, STACK_BYTES_MAX, &value) < 0)
		return -1;
	options->call_graph = CALL_GRAPH_STACK;
	options->stack_bytes = (unsigned int)value;
	return 0;
}

int unwinding_set_call_graph(void *to, const char *argument, struct error *err)
{
	static const char table[] = "table:", stack[] = "stack,";
	struct unwinding_options *options = to;

	options->stack_bytes = 0; /* given twice: the last one is used */
	if (strcmp(argument, "stack") == 0)
		return set_stack(options, NULL);
	if (strncmp(argument, stack, strlen(stack)) == 0)
		return set_stack(options, argument + strlen(stack));
	for (unsigned int i = 0; unwinding_word(i).word; i++) {
		if (strcmp(argument, unwinding_word(i).word) != 0)
			continue;
		options->call_graph = (enum call_graph)unwinding_word(i).value;
		return 0;
	}
	if (strncmp(argument, table, strlen(table)) != 0 || !argument[strlen(table)])
		return -1;
	options->call_graph = CALL_GRAPH_TABLE;
	return unwinding_add_table(to, argument + strlen(table), err);
}

int unwinding_check(const struct unwinding_options *options, struct error *err)
{
	bool has_files = options->elfs || options->tables;

	if ((options->call_graph == CALL_GRAPH_FP || options->stack_bytes) && has_files)
		return error_set(err, "--call-graph %s uses no files: leave out %s",
				 options->stack_bytes ? "stack" : "fp",
				 options->elfs ? "--symbols" : "--table");
	if (options->call_graph == CALL_GRAPH_TABLE && !has_files)
		return error_set(err, "--call-graph table needs --symbols or --table");
	return 0;
}

void unwinding_options_free(struct unwinding_options *options)
{
	free(options->elf);
	free(options->table);
	*options = (struct unwinding_options){0};
}

void unwinding_free(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	for (size_t i = 0; i < unwinding->entries; i++)
		program_table_free(unwinding->entry[i].table);
	for (size_t i = 0; i < unwinding->files; i++)
		free(unwinding->file[i].spec);
	free(unwinding->entry);
	free(unwinding->file);
	free(unwinding);
}

static int add_files(struct unwinding *unwinding, const char **list, size_t count,
		     bool is_table, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		struct file *file = &unwinding->file[unwinding->files];

		file->spec = strdup(list[i]);
		if (!file->spec)
			return error_set(err, "out of memory");
		unwinding->files++;
		file->is_table = is_table;
		if (symbols_spec_cut_domain(file->spec, &file->domain, err) < 0)
			return -1;
	}
	return 0;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Makes the table for @domain. */
static struct program_table *make(const struct unwinding *unwinding, const char *domain,
				  struct error *err)
{
	const char **elf = calloc(unwinding->files + 1, sizeof(*elf));
	struct program_table *table = NULL;
	size_t elfs = 0, tables = 0;
	const char *path = NULL;

	if (!elf) {
		error_set(err, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < unwinding->files; i++) {
		const struct file *file = &unwinding->file[i];

		if (!is_same(file->domain, domain))
			continue;
		if (file->is_table)
			path = tables++ ? path : file->spec;
		else
			elf[elfs++] = file->spec;
	}
	if (tables > 1 || (tables && elfs))
		error_set(err,
			  "%s is not the only file for %s%s: make one table of all its "
			  "programs (uniprof table)",
			  path, domain ? "the domain " : "all domains",
			  domain ? domain : "");
	else if (tables)
		table = program_table_read(path, err);
	else
		table = program_table_make(elf, elfs, DEBUG_DIRECTORY, NULL, err);
	free(elf);
	return table;
}

static int add_entry(struct unwinding *unwinding, const char *domain, struct error *err)
{
	struct entry *entry = &unwinding->entry[unwinding->entries];

	for (size_t i = 0; i < unwinding->entries; i++)
		if (is_same(unwinding->entry[i].domain, domain))
			return 0;
	entry->domain = domain;
	entry->table = make(unwinding, domain, err);
	if (!entry->table)
		return -1;
	unwinding->entries++;
	return program_table_lock(entry->table, err);
}

struct unwinding *unwinding_open(const struct unwinding_options *options,
				 struct error *err)
{
	size_t most = options->elfs + options->tables;
	struct unwinding *unwinding = calloc(1, sizeof(*unwinding));

	if (unwinding) {
		unwinding->file = calloc(most + 1, sizeof(*unwinding->file));
		unwinding->entry = calloc(most + 1, sizeof(*unwinding->entry));
	}
	if (!unwinding || !unwinding->file || !unwinding->entry) {
		error_set(err, "out of memory");
		goto fail;
	}
	if (add_files(unwinding, options->elf, options->elfs, false, err) < 0 ||
	    add_files(unwinding, options->table, options->tables, true, err) < 0)
		goto fail;
	for (size_t i = 0; i < unwinding->files; i++)
		if (add_entry(unwinding, unwinding->file[i].domain, err) < 0)
			goto fail;
	return unwinding;
fail:
	unwinding_free(unwinding);
	return NULL;
}

static const struct entry *find(const struct unwinding *unwinding, const char *domain)
{
	for (size_t i = 0; i < unwinding->entries; i++)
		if (is_same(unwinding->entry[i].domain, domain))
			return &unwinding->entry[i];
	return NULL;
}

const struct program_table *unwinding_table(const struct unwinding *unwinding,
					    const struct guest_info *guest)
{
	const struct entry *entry = find(unwinding, guest->name);
	char id[16];

	snprintf(id, sizeof(id), "%" PRIu32, guest->id);
	entry = entry ?: find(unwinding, id);
	entry = entry ?: find(unwinding, NULL);
	return entry ? entry->table : NULL;
}
