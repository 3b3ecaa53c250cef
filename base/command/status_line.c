/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command/status_line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ECMA-48, 8.3.41: erase to the end of the line. */
#define ERASE "\033[K"

#define USUAL_COLUMNS 80
#define MAX_COLUMNS   256

/* Returns the width of the terminal, or USUAL_COLUMNS if the terminal does not know its
 * width; 0 if it can't show a line. */
static size_t width_of(int fd)
{
	const char *type = getenv("TERM");
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || !type || !*type ||
	    strcmp(type, "dumb") == 0)
		return 0;
	return size.ws_col ? size.ws_col : USUAL_COLUMNS;
}

void status_line_open(struct status_line *line, int fd)
{
	char path[64];

	*line = (struct status_line){.fd = -1, .group = getpgrp()};
	if (!width_of(fd))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	line->fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

void status_line_close(struct status_line *line)
{
	if (line->fd < 0)
		return;
	status_line_clear(line);
	close(line->fd);
	line->fd = -1;
}

size_t status_line_columns(const struct status_line *line)
{
	size_t width = line->fd < 0 ? 0 : width_of(line->fd);

	/* In the last column, some terminals start a new line. */
	return width ? (width < MAX_COLUMNS ? width : MAX_COLUMNS) - 1 : 0;
}

static bool in_background(const struct status_line *line)
{
	pid_t foreground = tcgetpgrp(line->fd);

	return foreground > 0 && foreground != line->group;
}

void status_line_show(struct status_line *line, const char *text)
{
	char row[MAX_COLUMNS + 16];
	size_t columns = status_line_columns(line);
	int length;

	if (!columns || in_background(line))
		return;
	length = snprintf(row, sizeof(row), "\r%.*s" ERASE, (int)columns, text);
	line->shown = write(line->fd, row, (size_t)length) > 0 || line->shown;
}

void status_line_clear(struct status_line *line)
{
	static const char eraser[] = "\r" ERASE;

	if (line->shown && !in_background(line))
		line->shown = write(line->fd, eraser, strlen(eraser)) < 0;
}

const char *status_line_eraser(int fd)
{
	return width_of(fd) ? "\r" ERASE : "";
}
