/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_STOP_H
#define UNIPROF_RECORD_STOP_H

#include <stddef.h>

#include "record/subject.h"

/* What Ctrl-Z and fg do, with the domains that are sampled, of which none is paused. */

/* For SIGTSTP: the guests run without anything of this process, which stops until
 * SIGCONT. Reports for how long there are no samples. */
void stop_here(struct subject *const *subjects, size_t count);

/* For SIGCONT, after a stop by whomever: what the guests did meanwhile is not part of
 * their next samples, and no round of that time is missed. */
void stop_ended(struct subject *const *subjects, size_t count);

#endif
