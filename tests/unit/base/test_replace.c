/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An output file replaces the old one completely or not at all. Each test runs in an
 * empty directory, twice: normally, and as on a file system without O_TMPFILE, for which
 * open() is wrapped here.
 */

#include "tests/unit/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/compat.h"
#include "base/replace.h"

static bool without_tmpfile;
static int space = -1; /* bytes that pwrite() can still write; -1: unlimited */

int open(const char *path, int flags, ...)
{
	va_list args;
	mode_t mode = 0;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, mode_t);
	va_end(args);
	if (without_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	if (space >= 0 && size > (size_t)space) {
		errno = ENOSPC;
		return -1;
	}
	if (space >= 0)
		space -= (int)size;
	return syscall(SYS_pwrite64, fd, data, size, at);
}

static void open_replace(struct replace *file, const char *path, const char *text)
{
	struct error err;

	assert_int_equal(replace_open(file, path, 0640, false, &err), 0);
	assert_int_equal(write(file->fd, text, strlen(text)), strlen(text));
}

static void replace(const char *path, const char *text)
{
	struct replace file;
	struct error err;

	open_replace(&file, path, text);
	assert_int_equal(replace_commit(&file, &err), 0);
	assert_int_equal(file.fd, -1);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

static void a_file_appears_when_it_is_complete(void **state)
{
	struct replace file;

	(void)state;
	umask(027);
	open_replace(&file, "out", "half");
	assert_int_equal(count_files("."), 0);
	replace_abandon(&file);
	assert_int_equal(count_files("."), 0);
	replace("out", "whole");
	expect_file("out", "whole");
	assert_int_equal(mode_of("out"), 0640);
	assert_int_equal(count_files("."), 1);
}

static void an_old_file_is_kept_until_the_new_one_is_complete(void **state)
{
	struct replace file;
	struct error err;

	(void)state;
	put_file("out", "the old one, which is longer");
	chmod("out", 0604);
	open_replace(&file, "out", "new");
	expect_file("out", "the old one, which is longer");
	replace_abandon(&file);
	expect_file("out", "the old one, which is longer");
	open_replace(&file, "out", "new");
	assert_int_equal(replace_commit(&file, &err), 0);
	expect_file("out", "new");
	assert_int_equal(mode_of("out"), 0604);
	assert_int_equal(count_files("."), 1);
}

static void an_old_file_can_be_kept_under_another_name(void **state)
{
	struct replace file;
	struct error err;

	(void)state;
	put_file("out", "old");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(replace_open(&file, "out", 0600, true, &err), 0);
		assert_int_equal(write(file.fd, "new", 3), 3);
		if (i == 0)
			replace_abandon(&file);
		else
			assert_int_equal(replace_commit(&file, &err), 0);
		assert_int_equal(count_files("."), i + 1);
	}
	expect_file("out", "new");
	expect_file("out.old", "old");
}

static void signals_leave_the_old_file_unchanged(void **state)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};

	(void)state;
	put_file("out", "old");
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		pid_t pid = fork();
		struct replace file;
		int status;

		if (!pid) {
			open_replace(&file, "out", "new");
			signal(signals[i], SIG_DFL);
			raise(signals[i]);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
		expect_file("out", "old");
		assert_int_equal(count_files("."), 1);
	}
}

static void symbolic_links_are_followed(void **state)
{
	(void)state;
	assert_int_equal(mkdir("there", 0777), 0);
	assert_int_equal(symlink("there/link", "link"), 0);
	assert_int_equal(symlink("out", "there/link"), 0);
	replace("link", "first");
	expect_file("there/out", "first");
	replace("link", "second");
	expect_file("there/out", "second");
	assert_int_equal(count_files("there"), 2);
	assert_int_equal(count_files("."), 2);
}

static void circular_links_are_refused(void **state)
{
	struct replace file;
	struct error err;

	(void)state;
	assert_int_equal(symlink("b", "a"), 0);
	assert_int_equal(symlink("a", "b"), 0);
	assert_int_equal(replace_open(&file, "a", 0600, false, &err), -1);
	assert_string_equal(err.text, "can't write a: Too many levels of symbolic links");
}

static void hard_links_are_preserved(void **state)
{
	(void)state;
	put_file("out", "the old one, which is longer");
	assert_int_equal(link("out", "other"), 0);
	replace("out", "new");
	expect_file("other", "new");
	replace("other", "the newest one, the longest of all");
	expect_file("out", "the newest one, the longest of all");
	assert_int_equal(count_files("."), 2);
}

