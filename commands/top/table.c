/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define NONE SIZE_MAX

void table_free(struct table *table)
{
	free(table->text);
	free(table->heading);
	free(table->rows);
	free(table->shown);
}

/* Where the names of functions are in a histogram's lines, by the heading of the columns.
 */
static size_t name_column(const struct table *table)
{
	const char *columns = table->heading_count
				      ? table->heading[table->heading_count - 1]
				      : "";
	const char *at = strstr(columns, "function");

	return at ? (size_t)(at - columns) : 0;
}

/* Finds the level of a row of a tree (output/call_tree.c). Returns whether it begins a
 * branch. */
static bool read_branch(struct table_row *row)
{
	const char *text = row->text, *at = text + strspn(text, " |");
	size_t number = strspn(at, "0123456789.");

	row->name = at;
	if (*at == '`' || (at > text && at[-1] == '|' && strncmp(at, "--", 2) == 0))
		row->level = (size_t)(at - text) - (*at != '`');
	else if (!number || at[number] != '%' || memchr(text, '|', (size_t)(at - text)))
		return false;
	at = strchr(at, '%');
	if (at)
		row->name = at + 1 + strspn(at + 1, " -");
	return true;
}

static void link_row(struct table *table, size_t number)
{
	struct table_row *rows = table->rows, *row = &rows[number];
	size_t parent = number ? rows[number - 1].branch : NONE;
	bool begins = !table->is_tree || read_branch(row) || parent == NONE;

	if (begins) {
		while (parent != NONE && rows[parent].level >= row->level)
			parent = rows[parent].parent;
		row->branch = number;
		row->parent = parent;
	} else {
		row->branch = parent;
		row->parent = rows[parent].parent;
		row->level = rows[parent].level;
	}
	row->key = hash_bytes(row->name, strlen(row->name),
			      parent == NONE ? table->seed : rows[parent].last);
	rows[row->branch].last = row->key;
	if (table->is_tree && number && (!begins || row->level > rows[number - 1].level))
		rows[rows[number - 1].branch].has_more = true;
}

static int add_row(struct table *table, const char *text, size_t column)
{
	size_t length = strlen(text), room = table->row_room * 2 + 64;

	if (table->row_count == table->row_room) {
		if (!array_grow(&table->rows, room, sizeof(*table->rows)) ||
		    !array_grow(&table->shown, room, sizeof(*table->shown)))
			return -1;
		table->row_room = room;
	}
	table->rows[table->row_count] = (struct table_row){
		.text = text,
		.name = text + (column < length ? column : length),
	};
	link_row(table, table->row_count++);
	return 0;
}

/* Splits the text into lines. -1 if out of memory. */
static int split_text(struct table *table)
{
	char *at = table->text, *end;

	table->row_count = table->heading_count = 0;
	for (; at && (end = strchr(at, '\n')); at = end + 1) {
		*end = 0;
		if (*at != '#') {
			if (add_row(table, at, name_column(table)) < 0)
				return -1;
			continue;
		}
		if (!array_grow(&table->heading, table->heading_count + 1,
				sizeof(*table->heading)))
			return -1;
		table->heading[table->heading_count++] = at;
	}
	return 0;
}

bool table_is_closed(const struct table *table, const struct table_row *row)
{
	bool is_closed = table->is_closed;

	if (!row->has_more || &table->rows[row->branch] != row)
		return false;
	for (size_t i = 0; i < table->exception_count; i++)
		if (table->exceptions[i] == row->key)
			is_closed = !table->is_closed;
	return is_closed;
}

/* Keeps the cursor within the rows, and the visible part around the cursor. */
static void fit_cursor(struct table *table)
{
	size_t most = table->shown_count > table->page ? table->shown_count - table->page
						       : 0;

	if (table->cursor >= table->shown_count)
		table->cursor = table->shown_count ? table->shown_count - 1 : 0;
	if (table->first > table->cursor)
		table->first = table->cursor;
	if (table->page && table->cursor - table->first >= table->page)
		table->first = table->cursor - table->page + 1;
	if (table->first > most)
		table->first = most;
}

/* Finds the rows that are not in a closed branch, and the cursor's row, which has this
 * key; NULL: the cursor stays. */
static void show_rows(struct table *table, const uint64_t *key)
{
	const struct table_row *closed = NULL;

	table->shown_count = 0;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct table_row *row = &table->rows[i];

		if (closed && row->branch == i && row->level <= closed->level)
			closed = NULL;
		if (closed)
			continue;
		if (table_is_closed(table, row))
			closed = row;
		if (key && row->key == *key)
			table->cursor = table->shown_count;
		table->shown[table->shown_count++] = i;
	}
	fit_cursor(table);
}

const struct table_row *table_at_cursor(const struct table *table)
{
	return table->shown_count ? &table->rows[table->shown[table->cursor]] : NULL;
}

void table_set(struct table *table, char *text, bool is_tree)
{
	const struct table_row *row = table_at_cursor(table);
	uint64_t key = row ? row->key : 0;
	bool is_at_top = table->cursor == 0;

	if (!table->seed)
		table->seed = hash_seed();
	free(table->text);
	table->text = text;
	table->is_tree = is_tree;
	if (split_text(table) < 0)
		table->row_count = table->heading_count = 0;
	show_rows(table, is_at_top ? NULL : &key);
}

void table_set_page(struct table *table, size_t rows)
{
	table->page = rows;
	fit_cursor(table);
}

void table_move(struct table *table, long rows)
{
	long to = (long)table->cursor + rows;

	table->cursor = to < 0 ? 0 : (size_t)to;
	fit_cursor(table);
}

void table_open_all(struct table *table, bool is_open)
{
	table->is_closed = !is_open;
	table->exception_count = 0;
	table->cursor = 0;
	show_rows(table, NULL);
}

/* Makes the branch differ from others, or not any more. */
static void flip(struct table *table, uint64_t key)
{
	size_t at = 0;

	while (at < table->exception_count && table->exceptions[at] != key)
		at++;
	if (at < table->exception_count)
		table->exceptions[at] = table->exceptions[--table->exception_count];
	else if (at < TABLE_EXCEPTIONS)
		table->exceptions[table->exception_count++] = key;
}

void table_toggle(struct table *table)
{
	const struct table_row *row = table_at_cursor(table);

	if (!row || !table->is_tree)
		return;
	row = &table->rows[row->branch];
	flip(table, row->key);
	show_rows(table, &row->key);
}

void table_open(struct table *table, const char *name)
{
	const struct table_row *rows = table->rows;
	size_t at = 0;

	while (at < table->row_count &&
	       (rows[at].branch != at || strcmp(rows[at].name, name) != 0))
		at++;
	if (at == table->row_count)
		return;
	for (size_t up = at; up != NONE; up = rows[up].parent)
		if (table_is_closed(table, &rows[up]))
			flip(table, rows[up].key);
	show_rows(table, &rows[at].key);
}
