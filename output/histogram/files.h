/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_HISTOGRAM_FILES_H
#define UNIPROF_OUTPUT_HISTOGRAM_FILES_H

#include "base/names.h"
#include "output/report.h"

/*
 * The files that functions are in: symbol files, mapped files or, in recordings of other
 * tools, what these name. All zeros: no files are known.
 */
struct function_files {
	struct names *names; /* of files; number 0: not known, 1: several */
	struct tree
		places;	 /* one root, then domains, then functions: numbers of frames.h */
	uint32_t *files; /* by node of places: number of the name */
	uint32_t room;
};

/* Finds the files of all functions of the report, once it is complete. -1 if out of
 * memory; function_files_free() must be called either way. */
int function_files_fill(struct function_files *files, const struct report *report);
void function_files_free(struct function_files *files);

/* Returns the domain that the function @domain represents, for function_files_find(). */
uint32_t function_files_domain(const struct function_files *files, uint32_t domain);
/* Returns the number of the function's file, and its name. */
uint32_t function_files_find(const struct function_files *files, uint32_t domain,
			     uint32_t function);
const char *function_files_name(const struct function_files *files, uint32_t file);
uint32_t function_files_count(const struct function_files *files);

#endif
