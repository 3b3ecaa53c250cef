/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_MODULES_H
#define UNIPROF_RECORD_LINUX_MODULES_H

#include "arch/arch.h"
#include "base/chain.h"
#include "tables/linux/layout.h"
#include "unwind/table.h"

/*
 * The unwind table of the modules of a guest's Linux kernel that chains were seen to go
 * through, made from the kernel's own tables of its modules (ORC). These are read from
 * the guest's memory while it runs, and nothing there is trusted: at worst, a hostile
 * guest gets other chains.
 */
struct modules;

/* Starts without modules; NULL if out of memory. @layout must outlive the result. */
struct modules *modules_new(const struct module_layout *layout);
/* Frees all tables; @modules may be NULL. */
void modules_free(struct modules *modules);

/* Limit of map calls in one modules_look() */
#define MODULES_MAPS 1024

/* Maximum number of rows of one module, and of all modules in a table */
#define MODULE_ROWS_MAX	 (1u << 17)
#define MODULES_ROWS_MAX (1u << 18)

/* Returns whether modules_look() is due: because the chain goes through code of modules
 * without rules or, from time to time, in any case. @now: ns, monotonic. */
bool modules_are_due(const struct modules *modules, const struct chain *chain,
		     uint64_t now);

/*
 * Looks for the modules that the chain goes through and that have no rules, and whether
 * the modules with rules are still loaded. Afterwards, modules_table() may return another
 * table. @cpu has the vCPU's registers at the sample. True, a limited number of times, if
 * the next chain may be longer. Takes bounded time.
 */
bool modules_look(struct modules *modules, const struct cpu *cpu,
		  const struct guest_memory *memory, const struct chain *chain,
		  uint64_t now);

/* Returns the table, locked in memory and valid until the next modules_look(); NULL if
 * there is none. */
const struct unwind_table *modules_table(const struct modules *modules);

#endif
