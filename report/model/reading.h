/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_READING_H
#define UNIPROF_REPORT_MODEL_READING_H

#include "report/model/places/survey.h"
#include "report/model/profile_read.h"

/* For profile_read.c and reading_waits.c. */

/* The reading of a profile's recordings, one after the other. */
struct reading {
	struct profile *profile;
	const struct profile_listener *listener;
	bool has_several_hosts;
	struct recording *recording; /* current recording */
	struct summary *summary;     /* of the current recording */
	uint64_t bytes_before;	     /* bytes of the earlier recordings */
	uint32_t base;		     /* added to the recording's domain indexes */
	/* Finds symbol files in the recording; NULL: not needed, or already done. */
	struct survey *places;
};

/* Sets the times between which samples count. -1 with @err set if they are not known. */
int reading_set_window(const struct reading *reading, struct error *err);

/* Adds what comes before the recording's domains to those of the batch. -1 with @err set
 * if there are too many. */
int reading_shift_domains(const struct reading *reading, struct samples_batch *batch,
			  struct error *err);

/* Stops, with nothing to say, if the output failed. */
int reading_check_output(const struct reading *reading, struct error *err);

/* Takes the waits of a chunk, as struct load_visitor has it; @arg is the reading. */
int reading_take_waits(void *arg, struct waits_batch *batch, struct error *err);

/* Counts the waits that went on until the recording's end. -1 with @err set on failure.
 */
int reading_end_waits(const struct reading *reading, struct error *err);

#endif
