/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes the chunks that describe a recording. Each chunk is a struct, whose
 * members a table maps to fields. */
#include "format/chunk.h"

#include <string.h>

enum member_kind {
	MEMBER_NUMBER, /* uint64_t */
	MEMBER_TEXT,   /* char[], ends with 0 */
	MEMBER_BYTES,  /* uint8_t[], of fixed length */
	MEMBER_LIST,   /* uint64_t[]; zeros at the end are not stored */
};

struct member {
	unsigned int tag;
	enum member_kind kind;
	size_t offset;
	size_t size;
	bool is_optional; /* not written if 0 or empty */
};

#define OPTIONAL(tag, kind, type, name, is_optional)                                    \
	{                                                                               \
		tag, kind, offsetof(type, name), sizeof(((type *)0)->name), is_optional \
	}
#define MEMBER(tag, kind, type, name) OPTIONAL(tag, kind, type, name, false)
/* Maximum length of a list */
#define LIST_MAX 32
_Static_assert(LIST_MAX >= RECORDING_MOVES && LIST_MAX >= 2 * RECORDING_SPACES &&
		       LIST_MAX >= RECORDING_SEGMENTS * RECORDING_SEGMENT_FIELDS,
	       "lists are too long");
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct member info_members[] = {
	MEMBER(1, MEMBER_NUMBER, struct recording_info, version),
	MEMBER(2, MEMBER_TEXT, struct recording_info, tool),
	MEMBER(3, MEMBER_TEXT, struct recording_info, host),
	MEMBER(4, MEMBER_TEXT, struct recording_info, command),
	MEMBER(5, MEMBER_TEXT, struct recording_info, hypervisor),
	MEMBER(6, MEMBER_NUMBER, struct recording_info, domctl_version),
	MEMBER(7, MEMBER_NUMBER, struct recording_info, wall_start),
	MEMBER(8, MEMBER_NUMBER, struct recording_info, monotonic_start),
	MEMBER(9, MEMBER_NUMBER, struct recording_info, frequency),
	MEMBER(10, MEMBER_NUMBER, struct recording_info, time_limit),
	OPTIONAL(11, MEMBER_TEXT, struct recording_info, event, true),
};

static const struct member domain_members[] = {
	MEMBER(1, MEMBER_NUMBER, struct recording_domain, index),
	MEMBER(2, MEMBER_NUMBER, struct recording_domain, id),
	MEMBER(3, MEMBER_TEXT, struct recording_domain, name),
	MEMBER(4, MEMBER_BYTES, struct recording_domain, uuid),
	MEMBER(5, MEMBER_NUMBER, struct recording_domain, type),
	MEMBER(6, MEMBER_NUMBER, struct recording_domain, cpu),
	MEMBER(7, MEMBER_NUMBER, struct recording_domain, word),
	MEMBER(8, MEMBER_NUMBER, struct recording_domain, vcpus),
	OPTIONAL(9, MEMBER_NUMBER, struct recording_domain, unwind_way, true),
	OPTIONAL(10, MEMBER_NUMBER, struct recording_domain, table_rows, true),
	OPTIONAL(11, MEMBER_TEXT, struct recording_domain, table_files, true),
	OPTIONAL(12, MEMBER_TEXT, struct recording_domain, build_ids, true),
	OPTIONAL(13, MEMBER_TEXT, struct recording_domain, vmm, true),
	OPTIONAL(14, MEMBER_NUMBER, struct recording_domain, linux_text, true),
	MEMBER(15, MEMBER_LIST, struct recording_domain, moves),
	MEMBER(16, MEMBER_LIST, struct recording_domain, spaces),
	OPTIONAL(17, MEMBER_NUMBER, struct recording_domain, has_events, true),
};

static const struct member program_members[] = {
	MEMBER(1, MEMBER_TEXT, struct recording_program, name),
	MEMBER(2, MEMBER_TEXT, struct recording_program, path),
	OPTIONAL(3, MEMBER_TEXT, struct recording_program, domain, true),
	OPTIONAL(4, MEMBER_TEXT, struct recording_program, build_id, true),
	OPTIONAL(5, MEMBER_NUMBER, struct recording_program, has_lines, true),
	OPTIONAL(6, MEMBER_NUMBER, struct recording_program, image, true),
	MEMBER(7, MEMBER_LIST, struct recording_program, segments),
};

static const struct member end_members[] = {
	MEMBER(1, MEMBER_NUMBER, struct recording_end, reason),
	MEMBER(2, MEMBER_NUMBER, struct recording_end, monotonic),
	MEMBER(3, MEMBER_NUMBER, struct recording_end, samples),
	MEMBER(4, MEMBER_NUMBER, struct recording_end, lost),
	MEMBER(5, MEMBER_NUMBER, struct recording_end, missed),
	MEMBER(6, MEMBER_NUMBER, struct recording_end, pauses),
	MEMBER(7, MEMBER_NUMBER, struct recording_end, paused),
};

