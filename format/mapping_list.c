/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/mapping_list.h"

#include "format/chunk.h"
#include "format/text_column.h"

/* A chunk with this many mappings, or bytes of columns, is full. */
#define FULL_MAPPINGS (RECORDING_MAX_NAMES / 4)
#define FULL_BYTES    (RECORDING_MAX_PAYLOAD / 4)

/* Addresses and offsets are multiples of this. */
#define UNIT 4096

void mapping_list_free(struct mapping_list *list)
{
	for (unsigned int tag = 0; tag < MAPPINGS_TAGS; tag++)
		buffer_free(&list->column[tag]);
}

void mapping_list_add(struct mapping_list *list, const struct recording_mapping *mapping)
{
	const struct recording_mapping *last = &list->last;
	struct buffer *column = list->column;

	buffer_put_varint(&column[MAPPINGS_DOMAIN], mapping->domain);
	buffer_put_signed(&column[MAPPINGS_SPACE],
			  (int64_t)(mapping->space - last->space));
	buffer_put_signed(&column[MAPPINGS_PID],
			  (int64_t)mapping->pid - (int64_t)last->pid);
	buffer_put_signed(&column[MAPPINGS_TIME], (int64_t)(mapping->time - last->time));
	buffer_put_signed(&column[MAPPINGS_START],
			  (int64_t)(mapping->start / UNIT - last->start / UNIT));
	buffer_put_varint(&column[MAPPINGS_SIZE], mapping->size / UNIT);
	buffer_put_varint(&column[MAPPINGS_OFFSET], mapping->offset / UNIT);
	text_column_put(&column[MAPPINGS_PATH], mapping->path);
	text_column_put(&column[MAPPINGS_BUILD_ID], mapping->build_id);
	list->last = *mapping;
	list->count++;
}

bool mapping_list_full(const struct mapping_list *list)
{
	size_t bytes = 0;

	for (unsigned int tag = 0; tag < MAPPINGS_TAGS; tag++)
		bytes += list->column[tag].size;
	return list->count >= FULL_MAPPINGS || bytes >= FULL_BYTES;
}

void mapping_list_finish(struct mapping_list *list, struct buffer *payload)
{
	field_put_number(payload, MAPPINGS_COUNT, list->count);
	for (unsigned int tag = MAPPINGS_COUNT + 1; tag < MAPPINGS_TAGS; tag++) {
		struct buffer *column = &list->column[tag];

		payload->failed |= column->failed;
		field_put(payload, tag, column->data, column->size);
		buffer_reset(column);
	}
	list->count = 0;
	list->last = (struct recording_mapping){0};
}

/* Takes the next mapping: 1; 0 at the end; -1 if the payload is damaged. */
static int take_mapping(struct mapping_list_reader *reader,
			struct recording_mapping *mapping)
{
	struct recording_mapping *last = &reader->last;
	struct cursor *column = reader->column;
	uint64_t domain, pid, size, offset;

	if (!reader->left)
		return 0;
	reader->left--;
	domain = cursor_varint(&column[MAPPINGS_DOMAIN]);
	pid = last->pid + (uint64_t)cursor_signed(&column[MAPPINGS_PID]);
	last->domain = (uint32_t)domain;
	last->pid = (uint32_t)pid;
	last->space += (uint64_t)cursor_signed(&column[MAPPINGS_SPACE]);
	last->time += (uint64_t)cursor_signed(&column[MAPPINGS_TIME]);
	last->start += UNIT * (uint64_t)cursor_signed(&column[MAPPINGS_START]);
	size = cursor_varint(&column[MAPPINGS_SIZE]);
	offset = cursor_varint(&column[MAPPINGS_OFFSET]);
	last->size = UNIT * size;
	last->offset = UNIT * offset;
	last->path = text_column_take(&column[MAPPINGS_PATH], RECORDING_MAX_PATH);
	last->build_id = text_column_take(&column[MAPPINGS_BUILD_ID],
					  RECORDING_MAX_BUILD_ID);
	*mapping = *last;
	for (unsigned int tag = MAPPINGS_COUNT + 1; tag < MAPPINGS_TAGS; tag++)
		if (column[tag].failed)
			return -1;
	if (domain > RECORDING_MAX_DOMAIN || pid > UINT32_MAX || !size ||
	    size > UINT64_MAX / UNIT || offset > UINT64_MAX / UNIT)
		return -1;
	return last->size - 1 > UINT64_MAX - last->start ? -1 : 1;
}

static int take_fields(struct mapping_list_reader *reader, struct cursor payload)
{
	struct field field;
	struct fields_seen seen = {0};

	*reader = (struct mapping_list_reader){0};
	while (field_next(&payload, &field)) {
		if (!field_is_new(&seen, field.tag))
			return -1;
		if (field.tag == MAPPINGS_COUNT)
			reader->left = cursor_varint(&field.bytes);
		else if (field.tag < MAPPINGS_TAGS)
			reader->column[field.tag] = field.bytes;
		if (field.bytes.failed)
			return -1;
	}
	return payload.failed || reader->left > RECORDING_MAX_NAMES ? -1 : 0;
}

uint64_t mapping_list_count(struct cursor payload)
{
	struct mapping_list_reader reader;

	return take_fields(&reader, payload) < 0 ? 0 : reader.left;
}

int mapping_list_read(struct mapping_list_reader *reader, struct cursor payload)
{
	struct recording_mapping mapping;
	struct mapping_list_reader check;
	int status;

	if (take_fields(reader, payload) < 0)
		return -1;
	check = *reader;
	do
		status = take_mapping(&check, &mapping);
	while (status > 0);
	return status;
}

bool mapping_list_next(struct mapping_list_reader *reader,
		       struct recording_mapping *mapping)
{
	return take_mapping(reader, mapping) > 0;
}
