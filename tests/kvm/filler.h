/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_KVM_FILLER_H
#define UNIPROF_TESTS_KVM_FILLER_H

#include <stddef.h>

/*
 * Makes @size bytes of @memory empty, and starts a process that fills each page from
 * @image, @ms milliseconds after the first access, as a VMM does that resumes a snapshot
 * (userfaultfd(2)). This process keeps the userfaultfd open: if the other one ends, each
 * access to an empty page waits for ever.
 */
void filler_start(char *memory, const char *image, size_t size, unsigned int ms);

#endif
