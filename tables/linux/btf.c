/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/linux/btf.h"

#include <stdlib.h>
#include <string.h>

#include "format/buffer.h"

/* struct btf_header and struct btf_type (Linux, include/uapi/linux/btf.h). */
#define MAGIC		0xeb9f
#define HEADER_SIZE	24
#define TYPE_SIZE	12
#define MEMBER_SIZE	12
#define ENUMERATOR_SIZE 8

enum kind {
	KIND_INT = 1,
	KIND_ARRAY = 3,
	KIND_STRUCT = 4,
	KIND_UNION = 5,
	KIND_ENUM = 6,
	KIND_TYPEDEF = 8,
	KIND_VOLATILE = 9,
	KIND_CONST = 10,
	KIND_RESTRICT = 11,
	KIND_FUNC_PROTO = 13,
	KIND_VAR = 14,
	KIND_DATASEC = 15,
	KIND_DECL_TAG = 17,
	KIND_TYPE_TAG = 18,
	KIND_ENUM64 = 19,
	KINDS = 20,
};

/* Structs in structs, names and qualifiers of one type, and members looked at for one
 * question; kernels have less. */
#define DEPTH_MAX   8
#define NAMES_MAX   32
#define MEMBERS_MAX (1u << 16)

struct type {
	const uint8_t *at; /* the struct btf_type */
	uint32_t name;	   /* in the strings */
	unsigned int kind, length;
	bool has_bits; /* members' offsets have the sizes of bit fields, too */
};

static struct type type_at(const uint8_t *at)
{
	uint32_t info = get_le32(at + 4);

	return (struct type){
		.at = at,
		.name = get_le32(at),
		.kind = info >> 24 & 31,
		.length = info & 0xffff,
		.has_bits = info >> 31,
	};
}

/* False if there is no type with this number. */
static bool type_of(const struct btf *btf, size_t number, struct type *type)
{
	while (btf->base && number < btf->first)
		btf = btf->base;
	if (number < btf->first || number >= btf->end)
		return false;
	*type = type_at(btf->types + btf->at[number - btf->first]);
	return true;
}

/* Bytes that follow the struct btf_type. */
static size_t size_of_rest(const struct type *type)
{
	static const uint8_t once[KINDS] = {
		[KIND_INT] = 4, [KIND_ARRAY] = 12, [KIND_VAR] = 4, [KIND_DECL_TAG] = 4};
	static const uint8_t each[KINDS] = {
		[KIND_STRUCT] = MEMBER_SIZE,   [KIND_UNION] = MEMBER_SIZE,
		[KIND_ENUM] = ENUMERATOR_SIZE, [KIND_FUNC_PROTO] = 8,
		[KIND_DATASEC] = 12,	       [KIND_ENUM64] = 12,
	};

	return once[type->kind] + (size_t)each[type->kind] * type->length;
}

