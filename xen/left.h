/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_LEFT_H
#define UNIPROF_XEN_LEFT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Xen does not undo the pauses of a dead process. If a recorder and its guard are killed
 * at once, a domain can stay paused. So each recorder notes in a file which domain it
 * holds paused, for the next recorder to find. The file is mapped, so that writing to it
 * does not slow down sampling.
 */
struct left;

/* Creates a file in @directory, which is created if necessary and must be accessible only
 * to root. NULL on failure: recording continues without it. */
struct left *left_new(const char *directory);
/* Removes the file. @left may be NULL, here and in the functions below. */
void left_free(struct left *left);

/* A domain that a recorder held paused. */
struct left_domain {
	uint32_t id;
	uint8_t uuid[16];
	uint64_t ran; /* upper bound of its CPU time at the pause, ns */
};

/* Sets the domain that is paused next, while nothing is paused. */
void left_prepare(struct left *left, const struct left_domain *domain);
/* Notes the domain as paused, before the pause, or as resumed, after it. */
void left_set(struct left *left, bool paused);

/*
 * Calls @keep for each domain that an ended recorder left paused, according to its file
 * and since this host was booted. The file is removed if @keep returns false. Files that
 * are accessible to others than root, or invalid, are skipped.
 */
typedef bool left_keep(void *context, const struct left_domain *domain);
void left_visit(const char *directory, left_keep *keep, void *context);

#endif
