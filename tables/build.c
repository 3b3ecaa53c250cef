/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/build.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "unwind/table_parts.h"

/* Addresses from start up to end with one rule. */
struct table_range {
	uint64_t start, end;
	uint32_t order; /* the lowest one has priority */
	uint32_t rule;
};

struct unwind_builder {
	struct table_range *range;
	size_t ranges, range_room;
	size_t settled;	  /* number of ranges, the first ones, that are in order */
	bool is_unsorted; /* ranges overlap or are not in ascending order */
	uint64_t bytes;	  /* sum of the ranges */
	struct unwind_rule *rule;
	size_t rules, rule_room; /* rule[0] is not used */
	uint32_t *slot;		 /* hash table of rules; 0: free */
	size_t slots;
	uint64_t seed;
	bool is_guess; /* rules are guesses */
};

_Static_assert(TABLE_RULES_MAX == (size_t)1 << ROW_RULE_BITS,
	       "a row has a rule's number");

struct unwind_builder *unwind_builder_new(void)
{
	struct unwind_builder *builder = calloc(1, sizeof(*builder));

	if (builder) {
		builder->seed = hash_seed();
		builder->rules = 1;
	}
	return builder;
}

void unwind_builder_guess(struct unwind_builder *builder)
{
	builder->is_guess = true;
}

void unwind_builder_free(struct unwind_builder *builder)
{
	if (!builder)
		return;
	free(builder->range);
	free(builder->rule);
	free(builder->slot);
	free(builder);
}

/* Clears members that have no effect, so that equal rules have equal bytes. */
static struct unwind_rule rule_normalize(const struct unwind_rule *rule, bool is_guess)
{
	struct unwind_rule same;

	memset(&same, 0, sizeof(same));
	same.kind = rule->kind;
	same.is_guess = is_guess;
	if (rule->kind == UNWIND_OUTERMOST)
		return same;
	if (rule->kind == UNWIND_CALLED_SYSTEM) {
		same.other = rule->other;
		same.word = rule->word;
		same.fp = UNWIND_KEPT;
		return same;
	}
	same.from_fp = rule->from_fp;
	same.other = rule->kind == UNWIND_CALLER ? rule->other : 0;
	same.from_word = rule->kind == UNWIND_CALLER && rule->from_word;
	same.fp_by_register = rule->kind == UNWIND_CALLER && rule->fp_by_register &&
			      rule->fp != UNWIND_KEPT && rule->fp != UNWIND_LOST;
	if (rule->kind == UNWIND_INTERRUPTED || rule->from_word)
		same.word = rule->word;
	same.cfa = rule->cfa;
	same.caller = rule->caller;
	same.fp = rule->fp;
	same.is_plain = !same.is_guess && rule->kind == UNWIND_CALLER &&
			!rule->from_word && !rule->other && rule->caller != UNWIND_KEPT;
	return same;
}

/* The slot of the rule, or the free one where it belongs. */
static uint32_t *rule_slot(const struct unwind_builder *builder,
			   const struct unwind_rule *rule)
{
	size_t at = (size_t)hash_bytes(rule, sizeof(*rule), builder->seed);

	for (;; at++) {
		uint32_t *slot = &builder->slot[at & (builder->slots - 1)];

		if (!*slot || !memcmp(&builder->rule[*slot], rule, sizeof(*rule)))
			return slot;
	}
}

/* Keeps half of the slots free. */
static bool builder_grow_rules(struct unwind_builder *builder)
{
	size_t room = builder->rule_room ? builder->rule_room * 2 : 64;
	uint32_t *slots;

	if (builder->rules < builder->rule_room)
		return true;
	slots = calloc(room * 2, sizeof(*slots));
	if (!slots || !array_grow(&builder->rule, room, sizeof(*builder->rule))) {
		free(slots);
		return false;
	}
	free(builder->slot);
	builder->slot = slots;
	builder->slots = room * 2;
	builder->rule_room = room;
	for (uint32_t i = 1; i < builder->rules; i++)
		*rule_slot(builder, &builder->rule[i]) = i;
	return true;
}

uint32_t unwind_builder_rule(struct unwind_builder *builder,
			     const struct unwind_rule *rule)
{
	struct unwind_rule same = rule_normalize(rule, builder->is_guess);
	uint32_t *slot;

	if (!builder_grow_rules(builder))
		return 0;
	slot = rule_slot(builder, &same);
	if (!*slot && builder->rules < TABLE_RULES_MAX) {
		builder->rule[builder->rules] = same;
		*slot = (uint32_t)builder->rules++;
	}
	return *slot;
}

