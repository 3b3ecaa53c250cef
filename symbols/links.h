/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_LINKS_H
#define UNIPROF_SYMBOLS_LINKS_H

#include "base/chain.h"
#include "symbols/program.h"

/*
 * Checks the instruction before the return address @caller against the function that
 * contains @callee. Both include the load offset. Only for x86-64 and arm64; bounded
 * time.
 */
enum program_link program_check_link(const struct program *program, uint64_t caller,
				     uint64_t callee);

#endif