static void devices_and_pipes_are_written_directly(void **state)
{
	struct replace file;
	char text[8] = "", path[32];
	struct error err;
	int ends[2];

	(void)state;
	replace("/dev/null", "x");
	assert_int_equal(pipe(ends), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
	open_replace(&file, path, "now");
	assert_int_equal(read(ends[0], text, sizeof(text)), 3);
	assert_string_equal(text, "now");
	assert_int_equal(replace_commit(&file, &err), 0);
	close(ends[0]);
	close(ends[1]);
}

/* Like (uniprof ... -o /dev/stdout; echo) >out. */
static void open_descriptors_are_written_directly(void **state)
{
	char path[32];
	int fd = open("out", O_CREAT | O_WRONLY, 0600);

	(void)state;
	assert_int_equal(write(fd, "a", 1), 1);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	replace(path, "b");
	assert_int_equal(write(fd, "c", 1), 1);
	close(fd);
	expect_file("out", "abc");
}

static void files_that_cannot_be_written_are_reported(void **state)
{
	static const struct {
		const char *path, *why;
	} cases[] = {
		{".", "can't write .: Is a directory"},
		{"no/out", "can't write no/out: No such file or directory"},
		{"", "can't write : No such file or directory"},
		{"file/out", "can't write file/out: Not a directory"},
	};
	struct replace file;
	struct error err;

	(void)state;
	put_file("file", "");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(replace_open(&file, cases[i].path, 0600, false, &err),
				 -1);
		assert_string_equal(err.text, cases[i].why);
		assert_int_equal(file.fd, -1);
	}
}

/* Runs @act in a child as the user "nobody", because the tests may run as root. */
static void as_nobody(void (*act)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (!geteuid() && (setgid(65534) < 0 || setuid(65534) < 0))
			_exit(2);
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void replace_locked(void)
{
	replace("locked/out", "new");
	replace("locked/out", "one that is longer than the old one");
}

static void a_file_in_a_read_only_directory_is_written(void **state)
{
	(void)state;
	assert_int_equal(mkdir("locked", 0777), 0);
	put_file("locked/out", "old");
	chmod("locked/out", 0666);
	chmod("locked", 0555);
	as_nobody(replace_locked);
	expect_file("locked/out", "one that is longer than the old one");
	assert_int_equal(mode_of("locked/out"), 0666);
}

static void replace_owned(void)
{
	replace("open/out", "new");
}

static void the_owner_is_preserved(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(mkdir("open", 0777), 0);
	chmod("open", 0777);
	put_file("open/out", "old");
	chmod("open/out", 0666);
	as_nobody(replace_owned);
	expect_file("open/out", "new");
	assert_int_equal(count_files("open"), 1);
	assert_int_equal(stat("open/out", &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	if (geteuid())
		return;
	assert_int_equal(chown("open/out", 65534, 65534), 0);
	replace("open/out", "root's");
	assert_int_equal(stat("open/out", &st), 0);
	assert_int_equal(st.st_uid, 65534);
	assert_int_equal(st.st_gid, 65534);
	expect_file("open/out", "root's");
}

/* Where the file has to be copied at the end. */
static void a_full_disk_leaves_the_old_file(void **state)
{
	struct replace file;
	struct error err;

	(void)state;
	put_file("out", "old");
	open_replace(&file, "out", "new");
	file.is_unnamed = false;
	space = 1;
	assert_int_equal(replace_commit(&file, &err), -1);
	space = -1;
	assert_string_equal(err.text, "can't write out: No space left on device");
	expect_file("out", "old");
	assert_int_equal(count_files("."), 1);
}

static void an_input_is_recognized_under_any_name(void **state)
{
	struct stat input;

	(void)state;
	put_file("in", "x");
	put_file("other", "x");
	assert_int_equal(link("in", "hard"), 0);
	assert_int_equal(symlink("hard", "soft"), 0);
	assert_int_equal(stat("in", &input), 0);
	assert_true(replace_changes("in", &input));
	assert_true(replace_changes("./in", &input));
	assert_true(replace_changes("hard", &input));
	assert_true(replace_changes("soft", &input));
	assert_false(replace_changes("other", &input));
	assert_false(replace_changes("new", &input));
	assert_false(replace_changes("-", &input));
	assert_false(replace_changes(NULL, &input));
	assert_int_equal(stat("/dev/null", &input), 0);
	assert_false(replace_changes("/dev/null", &input));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, enter_directory, leave_directory)
	const struct CMUnitTest tests[] = {
		TEST(a_file_appears_when_it_is_complete),
		TEST(an_old_file_is_kept_until_the_new_one_is_complete),
		TEST(an_old_file_can_be_kept_under_another_name),
		TEST(signals_leave_the_old_file_unchanged),
		TEST(symbolic_links_are_followed),
		TEST(circular_links_are_refused),
		TEST(hard_links_are_preserved),
		TEST(devices_and_pipes_are_written_directly),
		TEST(open_descriptors_are_written_directly),
		TEST(files_that_cannot_be_written_are_reported),
		TEST(a_file_in_a_read_only_directory_is_written),
		TEST(the_owner_is_preserved),
		TEST(a_full_disk_leaves_the_old_file),
		TEST(an_input_is_recognized_under_any_name),
	};
	int failed = cmocka_run_group_tests_name("with O_TMPFILE", tests, NULL, NULL);

	without_tmpfile = true;
	return failed +
	       cmocka_run_group_tests_name("without O_TMPFILE", tests, NULL, NULL);
}
