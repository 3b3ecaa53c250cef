/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PROFILE_NOTES_H
#define UNIPROF_REPORT_PROFILE_NOTES_H

#include "report/profile.h"

/* What messages call all recordings of the profile together. */
const char *profile_name(const struct profile *profile);

/* The symbol files must be for the CPU that the domain ran on: -1 and @err when they
 * are not; what is unusual is only said. */
int profile_check_symbols(const struct profile *profile,
			  const struct recording_domain *domain, struct error *err);

#endif
