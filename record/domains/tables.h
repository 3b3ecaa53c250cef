/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_TABLES_H
#define UNIPROF_RECORD_DOMAINS_TABLES_H

#include "base/command/command.h"
#include "guest/host.h"
#include "tables/program_table.h"

/* How call chains are found, as requested on the command line. */
enum call_graph {
	CALL_GRAPH_AUTO,  /* by a guest's table if there is one that fits */
	CALL_GRAPH_FP,	  /* by frame pointers and the code after them */
	CALL_GRAPH_TABLE, /* by a table, or not at all */
	CALL_GRAPH_STACK, /* later, by the report: stacks are captured */
};

/* Texts are those of the command line. */
struct unwinding_options {
	enum call_graph call_graph;
	unsigned int stack_bytes; /* to capture; 0: none */
	const char **elf;	  /* FILE[@OFFSET][,domain=NAME] */
	size_t elfs;
	const char **table; /* FILE[,domain=NAME] */
	size_t tables;
};

/* Setters of command options, for a struct unwinding_options. */
int unwinding_add_elf(void *to, const char *argument, struct error *err);
int unwinding_add_table(void *to, const char *argument, struct error *err);
int unwinding_set_call_graph(void *to, const char *argument, struct error *err);
struct option_word unwinding_word(unsigned int i);

/* Checks that the options go together: 0, or -1 with @err set. */
int unwinding_check(const struct unwinding_options *options, struct error *err);
void unwinding_options_free(struct unwinding_options *options);

/* The unwind tables of all domains. */
struct unwinding;

/* Makes, or reads, and locks all tables. Takes up to some seconds; must be called before
 * any guest is paused. NULL with one line in @err on failure. */
struct unwinding *unwinding_open(const struct unwinding_options *options,
				 struct error *err);
/* @unwinding may be NULL. */
void unwinding_free(struct unwinding *unwinding);

/* The table for a guest: that for its name or id, else the one for all domains; NULL if
 * there is none. It is freed with @unwinding. */
const struct program_table *unwinding_table(const struct unwinding *unwinding,
					    const struct guest_info *guest);

#endif