/* Notes where the types are. */
static bool index_types(struct btf *btf)
{
	size_t at = 0;

	btf->at = calloc(btf->types_size / TYPE_SIZE + 1, sizeof(*btf->at));
	if (!btf->at)
		return false;
	while (btf->types_size - at >= TYPE_SIZE) {
		struct type type = type_at(btf->types + at);
		size_t rest;

		if (type.kind >= KINDS)
			return false;
		rest = size_of_rest(&type);
		if (rest > btf->types_size - at - TYPE_SIZE)
			return false;
		btf->at[btf->end++ - btf->first] = (uint32_t)at;
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
	return btf_open_module(btf, NULL, data, size);
}

bool btf_open_module(struct btf *btf, const struct btf *base, const void *data,
		     size_t size)
{
	*btf = (struct btf){
		.base = base,
		.first = base ? base->end : 1,
		.end = base ? base->end : 1,
		.strings_first = base ? base->strings_first + base->strings_size : 0,
	};
	if (size >= HEADER_SIZE && get_le16(data) == MAGIC) {
		btf->types = part(data, size, 8, &btf->types_size);
		btf->strings = part(data, size, 16, &btf->strings_size);
		if (btf->types && btf->strings && index_types(btf))
			return true;
	}
	btf_close(btf);
	return false;
}

void btf_close(struct btf *btf)
{
	free(btf->at);
	*btf = (struct btf){0};
}

/* Whether the string is the first @length characters of @name. */
static bool is_called(const struct btf *btf, uint32_t string, const char *name,
		      size_t length)
{
	size_t at = string;

	while (btf->base && at < btf->strings_first)
		btf = btf->base;
	at -= btf->strings_first;
	return at < btf->strings_size && length < btf->strings_size - at &&
	       memcmp(btf->strings + at, name, length) == 0 && !btf->strings[at + length];
}

/* The type without names and qualifiers: true if it is a struct or union. */
static bool struct_of(const struct btf *btf, size_t number, struct type *type)
{
	for (unsigned int i = 0; i < NAMES_MAX && type_of(btf, number, type); i++) {
		switch (type->kind) {
		case KIND_STRUCT:
		case KIND_UNION:
			return true;
		case KIND_TYPEDEF:
		case KIND_VOLATILE:
		case KIND_CONST:
		case KIND_RESTRICT:
		case KIND_TYPE_TAG:
			number = get_le32(type->at + 8);
			break;
		default:
			return false;
		}
	}
	return false;
}

/* The search for a member. */
struct search {
	const struct btf *btf;
	unsigned int left; /* of MEMBERS_MAX */
};

/* *@offset is that of the struct, and becomes that of the member called @name. */
static bool member_find(struct search *search, const struct type *type, const char *name,
			unsigned int depth, uint64_t *offset)
{
	const struct btf *btf = search->btf;
	const uint8_t *member = type->at + TYPE_SIZE;
	size_t length = strcspn(name, ".");

	for (unsigned int i = 0; i < type->length && search->left; i++) {
		uint32_t bits = get_le32(member + 8), of = get_le32(member + 4);
		bool is_wanted = is_called(btf, get_le32(member), name, length);
		const char *rest = name;
		struct type inner;
		uint64_t at;

		search->left--;
		at = *offset + (type->has_bits ? bits & 0xffffff : bits) / 8;
		if (is_wanted && !name[length]) {
			*offset = at;
			return true;
		}
		if (is_wanted)
			rest += length + 1;
		if ((is_wanted || is_called(btf, get_le32(member), "", 0)) &&
		    depth < DEPTH_MAX && struct_of(btf, of, &inner) &&
		    member_find(search, &inner, rest, depth + 1, &at)) {
			*offset = at;
			return true;
		}
		member += MEMBER_SIZE;
	}
	return false;
}

/* Finds a type with the kind and name among the types of @btf, without those of its base,
 * from @number on. Returns its number, or @btf->end. */
static size_t type_find(const struct btf *btf, enum kind kind, const char *name,
			size_t number, struct type *type)
{
	size_t length = strlen(name);

	for (; number < btf->end; number++) {
		*type = type_at(btf->types + btf->at[number - btf->first]);
		if (type->kind == kind && is_called(btf, type->name, name, length))
			break;
	}
	return number;
}

bool btf_member(const struct btf *btf, const char *type, const char *member,
		uint64_t *offset)
{
	struct search search = {.btf = btf, .left = MEMBERS_MAX};
	struct type found;

	for (; search.btf; search.btf = search.btf->base) {
		size_t i = search.btf->first;

		while ((i = type_find(search.btf, KIND_STRUCT, type, i, &found)) <
		       search.btf->end) {
			*offset = 0;
			if (member_find(&search, &found, member, 0, offset))
				return true;
			i++;
		}
	}
	return false;
}

bool btf_size(const struct btf *btf, const char *type, uint32_t *size)
{
	struct type found;

	for (; btf; btf = btf->base) {
		if (type_find(btf, KIND_STRUCT, type, btf->first, &found) == btf->end)
			continue;
		*size = get_le32(found.at + 8);
		return true;
	}
	return false;
}

bool btf_enumerator(const struct btf *btf, const char *type, const char *name,
		    int32_t *value)
{
	size_t length = strlen(name);
	struct type found;

	for (; btf; btf = btf->base) {
		size_t i = btf->first;

		for (; (i = type_find(btf, KIND_ENUM, type, i, &found)) < btf->end; i++)
			for (unsigned int k = 0; k < found.length; k++) {
				const uint8_t *at = found.at + TYPE_SIZE +
						    (size_t)k * ENUMERATOR_SIZE;

				if (!is_called(btf, get_le32(at), name, length))
					continue;
				*value = (int32_t)get_le32(at + 4);
				return true;
			}
	}
	return false;
}
