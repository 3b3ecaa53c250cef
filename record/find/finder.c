/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/find/finder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* Time between two looks at whether to stop, ms */
#define LOOK_MS 50

/* Written at once to a pipe; not longer than PIPE_BUF. */
struct question {
	bool is_last; /* the recording is complete */
	struct guest_info guest;
};

/* Followed by a parcel if the file is new. */
struct reply {
	bool is_found;
	uint64_t file; /* its number */
	uint64_t size; /* of the parcel, bytes; 0: it was sent before */
	struct error text;
};

/* When an answer is no longer waited for. */
struct patience {
	uint64_t end; /* ns, monotonic */
	const bool *stop;
};

/* Waits for something to read. False if patience ends before; NULL: it never does. */
static bool wait_for(int fd, const struct patience *patience)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	while (poll(&ready, 1, patience ? LOOK_MS : -1) < 1)
		if (patience && (__atomic_load_n(patience->stop, __ATOMIC_RELAXED) ||
				 clock_monotonic() >= patience->end))
			return false;
	return true;
}

static bool read_all(int fd, void *to, size_t size, const struct patience *patience)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = wait_for(fd, patience)
				      ? read(fd, (char *)to + done, size - done)
				      : 0;

		if (got == 0 || (got < 0 && errno != EINTR))
			return false;
		done += got > 0 ? (size_t)got : 0;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t written = write(fd, (const char *)from + done, size - done);

		if (written < 0 && errno != EINTR)
			return false;
		done += written > 0 ? (size_t)written : 0;
	}
	return true;
}

static void close_pipe(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void finder_close(struct finder *finder)
{
	close_pipe(&finder->questions);
	close_pipe(&finder->answers);
}

/* Adds the file that follows the reply. -1 with @err set if it can't be used. */
static int take_file(struct finder *finder, const struct reply *reply,
		     const struct patience *patience, struct error *err)
{
	struct buffer parcel = {0};
	uint8_t *bytes = buffer_extend(&parcel, (size_t)reply->size);
	int status = -1;

	if (bytes && read_all(finder->answers, bytes, (size_t)reply->size, patience))
		status = found_files_take(finder->found, &parcel, err);
	/* From here on, the other process would number files differently. */
	if (status < 0)
		finder_close(finder);
	buffer_free(&parcel);
	return status;
}

void finder_ask(struct finder *finder, const struct guest_info *guest, const bool *stop,
		struct finder_answer *answer)
{
	struct question question = {.guest = *guest};
	const struct patience patience = {clock_monotonic() + 2 * FIND_LATER_NS, stop};
	const struct program_table *table;
	struct reply reply;
	struct error why;

	*answer = (struct finder_answer){.text = {""}};
	if (finder->questions < 0)
		return;
	if (!write_all(finder->questions, &question, sizeof(question)) ||
	    !read_all(finder->answers, &reply, sizeof(reply), &patience)) {
		finder_close(finder);
		return;
	}
	answer->text = reply.text;
	if (reply.is_found && reply.size &&
	    take_file(finder, &reply, &patience, &why) < 0)
		answer->text = why;
	if (!reply.is_found || reply.file >= finder->found->files)
		return;
	table = finder->found->file[reply.file].table;
	if (program_table_lock(table, &why) < 0)
		answer->text = why;
	else
		answer->table = table;
}

bool finder_finish(struct finder *finder)
{
	const struct question last = {.is_last = true};

	/* It may have an answer that nobody waits for. */
	close_pipe(&finder->answers);
	return write_all(finder->questions, &last, sizeof(last));
}

/* Looks for a guest's file, and sends what is found. */
static void answer_question(const struct guest_info *guest, int answers,
			    struct found_files *found)
{
	struct buffer parcel = {0};
	struct reply reply = {.is_found = false};

	if (found_files_add_later(found, guest, &parcel, &reply.text) == 0) {
		reply.is_found = true;
		reply.file = found->guest[found->guests - 1].file;
		reply.size = parcel.size;
		found_files_describe(found, found->guests - 1, &reply.text);
	}
	if (write_all(answers, &reply, sizeof(reply)))
		write_all(answers, parcel.data, (size_t)reply.size);
	buffer_free(&parcel);
}

enum finder_end finder_serve(const struct finder *finder, int interrupt)
{
	struct pollfd ready[] = {{.fd = finder->questions, .events = POLLIN},
				 {.fd = interrupt, .events = POLLIN}};
	struct question question;

	for (;;) {
		if (poll(ready, 2, -1) < 1)
			continue;
		if (!ready[0].revents)
			return FINDER_INTERRUPTED;
		if (!read_all(finder->questions, &question, sizeof(question), NULL))
			return FINDER_ABANDONED;
		if (question.is_last)
			return FINDER_FINISHED;
		/* An answer that is not read is followed by the last question. */
		answer_question(&question.guest, finder->answers, finder->found);
	}
}
