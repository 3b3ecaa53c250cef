/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_IN_CHILD_H
#define UNIPROF_TESTS_UNIT_IN_CHILD_H

/* For what is tested in a child with a filter of system calls. */

#include <errno.h>
#include <unistd.h>

/* In a child, which can't use cmocka: ends it with the number of the line. */
#define CHECK(condition)                           \
	do {                                       \
		if (!(condition))                  \
			_exit(__LINE__ % 250 + 1); \
	} while (0)

/* -1 with EPERM: refused by the filter. */
#define REFUSED(call) (errno = 0, (call) == -1 && errno == EPERM)

#endif
