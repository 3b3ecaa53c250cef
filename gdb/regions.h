/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_REGIONS_H
#define UNIPROF_GDB_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a guest has memory, as QEMU's monitor shows it ("info mtree -f"). All else is
 * devices, which reading can change: a stub reads those too. Pure functions.
 */

#define REGIONS_MAX 64

struct gdb_regions {
	struct {
		uint64_t first, last; /* guest-physical addresses */
	} region[REGIONS_MAX];
	unsigned int count;
};

/* False if there is no memory in @text. */
bool gdb_regions_parse(struct gdb_regions *regions, const char *text);

/* Whether the whole page is memory. */
bool gdb_regions_have(const struct gdb_regions *regions, uint64_t frame);

/* Bytes of memory. */
uint64_t gdb_regions_size(const struct gdb_regions *regions);

#endif
