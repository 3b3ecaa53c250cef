/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_HYPERCALLS_H
#define UNIPROF_TABLES_HYPERCALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "tables/build.h"

/* The page through which a guest makes hypercalls, which Xen fills in at run time: stubs
 * of 32 bytes (Xen, arch/x86/pv/hypercall.c, hypercall_page_initialise_ring3). */

/* Whether these 4096 bytes are such a page. */
bool hypercall_page_is_filled(const uint8_t *page);

/* Adds rules for the page at @address in a guest, with its contents (4096 bytes). -1 with
 * @err set if out of memory, or over the limits of tables. */
int unwind_table_add_hypercalls(struct unwind_builder *builder, const uint8_t *page,
				uint64_t address, struct error *err);

#endif
