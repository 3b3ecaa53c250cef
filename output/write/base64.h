/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_BASE64_H
#define UNIPROF_OUTPUT_WRITE_BASE64_H

#include <stddef.h>
#include <stdio.h>

/* Writes @size bytes in base64 (RFC 4648, section 4), without line breaks. */
void base64_write(FILE *out, const void *data, size_t size);

#endif
