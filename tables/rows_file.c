/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/rows_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "format/buffer.h"
#include "tables/build.h"
#include "unwind/table_parts.h"

/*
 * The files of unwind tables; docs/table.md describes them. A table that is read is built
 * anew from its ranges, so nothing in a file can make lookups leave the table.
 */
#define MAGIC	    "\177unwind\n"
#define MAGIC_SIZE  8
#define VERSION	    1
#define HEADER_SIZE 24
#define RULE_SIZE   20

enum {
	FROM_FP = 1 << 0,
	FROM_WORD = 1 << 1,
	FP_BY_REGISTER = 1 << 2,
	ALL_FLAGS = FROM_FP | FROM_WORD | FP_BY_REGISTER,
	OTHER_SHIFT = 8,
	OTHERS = 32, /* at most as many registers as any CPU has */
};

static void put_rule(struct buffer *buffer, const struct unwind_rule *rule)
{
	uint8_t *to = buffer_extend(buffer, RULE_SIZE);

	if (!to)
		return;
	put_le16(to, rule->kind);
	put_le16(to + 2, (uint16_t)((rule->from_fp ? FROM_FP : 0) |
				    (rule->from_word ? FROM_WORD : 0) |
				    (rule->fp_by_register ? FP_BY_REGISTER : 0) |
				    rule->other << OTHER_SHIFT));
	put_le32(to + 4, (uint32_t)rule->word);
	put_le32(to + 8, (uint32_t)rule->cfa);
	put_le32(to + 12, (uint32_t)rule->caller);
	put_le32(to + 16, (uint32_t)rule->fp);
}

/* The ranges being written. */
struct ranges {
	struct buffer *buffer;
	uint32_t count;
	uint64_t end; /* of the last range written */
	uint64_t start;
	uint32_t rule; /* of the current range; 0: there is none */
};

/* Ends the current range at @address, where @rule begins. */
static void change_rule(struct ranges *ranges, uint64_t address, uint32_t rule)
{
	if (ranges->rule) {
		buffer_put_varint(ranges->buffer, ranges->start - ranges->end);
		buffer_put_varint(ranges->buffer, address - ranges->start);
		buffer_put_varint(ranges->buffer, ranges->rule - 1);
		ranges->end = address;
		ranges->count++;
	}
	ranges->start = address;
	ranges->rule = rule;
}

static void put_segment(struct ranges *ranges, const struct unwind_table *table,
			const struct table_segment *segment)
{
	const uint32_t *index = &table->index[segment->index];

	for (uint32_t page = 0; page < segment->pages; page++) {
		uint64_t start = (segment->page + page) << ROW_PAGE_SHIFT;

		for (uint32_t i = index[page]; i < index[page + 1]; i++)
			change_rule(ranges, start + (table->row[i] >> ROW_RULE_BITS),
				    table->row[i] & ROW_RULE_MASK);
	}
	change_rule(ranges, (segment->page + segment->pages) << ROW_PAGE_SHIFT, 0);
}

static void put_table(struct buffer *buffer, const struct unwind_table *table)
{
	struct ranges ranges = {.buffer = buffer};

	buffer_extend(buffer, HEADER_SIZE);
	for (uint32_t i = 1; i < table->rules; i++)
		put_rule(buffer, &table->rule[i]);
	for (uint32_t i = 0; i < table->segments; i++)
		put_segment(&ranges, table, &table->segment[i]);
	if (buffer->failed)
		return;
	memcpy(buffer->data, MAGIC, MAGIC_SIZE);
	put_le32(buffer->data + 8, VERSION);
	put_le32(buffer->data + 16, table->rules - 1);
	put_le32(buffer->data + 20, ranges.count);
	put_le32(buffer->data + 12,
		 (uint32_t)crc32_z(0, buffer->data + 16, buffer->size - 16));
}

int unwind_table_write(const struct unwind_table *table, int fd, struct error *err)
{
	struct buffer buffer = {0};
	int status = -1;

	put_table(&buffer, table);
	if (buffer.failed) {
		error_set(err, "out of memory");
		goto out;
	}
	for (size_t at = 0; at < buffer.size;) {
		ssize_t written = write(fd, buffer.data + at, buffer.size - at);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			error_errno(err, errno, "cannot write the unwind table");
			goto out;
		}
		at += (size_t)written;
	}
	status = 0;
out:
	buffer_free(&buffer);
	return status;
}

static int damaged(struct error *err, const char *why)
{
	return error_set(err, "damaged unwind table (%s); make it again", why);
}

