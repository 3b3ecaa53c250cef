/* SPDX-License-Identifier: BSD-3-Clause */

/* Symbol files that processes name in their command lines: these processes are no VMMs,
 * but only their command lines, folders and users matter here. And files that the
 * configurations of Xen's domains name. */

#define _GNU_SOURCE 1
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/find/find.h"

/* A user without any file of its own */
#define OTHER 65534

static char folder[] = "/tmp/uniprof-find-XXXXXX";
static char program[4096]; /* this one, which has names and a table */

static void copy_file(const char *from, const char *to, mode_t mode)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	int c;

	assert_true(in && out);
	while ((c = getc(in)) != EOF)
		putc(c, out);
	fclose(in);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(to, mode), 0);
}

static int set_up(void **state)
{
	ssize_t length = readlink("/proc/self/exe", program, sizeof(program) - 1);

	(void)state;
	if (length < 0 || !mkdtemp(folder) || chmod(folder, 0755) < 0 ||
	    chdir(folder) < 0)
		return -1;
	program[length] = 0;
	copy_file(program, "kernel", 0644);
	copy_file(program, "secret", 0600);
	copy_file("/etc/passwd", "text", 0644);
	return mkdir("own", 0755);
}

static int tear_down(void **state)
{
	char command[sizeof(folder) + 16];

	(void)state;
	sprintf(command, "rm -rf %s", folder);
	return system(command);
}

/* Where a process runs. */
struct place {
	const char *folder; /* its working directory */
	const char *root;   /* NULL: as this process */
	uid_t user;
	bool has_mounts; /* @root is mounted over @folder, in its own mount namespace */
};

/* Executes this program with the path in its command line; it then calls wait_in(). */
static void start(const struct place *place, const char *path, int ready)
{
	char line[64], there[64], root[64], *environment[] = {line, there, root, NULL};
	char named[] = "qemu", option[] = "-kernel", *copy = strdup(path);

	snprintf(line, sizeof(line), "WAIT=%d %u %d", dup(ready), place->user,
		 place->has_mounts);
	snprintf(there, sizeof(there), "FOLDER=%s", place->folder);
	snprintf(root, sizeof(root), "ROOT=%s", place->root ? place->root : "");
	execve(program, (char *[]){named, option, copy, NULL}, environment);
	_exit(1);
}

static void enter(const struct place *place)
{
	if (place->has_mounts &&
	    (unshare(CLONE_NEWNS) < 0 ||
	     mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	     mount(place->root, place->folder, NULL, MS_BIND, NULL) < 0))
		_exit(77);
	if (place->root && !place->has_mounts && chroot(place->root) < 0)
		_exit(77);
	if (chdir(place->folder) < 0 ||
	    (place->user && (setgid(place->user) < 0 || setuid(place->user) < 0)))
		_exit(77);
}

/* Goes where start() has said, and waits there. */
static int wait_in(const char *line)
{
	struct place place = {.folder = getenv("FOLDER"), .root = getenv("ROOT")};
	int ready, has_mounts;

	if (!*place.root)
		place.root = NULL;
	if (sscanf(line, "%d %u %d", &ready, &place.user, &has_mounts) != 3)
		return 1;
	place.has_mounts = has_mounts;
	enter(&place);
	close(ready);
	for (;;)
		pause();
}

/* Looks for the file in a command line with "-kernel PATH". Returns -1 with the reason.
 */
static int look(const struct place *place, const char *path, struct found_files *found,
		struct error *why)
{
	struct guest_info guest = {.name = "web", .vmm = "QEMU"};
	int started[2], status, result;
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(started, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		start(place, path, started[1]);
	close(started[1]);
	assert_int_equal(read(started[0], &byte, 1), 0); /* it waits, or has ended */
	close(started[0]);
	guest.id = (uint32_t)pid;
	result = found_files_add(found, &guest, false, why);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 77);
		found_files_free(found);
		skip(); /* this user may not, or / is no mount point */
	}
	return result;
}

static void assert_found(const struct place *place, const char *path, const char *real)
{
	struct found_files found = {0};
	struct error why = {""};

	if (look(place, path, &found, &why) < 0)
		fail_msg("%s", why.text);
	assert_int_equal(found.guests, 1);
	assert_int_equal(found.files, 1);
	assert_string_equal(found.guest[0].domain, "web");
	assert_string_equal(found.file[0].path, real);
	assert_string_equal(found.file[0].table->origin[0].name, strrchr(real, '/') + 1);
	assert_true(found.file[0].table->is_found);
	assert_non_null(found.file[0].table->program);
	assert_true(found_files_names(&found, 0).size > 0);
	found_files_free(&found);
}

