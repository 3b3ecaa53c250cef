/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_LINUX_BTF_H
#define UNIPROF_TABLES_LINUX_BTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The types of a Linux kernel, in its section .BTF (Linux, Documentation/bpf/btf.rst).
 * Nothing in it is trusted. Starts zeroed.
 */
struct btf {
	const uint8_t *types, *strings; /* in the section */
	size_t types_size, strings_size;
	uint32_t *at; /* by number of the type: its place in types */
	size_t count;
};

/* Finds the types in a section, which must stay in memory. False, with nothing to free,
 * if it is damaged, of another byte order or out of memory. */
bool btf_open(struct btf *btf, const void *data, size_t size);
void btf_close(struct btf *btf);

/*
 * Sets *@offset to the offset in bytes of @member in the first struct called @type;
 * unnamed structs and unions in the struct are searched, too. False if there is none. In
 * bounded time.
 */
bool btf_member(const struct btf *btf, const char *type, const char *member,
		uint64_t *offset);

#endif
