/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_REPORT_H
#define UNIPROF_REPORT_REPORT_H

#include "report/model/profile.h"
#include "report/output/output.h"

/* Reads the profile's recordings and writes them to @out. -1 with @err set, which is
 * empty if @out has a write error. Shows its progress on the terminal if @is_watched. */
int report_write(struct profile *profile, const struct output *format,
		 const struct report_view *view, bool is_watched, FILE *out,
		 struct error *err);

#endif
