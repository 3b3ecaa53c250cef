/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_REPORT_PAGER_H
#define UNIPROF_COMMANDS_REPORT_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

/* A program that shows text page by page, as in git and perf. */
struct pager {
	pid_t pid;	/* 0: none is running */
	size_t columns; /* width of the terminal; 0: unknown, or not needed */
};

/*
 * If @is_wanted and standard output is a terminal, starts the pager that UNIPROF_PAGER or
 * PAGER names, or less, and makes it this process's standard output; also standard error,
 * if that is a terminal. An empty name, cat, or a program that can't be run mean no
 * pager.
 */
void pager_start(struct pager *pager, bool is_wanted);

/* Ends the output and waits until the user has seen it. */
void pager_end(struct pager *pager);

#endif
