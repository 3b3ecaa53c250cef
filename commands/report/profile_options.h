/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_REPORT_PROFILE_OPTIONS_H
#define UNIPROF_COMMANDS_REPORT_PROFILE_OPTIONS_H

#include "base/command/command.h"
#include "report/model/notes/profile_notes.h"

/* The options that define the contents of a profile, shared by several commands. */
struct profile_options {
	const char *command;	    /* for messages */
	struct profile_rules rules; /* points into this struct */
	struct note_options notes;
	bool vcpus[RECORDING_MAX_VCPU + 1];
	regex_t parent, symbol;
};

/* The options for symbol files, for names, and for the selection and weight of samples.
 */
extern const struct command_option profile_file_options[];
extern const struct command_option profile_server_options[]; /* may take long */
extern const struct command_option profile_symbol_options[];
extern const struct command_option profile_sample_options[];
extern const struct command_option profile_wait_options[];

/* Sets the defaults. -1 if out of memory, with a message written; profile_options_free()
 * must be called either way. @command is for messages, @argc is main()'s. */
int profile_options_init(struct profile_options *options, const char *command, int argc);
void profile_options_free(struct profile_options *options);

/* Fails if an option is for samples only and waits are wanted, or the reverse:
 * COMMAND_GO_ON, or the exit code with a message written. */
int profile_options_check(const struct profile_options *options);

/* Sets the filter of functions, a regular expression; "" removes it. -1 with @err set,
 * and nothing changed, if it is invalid. */
int profile_options_filter(struct profile_options *options, const char *regex,
			   struct error *err);

/* Adds a recording; -1 with @err set if it can't be added. */
int profile_options_input(struct profile_options *options, const char *path,
			  struct error *err);

#endif
