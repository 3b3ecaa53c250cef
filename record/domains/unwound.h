/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_UNWOUND_H
#define UNIPROF_RECORD_DOMAINS_UNWOUND_H

#include "record/domains/target.h"

/* Tables beyond so many are not named. */
#define UNWOUND_TABLES 16

/* How many domains were unwound in which way, for the closing line. Starts as zeros. */
struct unwound {
	bool is_wanted; /* domains without a table that fits are not sampled */
	unsigned int domains;
	unsigned int by_table;
	unsigned int by_code;		  /* found in their memory */
	unsigned int captured;		  /* to be unwound later */
	uint64_t rows;			  /* of the tables used */
	uint64_t code_rows;		  /* of the tables made of found code */
	unsigned int tables;		  /* number of different ones */
	char names[256];		  /* of the files that they are made from */
	const void *seen[UNWOUND_TABLES]; /* those */
};

/*
 * If the domain's table is of other programs than those that it runs: reports once
 * (*@is_told), on standard error, that it is unwound by frame pointers, or returns 1 with
 * the reason in @err if it must not be sampled then.
 */
int unwound_refuse(const struct unwound *unwound, const struct target *target,
		   bool *is_told, struct error *err);

/* Counts a domain that was sampled. Reports on standard error if its table was never
 * used. */
void unwound_add(struct unwound *unwound, const struct target *target);

/* "by frame pointers", "in reports", "by tables of web.elf (12345 rows)", or "by code in
 * memory (12345 rows)". */
void unwound_text(const struct unwound *unwound, char *to, size_t size);

#endif
