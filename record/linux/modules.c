/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "record/linux/module_list.h"
#include "tables/orc.h"

/* The first FREE_LOOKS looks, or looks of FREE_NS of CPU time, are made at once. Later
 * looks are LOOK_NS apart, or COST_FACTOR times the time of the last look: a guest
 * that loads modules all the time, or has code that belongs to no module, costs 2 % of
 * a CPU. */
#define FREE_LOOKS  256
#define FREE_NS	    (NS_PER_S / 2)
#define LOOK_NS	    (NS_PER_S / 10)
#define COST_FACTOR 50

/* A module in the list. */
struct known {
	struct module_entry entry;
	bool is_added; /* its rules are in the table */
};

struct modules {
	const struct module_layout *layout;
	struct module_scan scan;
	uint64_t head; /* address of the list's head; 0: not known */
	struct known known[MODULES_MAX];
	size_t count;	 /* number of known modules */
	bool is_current; /* the list has no other modules, except for newer ones */
	/* Memory to read a new list. */
	struct module_entry entry[MODULES_MAX];
	struct known next[MODULES_MAX];
	struct unwind_builder *builder; /* NULL: nothing was added */
	size_t rows;			/* number of rows added */
	struct unwind_table *table;	/* NULL: there is none */
	uint64_t due;			/* time of the next look, ns, monotonic */
	unsigned int looks;		/* free looks so far */
	uint64_t spent;			/* CPU time of all looks, ns */
};

struct modules *modules_new(const struct module_layout *layout)
{
	struct modules *modules = calloc(1, sizeof(*modules));

	if (modules)
		modules->layout = layout;
	return modules;
}

/* Forgets all rules. */
static void forget_rules(struct modules *modules)
{
	unwind_table_free(modules->table);
	unwind_builder_free(modules->builder);
	modules->table = NULL;
	modules->builder = NULL;
	modules->rows = 0;
	for (size_t i = 0; i < modules->count; i++)
		modules->known[i].is_added = false;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	forget_rules(modules);
	free(modules);
}

const struct unwind_table *modules_table(const struct modules *modules)
{
	return modules->table;
}

/* Adds the rules of a module; false if its tables are not readable, or too large. */
static bool add_rules(struct modules *modules, struct module_view *view,
		      const struct module_entry *entry)
{
	size_t count = entry->orcs;
	struct orc_module module = {.count = count,
				    .address = entry->ips,
				    .start = entry->start,
				    .end = entry->start + entry->size};
	uint8_t *ips, *rows;
	bool added = false;

	if (count > MODULE_ROWS_MAX || count > MODULES_ROWS_MAX - modules->rows)
		return false;
	if (!modules->builder)
		modules->builder = unwind_builder_new();
	ips = malloc(count * (ORC_IP_SIZE + ORC_ROW_SIZE));
	if (ips && modules->builder) {
		rows = ips + count * ORC_IP_SIZE;
		module.ips = ips;
		module.rows = rows;
		added = cpu_copy(view->cpu, view->memory, entry->ips, ips,
				 count * ORC_IP_SIZE) &&
			cpu_copy(view->cpu, view->memory, entry->rows, rows,
				 count * ORC_ROW_SIZE) &&
			unwind_table_add_orc_module(modules->builder, &module) == 0;
	}
	free(ips);
	if (added)
		modules->rows += count;
	return added;
}

static struct known *find_module(struct modules *modules, uint64_t address)
{
	for (size_t i = 0; i < modules->count; i++)
		if (address - modules->known[i].entry.start <
		    modules->known[i].entry.size)
			return &modules->known[i];
	return NULL;
}

/* Returns whether @place is in code of modules, and there are no rules for it. */
static bool is_missing(const struct modules *modules, uint64_t place)
{
	return place >= MODULES_START && place < MODULES_END &&
	       !(modules->table && unwind_table_find(modules->table, place));
}

/* Returns the @i-th place of the chain; of a return address, the byte before it, because
 * the address itself may belong to the next function. */
static uint64_t place_of(const struct chain *chain, uint32_t i)
{
	return chain->address[i] - (i > 0);
}

/* Returns the first place of the chain in code of modules without rules; 0 if there is
 * none. */
static uint64_t first_missing(const struct modules *modules, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++)
		if (is_missing(modules, place_of(chain, i)))
			return place_of(chain, i);
	return 0;
}

