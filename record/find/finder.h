/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_FINDER_H
#define UNIPROF_RECORD_FIND_FINDER_H

#include "record/find/find.h"

/*
 * Files of guests that start while a recorder runs. The recorder has no rights to look
 * for them by then, so that another process, started before, does when it is asked. Both
 * number the files alike; that process has their names, and the recorder the tables.
 */

/* The recorder's end; its functions are for one thread. */
struct finder {
	int questions, answers;	   /* pipes; -1: none */
	struct found_files *found; /* without names */
};

/* What is known of a guest's file. */
struct finder_answer {
	const struct program_table *table; /* locked; NULL: there is none */
	struct error text; /* where it was found, or why not, for messages */
};

/*
 * Asks for the guest's file, and waits for the answer, which takes up to FIND_LATER_NS.
 * If there is none in twice that time, or *@stop, which another thread sets, becomes
 * true, no more questions are asked.
 */
void finder_ask(struct finder *finder, const struct guest_info *guest, const bool *stop,
		struct finder_answer *answer);

/* Tells the other process that the recording is complete, so that it ends. False if it
 * has ended already. */
bool finder_finish(struct finder *finder);
void finder_close(struct finder *finder);

/* Why the other process no longer answers. */
enum finder_end {
	FINDER_ABANDONED, /* the recorder has failed, or was killed */
	FINDER_FINISHED,  /* the recording is complete */
	FINDER_INTERRUPTED,
};

/* Answers questions in the other process, whose ends @finder has, and adds to its files,
 * until the recorder has ended, or there is something to read from @interrupt (-1:
 * never).
 */
enum finder_end finder_serve(const struct finder *finder, int interrupt);

#endif