static void assert_missing(const struct place *place, const char *path,
			   const char *reason)
{
	struct found_files found = {0};
	struct error why;

	assert_int_equal(look(place, path, &found, &why), -1);
	assert_int_equal(found.guests, 0);
	if (!strstr(why.text, reason))
		fail_msg("'%s' is not '%s'", why.text, reason);
	found_files_free(&found);
}

static const char *path_in(const char *name)
{
	static char path[8][sizeof(folder) + 16];
	static unsigned int next;
	char *to = path[next++ % 8];

	sprintf(to, "%s/%s", folder, name);
	return to;
}

/* The names and the code are those that the file itself gives. */
static void same_names(void **state)
{
	const struct place here = {.folder = folder};
	const struct symbols_options options = {.demangle = DEMANGLE_NOT};
	struct symbols *own = symbols_new(&options), *sent = symbols_new(&options);
	const struct symbols_file *own_file, *sent_file;
	struct found_files found = {0};
	size_t named = 0;
	struct error err;

	(void)state;
	assert_int_equal(look(&here, "kernel", &found, &err), 0);
	assert_int_equal(symbols_add(own, "kernel", &err), 0);
	if (symbols_add_contents(sent, found.file[0].path, found.file[0].names,
				 found.file[0].names_size, &err) < 0)
		fail_msg("%s", err.text);
	symbols_files(own, &own_file);
	symbols_files(sent, &sent_file);
	assert_int_equal(own_file->low, sent_file->low);
	assert_int_equal(own_file->high, sent_file->high);
	assert_int_equal(own_file->functions, sent_file->functions);
	assert_int_equal(own_file->machine, sent_file->machine);
	assert_int_equal(own_file->image, sent_file->image);
	assert_int_equal(own_file->segment_count, sent_file->segment_count);
	assert_memory_equal(own_file->segments, sent_file->segments,
			    sizeof(own_file->segments));
	assert_int_equal(own_file->build_id_size, sent_file->build_id_size);
	assert_memory_equal(own_file->build_id, sent_file->build_id,
			    sizeof(own_file->build_id));
	for (uint64_t at = own_file->low; at <= own_file->high; at++) {
		struct symbol a = {0}, b = {0};

		assert_int_equal(symbols_find(own, at, &a), symbols_find(sent, at, &b));
		if (!a.name)
			continue;
		assert_string_equal(a.name, b.name);
		assert_string_equal(a.dso, b.dso);
		assert_int_equal(a.start, b.start);
		assert_int_equal(a.call, b.call);
		named++;
	}
	assert_true(named > 1000);
	symbols_free(own);
	symbols_free(sent);
	found_files_free(&found);
}

static void paths(void **state)
{
	const struct place here = {.folder = folder};
	char link[] = "/tmp/uniprof-find-XXXXXX/own/link";

	(void)state;
	memcpy(link, folder, strlen(folder));
	assert_found(&here, "kernel", path_in("kernel"));
	assert_found(&here, path_in("own/../kernel"), path_in("kernel"));
	assert_int_equal(symlink("../kernel", link), 0);
	assert_found(&here, "own/link", path_in("kernel"));
	assert_missing(&here, "text", "text is not an ELF file");
	assert_missing(&here, "own", "own can't be read");
	assert_missing(&here, "/dev/zero", "/dev/zero can't be read");
	assert_missing(&here, "none", "none can't be read");
	assert_missing(&here, "", "names no kernel");
}

/* What only root may read is nothing that another user's VMM can have loaded. */
static void other_user(void **state)
{
	const struct place other = {.folder = folder, .user = OTHER};
	const struct place own = {.folder = folder};

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_found(&other, "kernel", path_in("kernel"));
	assert_missing(&other, "secret", "secret can't be read by its VMM's user");
	assert_found(&own, "secret", path_in("secret"));
	/* Root may read other users' files, too. */
	assert_int_equal(chown("secret", OTHER, OTHER), 0);
	assert_found(&own, "secret", path_in("secret"));
	assert_int_equal(chown("secret", 0, 0), 0);
}

/* A file is read once for all guests that have it, until it changes; and once for each
 * user, whose VMMs may have sent something else. */
