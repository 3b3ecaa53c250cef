/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_FIREFOX_FIREFOX_H
#define UNIPROF_OUTPUT_FIREFOX_FIREFOX_H

#include "base/names.h"
#include "base/tree.h"
#include "output/lanes.h"
#include "output/paths.h"
#include "output/write/json.h"

/*
 * The tables that all threads of a profile for the Firefox Profiler share: "shared" in
 * src/types/profile.ts. Texts, places and funcs are filled in when they are written.
 */
struct firefox_tables {
	const struct report *report;
	struct path_frames frames; /* their files are followed by the source files */
	struct names *texts;
	struct tree places; /* one root; keys: symbol file and source file */
	struct tree funcs;  /* one root; keys: node of places, and function */
	struct paths paths; /* of frames */
	/* One root; keys: state of the vCPU and path. A sample's stack is a leaf: its
	 * path, with the state as the category of the last frame. */
	struct tree leaves;
	uint32_t *func_of; /* by frame: its func */
	struct json *json;
	bool failed; /* out of memory */
};

/* -1 if out of memory; firefox_tables_free() must be called either way. @tables must stay
 * where it is. */
int firefox_tables_init(struct firefox_tables *tables, const struct report *report);
void firefox_tables_free(struct firefox_tables *tables);

/* Returns the number of the leaf for a sample; TREE_NONE if out of memory. */
uint32_t firefox_leaf(struct firefox_tables *tables, uint32_t stack,
		      unsigned int vcpu_state);

/* Returns the index of a leaf in stackTable, after the last call of firefox_leaf(). */
uint32_t firefox_stack(const struct firefox_tables *tables, uint32_t leaf);

/* Returns the state of a leaf, enum vcpu_state. */
unsigned int firefox_state(const struct firefox_tables *tables, uint32_t leaf);

/* Returns the text's index in stringArray; sets failed if out of memory. */
uint32_t firefox_text(struct firefox_tables *tables, const char *text);

/* Writes "libs" and "shared". -1 if out of memory, now or earlier. */
int firefox_tables_write(struct firefox_tables *tables, struct json *json);

#endif