/* The next rule's number in the table to be made; 0 on failure. */
static uint32_t take_rule(struct cursor *cursor, struct unwind_builder *builder,
			  struct error *err)
{
	struct cursor part = cursor_take(cursor, RULE_SIZE);
	struct unwind_rule rule;
	unsigned int kind, flags;
	uint32_t number;

	if (cursor->failed) {
		damaged(err, "truncated");
		return 0;
	}
	kind = get_le16(part.at);
	flags = get_le16(part.at + 2);
	if (kind == UNWIND_UNKNOWN || kind > UNWIND_CALLED_SYSTEM ||
	    (flags & 0xff & ~(unsigned int)ALL_FLAGS) || flags >> OTHER_SHIFT > OTHERS) {
		damaged(err, "unknown rule");
		return 0;
	}
	rule = (struct unwind_rule){
		.kind = (uint8_t)kind,
		.from_fp = flags & FROM_FP,
		.from_word = flags & FROM_WORD,
		.fp_by_register = flags & FP_BY_REGISTER,
		.other = (uint8_t)(flags >> OTHER_SHIFT),
		.word = (int32_t)get_le32(part.at + 4),
		.cfa = (int32_t)get_le32(part.at + 8),
		.caller = (int32_t)get_le32(part.at + 12),
		.fp = (int32_t)get_le32(part.at + 16),
	};
	number = unwind_builder_rule(builder, &rule);
	if (!number)
		error_set(err, "out of memory");
	return number;
}

static int take_range(struct cursor *cursor, struct unwind_builder *builder,
		      const uint32_t *rules, uint32_t count, uint64_t *end,
		      struct error *err)
{
	uint64_t gap = cursor_varint(cursor), size = cursor_varint(cursor);
	uint64_t rule = cursor_varint(cursor), start;

	if (cursor->failed)
		return damaged(err, "truncated");
	if (__builtin_add_overflow(*end, gap, &start) || !size ||
	    __builtin_add_overflow(start, size, end) || rule >= count)
		return damaged(err, "invalid range");
	if (unwind_builder_add_range(builder, start, *end, rules[rule]))
		return error_set(err, "unwind table too large");
	return 0;
}

static int take_table(struct cursor *cursor, struct unwind_builder *builder,
		      uint32_t *rules, uint32_t count, uint32_t ranges, struct error *err)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < count; i++) {
		rules[i] = take_rule(cursor, builder, err);
		if (!rules[i])
			return -1;
	}
	for (uint32_t i = 0; i < ranges; i++)
		if (take_range(cursor, builder, rules, count, &end, err))
			return -1;
	if (cursor->at != cursor->end)
		return damaged(err, "trailing bytes");
	return 0;
}

static int check_header(const uint8_t *data, size_t size, struct error *err)
{
	if (size < MAGIC_SIZE || memcmp(data, MAGIC, MAGIC_SIZE) != 0)
		return error_set(err, "not an unwind table");
	if (size < HEADER_SIZE)
		return damaged(err, "truncated");
	if (get_le32(data + 8) != VERSION)
		return error_set(err,
				 "an unwind table of version %u, but this uniprof reads "
				 "version %d; make it again",
				 get_le32(data + 8), VERSION);
	if (get_le32(data + 12) != crc32_z(0, data + 16, size - 16))
		return damaged(err, "wrong checksum");
	return 0;
}

struct unwind_table *unwind_table_read(const void *data, size_t size, struct error *err)
{
	const uint8_t *bytes = data;
	struct unwind_builder *builder = NULL;
	struct unwind_table *table = NULL;
	struct cursor cursor;
	uint32_t *rules = NULL, count, ranges;

	if (check_header(bytes, size, err))
		return NULL;
	count = get_le32(bytes + 16);
	ranges = get_le32(bytes + 20);
	if (count > (size - HEADER_SIZE) / RULE_SIZE) {
		damaged(err, "truncated");
		return NULL;
	}
	cursor = (struct cursor){bytes + HEADER_SIZE, bytes + size, false};
	rules = malloc((count + 1) * sizeof(*rules));
	builder = unwind_builder_new();
	if (!rules || !builder) {
		error_set(err, "out of memory");
		goto out;
	}
	if (take_table(&cursor, builder, rules, count, ranges, err))
		goto out;
	table = unwind_builder_finish(builder);
	if (!table)
		error_set(err, "out of memory");
out:
	unwind_builder_free(builder);
	free(rules);
	return table;
}
