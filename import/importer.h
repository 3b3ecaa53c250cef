/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_IMPORTER_H
#define UNIPROF_IMPORT_IMPORTER_H

#include "base/error.h"
#include "format/recording.h"
#include "import/held.h"

/*
 * Makes a recording of samples whose frames have a name, an address or both. A name
 * without an address gets one that no CPU can use; equal names get equal addresses.
 */
struct importer;

/* Where a sample was taken. */
struct import_place {
	uint64_t time; /* time of the sample, ns; 0 if the text has none */
	uint64_t id;   /* id of the domain; id and name together identify it */
	struct recording_text domain;
	uint32_t vcpu;
};

struct import_frame {
	struct recording_text name; /* empty: unknown */
	struct recording_text dso;  /* empty: unknown */
	uint64_t offset; /* distance of the address from the function's start */
	uint64_t address;
	bool has_address;
};

/* Creates an importer that writes to @fd, which the caller keeps. It fills in the start
 * time of @info. NULL if out of memory. */
struct importer *importer_new(int fd, const struct recording_info *info);
void importer_free(struct importer *importer);

/* The effect of a failed call on later calls. */
enum importer_state {
	IMPORTER_GOOD, /* only this sample is lost */
	IMPORTER_FULL, /* a limit of recordings is reached; earlier samples are kept */
	IMPORTER_NO_MEMORY,
	IMPORTER_UNWRITABLE, /* the recording can't be written */
};
enum importer_state importer_state(const struct importer *importer);

/* Sets @err and the state of @importer to "out of memory". Returns -1. */
int importer_out_of_memory(struct importer *importer, struct error *err);

/* Starts a sample. All functions with @err return -1 with @err set if out of memory, if a
 * limit is exceeded, or if writing fails. */
int importer_begin(struct importer *importer, const struct import_place *place,
		   struct error *err);

/* Adds the next frame, innermost first. Frames beyond RECORDING_MAX_DEPTH are
 * dropped. */
int importer_frame(struct importer *importer, const struct import_frame *frame,
		   struct error *err);

/* Completes the sample, with weight @count; a weight of 0 drops it. */
int importer_sample(struct importer *importer, uint64_t count, enum chain_end end,
		    struct error *err);

/* Completes a sample with a period (0 if unknown). importer_end() writes it. */
int importer_hold(struct importer *importer, uint64_t period, enum chain_end end,
		  struct error *err);

/* Sets the unit of the periods (default: IMPORT_EVENTS). */
void importer_set_unit(struct importer *importer, enum import_unit unit);

/* Returns the number of frames in the current sample. */
uint32_t importer_depth(const struct importer *importer);

/* Returns the sum of all weights so far; samples with periods count 1 each. */
uint64_t importer_count(const struct importer *importer);

/* Writes the held samples and the end of the recording. */
int importer_end(struct importer *importer, struct error *err);

/* Returns how samples with periods were weighted. */
struct import_weights importer_weights(const struct importer *importer);

#endif
