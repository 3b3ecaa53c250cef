/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_FUZZ_CHECK_H
#define UNIPROF_TESTS_FUZZ_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fails the fuzzer; also in a build without assert(). */
static inline void check(bool is_true)
{
	if (!is_true)
		abort();
}

/* A file in memory; the caller closes it. */
static inline int file_with(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	check(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

#endif
