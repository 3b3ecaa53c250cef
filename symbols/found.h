/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_FOUND_H
#define UNIPROF_SYMBOLS_FOUND_H

#include <stddef.h>

/* The symbol file of a guest that was found by what runs the guest, and read by another
 * process: only what that process has found in it is in memory (symbols/elf/plain.h). */
struct symbols_found {
	const char *domain; /* name or id of the guest */
	const char *path;   /* for messages and recordings; not to be opened */
	const void *data;   /* an ELF file */
	size_t size;	    /* bytes */
};

#endif
