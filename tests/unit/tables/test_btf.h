/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_TABLES_TEST_BTF_H
#define UNIPROF_TESTS_UNIT_TABLES_TEST_BTF_H

/* Writes BTF, the types of a Linux kernel, as Documentation/bpf/btf.rst has it. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format/buffer.h"

#define BTF_HEADER  24
#define KIND_INT    1
#define KIND_PTR    2
#define KIND_STRUCT 4
#define KIND_UNION  5
#define KIND_ENUM   6
#define KIND_CONST  10
#define HAS_BITS    (1u << 31)

struct btf_maker {
	struct buffer types, strings;
	uint32_t count; /* of types, with those of the kernel that a module continues */
	uint32_t names; /* size of that kernel's strings */
};

static inline void put32(struct buffer *to, uint32_t number)
{
	put_le32(buffer_extend(to, 4), number);
}

/* The place of a name in the strings, of which the first is empty. */
static inline uint32_t btf_name(struct btf_maker *maker, const char *name)
{
	uint32_t at;

	if (!maker->strings.size && !maker->names)
		buffer_put(&maker->strings, "", 1);
	at = maker->names + (uint32_t)maker->strings.size;
	if (!*name)
		return 0;
	buffer_put(&maker->strings, name, strlen(name) + 1);
	return at;
}

/* Begins a type with @length members, and returns its number. */
static inline uint32_t btf_type(struct btf_maker *maker, const char *name, uint32_t kind,
				uint32_t length)
{
	put32(&maker->types, btf_name(maker, name));
	put32(&maker->types, kind << 24 | length);
	put32(&maker->types, 0);
	if (kind == KIND_INT)
		put32(&maker->types, 0);
	return ++maker->count;
}

/* Adds a qualifier of the type @of, and returns its number. */
static inline uint32_t btf_const(struct btf_maker *maker, uint32_t of)
{
	put32(&maker->types, 0);
	put32(&maker->types, KIND_CONST << 24);
	put32(&maker->types, of);
	return ++maker->count;
}

/* @at: in bits. */
static inline void btf_add(struct btf_maker *maker, const char *name, uint32_t type,
			   uint32_t at)
{
	put32(&maker->types, btf_name(maker, name));
	put32(&maker->types, type);
	put32(&maker->types, at);
}

/* Adds an enumerator. */
static inline void btf_value(struct btf_maker *maker, const char *name, int32_t value)
{
	put32(&maker->types, btf_name(maker, name));
	put32(&maker->types, (uint32_t)value);
}

/* The section; the maker is freed. */
static inline struct buffer btf_finish(struct btf_maker *maker)
{
	struct buffer made = {0};

	put32(&made, 0x0001eb9f);
	put32(&made, BTF_HEADER);
	put32(&made, 0);
	put32(&made, (uint32_t)maker->types.size);
	put32(&made, (uint32_t)maker->types.size);
	put32(&made, (uint32_t)maker->strings.size);
	buffer_put(&made, maker->types.data, maker->types.size);
	buffer_put(&made, maker->strings.data, maker->strings.size);
	buffer_free(&maker->types);
	buffer_free(&maker->strings);
	return made;
}

/* Offsets of the members in the structs of the test, bytes. */
#define TASK_TGID   2420
#define TASK_COMM   2976
#define TASK_LEADER 2480
#define TASK_MM	    2272
#define MM_PGD	    72
#define HOT_CURRENT 8

/* A kernel's types, as far as they are needed. The pgd is in an unnamed struct, and the
 * offsets of struct task_struct have the sizes of bit fields. */
static inline struct buffer btf_of_kernel(void)
{
	struct btf_maker maker = {0};
	uint32_t number = btf_type(&maker, "int", KIND_INT, 0), unnamed;

	btf_type(&maker, "", KIND_PTR, 0);
	btf_type(&maker, "task_struct", KIND_STRUCT, 5 | HAS_BITS);
	btf_add(&maker, "mm", number, 8 * TASK_MM);
	btf_add(&maker, "flag", number, 1u << 24 | 8 * 2400);
	btf_add(&maker, "tgid", number, 8 * TASK_TGID);
	btf_add(&maker, "group_leader", number, 8 * TASK_LEADER);
	btf_add(&maker, "comm", number, 8 * TASK_COMM);
	unnamed = btf_type(&maker, "", KIND_STRUCT, 2);
	btf_add(&maker, "pgd", number, 8 * (MM_PGD - 16));
	btf_add(&maker, "users", number, 8 * 64);
	btf_type(&maker, "mm_struct", KIND_STRUCT, 1);
	btf_add(&maker, "", unnamed, 8 * 16);
	btf_type(&maker, "pcpu_hot", KIND_STRUCT, 1);
	btf_add(&maker, "current_task", number, 8 * HOT_CURRENT);
	btf_type(&maker, "pid_type", KIND_ENUM, 2);
	btf_value(&maker, "PIDTYPE_TGID", 1);
	btf_value(&maker, "PIDTYPE_NONE", -1);
	return btf_finish(&maker);
}

#endif
