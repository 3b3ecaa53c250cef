/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_LINUX_BTF_H
#define UNIPROF_TABLES_LINUX_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The types of a Linux kernel, in its section .BTF or in /sys/kernel/btf (Linux,
 * Documentation/bpf/btf.rst). Nothing in it is trusted. Starts zeroed.
 */
struct btf {
	/* of a module: the kernel's types, which the module's continue; NULL: none */
	const struct btf *base;
	const uint8_t *types, *strings; /* in the section */
	size_t types_size, strings_size;
	uint32_t *at; /* by number of the type, from @first on: its place in types */
	size_t first; /* number of the first type here; 0 is void and has no place */
	size_t end;   /* number after the last type */
	size_t strings_first; /* place of the first string here, as types refer to it */
};

/* Finds the types in a section, which must stay in memory. False, with nothing to free,
 * if it is damaged, of another byte order or out of memory. */
bool btf_open(struct btf *btf, const void *data, size_t size);
/* Like btf_open(), for the types of a module of the kernel @base, which must stay open.
 */
bool btf_open_module(struct btf *btf, const struct btf *base, const void *data,
		     size_t size);
void btf_close(struct btf *btf);

/*
 * Sets *@offset to the offset in bytes of @member in the first struct called @type that
 * has it; a module's own structs come first. Unnamed structs and unions in the struct are
 * searched, too. "a.b" is the member b of the struct or union that is the member a. False
 * if there is none. In bounded time.
 */
bool btf_member(const struct btf *btf, const char *type, const char *member,
		uint64_t *offset);
/* Sets *@size to the size in bytes of the first struct called @type. False if there is
 * none. */
bool btf_size(const struct btf *btf, const char *type, uint32_t *size);
/* Sets *@value to the value of @name in the first enum called @type that has it. False if
 * there is none. */
bool btf_enumerator(const struct btf *btf, const char *type, const char *name,
		    int32_t *value);

#endif
