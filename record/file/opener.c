/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/opener.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compat.h"
#include "base/parse.h"

/* The answer to a request; a request is one byte. An answer with an empty @err also
 * carries the file's descriptor (unix(7), SCM_RIGHTS). */
struct answer {
	uint64_t number;
	struct error err;
};

/* Number of names to try, if other processes have just created files with the next
 * numbers */
#define TRIES 100

/* Returns the number in a name BASE.NUMBER; 0 for any other name. */
static uint64_t number_of(const char *name, const char *base)
{
	size_t length = strlen(base);
	uint64_t number;

	if (strncmp(name, base, length) != 0 || name[length] != '.' ||
	    name[length + 1] == '0' ||
	    parse_number(name + length + 1, 1, UINT32_MAX, &number) < 0)
		return 0;
	return number;
}

/* Removes the files with numbers up to @removed. Returns the highest number found,
 * removed or not; 0 if there is no such file, or no folder. */
static uint64_t scan_folder(const char *path, uint64_t removed)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *folder = slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
	DIR *directory = folder ? opendir(folder) : NULL;
	uint64_t highest = 0, number;
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		number = number_of(entry->d_name, base);
		if (number && number <= removed)
			unlinkat(dirfd(directory), entry->d_name, 0);
		if (number > highest)
			highest = number;
	}
	if (directory)
		closedir(directory);
	free(folder);
	return highest;
}

uint64_t opener_highest(const char *path)
{
	return scan_folder(path, 0);
}

static int create_file(const char *path, uint64_t *number, struct error *err)
{
	char *name = NULL;
	int fd = -1;

	for (int i = 0; i < TRIES && fd < 0; i++, (*number)++) {
		if (asprintf(&name, "%s.%" PRIu64, path, *number) < 0)
			return error_set(err, "out of memory");
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			error_errno(err, errno, "can't write to %s", name);
		free(name);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static void send_answer(int socket, const struct answer *text, int fd)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct iovec part = {(void *)text, sizeof(*text)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	sendmsg(socket, &message, MSG_NOSIGNAL);
}

/* Serves the recorder, in the child, until the recorder has ended in any way. */
static void serve_requests(int socket, const char *path, uint64_t keep)
{
	uint64_t next = scan_folder(path, 0) + 1;
	char request;

	while (read(socket, &request, 1) == 1) {
		struct answer text = {.err = {""}};
		int fd = create_file(path, &next, &text.err);

		text.number = next - 1;
		send_answer(socket, &text, fd);
		if (fd < 0)
			continue;
		close(fd);
		if (keep && text.number > keep)
			scan_folder(path, text.number - keep);
	}
}

/* Signals for the recorder are not for this process, which ends after it. */
static void be_opener(int socket, const char *path, uint64_t keep)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "uniprof-opener");
	dup2(socket, STDIN_FILENO);
	close_range(STDIN_FILENO + 1, ~0u, 0);
	serve_requests(STDIN_FILENO, path, keep);
	_exit(0);
}

int opener_start(struct opener *opener, const char *path, uint64_t keep,
		 struct error *err)
{
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return error_errno(err, errno, "can't make a socket");
	opener->child = fork();
	if (opener->child == 0)
		be_opener(sockets[1], path, keep);
	close(sockets[1]);
	opener->socket = sockets[0];
	if (opener->child > 0)
		return 0;
	close(sockets[0]);
	opener->child = 0;
	return error_errno(err, errno, "can't start a process");
}

int opener_next(struct opener *opener, uint64_t *number, struct error *err)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control;
	struct answer text;
	struct iovec part = {&text, sizeof(text)};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	struct cmsghdr *header;
	ssize_t size = -1;
	int fd;

	if (write(opener->socket, "", 1) == 1) {
		do
			size = recvmsg(opener->socket, &message, MSG_CMSG_CLOEXEC);
		while (size < 0 && errno == EINTR);
	}
	if (size != sizeof(text))
		return error_set(err, "the process that creates files was killed");
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS) {
		*err = text.err;
		return -1;
	}
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	*number = text.number;
	return fd;
}

void opener_stop(struct opener *opener)
{
	if (!opener->child)
		return;
	close(opener->socket);
	waitpid(opener->child, NULL, 0);
	opener->child = 0;
}
