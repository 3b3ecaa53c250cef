/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MACHINE_H
#define UNIPROF_REPORT_MACHINE_H

#include "base/error.h"
#include "format/recording.h"
#include "symbols/symbols.h"

enum machine_match {
	MACHINE_FITS,	/* as far as is known */
	MACHINE_DOUBTS, /* unusual, but it can be right */
	MACHINE_WRONG,
};

/* Whether code of the symbol file's CPU can have run in the domain; @why says why
 * not, in one line. */
enum machine_match machine_compare(const struct symbols_file *file,
				   const struct recording_domain *domain,
				   struct error *why);

#endif
