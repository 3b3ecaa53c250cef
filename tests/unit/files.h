/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_FILES_H
#define UNIPROF_TESTS_UNIT_FILES_H

/* Shared by the tests of files: a directory for each test, and files in it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Set-up of a test: its state is the path of a new directory, which becomes the working
 * directory. */
static inline int enter_directory(void **state)
{
	char name[] = "/tmp/uniprof-test-XXXXXX";

	if (!mkdtemp(name))
		return -1;
	*state = strdup(name);
	chmod(name, 0755);
	return *state && chdir(*state) == 0 ? 0 : -1;
}

/* The tear-down: removes the directory. */
static inline int leave_directory(void **state)
{
	char command[64];

	if (chdir("/") < 0)
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", (char *)*state);
	free(*state);
	return system(command);
}

static inline void put_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static inline void expect_file(const char *path, const char *text)
{
	char found[64] = "";
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_int_equal(fread(found, 1, sizeof(found) - 1, file), strlen(text));
	fclose(file);
	assert_string_equal(found, text);
}

/* The number of files in the directory. */
static inline unsigned int count_files(const char *path)
{
	DIR *directory = opendir(path);
	unsigned int count = 0;

	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

#endif
