/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/help/help.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/command/command.h"
#include "base/command/message.h"

/* The script that makes completions of this program's own tables, for a shell. */
extern const char completions_script[];

__asm__(".pushsection .rodata\n"
	".globl completions_script\n"
	"completions_script: .incbin \"scripts/completions\"\n"
	".byte 0\n"
	".popsection\n");

static bool is_shell(const char *name)
{
	return strcmp(name, "bash") == 0 || strcmp(name, "zsh") == 0 ||
	       strcmp(name, "fish") == 0;
}

int completions_run(int argc, char **argv)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (argc != 2 || !is_shell(argv[1])) {
		fputs("Usage: uniprof completions bash|zsh|fish\n", stderr);
		return EXIT_USAGE;
	}
	self[length < 0 ? 0 : length] = 0;
	execl("/bin/sh", "sh", "-c", completions_script, "completions", argv[1], self,
	      (char *)NULL);
	message("completions", "can't run /bin/sh: %s", strerror(errno));
	return EXIT_FAILED;
}
