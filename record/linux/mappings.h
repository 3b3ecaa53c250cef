/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_MAPPINGS_H
#define UNIPROF_RECORD_LINUX_MAPPINGS_H

#include "arch/arch.h"
#include "format/recording.h"
#include "tables/linux/layout.h"

/*
 * The files whose code a process has in its memory, read from the kernel's memory while
 * the guest runs. Nothing there is trusted: at worst, a hostile guest gives its files
 * other names.
 */

/* Maximum length of a path, bytes, with the 0 at its end, and of a build-id */
#define MAPPING_PATH	 512
#define MAPPING_BUILD_ID 20

/* A file's code in the memory of a process. */
struct mapping {
	uint64_t start, end; /* its addresses, @end excluded */
	uint64_t offset;     /* of @start in the file, bytes */
	const char *path;    /* in the guest; empty: not known */
	uint8_t build_id[MAPPING_BUILD_ID];
	uint8_t build_id_size; /* bytes; 0: not known */
};

/* Limits of one process: further mappings are left out, and so are further paths. */
#define MAPPINGS_MAX	  512
#define MAPPINGS_TEXT_MAX 32768

struct process_mappings {
	uint64_t time;			   /* when they were read, ns, monotonic */
	struct recording_process process;  /* whose */
	struct mapping list[MAPPINGS_MAX]; /* by address */
	size_t count;
	char text[MAPPINGS_TEXT_MAX]; /* the paths */
	size_t text_size;
};

/* A kernel's memory, of which a limited number of pieces may be read. */
struct mapping_view {
	const struct cpu *cpu; /* registers with the page tables of the process */
	const struct guest_memory *memory;
	const struct mapping_layout *layout;
	unsigned int left; /* number of pieces that may still be read */
};

/* Number of pieces for a view: enough for a process with 1,000 mappings. */
#define MAPPING_PIECES 8192

/* Limit of map calls in one mappings_read() */
#define MAPPING_CALLS 4096

/*
 * Reads the mappings of files with code of the process with this struct mm_struct. False
 * if the view's limit is reached, or if they are not consistent, for example because the
 * process changes them.
 */
bool mappings_read(struct mapping_view *view, uint64_t mm,
		   struct process_mappings *mappings);

#endif
