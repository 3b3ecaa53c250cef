/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_REGIONS_H
#define UNIPROF_GDB_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The addresses of a guest's memory, as QEMU's monitor shows them ("info mtree -f"). All
 * other addresses are devices, which a stub reads too, although that can change them.
 * Pure functions.
 */

#define REGIONS_MAX 64

struct gdb_regions {
	struct {
		uint64_t first, last; /* guest-physical addresses */
	} region[REGIONS_MAX];
	unsigned int count;
};

/* Parses the monitor's output. False if it shows no memory. */
bool gdb_regions_parse(struct gdb_regions *regions, const char *text);

/* Whether the whole page is memory. */
bool gdb_regions_have(const struct gdb_regions *regions, uint64_t frame);

/* The size of the memory, bytes. */
uint64_t gdb_regions_size(const struct gdb_regions *regions);

#endif
