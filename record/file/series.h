/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_SERIES_H
#define UNIPROF_RECORD_FILE_SERIES_H

#include "format/writer.h"
#include "record/file/opener.h"
#include "record/file/recording_file.h"

/* When to go on in the next file; all 0: never. */
struct rotation {
	uint64_t time; /* ns; 0: not by time */
	uint64_t size; /* bytes; 0: not by size */
	uint64_t keep; /* number of files; 0: all */
};

/*
 * What a recorder writes: one recording or, with rotation, several, one after another. No
 * sample is missing between them. Each describes the domains that it has samples of.
 */
struct series {
	struct writer *writer; /* of the current file */
	struct recording_file file;

	/* Internal, for rotation. */
	const char *path;
	struct rotation rotation;
	struct opener opener;
	char *name; /* of the current file */
	struct recording_info info;
	uint64_t start;			 /* of the first one: ns, monotonic */
	uint64_t files;			 /* begun */
	struct recording_domain *domain; /* by index */
	bool *described;		 /* in the current file */
	size_t domains, capacity;

	/* Of the files that are complete. */
	struct recording_end total;
	struct pauses pauses;
	uint64_t weight, bytes;
};

/* To be called before anything is opened that a process for rotation should not inherit.
 * @path is "-" for standard output, and must outlive @series. -1 with @err set. */
int series_init(struct series *series, const char *path, const struct rotation *rotation,
		struct error *err);
/* Opens the first file, see recording_file_open(). */
int series_open(struct series *series, struct error *err);
/* Writes the start of the recording; its file then has its name. */
int series_begin(struct series *series, const struct recording_info *info,
		 struct error *err);

/* Before the samples taken at @time (ns, monotonic): begins the next file if that is due.
 * This function and the next ones return -1 with @err set if the file can't be written.
 */
int series_advance(struct series *series, uint64_t time, struct error *err);
int series_domain(struct series *series, const struct recording_domain *domain,
		  struct error *err);
/* writer_name(), once in each file. */
int series_place(struct series *series, const struct recording_name *name,
		 struct error *err);
int series_sample(struct series *series, const struct sample *sample, struct error *err);

/* writer_end(); @end gets the totals of all files, also if it fails. If series_advance()
 * has failed, it fails without a message. */
int series_end(struct series *series, struct recording_end *end, struct error *err);

/* Of all files: number of bytes, total weight of the samples, pauses. */
uint64_t series_bytes(const struct series *series);
uint64_t series_weight(const struct series *series);
void series_pauses(const struct series *series, struct pauses *pauses);

/* The current file, for messages. */
const char *series_name(const struct series *series);

/* recording_file_close(); frees everything. */
int series_close(struct series *series, struct error *err);

#endif
