/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_REPORT_H
#define UNIPROF_REPORT_REPORT_H

#include "command/command.h"

/* The commands that read recordings. */
extern const struct command command_report;
extern const struct command command_diff;
extern const struct command command_info;

#endif
