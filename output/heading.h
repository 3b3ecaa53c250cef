/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HEADING_H
#define UNIPROF_OUTPUT_HEADING_H

#include "report/model/domains.h"
#include "output/report.h"

/* The headings of human-readable reports and pictures. */

#define HEADING_NAME_SIZE DOMAIN_NAME_SIZE

/* Sets @to to the name of the report's domain, or to the number of domains. Returns @to.
 */
const char *heading_name(char to[HEADING_NAME_SIZE], const struct report *report);

#define HEADING_TITLE_SIZE (HEADING_NAME_SIZE + 64)

/* Returns the title of a picture: the view's or, in @to, "KIND of DOMAIN". */
const char *heading_title(char to[HEADING_TITLE_SIZE], const struct report *report,
			  const char *kind);

/* Returns the width of a human-readable report in columns; SIZE_MAX: no limit. */
size_t heading_columns(const struct report *report);

/* Writes lines with '#': the domain, how much is counted, how reliable it is. */
void heading_write(const struct report *report);

/* Writes line @line of a picture's heading (output/write/svg.h): the @label, how much is
 * counted, when and where it was recorded. */
void heading_svg(const struct report *report, const char *label, unsigned int line);

/* Writes line @line of a picture's heading: the @label, what sampling has cost the
 * guests, and what is missing or doubtful. */
void heading_bill(const struct report *report, const char *label, unsigned int line);

/* Writes a count with its unit: "1 sample", "3 samples", "20 us". */
void heading_count(FILE *out, const struct measure *measure, uint64_t count);

#endif
