/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_LINKS_H
#define UNIPROF_SYMBOLS_LINKS_H

#include "symbols/program.h"

/* Whether one function can have called another, according to a program's code. */
enum program_link {
	LINK_UNKNOWN,  /* one of them is not in the program, or has no symbol */
	LINK_PROVEN,   /* the call is of that function, or of one that jumps to it */
	LINK_POSSIBLE, /* an indirect call, jumps that can't be followed, an interrupt */
	LINK_IMPOSSIBLE, /* there is no call, or it is of other functions */
	LINK_KINDS
};

/*
 * Checks the instruction before the return address @caller against the function that
 * contains @callee. Both include the load offset. Only for x86-64; bounded time.
 */
enum program_link program_check_link(const struct program *program, uint64_t caller,
				     uint64_t callee);

#endif
