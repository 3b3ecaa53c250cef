/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_RECORD_OPTIONS_H
#define UNIPROF_COMMANDS_RECORD_OPTIONS_H

#include "base/command/command.h"
#include "record/options.h"

extern const struct option_group record_option_groups[];

/* Reads the command line of `uniprof record`. Returns COMMAND_GO_ON, or the exit code if
 * help was printed or an error reported. The caller frees the options in any case. */
int record_options_read(const struct command *command, int argc, char **argv,
			struct record_options *options);
void record_options_free(struct record_options *options);

#endif
