/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/name_list.h"

#include "format/chunk.h"
#include "format/text_column.h"

/* A chunk with this many names and lines, or bytes of columns, is full. It can still take
 * one more name, which has up to 8.1 MiB of texts. */
#define FULL_NAMES (RECORDING_MAX_NAMES / 4)
#define FULL_BYTES (RECORDING_MAX_PAYLOAD / 4)

/* The fields of a CHUNK_NAMES (FORMAT.md, 5.5). */
enum names_tag {
	NAMES_COUNT = 1,
	NAMES_DOMAIN = 2,
	NAMES_ADDRESS = 3,
	NAMES_OFFSET = 4,
	NAMES_NAME = 5,
	NAMES_DSO = 6,
	NAMES_KIND = 7,
	NAMES_LINES = 8,
	NAMES_LINE_COUNT = 9,
	NAMES_FUNCTION = 10,
	NAMES_PATH = 11,
	NAMES_LINE = 12,
	NAMES_FILE_PATH = 13,
	NAMES_FILE_BUILD_ID = 14,
};

/* Bits of a name's kind. */
enum name_kind {
	KIND_SYMBOL = 1,
	KIND_COMMON = 2,
	KIND_LAST = 4,
};

void name_list_free(struct name_list *list)
{
	buffer_free(&list->domain);
	buffer_free(&list->address);
	buffer_free(&list->offset);
	buffer_free(&list->name);
	buffer_free(&list->dso);
	buffer_free(&list->kind);
	buffer_free(&list->line_count);
	buffer_free(&list->function);
	buffer_free(&list->path);
	buffer_free(&list->line);
	buffer_free(&list->file_path);
	buffer_free(&list->file_build_id);
}

static void add_line(struct name_list *list, const struct recording_line *line)
{
	text_column_put(&list->function, line->function);
	text_column_put(&list->path, line->path);
	buffer_put_varint(&list->line, line->line);
	list->lines++;
}

void name_list_add(struct name_list *list, const struct recording_name *name)
{
	unsigned int kind = (name->is_symbol ? KIND_SYMBOL : 0) |
			    (name->is_common ? KIND_COMMON : 0) |
			    (name->is_last ? KIND_LAST : 0);

	buffer_put_varint(&list->domain, name->domain);
	buffer_put_signed(&list->address, (int64_t)(name->address - list->last));
	buffer_put_varint(&list->offset, name->offset);
	text_column_put(&list->name, name->name);
	text_column_put(&list->dso, name->dso);
	buffer_put_varint(&list->kind, kind);
	list->has_kinds |= kind != 0;
	text_column_put(&list->file_path, name->file_path);
	text_column_put(&list->file_build_id, name->file_build_id);
	list->has_files |= name->file_path.length || name->file_build_id.length;
	buffer_put_varint(&list->line_count, name->line_count);
	for (uint32_t i = 0; i < name->line_count; i++)
		add_line(list, &name->lines[i]);
	list->last = name->address;
	list->count++;
}

bool name_list_full(const struct name_list *list)
{
	size_t bytes = list->domain.size + list->address.size + list->offset.size +
		       list->name.size + list->dso.size + list->kind.size +
		       list->line_count.size + list->function.size + list->path.size +
		       list->line.size + list->file_path.size + list->file_build_id.size;

	return list->count + list->lines >= FULL_NAMES || bytes >= FULL_BYTES;
}

static void put_column(struct buffer *payload, enum names_tag tag, struct buffer *column)
{
	payload->failed |= column->failed;
	field_put(payload, tag, column->data, column->size);
	buffer_reset(column);
}

/* Appends the columns that only names from symbol files need. */
static void put_more(struct name_list *list, struct buffer *payload)
{
	if (list->has_kinds)
		put_column(payload, NAMES_KIND, &list->kind);
	if (list->lines) {
		field_put_number(payload, NAMES_LINES, list->lines);
		put_column(payload, NAMES_LINE_COUNT, &list->line_count);
		put_column(payload, NAMES_FUNCTION, &list->function);
		put_column(payload, NAMES_PATH, &list->path);
		put_column(payload, NAMES_LINE, &list->line);
	}
	if (list->has_files) {
		put_column(payload, NAMES_FILE_PATH, &list->file_path);
		put_column(payload, NAMES_FILE_BUILD_ID, &list->file_build_id);
	}
	buffer_reset(&list->kind);
	buffer_reset(&list->line_count);
	buffer_reset(&list->file_path);
	buffer_reset(&list->file_build_id);
	list->has_kinds = list->has_files = false;
	list->lines = 0;
}

void name_list_finish(struct name_list *list, struct buffer *payload)
{
	field_put_number(payload, NAMES_COUNT, list->count);
	put_column(payload, NAMES_DOMAIN, &list->domain);
	put_column(payload, NAMES_ADDRESS, &list->address);
	put_column(payload, NAMES_OFFSET, &list->offset);
	put_column(payload, NAMES_NAME, &list->name);
	put_column(payload, NAMES_DSO, &list->dso);
	put_more(list, payload);
	list->count = 0;
	list->last = 0;
}