int unwind_builder_add_range(struct unwind_builder *builder, uint64_t start, uint64_t end,
			     uint32_t rule)
{
	struct table_range *last = NULL;
	size_t room = builder->range_room ? builder->range_room * 2 : 1024;

	if (builder->ranges)
		last = &builder->range[builder->ranges - 1];
	if (end - start > TABLE_BYTES_MAX - builder->bytes)
		return -1;
	builder->bytes += end - start;
	if (last && last->end == start && last->rule == rule) {
		last->end = end;
		return 0;
	}
	if (builder->ranges == TABLE_RANGES_MAX)
		return -1;
	if (last && start < last->end)
		builder->is_unsorted = true;
	if (builder->ranges == builder->range_room) {
		if (!array_grow(&builder->range, room, sizeof(*builder->range)))
			return -1;
		builder->range_room = room;
	}
	builder->range[builder->ranges] = (struct table_range){
		.start = start,
		.end = end,
		.order = (uint32_t)builder->ranges,
		.rule = rule,
	};
	builder->ranges++;
	return 0;
}

int unwind_builder_add(struct unwind_builder *builder, uint64_t start, uint64_t end,
		       const struct unwind_rule *rule)
{
	uint32_t number;

	if (rule->kind == UNWIND_UNKNOWN || start >= end)
		return 0;
	number = unwind_builder_rule(builder, rule);
	return number ? unwind_builder_add_range(builder, start, end, number) : -1;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct table_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* Sorts ranges, which are mostly in ascending order already: only the ranges that start
 * before an earlier one are taken out, to @moved with room for @count, sorted by
 * qsort(), and merged. */
static void sort_ranges(struct table_range *range, size_t count,
			struct table_range *moved)
{
	size_t kept = 0, left = 0; /* numbers of ranges in @range and in @moved */

	for (size_t i = 0; i < count; i++) {
		if (kept && compare_ranges(&range[i], &range[kept - 1]) < 0)
			moved[left++] = range[i];
		else
			range[kept++] = range[i];
	}
	qsort(moved, left, sizeof(*moved), compare_ranges);
	while (left) {
		size_t at = kept + left - 1;

		if (kept && compare_ranges(&range[kept - 1], &moved[left - 1]) > 0)
			range[at] = range[--kept];
		else
			range[at] = moved[--left];
	}
}

/* The ranges that contain an address, as a binary heap: the first one has priority. */
struct heap {
	struct table_range *range;
	size_t count;
};

static void heap_push(struct heap *heap, const struct table_range *range)
{
	size_t at = heap->count++;

	while (at && heap->range[(at - 1) / 2].order > range->order) {
		heap->range[at] = heap->range[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->range[at] = *range;
}

static void heap_pop(struct heap *heap)
{
	const struct table_range *last = &heap->range[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count &&
		    heap->range[child + 1].order < heap->range[child].order)
			child++;
		if (heap->range[child].order > last->order)
			break;
		heap->range[at] = heap->range[child];
		at = child;
	}
	heap->range[at] = *last;
}

/* Appends a part of a range, or extends the last one. */
static void append_part(struct table_range *parts, size_t *count, uint64_t start,
			uint64_t end, uint32_t rule)
{
	struct table_range *last = *count ? &parts[*count - 1] : NULL;

	if (last && last->end == start && last->rule == rule)
		last->end = end;
	else
		parts[(*count)++] = (struct table_range){start, end, 0, rule};
}

/* Makes parts that do not overlap of sorted ranges. There are fewer than two parts for
 * each range, because each part starts where a range starts or ends. */
static size_t split_ranges(const struct table_range *range, size_t count,
			   struct table_range *parts, struct heap *heap)
{
	size_t next = 0, made = 0;
	uint64_t at = 0;

	while (next < count || heap->count) {
		uint64_t end;

		if (!heap->count && at < range[next].start)
			at = range[next].start;
		while (next < count && range[next].start <= at)
			heap_push(heap, &range[next++]);
		if (heap->range[0].end <= at) {
			heap_pop(heap);
			continue;
		}
		end = heap->range[0].end;
		if (next < count && range[next].start < end)
			end = range[next].start;
		append_part(parts, &made, at, end, heap->range[0].rule);
		at = end;
	}
	return made;
}

/* Replaces the ranges from number @first on by ascending ones that do not overlap. False
 * if out of memory. */
static bool replace_ranges(struct unwind_builder *builder, size_t first)
{
	size_t count = builder->ranges - first, made = 0;
	struct table_range *parts = malloc(2 * count * sizeof(*parts));
	struct heap heap = {.range = malloc(count * sizeof(*heap.range))};
	bool has_room = parts && heap.range;

	if (has_room) {
		sort_ranges(builder->range + first, count, parts);
		made = split_ranges(builder->range + first, count, parts, &heap);
	}
	if (has_room && first + made > builder->range_room) {
		has_room = array_grow(&builder->range, first + made,
				      sizeof(*builder->range));
		if (has_room)
			builder->range_room = first + made;
	}
	if (has_room) {
		memcpy(builder->range + first, parts, made * sizeof(*parts));
		builder->ranges = first + made;
		for (size_t i = first; i < builder->ranges; i++)
			builder->range[i].order = (uint32_t)i;
	}
	free(heap.range);
	free(parts);
	return has_room;
}

/* Sorts the ranges from number @first on, which are all above earlier ones. They keep
 * their priority over ranges that are added later. False if out of memory. */
static bool builder_sort_ranges(struct unwind_builder *builder, size_t first)
{
	if (builder->is_unsorted && !replace_ranges(builder, first))
		return false;
	builder->is_unsorted = false;
	builder->settled = builder->ranges;
	return true;
}

bool unwind_builder_settle(struct unwind_builder *builder)
{
	size_t first = builder->settled;
	uint64_t end = first ? builder->range[first - 1].end : 0;

	for (size_t i = first; i < builder->ranges; i++)
		if (builder->range[i].start < end)
			return true;
	return builder_sort_ranges(builder, first);
}

/* Pages without rows that are in a segment rather than between two: they take 4 bytes
 * each, a segment 16 and its part of the index. */
#define SEGMENT_GAP 4

/* A table being filled; it has no arrays while its rows are only counted. */
struct filling {
	struct unwind_table *table;
	struct table_segment segment;
	uint64_t end; /* of the last range */
};

static void put_row(struct filling *filling, uint64_t address, uint32_t rule)
{
	struct unwind_table *table = filling->table;
	struct table_segment *segment = &filling->segment;

	/* Index the row's page, and earlier pages without rows, from this row on. */
	for (; segment->page + segment->pages <= address >> ROW_PAGE_SHIFT;
	     segment->pages++) {
		if (table->index)
			table->index[table->indexes] = table->rows;
		table->indexes++;
	}
	if (table->row)
		table->row[table->rows] = (uint32_t)address << ROW_RULE_BITS | rule;
	table->rows++;
}

/* Ends the segment with its last page, which contains the end of the last range. */
static void end_segment(struct filling *filling)
{
	struct unwind_table *table = filling->table;
	struct table_segment *segment = &filling->segment;
	uint64_t last = (filling->end - 1) >> ROW_PAGE_SHIFT;

	if (filling->end >> ROW_PAGE_SHIFT == last)
		put_row(filling, filling->end, 0);
	for (uint64_t i = segment->page + segment->pages; i <= last + 1; i++) {
		if (table->index)
			table->index[table->indexes] = table->rows;
		table->indexes++;
	}
	segment->pages = (uint32_t)(last + 1 - segment->page);
	if (table->segment)
		table->segment[table->segments] = *segment;
	table->segments++;
}

static void start_segment(struct filling *filling, uint64_t address)
{
	uint64_t page = address >> ROW_PAGE_SHIFT;

	filling->segment = (struct table_segment){page, 0, filling->table->indexes};
	if (page << ROW_PAGE_SHIFT != address)
		put_row(filling, page << ROW_PAGE_SHIFT, 0);
}

/* Counts the segments, rows and index of a table. Fills its arrays, if there are any. */
static void table_fill(struct unwind_table *table, const struct unwind_builder *builder)
{
	struct filling filling = {.table = table};

	table->segments = table->indexes = table->rows = 0;
	for (size_t i = 0; i < builder->ranges; i++) {
		const struct table_range *range = &builder->range[i];
		uint64_t last = (filling.end - 1) >> ROW_PAGE_SHIFT;

		if (!i) {
			start_segment(&filling, range->start);
		} else if ((range->start >> ROW_PAGE_SHIFT) - last > SEGMENT_GAP) {
			end_segment(&filling);
			start_segment(&filling, range->start);
		} else if (filling.end != range->start) {
			put_row(&filling, filling.end, 0);
		}
		put_row(&filling, range->start, range->rule);
		filling.end = range->end;
	}
	if (builder->ranges)
		end_segment(&filling);
}

/* Sets the pointers to the arrays, which follow the table. */
static void place_arrays(struct unwind_table *table)
{
	table->segment = (struct table_segment *)(table + 1);
	table->rule = (struct unwind_rule *)(table->segment + table->segments);
	table->index = (uint32_t *)(table->rule + table->rules);
	table->row = table->index + table->indexes;
}

struct unwind_table *unwind_builder_finish(struct unwind_builder *builder)
{
	struct unwind_table counted = {.rules = (uint32_t)builder->rules};
	struct unwind_table *table;

	if (!builder_sort_ranges(builder, 0))
		return NULL;
	table_fill(&counted, builder);
	counted.size = sizeof(*table) + counted.segments * sizeof(*table->segment) +
		       counted.rules * sizeof(*table->rule) +
		       counted.indexes * sizeof(*table->index) +
		       counted.rows * sizeof(*table->row);
	table = calloc(1, counted.size);
	if (!table)
		return NULL;
	*table = counted;
	table->serial = hash_seed();
	place_arrays(table);
	if (builder->rules > 1)
		memcpy(table->rule + 1, builder->rule + 1,
		       (builder->rules - 1) * sizeof(*table->rule));
	table_fill(table, builder);
	return table;
}

static int compare_segments(const void *left, const void *right)
{
	const struct table_segment *a = left, *b = right;

	return (a->page > b->page) - (a->page < b->page);
}

static bool is_between(const struct table_segment *segment, uint64_t start, uint64_t end)
{
	return segment->page >= start >> ROW_PAGE_SHIFT &&
	       segment->page < (end + (1 << ROW_PAGE_SHIFT) - 1) >> ROW_PAGE_SHIFT;
}

/* Moves a segment. False if it is left out. */
static bool segment_move(struct table_segment *segment, const struct table_move *moves,
			 size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_between(segment, moves[i].start, moves[i].end))
			continue;
		segment->page += moves[i].distance >> ROW_PAGE_SHIFT;
		segment->page &= UINT64_MAX >> ROW_PAGE_SHIFT;
		return !moves[i].is_left_out;
	}
	return true;
}

