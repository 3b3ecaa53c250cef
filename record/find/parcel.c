/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/find/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "format/chunk.h"

enum {
	TAG_REASON = 1,
	TAG_PATH = 2,
	TAG_HEAD = 3,	 /* numbers, the segments, then the build-id */
	TAG_CODE = 4,	 /* address, then the bytes; once for each range */
	TAG_SYMBOLS = 5, /* of each: start, size, info, length of the name, name */
	TAG_TABLE = 6,
};

static void put_symbols(struct buffer *to, const struct plain *plain)
{
	struct buffer field = {0};

	for (size_t i = 0; i < plain->symbol_count && i < PARCEL_SYMBOLS; i++) {
		const struct plain_symbol *symbol = &plain->symbols[i];

		buffer_put_varint(&field, symbol->start);
		buffer_put_varint(&field, symbol->size);
		buffer_put_varint(&field, symbol->info);
		buffer_put_varint(&field, symbol->length);
		buffer_put(&field, symbol->name, symbol->length);
	}
	field_put(to, TAG_SYMBOLS, field.data, field.size);
	to->failed |= field.failed;
	buffer_free(&field);
}

static void put_head(struct buffer *to, const struct plain *plain)
{
	struct buffer field = {0};

	buffer_put_varint(&field, plain->machine);
	buffer_put_varint(&field, plain->build_id_address);
	buffer_put_varint(&field, plain->hypercall_page);
	buffer_put_varint(&field, plain->image);
	buffer_put_varint(&field, plain->segment_count);
	for (size_t i = 0; i < plain->segment_count; i++) {
		buffer_put_varint(&field, plain->segments[i].address);
		buffer_put_varint(&field, plain->segments[i].size);
		buffer_put_varint(&field, plain->segments[i].offset);
	}
	buffer_put(&field, plain->build_id, plain->build_id_size);
	field_put(to, TAG_HEAD, field.data, field.size);
	to->failed |= field.failed;
	buffer_free(&field);
}

static void put_code(struct buffer *to, const struct code_range *code)
{
	struct buffer address = {0};

	buffer_put_varint(&address, code->address);
	buffer_put_varint(to, TAG_CODE);
	buffer_put_varint(to, address.size + code->size);
	buffer_put(to, address.data, address.size);
	buffer_put(to, code->bytes, code->size);
	to->failed |= address.failed;
	buffer_free(&address);
}

void parcel_put(struct buffer *to, const char *path, const struct plain *plain,
		const struct buffer *table)
{
	field_put(to, TAG_PATH, path, strlen(path));
	put_head(to, plain);
	for (size_t i = 0; i < plain->code_count && i < PARCEL_CODE; i++)
		put_code(to, &plain->code[i]);
	put_symbols(to, plain);
	field_put(to, TAG_TABLE, table->data, table->size);
	to->failed |= table->failed;
}

void parcel_put_reason(struct buffer *to, const char *reason)
{
	field_put(to, TAG_REASON, reason, strlen(reason));
}

static size_t size_of(const struct cursor *bytes)
{
	return (size_t)(bytes->end - bytes->at);
}

static bool take_path(struct parcel *parcel, const struct cursor *bytes)
{
	size_t size = size_of(bytes);

	if (!size || size >= sizeof(parcel->path))
		return false;
	memcpy(parcel->path, bytes->at, size);
	parcel->path[size] = 0;
	text_make_printable(parcel->path);
	return true;
}

static bool take_head(struct plain *plain, struct cursor *bytes)
{
	uint64_t machine = cursor_varint(bytes), segments;

	plain->machine = (uint16_t)machine;
	plain->build_id_address = cursor_varint(bytes);
	plain->hypercall_page = cursor_varint(bytes);
	plain->image = cursor_varint(bytes);
	segments = cursor_varint(bytes);
	if (segments > SYMBOLS_SEGMENTS)
		return false;
	plain->segment_count = (size_t)segments;
	for (size_t i = 0; i < plain->segment_count; i++) {
		struct symbols_segment *segment = &plain->segments[i];

		segment->address = cursor_varint(bytes);
		segment->size = cursor_varint(bytes);
		segment->offset = cursor_varint(bytes);
	}
	plain->build_id_size = size_of(bytes);
	if (bytes->failed || plain->build_id_size > sizeof(plain->build_id))
		return false;
	memcpy(plain->build_id, bytes->at, plain->build_id_size);
	return machine == plain->machine &&
	       cpu_kind_has_tables(cpu_kind_of_elf(plain->machine));
}

