/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_OPTIONS_H
#define UNIPROF_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/command/command.h"
#include "record/domains/tables.h"
#include "record/file/series.h"

#define DEFAULT_FREQUENCY 99
#define MAX_FREQUENCY	  10000
#define DEFAULT_OVERHEAD  0.05

struct record_options {
	uint64_t frequency;  /* rounds per second */
	double max_overhead; /* share of the time that pauses may take */
	bool jitter;
	uint64_t time_limit; /* ns; 0: none */
	const char *output;  /* "-" for standard output */
	struct rotation rotation;
	const char *vcpus; /* a list; NULL: all */
	char **domain;	   /* names or ids, in argv */
	size_t domains;	   /* number of them */
	bool all;	   /* all guests instead */
	const char *gdb;   /* instead, the GDB stub there; NULL: none */
	bool follow;	   /* also guests that start later or come back */
	bool unpause;	   /* first resume those that a killed recorder left paused */
	struct unwinding_options unwinding; /* its ELF files also have names */
	bool lines;			    /* stored with the names */
	bool force; /* a Xen newer than known even if its answers do not fit */
	bool verbose;
};

extern const struct option_group record_option_groups[];

/* Reads the command line of `uniprof record`. Returns COMMAND_GO_ON, or the exit code if
 * help was printed or an error reported. The caller frees them in any case. */
int record_options_read(const struct command *command, int argc, char **argv,
			struct record_options *options);
void record_options_free(struct record_options *options);

#endif
