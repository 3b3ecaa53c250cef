/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_OPTIONS_H
#define UNIPROF_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFAULT_FREQUENCY 99
#define MAX_FREQUENCY	  10000
#define DEFAULT_OVERHEAD  0.05

struct record_options {
	uint64_t frequency;  /* rounds a second */
	double max_overhead; /* part of the time that pauses may take */
	bool jitter;
	uint64_t time_limit; /* ns; 0: none */
	const char *output;  /* "-" for standard output */
	const char *vcpus;   /* a list; NULL: all */
	char **domain;	     /* names or ids, argv's */
	size_t domains;	     /* how many were given */
	bool all;	     /* all guests instead */
	bool follow;	     /* also those that come later, or again */
	bool verbose;
};

/* Reads the command line of `uniprof record`. True to go on; else @status is
 * the exit code: help was asked for and given, or something was wrong and
 * said. */
bool record_options_read(int argc, char **argv, struct record_options *options,
			 int *status);

#endif