static bool take_code(struct parcel *parcel, struct cursor *bytes)
{
	struct code_range *code;

	if (!parcel->code)
		parcel->code = calloc(PARCEL_CODE, sizeof(*parcel->code));
	if (!parcel->code || parcel->plain.code_count == PARCEL_CODE)
		return false;
	code = &parcel->code[parcel->plain.code_count++];
	code->address = cursor_varint(bytes);
	code->bytes = bytes->at;
	code->size = size_of(bytes);
	parcel->plain.code = parcel->code;
	return !bytes->failed && code->size &&
	       code->address + (code->size - 1) >= code->address;
}

static bool take_symbol(struct cursor *bytes, struct plain_symbol *symbol)
{
	uint64_t info, length;
	struct cursor name;

	symbol->start = cursor_varint(bytes);
	symbol->size = cursor_varint(bytes);
	info = cursor_varint(bytes);
	length = cursor_varint(bytes);
	name = cursor_take(bytes, length);
	symbol->info = (uint8_t)info;
	symbol->length = (uint16_t)length;
	symbol->name = (const char *)name.at;
	return !bytes->failed && info == symbol->info && length &&
	       length == symbol->length && !memchr(symbol->name, 0, symbol->length);
}

static bool take_symbols(struct parcel *parcel, struct cursor bytes)
{
	struct cursor counted = bytes;
	struct plain_symbol symbol;
	size_t count = 0;

	while (counted.at != counted.end && take_symbol(&counted, &symbol))
		count++;
	if (counted.at != counted.end || counted.failed || count > PARCEL_SYMBOLS ||
	    parcel->symbols)
		return false;
	parcel->symbols = calloc(count + 1, sizeof(*parcel->symbols));
	for (size_t i = 0; parcel->symbols && i < count; i++)
		take_symbol(&bytes, &parcel->symbols[i]);
	parcel->plain.symbols = parcel->symbols;
	parcel->plain.symbol_count = count;
	return parcel->symbols;
}

static bool take_table(struct parcel *parcel, const struct cursor *bytes)
{
	struct error why;

	if (parcel->table)
		return false;
	parcel->table = program_table_parse(bytes->at, size_of(bytes), "table", &why);
	return parcel->table;
}

static bool take_field(struct parcel *parcel, struct field *field, struct error *err)
{
	size_t size = size_of(&field->bytes);

	if (size > sizeof(err->text))
		size = sizeof(err->text);
	switch (field->tag) {
	case TAG_REASON:
		if (size)
			error_set(err, "%.*s", (int)size, (const char *)field->bytes.at);
		return false;
	case TAG_PATH:
		return take_path(parcel, &field->bytes);
	case TAG_HEAD:
		return take_head(&parcel->plain, &field->bytes);
	case TAG_CODE:
		return take_code(parcel, &field->bytes);
	case TAG_SYMBOLS:
		return take_symbols(parcel, field->bytes);
	case TAG_TABLE:
		return take_table(parcel, &field->bytes);
	}
	return false;
}

int parcel_take(struct parcel *parcel, const struct buffer *from, struct error *err)
{
	struct cursor payload = cursor_of(from);
	const struct plain *plain = &parcel->plain;
	struct field field;

	*parcel = (struct parcel){0};
	error_set(err, "the process that reads symbol files has failed");
	while (field_next(&payload, &field))
		if (!take_field(parcel, &field, err))
			return -1;
	if (payload.failed || !*parcel->path || !plain->code_count || !parcel->table)
		return -1;
	return 0;
}

void parcel_free(struct parcel *parcel)
{
	program_table_free(parcel->table);
	free(parcel->code);
	free(parcel->symbols);
	*parcel = (struct parcel){0};
}
