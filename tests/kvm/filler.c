/* SPDX-License-Identifier: BSD-3-Clause */
#include "filler.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "die.h"

#define PAGE  4096ull
#define FILES 64 /* more than the VMM has open */

struct filler {
	int fd;
	char *memory;
	const char *image;
	unsigned int ms;
};

/* Another thread may have asked for a page as well: it is there then. */
static void fill(const struct filler *filler)
{
	struct uffd_msg message;

	while (read(filler->fd, &message, sizeof(message)) == sizeof(message)) {
		uint64_t page = message.arg.pagefault.address & ~(PAGE - 1);
		struct uffdio_copy copy = {
			.dst = page,
			.src = (uintptr_t)filler->image + page -
			       (uintptr_t)filler->memory,
			.len = PAGE,
		};

		usleep(filler->ms * 1000);
		ioctl(filler->fd, UFFDIO_COPY, &copy);
	}
}

/* The process keeps no other descriptor of the VMM's, and ends with the VMM. */
static void be_filler(const struct filler *filler)
{
	prctl(PR_SET_NAME, "filler");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = STDERR_FILENO + 1; fd < FILES; fd++)
		if (fd != filler->fd)
			close(fd);
	fill(filler);
	die("userfaultfd");
}

void filler_start(char *memory, const char *image, size_t size, unsigned int ms)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)memory, size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct filler filler = {
		.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC),
		.memory = memory,
		.image = image,
		.ms = ms,
	};
	pid_t child;

	if (filler.fd < 0 || ioctl(filler.fd, UFFDIO_API, &api) < 0 ||
	    ioctl(filler.fd, UFFDIO_REGISTER, &range) < 0)
		die("userfaultfd");
	child = fork();
	if (child < 0)
		die("fork");
	if (child == 0)
		be_filler(&filler);
}
