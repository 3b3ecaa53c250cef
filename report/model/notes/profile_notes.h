/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_NOTES_PROFILE_NOTES_H
#define UNIPROF_REPORT_MODEL_NOTES_PROFILE_NOTES_H

#include "report/model/profile.h"

/* Which notes on a profile are wanted. */
struct note_options {
	bool verbose;	      /* adds details, and notes that are rarely of interest */
	bool names_only;      /* leaves out notes on counts and call chains, which are not
				 shown */
	bool lacks_functions; /* leaves out notes on names and call chains */
};

/* Adds notes on the symbol files, before or after the profile is read. */
void profile_note_symbols(struct profile *profile, const struct note_options *options);

/* Adds notes on the profile, once it is read. -1 if out of memory. */
int profile_note_contents(struct profile *profile, const struct note_options *options);

#endif
