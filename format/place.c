/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/place.h"

#include <zlib.h>

#include "format/chunk.h"

#define PLACE_TAG 0

/* Bits of a mark: two bytes in each chunk, enough to tell most recordings apart */
#define MARK_BITS 14

uint64_t place_mark(const struct buffer *info)
{
	return crc32_z(0, info->data, info->size) & ((1u << MARK_BITS) - 1);
}

void place_put(struct buffer *payload, uint64_t mark, uint64_t number)
{
	struct buffer field = {0};

	buffer_put_varint(&field, mark);
	buffer_put_varint(&field, number);
	field_put(payload, PLACE_TAG, field.data, field.size);
	payload->failed |= field.failed;
	buffer_free(&field);
}

struct chunk_place place_of(struct cursor payload)
{
	struct chunk_place place = {0};
	struct field field;

	if (!field_next(&payload, &field) || field.tag != PLACE_TAG)
		return place;
	place.mark = cursor_varint(&field.bytes);
	place.number = cursor_varint(&field.bytes);
	place.is_known = !field.bytes.failed;
	return place;
}

struct cursor place_skip(struct cursor payload)
{
	struct cursor rest = payload;
	struct field field;

	return field_next(&rest, &field) && field.tag == PLACE_TAG ? rest : payload;
}

bool sequence_take(struct sequence *sequence, const struct chunk_place *place,
		   uint64_t *missing)
{
	*missing = 0;
	if (!sequence->has_mark && !place->is_known)
		return true;
	if (!sequence->has_mark)
		sequence->mark = place->mark;
	sequence->has_mark = true;
	if (!place->is_known || place->mark != sequence->mark ||
	    place->number < sequence->next)
		return false;
	*missing = place->number - sequence->next;
	sequence->next = place->number + (place->number < UINT64_MAX);
	return true;
}
