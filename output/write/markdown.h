/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_MARKDOWN_H
#define UNIPROF_OUTPUT_WRITE_MARKDOWN_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes @text, of one line, as a code span in a cell of a table, which shows it
 * literally (GitHub Flavored Markdown, sections 4.10 and 6.3), truncated to @most
 * characters with "…". Text from guests can thus contain no markup. The FILE keeps write
 * errors.
 */
void markdown_cell(FILE *out, const char *text, size_t most);

#endif