static void shared(void **state)
{
	const struct place here = {.folder = folder};
	const struct place other = {.folder = folder, .user = OTHER};
	struct found_files found = {0};
	struct error why;

	(void)state;
	assert_int_equal(look(&here, "kernel", &found, &why), 0);
	assert_int_equal(look(&here, path_in("kernel"), &found, &why), 0);
	assert_int_equal(found.guests, 2);
	assert_int_equal(found.files, 1);
	assert_int_equal(found.guest[1].file, 0);
	assert_ptr_equal(found_files_names(&found, 0).data,
			 found_files_names(&found, 1).data);
	copy_file(program, "second", 0644);
	assert_int_equal(look(&here, "second", &found, &why), 0);
	assert_int_equal(found.files, 2);
	assert_int_equal(look(&here, "none", &found, &why), -1);
	assert_int_equal(look(&here, "text", &found, &why), -1);
	assert_int_equal(look(&here, "second", &found, &why), 0);
	assert_int_equal(found.guest[3].file, 1);
	copy_file(program, "second", 0644);
	assert_int_equal(look(&here, "second", &found, &why), 0);
	assert_int_equal(found.files, 3);
	if (geteuid() == 0) {
		assert_int_equal(look(&other, "kernel", &found, &why), 0);
		assert_int_equal(found.files, 4);
	}
	found_files_free(&found);
}

/* Paths are those of the VMM, even where they are others here. */
static void other_root(void **state)
{
	const struct place inside = {.folder = "/", .root = path_in("own")};

	(void)state;
	if (geteuid() != 0)
		skip();
	copy_file(program, "own/inner", 0644);
	assert_int_equal(symlink("/inner", "own/absolute"), 0);
	assert_int_equal(symlink(path_in("kernel"), "own/outside"), 0);
	assert_found(&inside, "/inner", "/inner");
	assert_found(&inside, "absolute", "/inner");
	assert_missing(&inside, path_in("kernel"), "can't be read");
	assert_missing(&inside, "outside", "can't be read");
	assert_missing(&inside, "../kernel", "can't be read");
}

static void other_mounts(void **state)
{
	const struct place mounted = {
		.folder = "/srv", .root = folder, .has_mounts = true, .user = OTHER};

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_found(&mounted, "/srv/kernel", "/srv/kernel");
	assert_missing(&mounted, "/srv/secret", "can't be read");
}

static void ended(void **state)
{
	struct guest_info guest = {.id = 0x7ffffffe, .vmm = "QEMU"};
	struct found_files found = {0};
	struct error why;

	(void)state;
	assert_int_equal(found_files_add(&found, &guest, false, &why), -1);
	assert_non_null(strstr(why.text, "can't look at the VMM"));
	found_files_free(&found);
}

/* Writes what libxl keeps of a domain, with a kernel unless that is NULL. */
static void configure(const char *kernel)
{
	FILE *out = fopen("/var/lib/xen/userdata-d.3.00000000-0000-0000-0000-"
			  "000000000000.libxl-json",
			  "w");

	assert_non_null(out);
	fprintf(out, "{\"c_info\": {\"name\": \"web\"}, \"b_info\": {");
	if (kernel)
		fprintf(out, "\"kernel\": \"%s\"", kernel);
	fprintf(out, "}}\n");
	assert_int_equal(fclose(out), 0);
}

static void assert_none_for(const struct guest_info *guest, const char *reason)
{
	struct found_files found = {0};
	struct error why;

	assert_int_equal(found_files_add(&found, guest, false, &why), -1);
	if (!strstr(why.text, reason))
		fail_msg("'%s' is not '%s'", why.text, reason);
	found_files_free(&found);
}

/* A domain of Xen, whose folder in /var/lib is seen by this process only. The last test.
 */
static void domain(void **state)
{
	const struct guest_info guest = {.id = 3, .name = "web", .type = GUEST_PVH};
	struct found_files found = {0};
	struct error why;

	(void)state;
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/var/lib", "tmpfs", 0, NULL) < 0)
		skip();
	assert_none_for(&guest, "its configuration names no kernel");
	assert_int_equal(mkdir("/var/lib/xen", 0700), 0);
	configure(NULL);
	assert_none_for(&guest, "its configuration names no kernel");
	configure(path_in("none"));
	assert_none_for(&guest, "none can't be read");
	configure("other");
	assert_none_for(&guest, "other is relative to the folder");
	configure(path_in("text"));
	assert_none_for(&guest, "text is not an ELF file");
	for (int i = 0; i < 2; i++) {
		configure(i ? path_in("kernel") : "kernel");
		if (found_files_add(&found, &guest, false, &why) < 0)
			fail_msg("%s", why.text);
		assert_string_equal(found.file[0].path, path_in("kernel"));
		assert_true(found.file[0].names_size > 0);
		found_files_free(&found);
		found = (struct found_files){0};
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_names), cmocka_unit_test(paths),
		cmocka_unit_test(other_user), cmocka_unit_test(shared),
		cmocka_unit_test(other_root), cmocka_unit_test(other_mounts),
		cmocka_unit_test(ended),      cmocka_unit_test(domain),
	};

	if (getenv("WAIT"))
		return wait_in(getenv("WAIT"));
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
