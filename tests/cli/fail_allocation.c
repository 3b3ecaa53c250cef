/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes allocations fail in any program: a library for LD_PRELOAD that wraps glibc's
 * malloc(), which can't be made to fail at a given call.
 *
 * FAIL_AT     the number of the allocation that fails, from 1; unset: none fails
 * FAIL_REST   if set, all later allocations fail, too
 * FAIL_COUNT  a file to which the number of allocations is written at the end
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc's own functions. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static unsigned long allocations, fail_at;
static int fail_rest;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAIL_AT");

	fail_rest = getenv("FAIL_REST") != NULL;
	fail_at = at ? strtoul(at, NULL, 10) : 0;
	__atomic_store_n(&allocations, 0, __ATOMIC_SEQ_CST);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAIL_COUNT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644) : -1;

	if (fd >= 0) {
		dprintf(fd, "%lu\n", allocations);
		close(fd);
	}
}

static int fails(void)
{
	unsigned long number = __atomic_add_fetch(&allocations, 1, __ATOMIC_SEQ_CST);

	if (!fail_at || number < fail_at || (number > fail_at && !fail_rest))
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, size);
}
