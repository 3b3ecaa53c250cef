/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/left.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"

/* How long a guard takes at most to notice that its recorder has ended, ns. */
#define GUARD_NS (NS_PER_S / 5)

#define MAGIC "uniprof1"

/* The contents of a file, whose lock (flock(2)) a running recorder holds. */
struct note {
	char magic[8];
	char boot[40];	 /* /proc/sys/kernel/random/boot_id */
	uint64_t paused; /* 1 while @domain is paused, otherwise 0 */
	struct left_domain domain;
};

struct left {
	int directory, file;
	char name[48];
	struct note *note;
};

static bool read_boot(char boot[40])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool good;

	memset(boot, 0, 40);
	if (!file)
		return false;
	good = fgets(boot, 40, file) != NULL;
	fclose(file);
	return good;
}

/* Opens the directory: -1 unless only this process's user, root, can have created files
 * in it. */
static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
	    !(status.st_mode & 077))
		return fd;
	close(fd);
	return -1;
}

static bool is_ours(int file)
{
	struct stat status;

	return fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_uid == geteuid() && !(status.st_mode & 077) &&
	       status.st_nlink == 1 && status.st_size == sizeof(struct note);
}

/* Creates the file, which gets its name once it is complete and locked: without the lock,
 * another recorder would take its recorder for ended. */
static bool make_file(struct left *left, const char *path)
{
	char hidden[sizeof(left->name) + 1];

	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return false;
	left->directory = open_directory(path);
	if (left->directory < 0)
		return false;
	snprintf(left->name, sizeof(left->name), "%d-%" PRIu64, (int)getpid(),
		 clock_monotonic());
	snprintf(hidden, sizeof(hidden), ".%s", left->name);
	left->file = openat(left->directory, hidden,
			    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (left->file < 0)
		return false;
	if (flock(left->file, LOCK_EX | LOCK_NB) == 0 &&
	    ftruncate(left->file, sizeof(*left->note)) == 0 &&
	    renameat(left->directory, hidden, left->directory, left->name) == 0)
		return true;
	unlinkat(left->directory, hidden, 0);
	return false;
}

struct left *left_new(const char *directory)
{
	struct left *left = malloc(sizeof(*left));
	void *note;

	if (!left)
		return NULL;
	*left = (struct left){.directory = -1, .file = -1};
	if (!make_file(left, directory))
		goto fail;
	note = mmap(NULL, sizeof(*left->note), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, left->file, 0);
	if (note == MAP_FAILED)
		goto fail;
	left->note = note;
	memcpy(left->note->magic, MAGIC, sizeof(left->note->magic));
	if (read_boot(left->note->boot))
		return left;
fail:
	left_free(left);
	return NULL;
}

void left_free(struct left *left)
{
	if (!left)
		return;
	if (left->note)
		munmap(left->note, sizeof(*left->note));
	if (left->file >= 0) {
		unlinkat(left->directory, left->name, 0);
		close(left->file);
	}
	if (left->directory >= 0)
		close(left->directory);
	free(left);
}

void left_prepare(struct left *left, const struct left_domain *domain)
{
	if (left)
		left->note->domain = *domain;
}

void left_set(struct left *left, bool paused)
{
	if (left)
		__atomic_store_n(&left->note->paused, (uint64_t)paused, __ATOMIC_SEQ_CST);
}

static bool read_note(int file, struct note *note)
{
	return pread(file, note, sizeof(*note), 0) == sizeof(*note);
}

/* Whether the recorder that wrote the file has ended and held a domain paused. */
static bool is_left(int file, struct note *note, const char boot[40])
{
	if (!read_note(file, note) ||
	    memcmp(note->magic, MAGIC, sizeof(note->magic)) != 0 ||
	    memcmp(note->boot, boot, sizeof(note->boot)) != 0 || !note->paused)
		return false;
	/* The guard may be about to end the pause. */
	nanosleep(&(struct timespec){0, GUARD_NS}, NULL);
	return read_note(file, note) && note->paused;
}

static void visit_file(int directory, const char *name, const char boot[40],
		       left_keep *keep, void *context)
{
	int file = openat(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct note note;

	if (file < 0)
		return;
	if (is_ours(file) && flock(file, LOCK_EX | LOCK_NB) == 0 &&
	    (!is_left(file, &note, boot) || !keep(context, &note.domain)))
		unlinkat(directory, name, 0);
	close(file);
}

void left_visit(const char *path, left_keep *keep, void *context)
{
	int directory = open_directory(path);
	DIR *entries = directory < 0 ? NULL : fdopendir(directory);
	struct dirent *entry;
	char boot[40];

	if (entries && read_boot(boot))
		while ((entry = readdir(entries)))
			if (entry->d_name[0] != '.')
				visit_file(directory, entry->d_name, boot, keep, context);
	if (entries)
		closedir(entries);
	else if (directory >= 0)
		close(directory);
}