/* Takes the next number of a column; 0 if the column is missing. */
static uint64_t take_number(struct cursor *column)
{
	return column->at ? cursor_varint(column) : 0;
}

static struct recording_text take_text(struct cursor *column, size_t most)
{
	if (!column->at)
		return (struct recording_text){"", 0};
	return text_column_take(column, most);
}

/* Takes the lines of the next name. -1 if the payload is damaged. */
static int take_lines(struct name_list_reader *reader, struct recording_name *name)
{
	uint64_t count = take_number(&reader->line_count);

	if (count > RECORDING_MAX_LINES || count > reader->lines_left)
		return -1;
	reader->lines_left -= count;
	name->lines = reader->lines;
	name->line_count = (uint32_t)count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t line = cursor_varint(&reader->line);

		reader->lines[i] = (struct recording_line){
			.function = take_text(&reader->function, RECORDING_MAX_NAME),
			.path = take_text(&reader->path, RECORDING_MAX_NAME),
			.line = (uint32_t)line,
		};
		if (line > UINT32_MAX)
			return -1;
	}
	return reader->line_count.failed || reader->line.failed ||
			       reader->function.failed || reader->path.failed
		       ? -1
		       : 0;
}

/* Takes the next name: 1; 0 at the end; -1 if the payload is damaged. */
static int take_name(struct name_list_reader *reader, struct recording_name *name)
{
	uint64_t domain, kind;

	if (!reader->left)
		return 0;
	reader->left--;
	domain = take_number(&reader->domain);
	kind = take_number(&reader->kind);
	reader->last += (uint64_t)cursor_signed(&reader->address);
	*name = (struct recording_name){
		.domain = (uint32_t)domain,
		.is_symbol = kind & KIND_SYMBOL,
		.is_common = kind & KIND_COMMON,
		.is_last = kind & KIND_LAST,
		.address = reader->last,
		.offset = take_number(&reader->offset),
		.name = take_text(&reader->name, RECORDING_MAX_NAME),
		.dso = take_text(&reader->dso, RECORDING_MAX_NAME),
		.file_path = take_text(&reader->file_path, RECORDING_MAX_PATH),
		.file_build_id = take_text(&reader->file_build_id,
					   RECORDING_MAX_BUILD_ID),
	};
	if (domain > RECORDING_MAX_DOMAIN || !name->name.length || !name->name.at[0] ||
	    reader->domain.failed || reader->address.failed || reader->offset.failed ||
	    reader->name.failed || reader->dso.failed || reader->kind.failed ||
	    reader->file_path.failed || reader->file_build_id.failed)
		return -1;
	return take_lines(reader, name) < 0 ? -1 : 1;
}

/* Returns the cursor for the column @tag; NULL if no column has this tag. */
static struct cursor *column_of(struct name_list_reader *reader, uint64_t tag)
{
	struct cursor *const columns[] = {
		[NAMES_DOMAIN] = &reader->domain,
		[NAMES_ADDRESS] = &reader->address,
		[NAMES_OFFSET] = &reader->offset,
		[NAMES_NAME] = &reader->name,
		[NAMES_DSO] = &reader->dso,
		[NAMES_KIND] = &reader->kind,
		[NAMES_LINE_COUNT] = &reader->line_count,
		[NAMES_FUNCTION] = &reader->function,
		[NAMES_PATH] = &reader->path,
		[NAMES_LINE] = &reader->line,
		[NAMES_FILE_PATH] = &reader->file_path,
		[NAMES_FILE_BUILD_ID] = &reader->file_build_id,
	};

	return tag < sizeof(columns) / sizeof(columns[0]) ? columns[tag] : NULL;
}

static int take_field(struct name_list_reader *reader, struct field *field)
{
	struct cursor *column = column_of(reader, field->tag);

	if (field->tag == NAMES_COUNT)
		reader->left = cursor_varint(&field->bytes);
	else if (field->tag == NAMES_LINES)
		reader->lines_left = cursor_varint(&field->bytes);
	else if (column)
		*column = field->bytes;
	return field->bytes.failed ? -1 : 0;
}

static int take_fields(struct name_list_reader *reader, struct cursor payload)
{
	struct field field;
	struct fields_seen seen = {0};

	*reader = (struct name_list_reader){0};
	while (field_next(&payload, &field))
		if (!field_is_new(&seen, field.tag) || take_field(reader, &field) < 0)
			return -1;
	return payload.failed || reader->left > RECORDING_MAX_NAMES ||
			       reader->lines_left > RECORDING_MAX_NAMES
		       ? -1
		       : 0;
}

uint64_t name_list_count(struct cursor payload)
{
	struct name_list_reader reader;

	return take_fields(&reader, payload) < 0 ? 0 : reader.left + reader.lines_left;
}

int name_list_read(struct name_list_reader *reader, struct cursor payload)
{
	struct recording_name name;
	struct name_list_reader check;
	int status;

	if (take_fields(reader, payload) < 0)
		return -1;
	check = *reader;
	do
		status = take_name(&check, &name);
	while (status > 0);
	return status;
}

bool name_list_next(struct name_list_reader *reader, struct recording_name *name)
{
	return take_name(reader, name) > 0;
}
