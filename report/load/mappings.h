/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_MAPPINGS_H
#define UNIPROF_REPORT_LOAD_MAPPINGS_H

#include "format/mapping_list.h"

/* The files that processes of guests had in their memory, by the recordings. */
struct mappings;

/* A file that a process had. The texts are valid until mappings_free(). */
struct mapped_file {
	const char *path;		    /* in the guest; empty: not known */
	const char *name;		    /* the last component of the path */
	const char *build_id;		    /* in hexadecimal; empty: not known */
	uint8_t id[RECORDING_MAX_BUILD_ID]; /* likewise, its bytes */
	uint8_t id_size;
	uint64_t size; /* bytes, up to the end of the last mapping */
};

/* NULL if out of memory. */
struct mappings *mappings_new(void);
/* @mappings may be NULL. */
void mappings_free(struct mappings *mappings);

/* Begins another recording, whose domain indexes have @base added. */
void mappings_begin(struct mappings *mappings, uint32_t base);

/* Adds the mappings of a chunk; those of a process replace all that were read earlier. -1
 * if out of memory. */
int mappings_add(struct mappings *mappings, struct mapping_list_reader reader);

/* Whether there are any. */
bool mappings_any(const struct mappings *mappings);

/*
 * Places in files have addresses of their own, which no CPU has, so that code is at one
 * address in all processes: the number of the file is in the bits from MAPPED_SHIFT on,
 * the offset in the file below.
 */
#define MAPPED_START RECORDING_FILES
#define MAPPED_END   0x5fffffffffffffff
#define MAPPED_SHIFT 40

/* Returns the place at which a file begins, which may be in no mapping yet; @offset may
 * be added. 0 if out of memory, or if there are too many files. */
uint64_t mappings_add_file(struct mappings *mappings, struct recording_text path,
			   struct recording_text build_id);

/* The mappings of one process. */
struct mapped_process;

/* Returns the mappings of a process of the domain with this index, valid until
 * mappings_add(); NULL if there are none. One without a pid is the last process that was
 * seen in its address space. */
const struct mapped_process *mappings_of(const struct mappings *mappings, uint32_t domain,
					 const struct recording_process *process);

/* Returns the place in a file that the process has at @address or, if the next file or
 * none begins there, right before it; @address if there is none. */
uint64_t mappings_place(const struct mappings *mappings,
			const struct mapped_process *process, uint64_t address);

/* Returns a number above those of all files. */
size_t mappings_numbers(const struct mappings *mappings);
/* Returns the file with this number, and sets *@place to where it begins; NULL if there
 * is none. */
const struct mapped_file *mappings_get(const struct mappings *mappings, size_t number,
				       uint64_t *place);

/* Returns the file that the place is in, and sets *@offset to where; NULL if @place is
 * not in a file. @mappings may be NULL. */
const struct mapped_file *mappings_file(const struct mappings *mappings, uint64_t place,
					uint64_t *offset);

#endif