static bool is_same_module(const struct module_entry *a, const struct module_entry *b)
{
	return a->start == b->start && a->size == b->size && a->ips == b->ips &&
	       a->rows == b->rows && a->orcs == b->orcs;
}

/* Returns whether the new list, of @count modules, has the module unchanged. */
static bool is_in_list(const struct modules *modules, const struct module_entry *module,
		       size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_module(&modules->entry[i], module))
			return true;
	return false;
}

/* Reads the list again if there are newer modules. If a module with rules is gone, all
 * rules are forgotten: another module may be in its place. */
static void read_list(struct modules *modules, struct module_view *view)
{
	struct module_entry newest;
	bool is_gone = false;
	size_t count;

	if (!module_list_newest(view, modules->head, &newest) ||
	    (modules->is_current && is_same_module(&newest, &modules->known[0].entry)))
		return;
	count = module_list_read(view, modules->head, modules->entry);
	if (!count)
		return;
	for (size_t i = 0; i < modules->count; i++) {
		const struct known *known = &modules->known[i];

		is_gone |= known->is_added && !is_in_list(modules, &known->entry, count);
	}
	if (is_gone)
		forget_rules(modules);
	for (size_t i = 0; i < count; i++) {
		const struct module_entry *entry = &modules->entry[i];
		const struct known *known = find_module(modules, entry->start);

		modules->next[i] = (struct known){*entry, known && known->is_added};
	}
	memcpy(modules->known, modules->next, count * sizeof(*modules->known));
	modules->count = count;
	modules->is_current = true;
}

/* Adds the rules of the chain's modules; true if any were added. */
static bool add_modules(struct modules *modules, struct module_view *view,
			const struct chain *chain)
{
	bool added = false;

	for (uint32_t i = 0; i < chain->count; i++) {
		uint64_t place = place_of(chain, i);
		struct known *known;

		known = is_missing(modules, place) ? find_module(modules, place) : NULL;
		if (!known || known->is_added)
			continue;
		/* The module was being loaded. */
		if (!known->entry.orcs) {
			modules->is_current = false;
			continue;
		}
		known->is_added = add_rules(modules, view, &known->entry);
		added |= known->is_added;
	}
	return added;
}

/* Makes a new table of the rules; true if it can be used. */
static bool renew_table(struct modules *modules)
{
	struct unwind_table *table = unwind_builder_finish(modules->builder);

	if (!table || unwind_table_lock(table) < 0) {
		unwind_table_free(table);
		return false;
	}
	unwind_table_free(modules->table);
	modules->table = table;
	return true;
}

/* Looks for modules of the chain; true if the next chain may be longer. */
static bool look_for_modules(struct modules *modules, struct module_view *view,
			     const struct chain *chain)
{
	uint64_t missing = first_missing(modules, chain);

	if (!modules->head && !missing)
		return false;
	if (!modules->head) {
		modules->head = module_list_scan(&modules->scan, view, missing);
		/* The next look continues the search. */
		return modules->head || modules->scan.start;
	}
	read_list(modules, view);
	return add_modules(modules, view, chain) && renew_table(modules);
}

/* Returns whether the next look may be made at once. */
static bool is_free(const struct modules *modules)
{
	return modules->looks < FREE_LOOKS && modules->spent < FREE_NS;
}

bool modules_are_due(const struct modules *modules, const struct chain *chain,
		     uint64_t now)
{
	return now >= modules->due || (is_free(modules) && first_missing(modules, chain));
}

bool modules_look(struct modules *modules, const struct cpu *cpu,
		  const struct guest_memory *memory, const struct chain *chain,
		  uint64_t now)
{
	struct module_view view = {.cpu = cpu,
				   .memory = memory,
				   .layout = modules->layout,
				   .left = MODULE_WORDS};
	uint64_t start = clock_monotonic(), cost;
	bool found;

	if (cpu_kind(cpu) != CPU_X86_64)
		return false;
	found = look_for_modules(modules, &view, chain);
	cost = clock_monotonic() - start;
	modules->due = now +
		       (COST_FACTOR * cost > LOOK_NS ? COST_FACTOR * cost : LOOK_NS);
	modules->spent += cost;
	modules->looks += is_free(modules);
	return found && is_free(modules);
}
