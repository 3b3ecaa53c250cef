/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"
#include "tables/build.h"
#include "tables/spans.h"

/* Programs of a table where a guest has them. */

bool program_table_is_separable(const struct program_table *table)
{
	for (size_t i = 0; i < table->origins; i++)
		if (!table->origin[i].high && table->origins > 1)
			return false;
	return true;
}

static bool has_code(const struct program_table *table, size_t number)
{
	return table->program && table->program[number].code_count;
}

size_t table_span_count(const struct program_table *table, size_t number)
{
	return has_code(table, number) ? table->program[number].code_count : 1;
}

struct table_span table_span_get(const struct program_table *table, size_t number,
				 size_t span)
{
	const struct table_origin *origin = &table->origin[number];
	const struct code_range *code;
	uint64_t start;

	/* The code of a Linux kernel is not kept. */
	if (origin->linux_text)
		return (struct table_span){LINUX_START + origin->home,
					   LINUX_END + origin->home};
	if (!has_code(table, number))
		return (struct table_span){origin->low, origin->high};
	code = &table->program[number].code[span];
	start = code->address + table->program[number].offset;
	return (struct table_span){start, start + code->size};
}

/* Returns how the programs' rules get to where the guest has them; NULL if out of memory.
 */
static struct table_move *make_moves(const struct placed_table *placed, size_t *count)
{
	const struct program_table *table = placed->table;
	struct table_move *moves;
	size_t room = 0;

	for (size_t i = 0; i < table->origins; i++)
		room += table_span_count(table, i);
	moves = malloc(room * sizeof(*moves));
	*count = 0;
	for (size_t i = 0; i < table->origins && moves; i++) {
		for (size_t j = 0; j < table_span_count(table, i); j++) {
			const struct table_span span = table_span_get(table, i, j);

			moves[(*count)++] = (struct table_move){span.start, span.end,
								placed->shift[i],
								!placed->is_found[i]};
		}
	}
	return moves;
}

struct placed_table placed_table_common(const struct placed_table *placed)
{
	struct placed_table common = *placed;

	for (size_t i = 0; i < placed->table->origins; i++)
		common.is_found[i] &= !(placed->rivals >> i & 1);
	common.rivals = 0;
	return common;
}

bool placed_table_is_plain(const struct placed_table *placed)
{
	for (size_t i = 0; i < placed->table->origins; i++)
		if (placed->shift[i] || !placed->is_found[i])
			return false;
	return !placed->rivals;
}

/* Returns where the guest has a span of a program, in whole units. */
static struct table_span span_in(const struct placed_table *placed, size_t number,
				 size_t span, uint64_t unit)
{
	struct table_span units = table_span_get(placed->table, number, span);

	units.start = (units.start + placed->shift[number]) & -unit;
	units.end = (units.end + placed->shift[number] + unit - 1) & -unit;
	return units;
}

bool table_spans_overlap(const struct placed_table *placed, size_t a, size_t b,
			 uint64_t unit)
{
	for (size_t i = 0; i < table_span_count(placed->table, a); i++) {
		const struct table_span x = span_in(placed, a, i, unit);

		for (size_t j = 0; j < table_span_count(placed->table, b); j++) {
			const struct table_span y = span_in(placed, b, j, unit);

			if (y.start - x.start < x.end - x.start ||
			    x.start - y.start < y.end - y.start)
				return true;
		}
	}
	return false;
}

void placed_table_part(struct placed_table *placed)
{
	for (size_t i = 0; i < placed->table->origins; i++)
		for (size_t j = 0; j < i && placed->is_found[i]; j++)
			placed->is_found[i] = !placed->is_found[j] ||
					      !table_spans_overlap(placed, j, i,
								   GUEST_PAGE_SIZE);
}

struct unwind_table *placed_table_make(const struct placed_table *placed)
{
	size_t count;
	struct table_move *moves = make_moves(placed, &count);
	struct unwind_table *made = NULL;

	if (moves)
		made = unwind_table_move(placed->table->table, moves, count);
	free(moves);
	return made;
}

