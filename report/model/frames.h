/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_FRAMES_H
#define UNIPROF_REPORT_MODEL_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "report/load/recorded.h"
#include "report/load/summary.h"
#include "report/model/sources.h"

/*
 * Names of the addresses in call chains. Each address is looked up once, or once per
 * domain if some domains have their own symbols; frames and functions are numbered in
 * order of appearance.
 */
struct frames;

/* A sampled instruction is looked up at its own address. A caller's address is a return
 * address: the call is before it and may be the last instruction of its function, so it
 * is looked up at address - 1. */
enum frame_use {
	FRAME_LEAF = 0,
	FRAME_CALLER = 1,
};

struct frame {
	uint64_t address; /* as recorded */
	uint64_t offset;  /* offset of the address from the function's start */
	/* The name of the symbol file, empty if unknown. For an unknown function: NULL,
	 * or the DSO from an imported recording. */
	const char *dso;
	const struct symbols_file *file; /* the file with the symbol; NULL: none */
	enum symbols_call
		call;	   /* whether a call is before the address; FRAME_CALLER only */
	uint32_t function; /* innermost function at the address */
	/* All functions at the address, innermost first; see frames_function_at() and
	 * frames_place_at() */
	uint32_t first, function_count;
};

#define FRAMES_NONE UINT32_MAX

/* The function for samples without frames. */
#define FRAMES_EMPTY_CHAIN 0

/* Looks names up in the files of @sources (domains are identified by @summary), and then
 * in the recordings; the caller keeps both. NULL if out of memory. */
struct frames *frames_new(const struct sources *sources, const struct summary *summary);
void frames_free(struct frames *frames);

/* Returns the number of the frame in the domain with index @domain; FRAMES_NONE if out of
 * memory. */
uint32_t frames_find(struct frames *frames, uint32_t domain, uint64_t address,
		     enum frame_use use);
/* Returns the frame, which is valid until the next frames_find(). */
const struct frame *frames_get(const struct frames *frames, uint32_t number);

/* Looks up the symbol at an address of the domain with index @domain, as for frames;
 * valid until the next look-up. False if neither a symbol nor the DSO is known. */
bool frames_symbol(const struct frames *frames, uint32_t domain, uint64_t address,
		   struct symbol *symbol);

/* Whether an address can have different names in two domains of a recording. */
bool frames_by_domain(const struct frames *frames);

/* Returns a number that two domains share if all addresses have equal names in both. It
 * may change while the recordings are read. */
uint32_t frames_scope(const struct frames *frames, uint32_t domain);

/*
 * Returns the address to write for a return address, for tools that look it up unchanged,
 * as perf does (tools/perf/util/machine.c, add_callchain_ip()). After a call that is the
 * last instruction of its function, tools would find the next function: the address to
 * write is then one less, within the call.
 */
uint64_t frames_return_address(const struct frames *frames, uint32_t domain,
			       uint64_t address);

/*
 * The function at @frame at @depth of the inlined functions: 0 is the innermost,
 * function_count - 1 the function of the symbol. There are several only if inlined
 * functions are requested and known.
 */
uint32_t frames_function_at(const struct frames *frames, const struct frame *frame,
			    uint32_t depth);

/*
 * A place in the source of a function; places are numbered, too. Without lines, or with
 * lines in the names, a function has exactly one place.
 */
struct frame_place {
	uint32_t function;
	const char *path; /* of the source file; "" if unknown */
	uint32_t line;	  /* 0 if unknown */
};

/* Like frames_function_at(), but returns the number of the place. */
uint32_t frames_place_at(const struct frames *frames, const struct frame *frame,
			 uint32_t depth);
/* The number of the place of @function with an unknown line. FRAMES_NONE if out of
 * memory. */
uint32_t frames_place_of(struct frames *frames, uint32_t function);
/* Returns the place; its path is valid until frames_free(). */
struct frame_place frames_place(const struct frames *frames, uint32_t place);
/* Returns a number that is higher than all place numbers. */
uint32_t frames_places(const struct frames *frames);

/* Returns the function that represents the domain with index @domain and has its name:
 * domains with one name are merged. FRAMES_NONE if out of memory. */
uint32_t frames_domain(struct frames *frames, uint32_t domain);

/* The number of functions so far. */
uint32_t frames_functions(const struct frames *frames);
/* Returns the function's name, clean (text_clean()) and unique; the address in
 * hexadecimal if no symbol is known. Valid until frames_free(). */
const char *frames_function_name(const struct frames *frames, uint32_t function);
bool frames_function_known(const struct frames *frames, uint32_t function);
/* Whether it stands for a reason why the guest's code was left: "[exit: halt]" or, on
 * Xen, "[hypercall sched_op]". */
bool frames_function_is_exit(const struct frames *frames, uint32_t function);
/* The number of known functions whose demangled name is that of several symbols, which
 * are thus merged; @example is one of the names. */
uint32_t frames_merged(const struct frames *frames, const char **example);

#endif
