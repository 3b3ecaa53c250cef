/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_SCAN_H
#define UNIPROF_IMPORT_SCAN_H

#include "format/recording.h"

/*
 * Parses lines of text. Words are separated by blanks and tabs. Functions that return
 * bool leave their results unchanged if they return false.
 */

/* Parse a text of only hexadecimal, or decimal, digits, whose number fits. */
bool scan_hex(struct recording_text text, uint64_t *number);
bool scan_decimal(struct recording_text text, uint64_t *number);

/* Parses a text that is a decimal number with an optional fraction, which is rounded. */
bool scan_rounded(struct recording_text text, uint64_t *number);

/* Parses a text that is a decimal number with at most @places decimals; @number is in
 * units of 10^-@places. */
bool scan_fixed(struct recording_text text, unsigned int places, uint64_t *number);

/* Parses a text that is "0x" and hexadecimal digits. */
bool scan_address(struct recording_text text, uint64_t *address);

/* Parses NAME+0xOFFSET with a non-empty name. */
bool scan_name_offset(struct recording_text text, struct recording_text *name,
		      uint64_t *offset);

/* Removes and returns the first word, with the blanks around it removed; empty if there
 * is none. */
struct recording_text scan_word(struct recording_text *rest);

/* Returns the text without blanks at its start and end. */
struct recording_text scan_trim(struct recording_text text);

/* Removes @start if the text starts with it. */
bool scan_past(struct recording_text *text, const char *start);

bool scan_is(struct recording_text text, const char *what);

#endif
