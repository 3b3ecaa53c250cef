/* SPDX-License-Identifier: BSD-3-Clause */

/* Symbols of code that are no functions: labels that assemblers leave in symbol tables.
 */
#include "symbols/table.h"

#include <stdlib.h>
#include <string.h>

static bool starts_with(const char *name, size_t length, const char *start)
{
	size_t size = strlen(start);

	return length >= size && memcmp(name, start, size) == 0;
}

static bool ends_with(const char *name, size_t length, const char *end)
{
	size_t size = strlen(end);

	return length >= size && memcmp(name + length - size, end, size) == 0;
}

/*
 * Local labels start with .L (GNU as manual, "Symbol Names"), or, in macros of NASM, with
 * ..@ (its manual, "Macro-Local Labels"); mapping symbols are $a, $d, $t or $x, followed
 * by nothing or a '.' (ELF for the Arm Architecture, "Mapping symbols"), or, on RISC-V,
 * $x and the instruction set, as $xrv64i2p1 (RISC-V ELF psABI, "Mapping Symbol").
 */
bool symbols_is_local_label(const char *name, size_t length)
{
	if (length < 2)
		return false;
	if (name[0] == '.')
		return name[1] == 'L' || starts_with(name, length, "..@");
	if (name[0] != '$' || !memchr("adtx", name[1], 4))
		return false;
	return length == 2 || name[2] == '.' ||
	       (length > 3 && memcmp(name + 1, "xrv", 3) == 0);
}

/* camlMain.code_begin, or camlMain__code_begin of older compilers (OCaml,
 * asmcomp/amd64/emit.ml, begin_assembly(), end_assembly()) */
bool symbols_is_module_bound(const char *name, size_t length)
{
	return starts_with(name, length, "caml") &&
	       (ends_with(name, length, "code_begin") ||
		ends_with(name, length, "code_end"));
}

/* Returns whether the entry has neither the type nor the size of a function. */
static bool is_untyped(const struct symbols_entry *entry)
{
	return entry->extent == EXTENT_LIMITED && !(entry->rank & RANK_TYPED);
}

/* Returns whether @label is a local label of the function at or before it: NASM names
 * .loop in copy copy.loop (its manual, "Local Labels"). */
static bool is_local_to(const struct symbols_entry *label,
			const struct symbols_entry *function)
{
	return label->length > function->length + 1 &&
	       label->name[function->length] == '.' &&
	       memcmp(label->name, function->name, function->length) == 0;
}

/* By address; the shorter name first, so that functions come before their labels. */
static int compare_entries(const void *left, const void *right)
{
	const struct symbols_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

void symbols_entries_drop_labels(struct symbols_entries *entries)
{
	struct symbols_entry *list = entries->list;
	const struct symbols_entry *before = NULL; /* the last function */
	const struct symbols_entry *below = NULL; /* the last one that starts before it */
	const struct symbols_entry *around = NULL; /* the typed one that ends last */
	size_t kept = 0;

	if (entries->count)
		qsort(list, entries->count, sizeof(*list), compare_entries);
	for (size_t i = 0; i < entries->count; i++) {
		const struct symbols_entry entry = list[i];

		/* At the start of a function, a label may be its only global name. */
		if (is_untyped(&entry) && entry.name &&
		    ((around && around->start < entry.start &&
		      entry.start <= around->last) ||
		     (before && is_local_to(&entry, before)) ||
		     (below && before->start == entry.start &&
		      is_local_to(&entry, below))))
			continue;
		list[kept] = entry;
		if (entry.name) {
			if (before && before->start != entry.start)
				below = before;
			before = &list[kept];
		}
		if (entry.name && (entry.rank & RANK_TYPED) &&
		    entry.extent == EXTENT_SIZED &&
		    (!around || entry.last > around->last))
			around = &list[kept];
		kept++;
	}
	entries->count = kept;
}
