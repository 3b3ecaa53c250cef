/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PROFILE_NOTES_H
#define UNIPROF_REPORT_MODEL_PROFILE_NOTES_H

#include "report/model/profile.h"

/* The name for all recordings of the profile in messages. */
const char *profile_name(const struct profile *profile);

/* Checks that the symbol files are for the CPU that the domain ran on: -1 with @err set
 * if not. For unusual combinations only a note is written. */
int profile_check_symbols(const struct profile *profile,
			  const struct recording_domain *domain, struct error *err);

#endif
