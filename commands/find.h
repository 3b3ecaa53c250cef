/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_FIND_H
#define UNIPROF_COMMANDS_FIND_H

#include "record/find/find.h"
#include "record/notify.h"

/* The guests whose symbol files are looked for. */
struct find_wish {
	char *const *domain; /* names or ids */
	size_t domains;
	bool all;   /* of all guests */
	bool by_id; /* for their ids, as their names may later be those of others */
	notify_function *notify; /* prints what was found; NULL: nothing is printed */
};

/* The help of --no-find. */
#define NO_FIND_HELP                                                                   \
	"without files, don't look for the guest's file where its VMM's command line " \
	"or its configuration names it"

/* Looks for the symbol files of guests of this host. Must be called before
 * anything is opened, because it starts processes. found_files_free() must follow. */
void find_files(struct found_files *found, const struct find_wish *wish);

#endif