struct unwind_table *unwind_table_move(const struct unwind_table *table,
				       const struct table_move *moves, size_t count)
{
	struct unwind_table *moved = malloc(table->size);
	uint32_t segments = 0;

	if (!moved)
		return NULL;
	memcpy(moved, table, table->size);
	moved->serial = hash_seed();
	place_arrays(moved);
	for (uint32_t i = 0; i < moved->segments; i++) {
		struct table_segment segment = moved->segment[i];

		if (segment_move(&segment, moves, count))
			moved->segment[segments++] = segment;
	}
	/* The other arrays stay where they are. */
	moved->segments = segments;
	qsort(moved->segment, moved->segments, sizeof(*moved->segment), compare_segments);
	for (uint32_t i = 1; i < moved->segments; i++) {
		const struct table_segment *before = &moved->segment[i - 1];

		if (moved->segment[i].page - before->page >= before->pages)
			continue;
		unwind_table_free(moved);
		return NULL;
	}
	return moved;
}

/* Returns the address of a segment's first rule: its first row may be an empty one at the
 * start of the page. */
static uint64_t segment_start(const struct unwind_table *table,
			      const struct table_segment *segment)
{
	uint32_t row = table->index[segment->index];

	row += (table->row[row] & ROW_RULE_MASK) == 0;
	return (segment->page << ROW_PAGE_SHIFT) + (table->row[row] >> ROW_RULE_BITS);
}

size_t unwind_table_rows_between(const struct unwind_table *table, uint64_t start,
				 uint64_t end)
{
	size_t rows = 0;

	for (uint32_t i = 0; i < table->segments; i++) {
		const struct table_segment *segment = &table->segment[i];
		const uint32_t *index = &table->index[segment->index];

		if (segment_start(table, segment) - start < end - start)
			rows += index[segment->pages] - index[0];
	}
	return rows;
}
