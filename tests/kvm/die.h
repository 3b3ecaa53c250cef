/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_KVM_DIE_H
#define UNIPROF_TESTS_KVM_DIE_H

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Ends a VMM with the exit code of all its failures, which it must not have. */
static inline void die(const char *what)
{
	fprintf(stderr, "vmm: %s: %s\n", what, strerror(errno));
	_exit(9);
}

/* The result of a system call, which must not fail. */
static inline int check_result(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

#endif
