/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/name_list.h"

#include "format/chunk.h"

/* A chunk is written when it has this many names, or this much payload. */
#define FULL_NAMES (RECORDING_MAX_NAMES / 4)
#define FULL_BYTES (RECORDING_MAX_PAYLOAD / 2)

/* The fields of a CHUNK_NAMES (FORMAT.md, 5.5). */
enum names_tag {
	NAMES_COUNT = 1,
	NAMES_DOMAIN = 2,
	NAMES_ADDRESS = 3,
	NAMES_OFFSET = 4,
	NAMES_NAME = 5,
	NAMES_DSO = 6,
};

void name_list_free(struct name_list *list)
{
	buffer_free(&list->domain);
	buffer_free(&list->address);
	buffer_free(&list->offset);
	buffer_free(&list->name);
	buffer_free(&list->dso);
}

static void put_text(struct buffer *column, struct recording_text text)
{
	buffer_put_varint(column, text.length);
	buffer_put(column, text.at, text.length);
}

void name_list_add(struct name_list *list, const struct recording_name *name)
{
	buffer_put_varint(&list->domain, name->domain);
	buffer_put_signed(&list->address, (int64_t)(name->address - list->last));
	buffer_put_varint(&list->offset, name->offset);
	put_text(&list->name, name->name);
	put_text(&list->dso, name->dso);
	list->last = name->address;
	list->count++;
}

bool name_list_full(const struct name_list *list)
{
	size_t bytes = list->domain.size + list->address.size + list->offset.size +
		       list->name.size + list->dso.size;

	return list->count >= FULL_NAMES || bytes >= FULL_BYTES;
}

static void put_column(struct buffer *payload, enum names_tag tag, struct buffer *column)
{
	payload->failed |= column->failed;
	field_put(payload, tag, column->data, column->size);
	buffer_reset(column);
}

void name_list_finish(struct name_list *list, struct buffer *payload)
{
	field_put_number(payload, NAMES_COUNT, list->count);
	put_column(payload, NAMES_DOMAIN, &list->domain);
	put_column(payload, NAMES_ADDRESS, &list->address);
	put_column(payload, NAMES_OFFSET, &list->offset);
	put_column(payload, NAMES_NAME, &list->name);
	put_column(payload, NAMES_DSO, &list->dso);
	list->count = 0;
	list->last = 0;
}

/* The next number of a column that may be missing: then its numbers are 0. */
static uint64_t take_number(struct cursor *column)
{
	return column->at ? cursor_varint(column) : 0;
}

static struct recording_text take_text(struct cursor *column)
{
	uint64_t length = take_number(column);
	struct cursor bytes;

	if (length > RECORDING_MAX_NAME)
		column->failed = true;
	if (!column->at || column->failed)
		return (struct recording_text){"", 0};
	bytes = cursor_take(column, length);
	return (struct recording_text){(const char *)bytes.at,
				       (size_t)(bytes.end - bytes.at)};
}

/* Returns 1 and a name, 0 at the end, -1 if the payload is damaged. */
static int take_name(struct name_list_reader *reader, struct recording_name *name)
{
	uint64_t domain;

	if (!reader->left)
		return 0;
	reader->left--;
	domain = take_number(&reader->domain);
	reader->last += (uint64_t)cursor_signed(&reader->address);
	*name = (struct recording_name){
		.domain = (uint32_t)domain,
		.address = reader->last,
		.offset = take_number(&reader->offset),
		.name = take_text(&reader->name),
		.dso = take_text(&reader->dso),
	};
	if (domain > RECORDING_MAX_DOMAIN || !name->name.length || !name->name.at[0] ||
	    reader->domain.failed || reader->address.failed || reader->offset.failed ||
	    reader->name.failed || reader->dso.failed)
		return -1;
	return 1;
}

static int take_field(struct name_list_reader *reader, struct field *field)
{
	switch (field->tag) {
	case NAMES_COUNT:
		reader->left = cursor_varint(&field->bytes);
		return field->bytes.failed ? -1 : 0;
	case NAMES_DOMAIN:
		reader->domain = field->bytes;
		return 0;
	case NAMES_ADDRESS:
		reader->address = field->bytes;
		return 0;
	case NAMES_OFFSET:
		reader->offset = field->bytes;
		return 0;
	case NAMES_NAME:
		reader->name = field->bytes;
		return 0;
	case NAMES_DSO:
		reader->dso = field->bytes;
		return 0;
	default:
		return 0;
	}
}

static int take_fields(struct name_list_reader *reader, struct cursor payload)
{
	struct field field;
	uint64_t seen = 0;

	*reader = (struct name_list_reader){0};
	while (field_next(&payload, &field))
		if (!field_is_new(&seen, field.tag) || take_field(reader, &field) < 0)
			return -1;
	return payload.failed || reader->left > RECORDING_MAX_NAMES ? -1 : 0;
}

uint64_t name_list_count(struct cursor payload)
{
	struct name_list_reader reader;

	return take_fields(&reader, payload) < 0 ? 0 : reader.left;
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
