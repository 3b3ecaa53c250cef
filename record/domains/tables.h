/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_TABLES_H
#define UNIPROF_RECORD_DOMAINS_TABLES_H

#include "guest/host.h"
#include "record/options.h"
#include "tables/program_table.h"

/* The unwind tables of all domains. */
struct domain_tables;

/* Makes, or reads, and locks all tables. Takes up to some seconds; must be called before
 * any guest is paused. NULL with one line in @err on failure. */
struct domain_tables *domain_tables_open(const struct unwinding_options *options,
					 struct error *err);
/* Frees all tables; @tables may be NULL. */
void domain_tables_free(struct domain_tables *tables);

/* Returns the table for a guest, by its name or id, or else the table for all domains;
 * NULL if there is neither. @tables keeps ownership. */
const struct program_table *domain_tables_find(const struct domain_tables *tables,
					       const struct guest_info *guest);

#endif
