/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_BASE116_H
#define UNIPROF_OUTPUT_WRITE_BASE116_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes bytes as text for the element <script> of HTML: six bytes, of which the first is
 * the highest, as a number of seven digits in base 116, the highest first. The last 1 to
 * 5 bytes become a number with one digit more than there are bytes. base64 would be an
 * eighth longer.
 *
 * The digits are the ASCII characters in ascending order, in which every charset agrees,
 * without those that HTML changes (NUL, carriage return), that may end an element (<, &),
 * that programs may change (line feed, DOS's end of file), and with which a terminal does
 * more than move its cursor.
 */
void base116_write(FILE *out, const void *data, size_t size);

#endif
