/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FIND_FIND_H
#define UNIPROF_RECORD_FIND_FIND_H

#include <stdint.h>

#include "format/buffer.h"
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

/* The file that a VMM names, which all guests with it share. The VMM's user counts, too,
 * because what is sent of a file is only as good as its owner. */
struct found_key {
	uint64_t device, inode, changed /* mtime, ns */, size, user;
};

struct found_file {
	struct found_key key;
	char *path;		     /* as the VMM would open it, for messages; owned */
	struct program_table *table; /* owned */
	void *names;		     /* an ELF file; owned; NULL: it has no names */
	size_t names_size;	     /* bytes */
};

/* A guest's file. */
struct found_guest {
	char *domain; /* name or id of the guest; owned */
	size_t file;  /* number of the file */
};

struct found_files {
	struct found_file *file;
	size_t files;
	struct found_guest *guest;
	size_t guests;
};

/*
 * Looks for the file of a guest, for up to FIND_NS. Adds it
 * for the guest's name or, if @by_id or if it has none, for its id. -1 with the reason in
 * @err if there is none.
 */
#define FIND_NS (20ull * 1000000000)
int found_files_add(struct found_files *found, const struct guest_info *guest, bool by_id,
		    struct error *err);

/* Does the same for a guest that starts while others are sampled, for its id, for up to
 * FIND_LATER_NS. If its file is new, @sent, which is empty, gets what the process sent of
 * it; the caller frees that. */
#define FIND_LATER_NS (5ull * 1000000000)
int found_files_add_later(struct found_files *found, const struct guest_info *guest,
			  struct buffer *sent, struct error *err);
/* Adds the file that another process has received, without its names, for no guest. */
int found_files_take(struct found_files *found, const struct buffer *sent,
		     struct error *err);

/* Sets @line to where the guest's file was found, for a message. */
void found_files_describe(const struct found_files *found, size_t guest,
			  struct error *line);

/* Returns the names for a guest, by its number. */
struct symbols_found found_files_names(const struct found_files *found, size_t guest);

/* Frees the names, which are not needed to unwind. */
void found_files_drop_symbols(struct found_files *found);
void found_files_free(struct found_files *found);

#endif
