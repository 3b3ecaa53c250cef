/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_REPORT_H
#define UNIPROF_REPORT_REPORT_H

/*
 * The commands that read recordings. @argv[0] is the command's name; the result
 * is an enum exit_code (base/error.h).
 */
int command_report(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_info(int argc, char **argv);

#endif
