/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/program_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "format/chunk.h"
#include "symbols/source.h"
#include "symbols/spec.h"
#include "tables/rows_file.h"

/* Table files; docs/table.md describes them. */
#define MAGIC	    "\177uprtbl\n"
#define MAGIC_SIZE  8
#define VERSION	    1
#define HEADER_SIZE 20

enum {
	TAG_CPU = 1,
	TAG_PROGRAM = 2,
};

enum {
	TAG_NAME = 1,
	TAG_BUILD_ID = 2,
	TAG_BUILD_ID_ADDRESS = 3,
	TAG_PLACES = 4,
	TAG_HYPERCALL_PAGE = 5,
	TAG_LINUX_TEXT = 6,
	TAG_TASKS = 7,
	TAG_MODULES = 8,
	TAG_THREADS = 9,
	TAG_FIBERS = 10,
	TAG_MAPPINGS = 11,
};

#define PLACE_SIZE (8 + TABLE_PLACE_SIZE)

/* Layouts have only numbers. */
#define TASK_NUMBERS	(sizeof(struct task_layout) / sizeof(uint64_t))
#define MODULE_NUMBERS	(sizeof(struct module_layout) / sizeof(uint64_t))
#define THREAD_NUMBERS	(sizeof(struct thread_layout) / sizeof(uint64_t))
#define MAPPING_NUMBERS (sizeof(struct mapping_layout) / sizeof(uint64_t))
#define FIBER_NUMBERS	(sizeof(struct fiber_layout) / sizeof(uint64_t))

static void put_places(struct buffer *buffer, const struct table_origin *origin)
{
	for (size_t i = 0; i < origin->places; i++) {
		const struct table_place *place = &origin->place[i];
		uint8_t *to = buffer_extend(buffer, PLACE_SIZE);

		if (!to)
			return;
		put_le32(to, (uint32_t)place->address);
		put_le32(to + 4, (uint32_t)(place->address >> 32));
		memcpy(to + 8, place->bytes, TABLE_PLACE_SIZE);
	}
}

static void put_layout(struct buffer *to, unsigned int tag, const void *layout,
		       size_t count)
{
	const uint64_t *numbers = layout;
	struct buffer field = {0};

	for (size_t i = 0; i < count; i++)
		buffer_put_varint(&field, numbers[i]);
	field_put(to, tag, field.data, field.size);
	to->failed |= field.failed;
	buffer_free(&field);
}

static void put_origin(struct buffer *to, const struct table_origin *origin)
{
	struct buffer program = {0}, places = {0};

	put_places(&places, origin);
	field_put(&program, TAG_NAME, origin->name, strlen(origin->name));
	field_put(&program, TAG_BUILD_ID, origin->build_id, origin->build_id_size);
	field_put_number(&program, TAG_BUILD_ID_ADDRESS, origin->build_id_address);
	field_put(&program, TAG_PLACES, places.data, places.size);
	if (origin->hypercall_page)
		field_put_number(&program, TAG_HYPERCALL_PAGE, origin->hypercall_page);
	if (origin->linux_text)
		field_put_number(&program, TAG_LINUX_TEXT, origin->linux_text);
	if (origin->tasks.per_cpu)
		put_layout(&program, TAG_TASKS, &origin->tasks, TASK_NUMBERS);
	if (origin->modules.list)
		put_layout(&program, TAG_MODULES, &origin->modules, MODULE_NUMBERS);
	if (origin->threads.init)
		put_layout(&program, TAG_THREADS, &origin->threads, THREAD_NUMBERS);
	if (origin->mappings.order)
		put_layout(&program, TAG_MAPPINGS, &origin->mappings, MAPPING_NUMBERS);
	for (size_t i = 0; i < origin->fiber_layouts; i++)
		put_layout(&program, TAG_FIBERS, &origin->fibers[i], FIBER_NUMBERS);
	field_put(to, TAG_PROGRAM, program.data, program.size);
	to->failed |= program.failed || places.failed;
	buffer_free(&program);
	buffer_free(&places);
}

static void put_head(struct buffer *head, const struct program_table *table)
{
	uint8_t *header = buffer_extend(head, HEADER_SIZE);

	if (!header)
		return;
	memcpy(header, MAGIC, MAGIC_SIZE);
	put_le32(header + 8, VERSION);
	field_put_number(head, TAG_CPU, table->cpu);
	for (size_t i = 0; i < table->origins; i++)
		put_origin(head, &table->origin[i]);
	if (head->failed)
		return;
	put_le32(head->data + 16, (uint32_t)(head->size - HEADER_SIZE));
	put_le32(head->data + 12, (uint32_t)crc32_z(0, head->data + 16, head->size - 16));
}

static int write_all(int fd, const uint8_t *data, size_t size, const char *path,
		     struct error *err)
{
	while (size) {
		ssize_t written = write(fd, data, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return error_errno(err, errno, "can't write %s", path);
		data += written;
		size -= (size_t)written;
	}
	return 0;
}

int program_table_write(const struct program_table *table, int fd, const char *path,
			struct error *err)
{
	struct buffer head = {0};
	int status;

