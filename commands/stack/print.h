/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_STACK_PRINT_H
#define UNIPROF_COMMANDS_STACK_PRINT_H

#include "record/threads/look.h"
#include "symbols/symbols.h"

/* What `uniprof stack` prints, on standard output. */

/* Names for a guest's code. */
struct stack_names {
	struct symbols *symbols;
	struct symbols_guest places;   /* where the guest has the code of the files */
	const struct kallsyms *kernel; /* the names of its own kernel; NULL: none */
};

void print_registers(const struct cpu *cpu);

/* Prints a line for each address, and how the chain ends. */
void print_chain(const struct chain *chain, const struct stack_names *names);

/* Prints all threads, each with its state and chain, and the locks that chains name. */
void print_threads(const struct threads_seen *seen, const struct stack_names *names);

#endif
