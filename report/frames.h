/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_FRAMES_H
#define UNIPROF_REPORT_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/recorded.h"
#include "report/sources.h"
#include "report/summary.h"

/*
 * What the addresses of call chains are called. Each is looked up once, or once in
 * each domain where some domains have symbols of their own; frames and functions
 * are numbered as they are met.
 */
struct frames;

/* A sampled instruction is looked up at its own address. A caller's address is
 * a return address: the call lies before it, perhaps as its function's last
 * instruction, and so it is looked up at address - 1. */
enum frame_use {
	FRAME_LEAF = 0,
	FRAME_CALLER = 1,
};

struct frame {
	uint64_t address; /* as recorded */
	uint64_t offset;  /* of that address from the function's start */
	/* The symbol file's name, empty where it is not known; NULL when the function
	 * is unknown. */
	const char *dso;
	uint32_t function; /* the innermost, when functions are inlined there */
	/* All functions there, innermost first; see frames_function_at(). */
	uint32_t first, function_count;
};

#define FRAMES_NONE UINT32_MAX

/* The function that stands for the frames of a sample without any. */
#define FRAMES_EMPTY_CHAIN 0

/* Looks up in @sources, for domains by what @summary tells of them, and then in
 * @recorded; all stay the caller's. NULL when memory is short. */
struct frames *frames_new(const struct sources *sources, const struct recorded *recorded,
			  const struct summary *summary);
void frames_free(struct frames *frames);

/* The number of a frame in the domain of that index; FRAMES_NONE when memory is
 * short. */
uint32_t frames_find(struct frames *frames, uint32_t domain, uint64_t address,
		     enum frame_use use);
/* Valid until the next frames_find(). */
const struct frame *frames_get(const struct frames *frames, uint32_t number);

/*
 * The function at @frame that @depth others are inlined into each other in: 0 is the
 * innermost, function_count - 1 that of the address itself. Only where inlined
 * functions are wanted and known are there several.
 */
uint32_t frames_function_at(const struct frames *frames, const struct frame *frame,
			    uint32_t depth);

/* The function that stands for the domain of that index, called as it is: domains
 * of one name are one. FRAMES_NONE when memory is short. */
uint32_t frames_domain(struct frames *frames, uint32_t domain);

/* How many functions were met so far. */
uint32_t frames_functions(const struct frames *frames);
/* Its name, clean (text_clean()) and no other function's; the address in
 * hexadecimal where no symbol is known. Valid until frames_free(). */
const char *frames_function_name(const struct frames *frames, uint32_t function);
bool frames_function_known(const struct frames *frames, uint32_t function);
/* How many known functions have a name that demangling gave to several symbols, which
 * are thus counted as one; @example is one of the names. */
uint32_t frames_merged(const struct frames *frames, const char **example);

#endif
