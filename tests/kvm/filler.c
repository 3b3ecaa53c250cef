/* SPDX-License-Identifier: BSD-3-Clause */
#include "filler.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ull

static struct {
	int fd;
	char *memory;
	const char *image;
	unsigned int ms;
	atomic_int hangs;
} filler;

static void die(const char *what)
{
	perror(what);
	_exit(9);
}

static void *fill(void *context)
{
	struct uffd_msg message;

	(void)context;
	while (read(filler.fd, &message, sizeof(message)) == sizeof(message)) {
		uint64_t page = message.arg.pagefault.address & ~(PAGE - 1);
		struct uffdio_copy copy = {
			.dst = page,
			.src = (uintptr_t)filler.image + page - (uintptr_t)filler.memory,
			.len = PAGE,
		};

		do
			usleep(filler.ms * 1000);
		while (atomic_load(&filler.hangs));
		/* Another thread may have asked for the page as well: EEXIST. */
		ioctl(filler.fd, UFFDIO_COPY, &copy);
	}
	die("userfaultfd");
	return NULL;
}

void filler_start(char *memory, const char *image, size_t size, unsigned int ms)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {
		.range = {(uintptr_t)memory, size},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	pthread_t thread;

	filler.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	filler.memory = memory;
	filler.image = image;
	filler.ms = ms;
	if (filler.fd < 0 || ioctl(filler.fd, UFFDIO_API, &api) < 0 ||
	    ioctl(filler.fd, UFFDIO_REGISTER, &range) < 0 ||
	    pthread_create(&thread, NULL, fill, NULL))
		die("userfaultfd");
}

void filler_toggle(void)
{
	atomic_fetch_xor(&filler.hangs, 1);
}
