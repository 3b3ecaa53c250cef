/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/recent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/replace.h"

static int open_memory(struct error *err)
{
	int fd = memfd_create("uniprof-top", MFD_CLOEXEC);

	return fd < 0 ? error_errno(err, errno, "can't make a file in memory") : fd;
}

static void use_copy(struct recent *recent, const struct copy *copy)
{
	copy_free(&recent->copy);
	if (recent->copy.fd >= 0)
		close(recent->copy.fd);
	recent->copy = *copy;
	recent->copy.summary = &recent->summary;
	snprintf(recent->path, sizeof(recent->path), "/proc/self/fd/%d", copy->fd);
}

/* Copies what is not older than @from, and drops the rest. */
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

static int trim(struct recent *recent, struct error *err)
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
	/* Usually once; there may have been more samples lately. */
	while (start <= newest && writer_bytes(recent->copy.writer) > recent->most / 2) {
		start += (newest - start) / 2 + 1;
		if (drop_before(recent, start, err) < 0)
			return -1;
	}
	return 0;
}

static int take_domain(void *arg, struct recording_domain *domain, struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.domain(&recent->copy, domain, err);
}

static int take_names(void *arg, const struct name_list_reader *names, struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.names(&recent->copy, names, err);
}

static int take_program(void *arg, const struct recording_program *program,
			struct error *err)
{
	struct recent *recent = arg;

	return recent->copied.program(&recent->copy, program, err);
}

static int take_chunk(void *arg, const struct samples_batch *batch, struct cursor payload,
		      struct error *err)
{
	struct recent *recent = arg;

	return copy_samples(&recent->copy, batch, payload, err) < 0 ? -1
								    : trim(recent, err);
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
		.domain = take_domain,
		.names = take_names,
		.program = take_program,
		.chunk = take_chunk,
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

/* A lease for reading is refused while the file is open for writing (fcntl(2),
 * F_SETLEASE), and is only given to its owner, on some file systems to nobody. */
bool recent_is_written(const struct recent *recent)
{
	int fd = recent->input->fd;

	if (fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
		return true;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return false;
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
