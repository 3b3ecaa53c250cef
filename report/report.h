/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_REPORT_H
#define UNIPROF_REPORT_REPORT_H

#include "base/command/command.h"
#include "report/model/profile.h"
#include "report/output/output.h"

/* The commands that read recordings. */
extern const struct command command_report;
extern const struct command command_diff;
extern const struct command command_info;
extern const struct command command_archive;

/* Reads the profile's recordings and writes them to @out. -1 with @err set, which is
 * empty if @out has a write error. Shows its progress on the terminal if @is_watched. */
int report_write(struct profile *profile, const struct output *format,
		 const struct report_view *view, bool is_watched, FILE *out,
		 struct error *err);

#endif
