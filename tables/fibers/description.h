/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_FIBERS_DESCRIPTION_H
#define UNIPROF_TABLES_FIBERS_DESCRIPTION_H

#include "base/error.h"
#include "tables/fibers/layout.h"

/*
 * Descriptions of systems, from the text in tables/fibers/systems, which explains their
 * form.
 */

/* A number of a description. */
struct description_row {
	size_t at;	 /* its place in struct fiber_layout, bytes */
	char symbol[48]; /* its address is meant; empty: no symbol */
	char type[32];	 /* the struct whose member's offset is meant; empty: none */
	char member[32]; /* may have dots */
	uint64_t number; /* what is known without a file; FIBER_NONE: nothing */
};

#define DESCRIPTION_ROWS 32

/* What is known of one version of a system. */
struct description {
	char name[64]; /* of system and version */
	struct description_row row[DESCRIPTION_ROWS];
	size_t rows;
	/* A member that the version has, or has not (@lacks). */
	struct description_row needs, lacks;
	uint64_t frame_x86[FIBER_FRAME], frame_arm64[FIBER_FRAME];
};

/* Text that is left to read. */
struct description_text {
	const char *at, *end;
	unsigned int line; /* number of the last line that was read */
};

/* Returns uniprof's own descriptions. */
struct description_text descriptions(void);

/* Reads the next description. Returns 1, or 0 after the last one; -1 with the line's
 * number and the reason in @err if the text is wrong. */
int description_read(struct description_text *text, struct description *description,
		     struct error *err);

#endif
