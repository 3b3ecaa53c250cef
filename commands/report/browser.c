/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/browser.h"

#include <stdlib.h>

#include "base/command/message.h"
#include "commands/child.h"
#include "report/load/memory.h"

void browser_open(const char *command, const char *path)
{
	struct children children = {.command = command};
	char *whole = realpath(path, NULL);
	const char *const argv[] = {"xdg-open", whole, NULL};
	int code = CHILD_NOT_RUN;

	memory_unbound();
	children_hold(&children);
	if (whole && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY")))
		code = child_program(&children, (char *const *)argv, true);
	children_release(&children);
	if (code != 0)
		message(command, "there is no browser: open %s in one",
			whole ? whole : path);
	free(whole);
}
