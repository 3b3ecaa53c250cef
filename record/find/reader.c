/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/find/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "record/find/candidates.h"
#include "record/find/parcel.h"
#include "record/find/vmm.h"
#include "record/safety/filter.h"
#include "record/safety/privileges.h"
#include "symbols/symbols.h"

/* Bytes of a command line and of a configuration that are read */
#define TEXT_SIZE ((size_t)1 << 18)

/* Limits: CPU time, s, and memory, bytes. A Linux kernel with DWARF takes a second. */
#define CPU_LIMIT    15
#define MEMORY_LIMIT ((rlim_t)2 << 30)

struct reader {
	struct vmm_rights rights;
	struct candidates named;   /* by the VMM */
	struct candidates *beside; /* of each of these, files beside it */
	int scratch;		   /* a file in memory */
	char text[TEXT_SIZE];
};

/* Keeps only @out of the descriptors, and moves it to 3. */
static int keep_only(int out)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(out, 3) < 0)
		return -1;
	if (out != 3)
		fcntl(out, F_SETFD, FD_CLOEXEC);
	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	close_range(4, ~0u, 0);
	return 3;
}

static void limit_to(int resource, rlim_t limit)
{
	const struct rlimit both = {limit, limit};

	setrlimit(resource, &both);
}

/* Whether the path is that of a file that may be read, which is checked again when it is
 * opened. */
static bool is_readable(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, R_OK) == 0;
}

/* Keeps the paths of files. */
static void keep_files(struct candidates *candidates)
{
	size_t kept = 0;

	for (size_t i = 0; i < candidates->count; i++)
		if (is_readable(candidates->path[i]))
			memmove(candidates->path[kept++], candidates->path[i],
				sizeof(candidates->path[i]));
	candidates->count = kept;
}

/* Reads a configuration, for the path of a kernel in it. */
static void read_config(struct reader *reader)
{
	struct candidates *named = &reader->named;
	int fd = is_readable(named->config) ? open(named->config, O_RDONLY | O_NONBLOCK)
					    : -1;
	size_t length = 0;
	ssize_t got;

	if (fd < 0)
		return;
	while (length < sizeof(reader->text) &&
	       (got = read(fd, reader->text + length, sizeof(reader->text) - length)) > 0)
		length += (size_t)got;
	close(fd);
	candidates_add_config(named, reader->text, length);
}

/* Whether the guest is not run by a VMM, but by Xen. */
static bool is_domain(const struct guest_info *guest)
{
	return !*guest->vmm;
}

/* Lists the files that are named: 0, or -1. Sets @err in any case, for the case that none
 * of them can be read. */
static int list_named(struct reader *reader, const struct guest_info *guest,
		      size_t arguments, struct error *err)
{
	struct candidates *named = &reader->named;
	const char *first = named->path[0];

	if (is_domain(guest))
		candidates_add_domain(named, guest->id, guest->uuid);
	else
		candidates_add(named, guest->vmm, reader->text, arguments);
	read_config(reader);
	if (!named->count)
		return error_set(err, "its %s names no kernel",
				 is_domain(guest) ? "configuration"
						  : "VMM's command line");
	/* Nothing says in which folder a domain was created: it may be this one. */
	if (is_domain(guest) && *first != '/')
		error_set(err,
			  "%s is relative to the folder in which the domain was created: "
			  "run uniprof there",
			  first);
	else
		error_set(err, "%s can't be read%s", first,
			  is_domain(guest) ? "" : " by its VMM's user");
	return 0;
}

/* Lists the files that exist. */
static int list_files(struct reader *reader, const struct guest_info *guest,
		      size_t arguments, struct error *err)
{
	struct candidates *named = &reader->named;

	if (list_named(reader, guest, arguments, err) < 0)
		return -1;
	reader->beside = calloc(named->count, sizeof(*reader->beside));
	if (!reader->beside)
		return error_set(err, "out of memory");
	keep_files(named);
	for (size_t i = 0; i < named->count; i++) {
		char *real = realpath(named->path[i], NULL);

		candidates_add_beside(&reader->beside[i], named->path[i]);
		if (real)
			candidates_add_beside(&reader->beside[i], real);
		free(real);
		keep_files(&reader->beside[i]);
	}
	return named->count ? 0 : -1;
}

/* Gives up all rights but to read the files, and the debug files of this system. */
static void confine(const struct reader *reader)
{
	const char *reads[(CANDIDATES_MAX + 1) * CANDIDATES_MAX + 1];
	struct privileges needed = {.reads = reads};
	struct error ignored;

	reads[needed.read_count++] = DEBUG_DIRECTORY;
	for (size_t i = 0; i < reader->named.count; i++) {
		const struct candidates *beside = &reader->beside[i];

		reads[needed.read_count++] = reader->named.path[i];
		for (size_t j = 0; j < beside->count; j++)
			reads[needed.read_count++] = beside->path[j];
	}
	/* Without Landlock, a right to read all files would be too much. */
	if (!privileges_confine(&needed))
		privileges_drop(KEEP_NOTHING);
	filter_finder(&ignored);
}

/* Copies what was written to @fd, a file in memory. */
static int copy_file(int fd, struct buffer *to, struct error *err)
{
	off_t size = lseek(fd, 0, SEEK_CUR);
	uint8_t *bytes = size > 0 ? buffer_extend(to, (size_t)size) : NULL;
	size_t done = 0;
	ssize_t got = 1;

	while (bytes && done < to->size && got > 0) {
		got = pread(fd, bytes + done, to->size - done, (off_t)done);
		done += got > 0 ? (size_t)got : 0;
	}
	return bytes && got > 0 ? 0 : error_set(err, "out of memory");
}

