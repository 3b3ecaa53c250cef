/* SPDX-License-Identifier: BSD-3-Clause */

/* The record that a recorder leaves for the next one, in case it is killed together with
 * its guard. */

#define _GNU_SOURCE 1
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "xen/left.h"

static const struct left_domain domain = {7, "0123456789abcdef", 1234567890};

/* The entries visited. */
struct visit {
	unsigned int count;
	struct left_domain domain;
	bool keep;
};

static bool note_visit(void *context, const struct left_domain *visited)
{
	struct visit *visit = context;

	visit->count++;
	visit->domain = *visited;
	return visit->keep;
}

static char directory[64];

/* Returns the name of the directory's first file, which the caller frees; NULL if it is
 * empty. */
static char *first_file(void)
{
	char command[128], line[256] = "";
	FILE *list;

	snprintf(command, sizeof(command), "ls -A %s", directory);
	list = popen(command, "r");
	assert_non_null(list);
	if (!fgets(line, sizeof(line), list)) {
		pclose(list);
		return NULL;
	}
	pclose(list);
	line[strcspn(line, "\n")] = 0;
	return strdup(line);
}

static unsigned int visits(bool keep)
{
	struct visit visit = {.keep = keep};

	left_visit(directory, note_visit, &visit);
	if (visit.count) {
		assert_int_equal(visit.domain.id, domain.id);
		assert_memory_equal(visit.domain.uuid, domain.uuid, sizeof(domain.uuid));
		assert_int_equal(visit.domain.ran, domain.ran);
	}
	return visit.count;
}

static int set_up(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "/tmp/uniprof-left-%d", (int)getpid());
	return 0;
}

static int tear_down(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* A recorder that ends without cleaning up, as by SIGKILL. */
static void leave(bool paused)
{
	pid_t recorder = fork();
	int status;

	assert_true(recorder >= 0);
	if (!recorder) {
		struct left *left = left_new(directory);

		if (!left)
			_exit(1);
		left_prepare(left, &domain);
		left_set(left, true);
		left_set(left, paused);
		_exit(0);
	}
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
}

static void a_clean_end_leaves_no_file(void **state)
{
	struct left *left = left_new(directory);
	char *name = first_file();

	(void)state;
	assert_non_null(left);
	assert_non_null(name);
	free(name);
	left_free(left);
	assert_null(first_file());
	assert_int_equal(visits(true), 0);
}

static void the_pause_of_a_live_recorder_is_not_reported(void **state)
{
	struct left *left = left_new(directory);
	char *name;

	(void)state;
	assert_non_null(left);
	left_prepare(left, &domain);
	left_set(left, true);
	assert_int_equal(visits(false), 0);
	name = first_file();
	assert_non_null(name);
	free(name);
	left_free(left);
}

static void the_pause_of_a_killed_recorder_is_reported_until_undone(void **state)
{
	(void)state;
	leave(true);
	assert_int_equal(visits(true), 1);
	assert_int_equal(visits(false), 1);
	assert_int_equal(visits(true), 0);
	assert_null(first_file());
}

static void a_recorder_killed_between_samples_leaves_no_pause(void **state)
{
	(void)state;
	leave(false);
	assert_int_equal(visits(true), 0);
	assert_null(first_file());
}

/* Opens the only file. */
static int open_note(void)
{
	char path[400], *name = first_file();
	int fd;

	assert_non_null(name);
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	free(name);
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	return fd;
}

static void a_pause_before_this_boot_is_ignored(void **state)
{
	int fd;

	(void)state;
	leave(true);
	fd = open_note();
	assert_int_equal(pwrite(fd, "x", 1, 8), 1);
	close(fd);
	assert_int_equal(visits(true), 0);
}

static void files_that_others_can_write_are_ignored(void **state)
{
	char path[128], target[128], *name;
	int fd;

	(void)state;
	leave(true);
	chmod(directory, 0770);
	assert_int_equal(visits(true), 0);
	assert_null(left_new(directory));
	chmod(directory, 0700);
	assert_int_equal(visits(true), 1);

	fd = open_note();
	fchmod(fd, 0620);
	assert_int_equal(visits(true), 0);
	fchmod(fd, 0600);
	assert_int_equal(visits(true), 1);

	/* A second name, which the owner of another directory may have made. */
	name = first_file();
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	snprintf(target, sizeof(target), "%s.link", directory);
	free(name);
	assert_int_equal(link(path, target), 0);
	assert_int_equal(visits(true), 0);

	/* A link to a file is not followed either. */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(visits(true), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(unlink(target), 0);
	close(fd);
}

static void a_directory_that_is_a_link_is_not_used(void **state)
{
	char real[] = "/tmp/uniprof-real-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(real));
	assert_int_equal(symlink(real, directory), 0);
	assert_null(left_new(directory));
	assert_int_equal(unlink(directory), 0);
	assert_int_equal(rmdir(real), 0);
}

static void files_of_another_size_are_ignored(void **state)
{
	int fd;

	(void)state;
	leave(true);
	fd = open_note();
	assert_int_equal(ftruncate(fd, 20), 0);
	close(fd);
	assert_int_equal(visits(true), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		TEST(a_clean_end_leaves_no_file),
		TEST(the_pause_of_a_live_recorder_is_not_reported),
		TEST(the_pause_of_a_killed_recorder_is_reported_until_undone),
		TEST(a_recorder_killed_between_samples_leaves_no_pause),
		TEST(a_pause_before_this_boot_is_ignored),
		TEST(files_that_others_can_write_are_ignored),
		TEST(a_directory_that_is_a_link_is_not_used),
		TEST(files_of_another_size_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
