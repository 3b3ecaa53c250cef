/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_REPORT_BROWSER_H
#define UNIPROF_COMMANDS_REPORT_BROWSER_H

/* Opens the file in the user's web browser, or says what to open where there is none. */
void browser_open(const char *command, const char *path);

#endif
