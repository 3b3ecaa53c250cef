/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/messages.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compat.h"

int messages_keep(struct messages *messages, struct error *err)
{
	messages->seen = 0;
	messages->fd = memfd_create("uniprof-messages", MFD_CLOEXEC);
	messages->stderr_before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC,
					STDERR_FILENO + 1);
	if (messages->fd >= 0 && fcntl(messages->fd, F_SETFL, O_APPEND) == 0 &&
	    dup2(messages->fd, STDERR_FILENO) >= 0)
		return 0;
	return error_errno(err, errno, "can't keep messages");
}

bool messages_last(struct messages *messages, struct line *line)
{
	char text[4096];
	ssize_t size;
	char *last;

	if (messages->fd < 0)
		return false;
	size = pread(messages->fd, text, sizeof(text) - 1, messages->seen);
	if (size <= 0)
		return false;
	text[size] = 0;
	last = strrchr(text, '\n');
	if (!last && size < (ssize_t)sizeof(text) - 1)
		return false;
	if (last) {
		*last = 0;
		size = last + 1 - text;
	}
	messages->seen += size;
	last = strrchr(text, '\n');
	line_set(line, "%s", last ? last + 1 : text);
	return true;
}

void messages_end(struct messages *messages)
{
	char text[4096];
	ssize_t size;
	off_t at = 0;

	if (messages->fd < 0)
		return;
	if (messages->stderr_before >= 0) {
		dup2(messages->stderr_before, STDERR_FILENO);
		close(messages->stderr_before);
	}
	while ((size = pread(messages->fd, text, sizeof(text), at)) > 0) {
		at += size;
		fwrite(text, 1, (size_t)size, stderr);
	}
	close(messages->fd);
	messages->fd = -1;
}
