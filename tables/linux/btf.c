/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/linux/btf.h"

#include <stdlib.h>
#include <string.h>

#include "format/buffer.h"

/* struct btf_header and struct btf_type (Linux, include/uapi/linux/btf.h). */
#define MAGIC	    0xeb9f
#define HEADER_SIZE 24
#define TYPE_SIZE   12
#define MEMBER_SIZE 12

enum kind {
	KIND_INT = 1,
	KIND_ARRAY = 3,
	KIND_STRUCT = 4,
	KIND_UNION = 5,
	KIND_ENUM = 6,
	KIND_FUNC_PROTO = 13,
	KIND_VAR = 14,
	KIND_DATASEC = 15,
	KIND_DECL_TAG = 17,
	KIND_ENUM64 = 19,
	KINDS = 20,
};

/* Unnamed structs in unnamed structs, and members looked at for one question; kernels
 * have less. */
#define DEPTH_MAX   8
#define MEMBERS_MAX (1u << 16)

struct type {
	uint32_t name; /* in the strings */
	unsigned int kind, length;
	bool has_bits; /* members' offsets have the sizes of bit fields, too */
};

static struct type type_at(const struct btf *btf, size_t at)
{
	uint32_t info = get_le32(btf->types + at + 4);

	return (struct type){
		.name = get_le32(btf->types + at),
		.kind = info >> 24 & 31,
		.length = info & 0xffff,
		.has_bits = info >> 31,
	};
}

/* Bytes that follow the struct btf_type. */
static size_t size_of_rest(const struct type *type)
{
	static const uint8_t once[KINDS] = {
		[KIND_INT] = 4, [KIND_ARRAY] = 12, [KIND_VAR] = 4, [KIND_DECL_TAG] = 4};
	static const uint8_t each[KINDS] = {
		[KIND_STRUCT] = MEMBER_SIZE,
		[KIND_UNION] = MEMBER_SIZE,
		[KIND_ENUM] = 8,
		[KIND_FUNC_PROTO] = 8,
		[KIND_DATASEC] = 12,
		[KIND_ENUM64] = 12,
	};

	return once[type->kind] + (size_t)each[type->kind] * type->length;
}

/* Notes where the types are. The first one, void, has the number 0 and no place. */
static bool index_types(struct btf *btf)
{
	size_t at = 0;

	btf->at = calloc(btf->types_size / TYPE_SIZE + 1, sizeof(*btf->at));
	if (!btf->at)
		return false;
	btf->count = 1;
	while (btf->types_size - at >= TYPE_SIZE) {
		struct type type = type_at(btf, at);
		size_t rest;

		if (type.kind >= KINDS)
			return false;
		rest = size_of_rest(&type);
		if (rest > btf->types_size - at - TYPE_SIZE)
			return false;
		btf->at[btf->count++] = (uint32_t)at;
		at += TYPE_SIZE + rest;
	}
	return true;
}

/* The part of the section that the header describes with an offset and a size at @from.
 */
static const uint8_t *part(const uint8_t *data, size_t size, size_t from,
			   size_t *part_size)
{
	uint64_t start = (uint64_t)get_le32(data + 4) + get_le32(data + from);

	*part_size = get_le32(data + from + 4);
	return start <= size && *part_size <= size - start ? data + start : NULL;
}

bool btf_open(struct btf *btf, const void *data, size_t size)
{
	*btf = (struct btf){0};
	if (size < HEADER_SIZE || get_le16(data) != MAGIC)
		return false;
	btf->types = part(data, size, 8, &btf->types_size);
	btf->strings = part(data, size, 16, &btf->strings_size);
	if (btf->types && btf->strings && index_types(btf))
		return true;
	btf_close(btf);
	return false;
}

void btf_close(struct btf *btf)
{
	free(btf->at);
	*btf = (struct btf){0};
}

static bool is_called(const struct btf *btf, uint32_t string, const char *name)
{
	size_t size = strlen(name) + 1;

	return string <= btf->strings_size && size <= btf->strings_size - string &&
	       memcmp(btf->strings + string, name, size) == 0;
}

/* The search for a member. */
struct search {
	const struct btf *btf;
	const char *name;
	unsigned int left; /* of MEMBERS_MAX */
};

/* *@offset is that of the struct, and becomes that of the member. */
static bool member_find(struct search *search, size_t number, unsigned int depth,
			uint64_t *offset)
{
	const struct btf *btf = search->btf;
	const struct type type = type_at(btf, btf->at[number]);
	const uint8_t *member = btf->types + btf->at[number] + TYPE_SIZE;

	if (type.kind != KIND_STRUCT && type.kind != KIND_UNION)
		return false;
	for (unsigned int i = 0; i < type.length && search->left; i++) {
		uint32_t bits = get_le32(member + 8), of = get_le32(member + 4);
		uint64_t at;

		search->left--;
		at = *offset + (type.has_bits ? bits & 0xffffff : bits) / 8;
		if (is_called(btf, get_le32(member), search->name)) {
			*offset = at;
			return true;
		}
		if (is_called(btf, get_le32(member), "") && of && of < btf->count &&
		    depth < DEPTH_MAX && member_find(search, of, depth + 1, &at)) {
			*offset = at;
			return true;
		}
		member += MEMBER_SIZE;
	}
	return false;
}

bool btf_member(const struct btf *btf, const char *type, const char *member,
		uint64_t *offset)
{
	struct search search = {.btf = btf, .name = member, .left = MEMBERS_MAX};

	for (size_t i = 1; i < btf->count; i++) {
		const struct type found = type_at(btf, btf->at[i]);

		if (found.kind != KIND_STRUCT || !is_called(btf, found.name, type))
			continue;
		*offset = 0;
		return member_find(&search, i, 0, offset);
	}
	return false;
}
