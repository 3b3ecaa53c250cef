/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_GDB_MEMORY_H
#define UNIPROF_GDB_MEMORY_H

#include "gdb/regions.h"
#include "gdb/stub.h"

/*
 * Copies of a guest's pages, which can be read only while it is stopped. A pause first
 * reads, all at once, the pages that were asked for and never read, and again the pages
 * that the last pause needed, and then other pages one by one. While the guest runs,
 * there are only the copies of earlier pauses. In a round that begins while someone else
 * holds the guest, more pages are read one by one, as no pause gets longer by that.
 */
struct gdb_memory;

/* Allocates all memory that is ever needed. NULL with the reason in @err on failure. */
struct gdb_memory *gdb_memory_new(struct stub *stub, const struct gdb_regions *regions,
				  struct error *err);
void gdb_memory_free(struct gdb_memory *memory);

/* Notes that the guest is stopped from now on, or runs again. */
void gdb_memory_stopped(struct gdb_memory *memory, bool is_stopped);

/* Whether reading failed for good since the guest was stopped: -1 with the reason. */
int gdb_memory_status(const struct gdb_memory *memory, struct error *err);

/* Functions of struct guest_ops; gdb_memory_page() is both get_page() and map_page(). */
void gdb_memory_begin(void *memory, uint64_t now, unsigned int map_calls);
const void *gdb_memory_page(void *memory, uint64_t frame);
bool gdb_memory_missed(void *memory);
uint64_t gdb_memory_misses(const void *memory);

#endif
