/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_KVM_FILLER_H
#define UNIPROF_TESTS_KVM_FILLER_H

#include <stddef.h>

/*
 * Fills memory when it is first accessed, as a VMM does that resumes a snapshot
 * (userfaultfd(2)).
 */

/* Makes @size bytes of @memory empty, and starts a thread that fills each page from
 * @image, @ms milliseconds after the first access. */
void filler_start(char *memory, const char *image, size_t size, unsigned int ms);

/* Makes the thread answer no more, or answer again. */
void filler_toggle(void);

#endif
