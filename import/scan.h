/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_SCAN_H
#define UNIPROF_IMPORT_SCAN_H

#include "format/recording.h"

/*
 * Takes lines of text apart. A word is what blanks and tabs part. Functions that
 * return bool leave their results unchanged when it is false.
 */

/* All of the text is a number that fits: hexadecimal digits, or decimal ones. */
bool scan_hex(struct recording_text text, uint64_t *number);
bool scan_decimal(struct recording_text text, uint64_t *number);

/* "0x" and hexadecimal digits, all of the text. */
bool scan_address(struct recording_text text, uint64_t *address);

/* NAME+0xOFFSET, where the name is not empty. */
bool scan_name_offset(struct recording_text text, struct recording_text *name,
		      uint64_t *offset);

/* Cuts the first word off, and the blanks around it; empty when there is none. */
struct recording_text scan_word(struct recording_text *rest);

/* The text without blanks at its start and end. */
struct recording_text scan_trim(struct recording_text text);

/* Cuts @start off if the text begins with it. */
bool scan_past(struct recording_text *text, const char *start);

bool scan_is(struct recording_text text, const char *what);

#endif