/* Makes a table of the file, and appends it to @to, which is empty. */
static int make_table(const struct reader *reader, const char *path, struct buffer *to,
		      struct error *err)
{
	const char *const specs[] = {path};
	struct program_table *table = program_table_make(specs, 1, DEBUG_DIRECTORY, NULL,
							 err);
	int status = -1;

	if (table && lseek(reader->scratch, 0, SEEK_SET) == 0)
		status = program_table_write(table, reader->scratch, path, err);
	program_table_free(table);
	return status == 0 ? copy_file(reader->scratch, to, err) : -1;
}

static void put_file(struct buffer *to, const char *path, const struct plain *plain,
		     const struct buffer *table)
{
	char *real = realpath(path, NULL);

	parcel_put(to, real ? real : path, plain, table);
	free(real);
}

/* What is made of files, until one is good. */
struct outcome {
	struct buffer *parcel;	/* of a file with names */
	struct buffer stripped; /* of the first file without them */
	struct plain first;	/* build-id that files beside it must have, too */
	struct error why;	/* why the first file can't be used */
};

static bool has_other_build_id(const struct plain *a, const struct plain *b)
{
	return a->build_id_size && b->build_id_size &&
	       (a->build_id_size != b->build_id_size ||
		memcmp(a->build_id, b->build_id, a->build_id_size) != 0);
}

/* Makes a parcel of a file that was read: 0; -1 if no table can be made of it. */
static int make_parcel(const struct reader *reader, const char *path,
		       const struct plain *plain, struct outcome *outcome,
		       struct error *why)
{
	struct buffer *to = plain->is_stripped ? &outcome->stripped : outcome->parcel;
	struct buffer table = {0};
	int status = -1;

	if (has_other_build_id(plain, &outcome->first))
		error_set(why, "%s is of another build", path);
	else if (!plain->is_stripped || !outcome->stripped.size)
		status = make_table(reader, path, &table, why);
	if (status == 0)
		put_file(to, path, plain, &table);
	buffer_free(&table);
	return status;
}

/* Tries a file, which is beside another one or not. True if it is good. */
static bool try_file(const struct reader *reader, const char *path, bool is_beside,
		     struct outcome *outcome)
{
	struct plain plain;
	struct error why;
	int status = plain_read(&plain, path, DEBUG_DIRECTORY, &why);

	if (!is_beside) {
		outcome->first = plain;
		outcome->first.parts = NULL;
	}
	if (status == 0)
		status = make_parcel(reader, path, &plain, outcome, &why);
	if (status < 0 && !outcome->why.text[0])
		outcome->why = why;
	plain_free(&plain);
	return outcome->parcel->size;
}

/* Tries the files until one is good. */
static bool try_files(const struct reader *reader, struct outcome *outcome)
{
	for (size_t i = 0; i < reader->named.count; i++) {
		const struct candidates *beside = &reader->beside[i];

		if (try_file(reader, reader->named.path[i], false, outcome))
			return true;
		for (size_t j = 0; j < beside->count; j++)
			if (try_file(reader, beside->path[j], true, outcome))
				return true;
	}
	return false;
}

/* Makes a parcel of the first file with names or else, to unwind by, without. */
static int read_files(const struct reader *reader, struct buffer *to, struct error *why)
{
	struct outcome outcome = {.parcel = to, .why = {""}};

	if (!try_files(reader, &outcome))
		buffer_put(to, outcome.stripped.data, outcome.stripped.size);
	buffer_free(&outcome.stripped);
	*why = outcome.why;
	return to->size ? 0 : -1;
}

/* Returns what tells the file apart that the guest runs; zeros: it has none. */
static struct found_key find_key(const struct reader *reader)
{
	struct stat st;

	if (!reader->named.count || stat(reader->named.path[0], &st) < 0)
		return (struct found_key){0};
	return (struct found_key){
		.device = st.st_dev,
		.inode = st.st_ino,
		.changed = (uint64_t)st.st_mtim.tv_sec * NS_PER_S +
			   (uint64_t)st.st_mtim.tv_nsec,
		.size = (uint64_t)st.st_size,
		.user = reader->rights.user,
	};
}

static void write_all(int fd, const void *from, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t written = write(fd, (const char *)from + done, size - done);

		if (written < 0 && errno != EINTR)
			return;
		done += written > 0 ? (size_t)written : 0;
	}
}

void reader_run(const struct guest_info *guest, int out)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct buffer parcel = {0};
	struct error why;
	struct found_key key;
	ssize_t arguments;
	int status = -1;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	prctl(PR_SET_NAME, "uniprof-find");
	out = keep_only(out);
	if (!reader || out < 0)
		return;
	arguments = vmm_become(is_domain(guest) ? getpid() : (pid_t)guest->id,
			       &reader->rights, reader->text, sizeof(reader->text), &why);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* vmm_become() has cleared it */
	limit_to(RLIMIT_CORE, 0);
	limit_to(RLIMIT_CPU, CPU_LIMIT);
#ifndef __SANITIZE_ADDRESS__ /* it maps far more memory than is allocated */
	limit_to(RLIMIT_DATA, MEMORY_LIMIT);
#endif
	limit_to(RLIMIT_FSIZE, PARCEL_SIZE);
	if (arguments >= 0)
		status = list_files(reader, guest, (size_t)arguments, &why);
	/* Of what is read after this, nothing may be believed. */
	key = find_key(reader);
	write_all(out, &key, sizeof(key));
	if (status == 0) {
		reader->scratch = memfd_create("table", 0);
		confine(reader);
		status = read_files(reader, &parcel, &why);
	}
	if (status < 0) {
		buffer_reset(&parcel);
		parcel_put_reason(&parcel, why.text);
	}
	write_all(out, parcel.data, parcel.size);
}
