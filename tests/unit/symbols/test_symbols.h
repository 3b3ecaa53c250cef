/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_SYMBOLS_TEST_SYMBOLS_H
#define UNIPROF_TESTS_UNIT_SYMBOLS_TEST_SYMBOLS_H

/* Shared by the tests of symbols/: a directory for files and a table. */

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbols/symbols.h"

struct fixture {
	char directory[64];
	char path[128]; /* path of the last file written */
	struct symbols *symbols;
	struct error err;
};

static inline int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	if (!fixture)
		return -1;
	strcpy(fixture->directory, "/tmp/uniprof-test-XXXXXX");
	if (!mkdtemp(fixture->directory))
		return -1;
	fixture->symbols = symbols_new(&(struct symbols_options){0});
	*state = fixture;
	return fixture->symbols ? 0 : -1;
}

static inline int teardown(void **state)
{
	struct fixture *fixture = *state;
	DIR *directory = opendir(fixture->directory);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		char path[sizeof(fixture->directory) + sizeof(entry->d_name)];

		snprintf(path, sizeof(path), "%s/%s", fixture->directory, entry->d_name);
		unlink(path);
	}
	if (directory)
		closedir(directory);
	rmdir(fixture->directory);
	symbols_free(fixture->symbols);
	free(fixture);
	return 0;
}

/* Returns the path of a file called @name in the test's directory. */
static inline const char *path_of(struct fixture *fixture, const char *name)
{
	snprintf(fixture->path, sizeof(fixture->path), "%s/%s", fixture->directory, name);
	return fixture->path;
}

static inline const char *write_file(struct fixture *fixture, const char *name,
				     const void *data, size_t size)
{
	const char *path = path_of(fixture, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	return path;
}

static inline const char *write_text(struct fixture *fixture, const char *name,
				     const char *text)
{
	return write_file(fixture, name, text, strlen(text));
}

static inline void add_file(struct fixture *fixture, const char *spec)
{
	if (symbols_add(fixture->symbols, spec, &fixture->err))
		fail_msg("%s", fixture->err.text);
}

/* Expects a file to be refused with @reason after its name. */
static inline void refuse(struct fixture *fixture, const char *spec, const char *reason)
{
	const struct symbols_file *files;
	size_t before = symbols_files(fixture->symbols, &files);

	strcpy(fixture->err.text, "");
	assert_int_equal(symbols_add(fixture->symbols, spec, &fixture->err), -1);
	if (!strstr(fixture->err.text, reason))
		fail_msg("\"%s\" does not say \"%s\"", fixture->err.text, reason);
	assert_null(strchr(fixture->err.text, '\n'));
	assert_int_equal(symbols_files(fixture->symbols, &files), before);
}

static inline void expect(struct fixture *fixture, uint64_t address, const char *name,
			  uint64_t start)
{
	struct symbol symbol = {0};

	if (!symbols_find(fixture->symbols, address, &symbol))
		fail_msg("%#lx has no name, not %s", (unsigned long)address, name);
	assert_string_equal(symbol.name, name);
	assert_int_equal(symbol.start, start);
	assert_non_null(symbol.dso);
}

static inline void expect_none(struct fixture *fixture, uint64_t address)
{
	struct symbol symbol = {.name = "unchanged"};

	if (symbols_find(fixture->symbols, address, &symbol))
		fail_msg("%#lx has the name %s", (unsigned long)address, symbol.name);
	assert_string_equal(symbol.name, "unchanged");
}

/* Returns the properties of the last file added. */
static inline const struct symbols_file *last_file(const struct fixture *fixture)
{
	const struct symbols_file *files;
	size_t count = symbols_files(fixture->symbols, &files);

	assert_true(count > 0);
	return &files[count - 1];
}

#endif
