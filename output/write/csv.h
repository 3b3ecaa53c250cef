/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_CSV_H
#define UNIPROF_OUTPUT_WRITE_CSV_H

#include <stdio.h>

/*
 * Writes a field of comma-separated values (RFC 4180), quoted where it must be. A text
 * that a spreadsheet could take for a formula, or that starts with an apostrophe, starts
 * with another apostrophe.
 */
void csv_text(FILE *out, const char *text);

#endif
