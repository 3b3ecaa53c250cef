/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_CSV_H
#define UNIPROF_REPORT_CSV_H

#include <stdio.h>

/* Writes a field of comma-separated values (RFC 4180), quoted where it must be. */
void csv_text(FILE *out, const char *text);

#endif
