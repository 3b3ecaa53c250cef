/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_PATHS_H
#define UNIPROF_OUTPUT_PATHS_H

#include "base/names.h"
#include "output/report.h"

/*
 * The call chains of a report as lists of numbers, such as those of functions, for
 * outputs that write a list for each sample. Chains with equal lists are one path, and
 * each address of a chain is looked up once.
 */
struct paths {
	const struct report *report;
	/* Returns the number for the function at @depth of the frame
	 * (frames_function_at()), or for samples without frames if @frame is NULL;
	 * FRAMES_NONE if out of memory. */
	uint32_t (*number)(void *arg, const struct frame *frame, uint32_t depth);
	void *arg;

	struct tree tree;   /* one root; keys: numbers, outermost first */
	uint32_t *known[2]; /* by enum frame_use and node of the stacks: its path; 0: not
			       known yet */
	uint32_t room;	    /* number of nodes in known[] */
	uint32_t *list;	    /* space for one list */
	uint32_t list_room;
};

/* For number(), with the report's frames as arg: the number of the function. */
uint32_t paths_function(void *arg, const struct frame *frame, uint32_t depth);

/* Numbers of functions with their place: symbol file, source file and line. */
struct path_frames {
	struct frames *frames;
	struct names *files; /* symbol files; the first has no name and is none */
	struct tree keys;    /* one root; keys: symbol file << 32 | place. A node's number
				minus 1 is the frame's. */
};

/* -1 if out of memory; path_frames_free() must be called either way, and accepts zeros.
 */
int path_frames_init(struct path_frames *frames, struct frames *of);
void path_frames_free(struct path_frames *frames);

/* For number(), with a struct path_frames as arg. */
uint32_t path_frames_number(void *arg, const struct frame *frame, uint32_t depth);

/* -1 if out of memory; paths_free() must be called either way, and accepts zeros. The
 * first three members are the caller's. */
int paths_init(struct paths *paths);
void paths_free(struct paths *paths);

/* Returns the path of a call chain; TREE_NONE if out of memory. */
uint32_t paths_find(struct paths *paths, uint32_t stack);

/* Sets *@list to the path's numbers, outermost first, valid until the next call. Returns
 * how many there are; 0 if out of memory. */
uint32_t paths_list(struct paths *paths, uint32_t path, const uint32_t **list);

#endif
