/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/recent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/replace.h"

/* Returns an empty file in memory; -1 with @err set on failure. */
static int open_memory(struct error *err)
{
	int fd = memfd_create("uniprof-top", MFD_CLOEXEC);

	return fd < 0 ? error_errno(err, errno, "can't make a file in memory") : fd;
}

/* Sets the path by which this process can open @fd. */
static void set_path(char path[RECENT_PATH_SIZE], int fd)
{
	snprintf(path, RECENT_PATH_SIZE, "/proc/self/fd/%d", fd);
}

static void use_copy(struct recent *recent, const struct copy *copy)
{
	copy_free(&recent->copy);
	if (recent->copy.fd >= 0)
		close(recent->copy.fd);
	recent->copy = *copy;
	recent->copy.summary = &recent->summary;
	set_path(recent->path, copy->fd);
}

/* Drops samples before @from (ns, monotonic), in a new copy that replaces the old. */
static int drop_before(struct recent *recent, uint64_t from, struct error *err)
{
	struct summary summary = {0};
	int fd = open_memory(err), status;
	struct copy copy;

	if (fd < 0)
		return -1;
	status = copy_file(&copy, fd, recent->path, from, &summary, err);
	summary_free(&summary);
	if (status < 0) {
		copy_free(&copy);
		close(fd);
		return -1;
	}
	use_copy(recent, &copy);
	return 0;
}

/* Drops samples that are too old or take too much memory. */
static int drop_old(struct recent *recent, struct error *err)
{
	uint64_t newest = recent->summary.last_time, start = recent->copy.start;

	if (!start)
		start = summary_start(&recent->summary);
	if (newest < start)
		return 0;
	if (recent->length && newest - start > recent->length + recent->length / 8)
		return drop_before(recent, newest - recent->length, err);
	if (writer_bytes(recent->copy.writer) <= recent->most)
		return 0;
	/* Half of the time is usually half of the bytes, but not if the latest samples
	 * are denser. */
	while (start <= newest && writer_bytes(recent->copy.writer) > recent->most / 2) {
		start += (newest - start) / 2 + 1;
		if (drop_before(recent, start, err) < 0)
			return -1;
	}
	return 0;
}

static int recent_domain(void *arg, struct recording_domain *domain, struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.domain(&recent->copy, domain, err);
}

static int recent_names(void *arg, const struct name_list_reader *names,
			struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.names(&recent->copy, names, err);
}

static int recent_mappings(void *arg, const struct mapping_list_reader *mappings,
			   struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.mappings(&recent->copy, mappings, err);
}

static int recent_program(void *arg, const struct recording_program *program,
			  struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.program(&recent->copy, program, err);
}

static int recent_chunk(void *arg, const struct samples_batch *batch,
			const struct chunk_read *read, struct error *err)
{
	struct recent *recent = arg;

	return copy_samples(&recent->copy, batch, read, err) < 0 ? -1
								 : drop_old(recent, err);
}

static int recent_waits(void *arg, struct waits_batch *batch, struct error *err)
{
	struct recent *recent = arg;

	return copy_waits(&recent->copy, batch, err);
}

int recent_open(struct recent *recent, const struct input *input, uint64_t length,
		struct error *err)
{
	struct copy copy = {0};

	*recent = (struct recent){.input = input,
				  .length = length,
				  .most = RECENT_BYTES,
				  .copy.fd = -1,
				  .more = true};
	copy.fd = open_memory(err);
	if (copy.fd < 0)
		return -1;
	use_copy(recent, &copy);
	recent->copied = copy_visitor(&recent->copy);
	recent->visitor = (struct load_visitor){
		.domain = recent_domain,
		.names = recent_names,
		.mappings = recent_mappings,
		.program = recent_program,
		.chunk = recent_chunk,
		.waits = recent_waits,
		.arg = recent,
	};
	recent->load = load_follow(input, &recent->summary, &recent->visitor, err);
	return recent->load ? 0 : -1;
}

void recent_close(struct recent *recent)
{
	load_free(recent->load);
	copy_free(&recent->copy);
	if (recent->copy.fd >= 0)
		close(recent->copy.fd);
	summary_free(&recent->summary);
}

int recent_more(struct recent *recent, struct error *err)
{
	int status;

	if (!recent->more)
		return 0;
	status = load_more(recent->load, err);
	if (status < 0)
		return -1;
	recent->more = status;
	if (recent->summary.has_info && copy_begin(&recent->copy, err) < 0)
		return -1;
	return recent->summary.has_end ? copy_end(&recent->copy, err) : 0;
}

bool recent_is_ready(const struct recent *recent)
{
	const struct summary *summary = &recent->summary;

	return recent->copy.writer && (summary->domain_count || summary->samples ||
				       !recent->more || recent->input->start >= 0);
}

/* The kernel refuses a lease for reading while the file is open for writing (fcntl(2),
 * F_SETLEASE). It also refuses users who do not own the file, and everybody on some file
 * systems. */
bool recent_is_written(const struct recent *recent)
{
	int fd = recent->input->fd;

	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return true;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
}

static int copy_bytes(int to, int from)
{
	off_t size = lseek(from, 0, SEEK_END), at = 0;

	while (at < size)
		if (sendfile(to, from, &at, (size_t)(size - at)) <= 0)
			return -1;
	return 0;
}

int snapshot_take(struct snapshot *snapshot, const struct recent *recent,
		  struct error *err)
{
	int fd = memfd_create("uniprof-frozen", MFD_CLOEXEC);

	snapshot->fd = -1;
	if (fd < 0 || copy_bytes(fd, recent->copy.fd) < 0) {
		error_errno(err, errno, "can't freeze");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	snapshot->fd = fd;
	set_path(snapshot->path, fd);
	return 0;
}

void snapshot_close(struct snapshot *snapshot)
{
	if (snapshot->fd >= 0)
		close(snapshot->fd);
	snapshot->fd = -1;
}

int recent_save(const char *copy, const char *path, struct error *err)
{
	struct summary summary = {0};
	struct copy saved = {0};
	struct replace file;
	int status;

	if (replace_open(&file, path, 0600, true, err) < 0)
		return -1;
	status = copy_file(&saved, file.fd, copy, 0, &summary, err);
	if (status == 0)
		status = copy_end(&saved, err);
	copy_free(&saved);
	summary_free(&summary);
	if (status == 0)
		return replace_commit(&file, err);
	replace_abandon(&file);
	return -1;
}