/* Appends a list as a field, without the zeros at its end. */
static void encode_list(struct buffer *payload, const struct member *m, const void *from)
{
	uint64_t list[LIST_MAX];
	size_t count = m->size / sizeof(list[0]);
	struct buffer field = {0};

	memcpy(list, from, m->size);
	while (count && !list[count - 1])
		count--;
	for (size_t i = 0; i < count; i++)
		buffer_put_varint(&field, list[i]);
	if (count)
		field_put(payload, m->tag, field.data, field.size);
	payload->failed |= field.failed;
	buffer_free(&field);
}

static int decode_list(const struct member *m, struct cursor bytes, void *to)
{
	uint64_t list[LIST_MAX] = {0};

	for (size_t i = 0; i < m->size / sizeof(list[0]) && bytes.at != bytes.end; i++)
		list[i] = cursor_varint(&bytes);
	memcpy(to, list, m->size);
	return bytes.failed ? -1 : 0;
}

static void encode_members(struct buffer *payload, const struct member *members,
			   size_t count, const void *from)
{
	for (const struct member *m = members; m < members + count; m++) {
		const char *at = (const char *)from + m->offset;
		uint64_t number;

		switch (m->kind) {
		case MEMBER_NUMBER:
			memcpy(&number, at, sizeof(number));
			if (number || !m->is_optional)
				field_put_number(payload, m->tag, number);
			break;
		case MEMBER_TEXT:
			if (*at || !m->is_optional)
				field_put(payload, m->tag, at, strnlen(at, m->size));
			break;
		case MEMBER_BYTES:
			field_put(payload, m->tag, at, m->size);
			break;
		case MEMBER_LIST:
			encode_list(payload, m, at);
			break;
		}
	}
}

static int decode_member(const struct member *m, struct cursor bytes, char *to)
{
	size_t size = (size_t)(bytes.end - bytes.at);
	uint64_t number;

	switch (m->kind) {
	case MEMBER_NUMBER:
		number = cursor_varint(&bytes);
		memcpy(to, &number, sizeof(number));
		return bytes.failed ? -1 : 0;
	case MEMBER_TEXT:
		if (size >= m->size)
			size = m->size - 1;
		memcpy(to, bytes.at, size);
		to[size] = 0;
		return 0;
	case MEMBER_BYTES:
		if (size != m->size)
			return -1;
		memcpy(to, bytes.at, size);
		return 0;
	case MEMBER_LIST:
		return decode_list(m, bytes, to);
	}
	return -1;
}

static int decode_members(struct cursor payload, const struct member *members,
			  size_t count, void *to)
{
	struct field field;
	struct fields_seen seen = {0};

	while (field_next(&payload, &field)) {
		if (!field_is_new(&seen, field.tag))
			return -1;
		for (const struct member *m = members; m < members + count; m++)
			if (m->tag == field.tag &&
			    decode_member(m, field.bytes, (char *)to + m->offset) < 0)
				return -1;
	}
	return payload.failed ? -1 : 0;
}

void info_encode(struct buffer *payload, const struct recording_info *info)
{
	encode_members(payload, info_members, COUNT_OF(info_members), info);
}

int info_decode(struct cursor payload, struct recording_info *info)
{
	*info = (struct recording_info){0};
	return decode_members(payload, info_members, COUNT_OF(info_members), info);
}

void domain_encode(struct buffer *payload, const struct recording_domain *domain)
{
	encode_members(payload, domain_members, COUNT_OF(domain_members), domain);
}

int domain_decode(struct cursor payload, struct recording_domain *domain)
{
	*domain = (struct recording_domain){0};
	return decode_members(payload, domain_members, COUNT_OF(domain_members), domain);
}

void program_encode(struct buffer *payload, const struct recording_program *program)
{
	encode_members(payload, program_members, COUNT_OF(program_members), program);
}

int program_decode(struct cursor payload, struct recording_program *program)
{
	*program = (struct recording_program){0};
	return decode_members(payload, program_members, COUNT_OF(program_members),
			      program);
}

void end_encode(struct buffer *payload, const struct recording_end *end)
{
	encode_members(payload, end_members, COUNT_OF(end_members), end);
}

int end_decode(struct cursor payload, struct recording_end *end)
{
	*end = (struct recording_end){0};
	return decode_members(payload, end_members, COUNT_OF(end_members), end);
}

const char *end_reason_name(unsigned int reason)
{
	static const char *const names[] = {
		[END_UNKNOWN] = "unknown",
		[END_TIME] = "time limit reached",
		[END_SIGNAL] = "interrupted",
		[END_GUEST] = "guest shut down or was destroyed",
		[END_ERROR] = "error",
		[END_ROTATED] = "continued in the next file",
	};

	return reason < COUNT_OF(names) ? names[reason] : names[END_UNKNOWN];
}

const char *wait_state_name(unsigned int state)
{
	static const char *const names[WAIT_STATES] = {
		[WAIT_UNKNOWN] = "unknown",
		[WAIT_SLEEPING] = "sleeping",
		[WAIT_UNINTERRUPTIBLE] = "uninterruptible",
		[WAIT_RUNNABLE] = "runnable",
		[WAIT_IDLE] = "idle",
		[WAIT_STOPPED] = "stopped",
	};

	return state < WAIT_STATES ? names[state] : names[WAIT_UNKNOWN];
}
