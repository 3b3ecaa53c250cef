/* SPDX-License-Identifier: BSD-3-Clause */

/* The file of a recording. A file size limit simulates a full disk, which a test could
 * only set up as root. */

#include "tests/unit/files.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include "record/file/recording_file.h"

static int set_up(void **state)
{
	signal(SIGXFSZ, SIG_IGN);
	return enter_directory(state);
}

static void set_full(bool full)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = full ? 0 : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void an_existing_recording_is_kept(void **state)
{
	struct recording_file file;
	struct error err;
	struct stat now;

	(void)state;
	put_file("a", "before");
	assert_int_equal(recording_file_open(&file, "a", &err), 0);
	assert_string_equal(recording_file_name(&file), "a");
	assert_int_equal(recording_file_begin(&file, &err), 0);
	expect_file("a.old", "before");
	/* The new file is still empty. */
	assert_int_equal(fstat(file.fd, &now), 0);
	assert_int_equal(now.st_size, 0);
	assert_int_equal(write(file.fd, "new", 3), 3);
	assert_int_equal(recording_file_close(&file, &err), 0);
	expect_file("a", "new");
}

static void a_full_disk_leaves_no_empty_file(void **state)
{
	struct recording_file file;
	struct error err;

	(void)state;
	set_full(true);
	assert_int_equal(recording_file_open(&file, "a", &err), -1);
	set_full(false);
	assert_non_null(strstr(err.text, "can't write to a: "));
	assert_int_equal(access("a", F_OK), -1);
	assert_int_equal(recording_file_close(&file, &err), 0);
}

static void a_full_disk_leaves_existing_recordings_unchanged(void **state)
{
	struct recording_file file;
	struct error err;

	(void)state;
	put_file("a", "before");
	set_full(true);
	assert_int_equal(recording_file_open(&file, "a", &err), -1);
	set_full(false);
	expect_file("a", "before");
	assert_int_equal(access("a.old", F_OK), -1);
	put_file("a.old", "earlier");
	set_full(true);
	assert_int_equal(recording_file_open(&file, "a", &err), -1);
	set_full(false);
	expect_file("a", "before");
	expect_file("a.old", "earlier");
	assert_int_equal(count_files("."), 2);
}

static void a_recording_that_does_not_begin_changes_nothing(void **state)
{
	struct recording_file file;
	struct error err;

	(void)state;
	assert_int_equal(recording_file_open(&file, "a", &err), 0);
	assert_int_equal(write(file.fd, "new", 3), 3);
	assert_int_equal(recording_file_close(&file, &err), 0);
	assert_int_equal(count_files("."), 0);
	put_file("a", "before");
	put_file("a.old", "earlier");
	assert_int_equal(recording_file_open(&file, "a", &err), 0);
	assert_int_equal(write(file.fd, "new", 3), 3);
	assert_int_equal(recording_file_close(&file, &err), 0);
	assert_int_equal(count_files("."), 2);
	expect_file("a", "before");
	expect_file("a.old", "earlier");
}

static void a_recording_in_another_directory_is_kept_there(void **state)
{
	struct recording_file file;
	struct error err;
	char path[64];

	snprintf(path, sizeof(path), "%s/a", (char *)*state);
	put_file("a", "before");
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(recording_file_open(&file, path, &err), 0);
	assert_int_equal(recording_file_begin(&file, &err), 0);
	assert_int_equal(recording_file_close(&file, &err), 0);
	assert_int_equal(chdir(*state), 0);
	assert_int_equal(count_files("."), 2);
	expect_file("a", "");
	expect_file("a.old", "before");
}

static void devices_and_standard_output_are_written_directly(void **state)
{
	struct recording_file file;
	struct error err;

	(void)state;
	assert_int_equal(recording_file_open(&file, "/dev/null", &err), 0);
	assert_int_equal(write(file.fd, "x", 1), 1);
	assert_int_equal(recording_file_close(&file, &err), 0);
	assert_int_equal(recording_file_open(&file, "-", &err), 0);
	assert_int_equal(file.fd, STDOUT_FILENO);
	assert_string_equal(recording_file_name(&file), "standard output");
	assert_int_equal(recording_file_close(&file, &err), 0);
	assert_int_equal(fcntl(STDOUT_FILENO, F_GETFD), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, leave_directory)
	const struct CMUnitTest tests[] = {
		TEST(an_existing_recording_is_kept),
		TEST(a_full_disk_leaves_no_empty_file),
		TEST(a_full_disk_leaves_existing_recordings_unchanged),
		TEST(a_recording_that_does_not_begin_changes_nothing),
		TEST(a_recording_in_another_directory_is_kept_there),
		TEST(devices_and_standard_output_are_written_directly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
