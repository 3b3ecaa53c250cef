/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/find/find.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/text.h"
#include "record/find/parcel.h"
#include "record/find/reader.h"

/* Reads all that the process writes, until it ends or has taken too long. */
static int receive(int fd, struct buffer *to, struct error *err)
{
	uint64_t end = clock_monotonic() + FIND_NS;

	for (;;) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		uint64_t now = clock_monotonic();
		uint8_t bytes[65536];
		ssize_t got;

		if (now >= end || to->size > PARCEL_SIZE)
			return error_set(err, "reading its files takes too long");
		if (poll(&ready, 1, (int)((end - now) / 1000000) + 1) < 1)
			continue;
		got = read(fd, bytes, sizeof(bytes));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "can't read a pipe");
		if (got == 0)
			return to->failed ? error_set(err, "out of memory") : 0;
		buffer_put(to, bytes, (size_t)got);
	}
}

/* Has another process read the files, and receives what it sends. */
static int read_files(const struct guest_info *guest, struct buffer *to,
		      struct error *err)
{
	int ends[2], status;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "can't make a pipe");
	fflush(NULL);
	child = fork();
	if (child == 0) {
		reader_run(guest, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (child < 0)
		status = error_errno(err, errno, "can't start a process");
	else
		status = receive(ends[0], to, err);
	close(ends[0]);
	if (child < 0)
		return -1;
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* Completes the table with the code: the process that made the table may not be believed
 * that they fit together, but then the guest's memory tells. */
static int complete_table(struct found_file *file, struct parcel *parcel,
			  struct error *err)
{
	struct program program;

	if (program_open_contents(&program, file->path, file->symbols.data,
				  file->symbols.size, err) < 0)
		return -1;
	if (program_table_add_code(parcel->table, &program, err) < 0) {
		program_close(&program);
		return -1;
	}
	file->table = parcel->table;
	parcel->table = NULL;
	file->table->is_found = true;
	snprintf(file->table->origin[0].name, sizeof(file->table->origin[0].name), "%s",
		 basename(file->path));
	return 0;
}

static void free_file(struct found_file *file)
{
	program_table_free(file->table);
	free(file->domain);
	free(file->path);
	free((void *)file->symbols.data);
	*file = (struct found_file){0};
}

static void drop_symbols(struct found_file *file)
{
	free((void *)file->symbols.data);
	file->symbols = (struct symbols_found){0};
}

static int take_file(struct found_file *file, const struct guest_info *guest, bool by_id,
		     const struct buffer *received, struct error *err)
{
	struct parcel parcel;
	void *data = NULL;
	int status = parcel_take(&parcel, received, err);

	*file = (struct found_file){0};
	if (status == 0)
		status = plain_write(&parcel.plain, &data, &file->symbols.size, err);
	file->symbols.data = data;
	if (status < 0)
		goto out;
	file->path = strdup(parcel.path);
	if (by_id || !*guest->name) {
		if (asprintf(&file->domain, "%" PRIu32, guest->id) < 0)
			file->domain = NULL;
	} else {
		file->domain = strdup(guest->name);
	}
	if (file->path && file->domain)
		status = complete_table(file, &parcel, err);
	else
		status = error_set(err, "out of memory");
	if (!parcel.plain.symbol_count)
		drop_symbols(file);
	file->symbols.path = file->path;
	file->symbols.domain = file->domain;
out:
	parcel_free(&parcel);
	return status;
}

int found_files_add(struct found_files *found, const struct guest_info *guest, bool by_id,
		    struct error *err)
{
	struct buffer received = {0};
	struct found_file file = {0};
	int status = read_files(guest, &received, err);

	if (status == 0)
		status = take_file(&file, guest, by_id, &received, err);
	buffer_free(&received);
	if (status == 0 &&
	    !array_grow(&found->list, found->count + 1, sizeof(*found->list)))
		status = error_set(err, "out of memory");
	if (status < 0)
		free_file(&file);
	else
		found->list[found->count++] = file;
	return status;
}

void found_files_drop_symbols(struct found_files *found)
{
	for (size_t i = 0; i < found->count; i++)
		drop_symbols(&found->list[i]);
}

void found_files_free(struct found_files *found)
{
	for (size_t i = 0; i < found->count; i++)
		free_file(&found->list[i]);
	free(found->list);
	*found = (struct found_files){0};
}
