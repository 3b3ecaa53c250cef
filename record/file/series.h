/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_SERIES_H
#define UNIPROF_RECORD_FILE_SERIES_H

#include "format/writer.h"
#include "record/file/opener.h"
#include "record/file/recording_file.h"

/* When to continue in the next file; all 0: never. */
struct rotation {
	uint64_t time; /* time of each file, ns; 0: not by time */
	uint64_t size; /* size of each file, bytes; 0: not by size */
	uint64_t keep; /* number of files to keep; 0: all */
	int complete;  /* eventfd(2) to which 1 is added for each complete file but the
			  last; 0: none */
};

/*
 * The output of a recorder: one recording or, with rotation, several, one after another.
 * No sample is missing between two recordings. Each describes the domains that it has
 * samples of.
 */
struct series {
	struct recording_file file; /* current file */
	uint64_t files;		    /* number of files begun */

	/* Internal members */
	struct writer *writer; /* writer of the current file; NULL: there is none */
	struct opener opener;
	const char *path;
	struct rotation rotation;
	char *name;		    /* name of the current file, with rotation */
	struct recording_info info; /* start of the current file */
	uint64_t start;		    /* start of the first file, ns, monotonic */
	/* With rotation: the last description of each domain, by index; whether the
	 * current file has it */
	struct recording_domain *domain;
	bool *described;
	size_t domains, capacity; /* domains known, elements allocated */

	/* Totals of the complete files */
	struct recording_end total;
	struct pauses pauses;
	uint64_t weight, bytes;
};

/* Prepares a series; must be called before anything is opened that a process for rotation
 * should not inherit. @path is "-" for standard output, and must outlive @series. -1 with
 * @err set on failure. */
int series_init(struct series *series, const char *path, const struct rotation *rotation,
		struct error *err);
/* Opens the first file, see recording_file_open(). */
int series_open(struct series *series, struct error *err);
/* Writes the start of the recording, and gives the file its name. */
int series_begin(struct series *series, const struct recording_info *info,
		 struct error *err);

/* The functions below return -1 with @err set if the file can't be written. */

/* Begins the next file if that is due before the samples taken at @time (ns, monotonic).
 * Returns 1 if a file was begun, which has no names of places yet; otherwise 0. */
int series_advance(struct series *series, uint64_t time, struct error *err);
/* Returns when the file after the one with samples of @time begins, ns, monotonic;
 * UINT64_MAX if that is not known. Once a file has begun, any thread may ask. */
uint64_t series_next_start(const struct series *series, uint64_t time);
/* Describes a domain, as writer_domain() does. */
int series_domain(struct series *series, const struct recording_domain *domain,
		  struct error *err);
/* Names a place, as writer_name() does. Each file needs its own names. */
int series_place(struct series *series, const struct recording_name *name,
		 struct error *err);
/* Adds a process's mapping, as writer_mapping() does. */
int series_mapping(struct series *series, const struct recording_mapping *mapping,
		   struct error *err);
int series_sample(struct series *series, const struct sample *sample, struct error *err);
int series_wait(struct series *series, const struct wait *wait, struct error *err);
/* Adds @counts, and has the next series_flush() write the waits, as writer_waits() does.
 */
void series_waits(struct series *series, const struct waits_counts *counts);
/* Writes what was added, as writer_flush() does. */
int series_flush(struct series *series, struct error *err);

/* Returns the counts of the current file, to be added to, as writer_counts() does; NULL
 * if there is no file, because series_advance() has failed. */
struct sampling_counts *series_counts(struct series *series);

/* Ends the recording, as writer_end() does; @end gets the totals of all files, even on
 * failure. If series_advance() has failed, it fails without a message. */
int series_end(struct series *series, struct recording_end *end, struct error *err);

/* Return sums over all files: bytes, weight of the samples, pauses. */
uint64_t series_bytes(const struct series *series);
uint64_t series_weight(const struct series *series);
void series_pauses(const struct series *series, struct pauses *pauses);

/* Returns the name of the current file, for messages. */
const char *series_name(const struct series *series);

/* Closes the file, as recording_file_close() does, and frees everything. */
int series_close(struct series *series, struct error *err);

#endif