struct unwind_table *placed_table_make_locked(const struct placed_table *placed)
{
	struct unwind_table *made = placed_table_make(placed);

	if (made && unwind_table_lock(made) == 0)
		return made;
	unwind_table_free(made);
	return NULL;
}

size_t program_table_rows(const struct program_table *table, size_t number)
{
	size_t rows = 0;

	if (table->origins == 1 || !program_table_is_separable(table))
		return number ? 0 : unwind_table_rows(table->table);
	for (size_t i = 0; i < table_span_count(table, number); i++) {
		const struct table_span span = table_span_get(table, number, i);

		rows += unwind_table_rows_between(table->table, span.start, span.end);
	}
	return rows;
}

uint64_t placed_table_move(const struct placed_table *placed, size_t number)
{
	return placed->shift[number] + placed->table->origin[number].home;
}

/* Finds the number of the Linux kernel if the guest has it. False if not. */
static bool find_linux(const struct placed_table *placed, size_t *number)
{
	for (size_t i = 0; placed->table && i < placed->table->origins; i++) {
		*number = i;
		if (placed->table->origin[i].linux_text && placed->is_found[i])
			return true;
	}
	return false;
}

uint64_t placed_table_linux_shift(const struct placed_table *placed)
{
	size_t number;

	return find_linux(placed, &number) ? placed->shift[number] : 0;
}

uint64_t placed_table_linux(const struct placed_table *placed)
{
	size_t number;

	return find_linux(placed, &number)
		       ? placed->table->origin[number].linux_text + placed->shift[number]
		       : 0;
}

void placed_table_names(const struct placed_table *placed, char *to, size_t size)
{
	size_t used = 0;

	*to = 0;
	for (size_t i = 0; i < placed->table->origins && used < size; i++)
		if (placed->is_found[i])
			used += (size_t)snprintf(to + used, size - used, "%s%s",
						 used ? ", " : "",
						 placed->table->origin[i].name);
}

void placed_table_build_ids(const struct placed_table *placed, char *to, size_t size)
{
	size_t used = 0;

	*to = 0;
	for (size_t i = 0; i < placed->table->origins; i++) {
		const struct table_origin *origin = &placed->table->origin[i];

		if (!placed->is_found[i] || !origin->build_id_size ||
		    used + 2 * origin->build_id_size + 2 > size)
			continue;
		if (used)
			used += (size_t)sprintf(to + used, " ");
		for (size_t j = 0; j < origin->build_id_size; j++)
			used += (size_t)sprintf(to + used, "%02x", origin->build_id[j]);
	}
}

static bool is_in_page(uint64_t address, uint64_t page)
{
	return page && address - page < GUEST_PAGE_SIZE;
}

/* Compares a link with one of the programs. Addresses are those of the table. */
static enum program_link check_link(const struct program_table *table, size_t number,
				    uint64_t caller, uint64_t callee)
{
	const struct table_origin *origin = &table->origin[number];
	const struct unwind_rule *rule = unwind_table_find(table->table, callee);

	/* Any code may be interrupted, and handlers need not end with their function. */
	if (rule && rule->kind >= UNWIND_INTERRUPTED && callee >= origin->low &&
	    callee < origin->high)
		return LINK_POSSIBLE;
	if (origin->linux_text || is_in_page(callee, origin->hypercall_page))
		return LINK_UNKNOWN;
	return program_check_link(&table->program[number], caller, callee);
}

enum program_link placed_table_check_link(const struct placed_table *placed,
					  uint64_t caller, uint64_t callee)
{
	const struct program_table *table = placed->table;
	enum program_link link = LINK_UNKNOWN;

	if (!table->program)
		return LINK_UNKNOWN;
	for (size_t i = 0; i < table->origins; i++) {
		enum program_link here;

		if (!placed->is_found[i])
			continue;
		here = check_link(table, i, caller - placed->shift[i],
				  callee - placed->shift[i]);
		if (here == LINK_POSSIBLE || here == LINK_PROVEN)
			return here;
		/* It may be another program's, at the same address. */
		if (here == LINK_IMPOSSIBLE)
			link = here;
	}
	return link;
}
