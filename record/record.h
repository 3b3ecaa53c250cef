/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_RECORD_H
#define UNIPROF_RECORD_RECORD_H

#include "record/options.h"

/*
 * Records as the command line @argv says, from which @options were read. Afterwards, this
 * process has no privileges, and may make only the system calls for recording
 * (filter_recorder()), such as write() and wait4(). Returns an enum exit_code.
 */
int record_run(const struct record_options *options, int argc, char **argv);

#endif
