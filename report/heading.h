/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_HEADING_H
#define UNIPROF_REPORT_HEADING_H

#include "report/output.h"

/* Writes, as lines with '#', of what and of how much a report for people is. */
void heading_write(const struct report *report);

#endif
