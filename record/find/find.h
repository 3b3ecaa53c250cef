/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_FIND_H
#define UNIPROF_RECORD_FIND_FIND_H

#include "guest/host.h"
#include "symbols/found.h"
#include "tables/program_table.h"

/*
 * The symbol files of guests, found by what their VMMs' command lines or libxl's
 * configurations name. Whoever runs a VMM has chosen these files, so they are opened and
 * read by a process that has the VMM's user and root directory, no privileges, and
 * nothing of the host's; what it sends is checked (record/find/parcel.h). Whether a guest
 * runs a file, its memory tells later.
 */

struct found_file {
	char *domain;		      /* name or id of the guest; owned */
	char *path;		      /* as the VMM would open it, for messages; owned */
	struct program_table *table;  /* owned */
	struct symbols_found symbols; /* its data is owned; no data: no names */
};

struct found_files {
	struct found_file *list;
	size_t count;
};

/*
 * Looks for the file of a guest, for up to FIND_NS. Adds it
 * for the guest's name or, if @by_id or if it has none, for its id. -1 with the reason in
 * @err if there is none.
 */
#define FIND_NS (20ull * 1000000000)
int found_files_add(struct found_files *found, const struct guest_info *guest, bool by_id,
		    struct error *err);

/* Frees the names, which are not needed to unwind. */
void found_files_drop_symbols(struct found_files *found);
void found_files_free(struct found_files *found);

#endif
