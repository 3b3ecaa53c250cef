/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_IMPORTER_H
#define UNIPROF_IMPORT_IMPORTER_H

#include "base/error.h"
#include "format/recording.h"

/*
 * Makes a recording of samples whose frames may have names, addresses or both. A name
 * without an address is given one that no CPU can have, the same each time.
 */
struct importer;

/* Where a sample was taken. */
struct import_place {
	uint64_t time; /* ns; 0 where the text has none */
	uint64_t id;   /* of the domain; with the name, it tells domains apart */
	struct recording_text domain;
	uint32_t vcpu;
};

struct import_frame {
	struct recording_text name; /* empty: not known */
	struct recording_text dso;  /* the same */
	uint64_t offset;	    /* of the address from the start of what it names */
	uint64_t address;
	bool has_address;
};

/* The most that samples count for, all together: it bounds the work for a line. */
#define IMPORT_MAX_COUNT 10000000000000u

/* Writes to @fd, which stays the caller's; the start in @info is filled in. NULL when
 * memory is short. */
struct importer *importer_new(int fd, const struct recording_info *info);
void importer_free(struct importer *importer);

/* Begins a sample. All return -1, with @err set, when memory is short, a limit is
 * broken or writing fails. */
int importer_begin(struct importer *importer, const struct import_place *place,
		   struct error *err);

/* Its next frame, the innermost one first. Those beyond RECORDING_MAX_DEPTH are left
 * out. */
int importer_frame(struct importer *importer, const struct import_frame *frame,
		   struct error *err);

/* It is complete, and counts for @count; for 0 it is left out. */
int importer_sample(struct importer *importer, uint64_t count, enum chain_end end,
		    struct error *err);

/* How many frames it has so far. */
uint32_t importer_depth(const struct importer *importer);

/* What the samples count for so far. */
uint64_t importer_count(const struct importer *importer);

/* Ends the recording. */
int importer_end(struct importer *importer, struct error *err);

#endif
