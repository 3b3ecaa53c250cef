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

/* Reads what the process writes, until it ends, there are @enough bytes, or it is @end
 * (ns, monotonic). */
static int receive(int fd, struct buffer *to, size_t enough, uint64_t end,
		   struct error *err)
{
	while (to->size < enough) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		uint64_t now = clock_monotonic();
		uint8_t bytes[65536];
		size_t most = enough - to->size;
		ssize_t got;

		if (now >= end)
			return error_set(err, "reading its files takes too long");
		if (poll(&ready, 1, (int)((end - now) / 1000000) + 1) < 1)
			continue;
		got = read(fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "can't read a pipe");
		if (got == 0)
			break;
		buffer_put(to, bytes, (size_t)got);
	}
	return to->failed ? error_set(err, "out of memory") : 0;
}

/* Finds a file that was read before; its number, or the number of files. */
static size_t find_known(const struct found_files *found, const struct found_key *key)
{
	size_t i = key->inode ? 0 : found->files;

	while (i < found->files && memcmp(&found->file[i].key, key, sizeof(*key)) != 0)
		i++;
	return i;
}

/* What another process has read. */
struct received {
	struct found_key key;
	size_t known; /* number of the file; as many as there are files: it is new */
	struct buffer parcel;
};

/* Receives what the process sends up to @end, unless the file is known. */
static int receive_file(int fd, uint64_t end, const struct found_files *found,
			struct received *received, struct error *err)
{
	struct buffer *to = &received->parcel;

	if (receive(fd, to, sizeof(received->key), end, err) < 0)
		return -1;
	if (to->size < sizeof(received->key))
		return error_set(err, "the process that reads symbol files has failed");
	memcpy(&received->key, to->data, sizeof(received->key));
	buffer_reset(to);
	received->known = find_known(found, &received->key);
	if (received->known < found->files)
		return 0;
	if (receive(fd, to, PARCEL_SIZE + 1, end, err) < 0)
		return -1;
	return to->size > PARCEL_SIZE ? error_set(err, "its file is too large") : 0;
}

/* Has another process read the file, for up to @limit (ns), and receives what it sends.
 */
static int read_file(const struct found_files *found, const struct guest_info *guest,
		     uint64_t limit, struct received *received, struct error *err)
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
		status = receive_file(ends[0], clock_monotonic() + limit, found, received,
				      err);
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

	if (program_open_contents(&program, file->path, file->names, file->names_size,
				  err) < 0)
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

static void free_names(struct found_file *file)
{
	free(file->names);
	file->names = NULL;
}

static void free_file(struct found_file *file)
{
	program_table_free(file->table);
	free(file->path);
	free_names(file);
}

/* Checks what was received, and makes a file of it. */
static int take_file(struct found_file *file, const struct received *received,
		     struct error *err)
{
	struct parcel parcel;
	int status = parcel_take(&parcel, &received->parcel, err);

	*file = (struct found_file){.key = received->key};
	if (status == 0)
		status = plain_write(&parcel.plain, &file->names, &file->names_size, err);
	if (status == 0) {
		file->path = strdup(parcel.path);
		status = file->path ? complete_table(file, &parcel, err)
				    : error_set(err, "out of memory");
	}
	if (!parcel.plain.symbol_count)
		free_names(file);
	parcel_free(&parcel);
	if (status < 0)
		free_file(file);
	return status;
}

/* Adds the file that was received, unless it is known. */
static int add_file(struct found_files *found, const struct received *received,
		    struct error *err)
{
	if (received->known < found->files)
		return 0;
	if (!array_grow(&found->file, found->files + 1, sizeof(*found->file)))
		return error_set(err, "out of memory");
	if (take_file(&found->file[found->files], received, err) < 0)
		return -1;
	found->files++;
	return 0;
}

/* Adds a guest with the file that was received. */
static int add_guest(struct found_files *found, const struct guest_info *guest,
		     bool by_id, const struct received *received, struct error *err)
{
	struct found_guest *to;
	char id[16];

	if (!array_grow(&found->guest, found->guests + 1, sizeof(*found->guest)))
		return error_set(err, "out of memory");
	snprintf(id, sizeof(id), "%" PRIu32, guest->id);
	to = &found->guest[found->guests];
	to->file = received->known;
	to->domain = strdup(by_id || !*guest->name ? id : guest->name);
	if (!to->domain)
		return error_set(err, "out of memory");
	found->guests++;
	return 0;
}

static int add_received(struct found_files *found, const struct guest_info *guest,
			bool by_id, const struct received *received, struct error *err)
{
	return add_file(found, received, err) < 0
		       ? -1
		       : add_guest(found, guest, by_id, received, err);
}

int found_files_add(struct found_files *found, const struct guest_info *guest, bool by_id,
		    struct error *err)
{
	struct received received = {.parcel = {0}};
	int status = read_file(found, guest, FIND_NS, &received, err);

	if (status == 0)
		status = add_received(found, guest, by_id, &received, err);
	buffer_free(&received.parcel);
	return status;
}

int found_files_add_later(struct found_files *found, const struct guest_info *guest,
			  struct buffer *sent, struct error *err)
{
	struct received received = {.parcel = {0}};
	int status = read_file(found, guest, FIND_LATER_NS, &received, err);

	if (status == 0)
		status = add_received(found, guest, true, &received, err);
	*sent = received.parcel;
	return status;
}

int found_files_take(struct found_files *found, const struct buffer *sent,
		     struct error *err)
{
	const struct received received = {.known = found->files, .parcel = *sent};

	if (add_file(found, &received, err) < 0)
		return -1;
	free_names(&found->file[found->files - 1]);
	return 0;
}

void found_files_describe(const struct found_files *found, size_t guest,
			  struct error *line)
{
	const struct symbols_found names = found_files_names(found, guest);

	error_set(line, "found %s%s", names.path,
		  names.data ? "" : ", which has no names");
}

struct symbols_found found_files_names(const struct found_files *found, size_t guest)
{
	const struct found_guest *from = &found->guest[guest];
	const struct found_file *file = &found->file[from->file];

	return (struct symbols_found){from->domain, file->path, file->names,
				      file->names_size};
}

void found_files_drop_symbols(struct found_files *found)
{
	for (size_t i = 0; i < found->files; i++)
		free_names(&found->file[i]);
}

void found_files_free(struct found_files *found)
{
	for (size_t i = 0; i < found->files; i++)
		free_file(&found->file[i]);
	for (size_t i = 0; i < found->guests; i++)
		free(found->guest[i].domain);
	free(found->file);
	free(found->guest);
	*found = (struct found_files){0};
}
