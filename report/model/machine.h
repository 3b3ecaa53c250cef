/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_MACHINE_H
#define UNIPROF_REPORT_MODEL_MACHINE_H

#include "base/error.h"
#include "format/recording.h"
#include "symbols/symbols.h"

enum machine_match {
	MACHINE_FITS,	/* as far as known */
	MACHINE_DOUBTS, /* unusual, but possible */
	MACHINE_WRONG,
};

/* Whether code for the symbol file's CPU can have run in the domain; if not, @why is set
 * to the reason. */
enum machine_match machine_compare(const struct symbols_file *file,
				   const struct recording_domain *domain,
				   struct error *why);

#endif