	put_head(&head, table);
	if (head.failed)
		status = error_set(err, "out of memory");
	else
		status = write_all(fd, head.data, head.size, path, err);
	buffer_free(&head);
	if (status < 0)
		return -1;
	return unwind_table_write(table->table, fd, err);
}

static bool take_places(struct table_origin *origin, struct cursor bytes)
{
	size_t size = (size_t)(bytes.end - bytes.at);

	if (size % PLACE_SIZE || size / PLACE_SIZE > TABLE_PLACES)
		return false;
	origin->places = size / PLACE_SIZE;
	for (size_t i = 0; i < origin->places; i++, bytes.at += PLACE_SIZE) {
		struct table_place *place = &origin->place[i];

		place->address = get_le32(bytes.at) | (uint64_t)get_le32(bytes.at + 4)
							      << 32;
		memcpy(place->bytes, bytes.at + 8, TABLE_PLACE_SIZE);
	}
	return true;
}

static bool take_layout(void *layout, size_t count, struct cursor bytes)
{
	uint64_t *numbers = layout;

	for (size_t i = 0; i < count; i++)
		numbers[i] = cursor_varint(&bytes);
	return !bytes.failed;
}

static bool take_fibers(struct table_origin *origin, struct cursor bytes)
{
	struct fiber_layout *layout = &origin->fibers[origin->fiber_layouts];

	if (origin->fiber_layouts == FIBER_LAYOUTS ||
	    !take_layout(layout, FIBER_NUMBERS, bytes) || !fiber_layout_is_valid(layout))
		return false;
	origin->fiber_layouts++;
	return true;
}

static bool take_origin_field(struct table_origin *origin, struct field field)
{
	struct cursor bytes = field.bytes;
	size_t size = (size_t)(bytes.end - bytes.at);

	switch (field.tag) {
	case TAG_NAME:
		if (size >= sizeof(origin->name))
			return false;
		memcpy(origin->name, bytes.at, size);
		return true;
	case TAG_BUILD_ID:
		if (size > sizeof(origin->build_id))
			return false;
		origin->build_id_size = size;
		memcpy(origin->build_id, bytes.at, size);
		return true;
	case TAG_BUILD_ID_ADDRESS:
		origin->build_id_address = cursor_varint(&bytes);
		return !bytes.failed;
	case TAG_PLACES:
		return take_places(origin, bytes);
	case TAG_HYPERCALL_PAGE:
		origin->hypercall_page = cursor_varint(&bytes);
		return !bytes.failed;
	case TAG_LINUX_TEXT:
		origin->linux_text = cursor_varint(&bytes);
		return !bytes.failed;
	case TAG_TASKS:
		return take_layout(&origin->tasks, TASK_NUMBERS, bytes) &&
		       task_layout_is_valid(&origin->tasks);
	case TAG_MODULES:
		return take_layout(&origin->modules, MODULE_NUMBERS, bytes) &&
		       module_layout_is_valid(&origin->modules);
	case TAG_THREADS:
		return take_layout(&origin->threads, THREAD_NUMBERS, bytes) &&
		       thread_layout_is_valid(&origin->threads);
	case TAG_MAPPINGS:
		return take_layout(&origin->mappings, MAPPING_NUMBERS, bytes) &&
		       mapping_layout_is_valid(&origin->mappings);
	case TAG_FIBERS:
		return take_fibers(origin, bytes);
	}
	return true;
}

/* Reads a program. One without a place or a build-id to compare is an error, because it
 * would be accepted in any guest. */
static bool take_origin(struct program_table *table, struct cursor payload)
{
	struct table_origin *origin;
	struct field field;

	if (table->origins == TABLE_ORIGINS ||
	    !array_grow(&table->origin, table->origins + 1, sizeof(*table->origin)))
		return false;
	origin = &table->origin[table->origins++];
	*origin = (struct table_origin){0};
	while (field_next(&payload, &field))
		if (!take_origin_field(origin, field))
			return false;
	return !payload.failed && (origin->places || origin->build_id_address) &&
	       (origin->build_id_size || !origin->build_id_address);
}

static bool take_fields(struct program_table *table, struct cursor payload)
{
	struct field field;

	while (field_next(&payload, &field)) {
		if (field.tag == TAG_CPU)
			table->cpu = (enum cpu_kind)cursor_varint(&field.bytes);
		else if (field.tag == TAG_PROGRAM && !take_origin(table, field.bytes))
			return false;
	}
	return !payload.failed && table->origins && cpu_kind_has_tables(table->cpu);
}

static int take_table(struct program_table *table, const uint8_t *data, size_t size,
		      const char *name, struct error *err)
{
	struct error why;
	uint32_t fields;

	if (size < MAGIC_SIZE || memcmp(data, MAGIC, MAGIC_SIZE) != 0)
		return error_set(err, "%s is not a table made by uniprof table", name);
	if (size < HEADER_SIZE || (fields = get_le32(data + 16)) > size - HEADER_SIZE)
		return error_set(err, "%s is damaged (truncated); make it again", name);
	if (get_le32(data + 8) != VERSION)
		return error_set(err, "%s was made by another version of uniprof", name);
	if (get_le32(data + 12) != crc32_z(0, data + 16, (size_t)fields + 4) ||
	    !take_fields(table, (struct cursor){.at = data + HEADER_SIZE,
						.end = data + HEADER_SIZE + fields}))
		return error_set(err, "%s is damaged; make it again", name);
	table->table = unwind_table_read(data + HEADER_SIZE + fields,
					 size - HEADER_SIZE - fields, &why);
	return table->table ? 0 : error_set(err, "%s: %s", name, why.text);
}

struct program_table *program_table_parse(const void *data, size_t size, const char *name,
					  struct error *err)
{
	struct program_table *table = calloc(1, sizeof(*table));

	if (!table) {
		error_set(err, "out of memory");
		return NULL;
	}
	if (take_table(table, data, size, name, err) == 0)
		return table;
	program_table_free(table);
	return NULL;
}

struct program_table *program_table_read(const char *path, struct error *err)
{
	const char *name = symbols_shown_path(path);
	struct program_table *table;
	struct symbols_source source;

	if (symbols_source_open(&source, path, name, err) < 0)
		return NULL;
	table = program_table_parse(source.data, source.size, name, err);
	symbols_source_close(&source);
	return table;
}
