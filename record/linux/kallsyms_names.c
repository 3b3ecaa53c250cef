/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kallsyms_names.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/table.h"
#include "unwind/returns.h"

/* Maximum distance of an address from the start of its function */
#define FUNCTION_MAX (1u << 20)

void kallsyms_free(struct kallsyms *kallsyms)
{
	if (!kallsyms)
		return;
	free(kallsyms->name);
	free(kallsyms->marker);
	free(kallsyms->offset);
	free(kallsyms);
}

bool kallsyms_place(const uint8_t *name, size_t size, uint32_t at,
		    struct kallsyms_place *place)
{
	uint32_t length;

	if (at >= size)
		return false;
	length = name[at++];
	if (length & 0x80) {
		if (at >= size)
			return false;
		length = (length & 0x7f) | (uint32_t)name[at++] << 7;
	}
	*place = (struct kallsyms_place){at, length, at + length};
	return length && length <= size - at;
}

/* Returns the address of the symbol with this number; addresses of data of each CPU,
 * which are low, become 0. */
static uint64_t address_of(const struct kallsyms *kallsyms, uint32_t number)
{
	uint32_t offset = kallsyms->offset[number];

	if (!kallsyms->is_signed)
		return kallsyms->base + offset;
	return offset >> 31 ? kallsyms->base - 1 - (uint64_t)(int64_t)(int32_t)offset : 0;
}

/* Whether the addresses are in the kernel, and ascend but for some exceptions. */
static bool do_ascend(const struct kallsyms *kallsyms)
{
	uint64_t before = 0;
	uint32_t odd = 0, high = 0;

	for (uint32_t i = 0; i < kallsyms->symbols; i++) {
		uint64_t address = address_of(kallsyms, i);

		odd += address < before;
		high += is_in_upper_half(address);
		before = address;
	}
	return odd <= kallsyms->symbols / 100 && high > kallsyms->symbols / 2;
}

/* Whether every symbol ends within the names, at the markers. */
static bool do_names_fit(const struct kallsyms *kallsyms)
{
	struct kallsyms_place place = {0};

	for (uint32_t i = 0; i < kallsyms->symbols; i++) {
		if (i % KALLSYMS_STEP == 0 &&
		    (i / KALLSYMS_STEP >= kallsyms->markers ||
		     kallsyms->marker[i / KALLSYMS_STEP] != place.next))
			return false;
		if (!kallsyms_place(kallsyms->name, kallsyms->name_size, place.next,
				    &place))
			return false;
	}
	return true;
}

bool kallsyms_check(struct kallsyms *kallsyms)
{
	uint32_t negative = 0;

	for (uint32_t i = 0; i < kallsyms->symbols; i++)
		negative += kallsyms->offset[i] >> 31;
	kallsyms->is_signed = negative > kallsyms->symbols / 2;
	return kallsyms->symbols && do_names_fit(kallsyms) && do_ascend(kallsyms);
}

/* Writes the symbol with this number, which exists, with its type. */
static void expand(const struct kallsyms *kallsyms, uint32_t number,
		   char to[KALLSYMS_SYMBOL_MAX])
{
	struct kallsyms_place place = {.next = kallsyms->marker[number / KALLSYMS_STEP]};
	size_t length = 0;

	for (uint32_t i = 0; i <= number % KALLSYMS_STEP; i++)
		if (!kallsyms_place(kallsyms->name, kallsyms->name_size, place.next,
				    &place))
			break;
	for (uint32_t i = 0; i < place.length; i++) {
		uint16_t at = kallsyms->token_at[kallsyms->name[place.at + i]];

		while (kallsyms->token[at] && length < KALLSYMS_SYMBOL_MAX - 1)
			to[length++] = (char)kallsyms->token[at++];
	}
	to[length] = '\0';
}

/* Returns the number of the last symbol at or below @address, or @symbols. */
static uint32_t search(const struct kallsyms *kallsyms, uint64_t address)
{
	uint32_t low = 0, high = kallsyms->symbols;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (address_of(kallsyms, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : kallsyms->symbols;
}

bool kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
		   struct kallsyms_function *function)
{
	uint32_t last = search(kallsyms, address), i = last;
	struct symbols_entry best = {0};
	char symbol[KALLSYMS_SYMBOL_MAX];
	uint64_t start;

	/* Behind the last symbol, the kernel's end, modules may follow. */
	if (!is_in_upper_half(address) || last >= kallsyms->symbols - 1)
		return false;
	start = address_of(kallsyms, last);
	if (!is_in_upper_half(start) || address - start > FUNCTION_MAX)
		return false;
	do {
		struct symbols_entry alias;

		expand(kallsyms, i, symbol);
		if (!symbol[0] || !symbol[1] || symbols_rank_of(symbol[0]) < 0)
			continue;
		alias = (struct symbols_entry){
			.name = symbol + 1,
			.order = i,
			.length = (uint16_t)strlen(symbol + 1),
			.rank = (uint8_t)symbols_rank_of(symbol[0]),
		};
		if (symbols_entry_is_better(&alias, &best)) {
			best = alias;
			best.name = strcpy(function->name, alias.name);
		}
	} while (i-- > 0 && last - i < KALLSYMS_STEP && address_of(kallsyms, i) == start);
	function->start = start;
	function->next = address_of(kallsyms, last + 1);
	return best.name;
}

/* Whether the symbol, whose tokens' numbers are at @place, is called @name. */
static bool is_called(const struct kallsyms *kallsyms, const struct kallsyms_place *place,
		      const char *name)
{
	size_t seen = 0; /* characters, the type included */

	for (uint32_t i = 0; i < place->length; i++) {
		uint16_t at = kallsyms->token_at[kallsyms->name[place->at + i]];

		for (; kallsyms->token[at]; at++, seen++)
			if (seen && (char)kallsyms->token[at] != name[seen - 1])
				return false;
	}
	return seen && !name[seen - 1];
}

void kallsyms_addresses(const struct kallsyms *kallsyms, const char *const *names,
			size_t count, uint64_t *addresses)
{
	struct kallsyms_place place = {0};

	memset(addresses, 0, count * sizeof(*addresses));
	for (uint32_t i = 0; i < kallsyms->symbols; i++) {
		if (!kallsyms_place(kallsyms->name, kallsyms->name_size, place.next,
				    &place))
			return;
		for (size_t j = 0; j < count; j++)
			if (is_called(kallsyms, &place, names[j]))
				addresses[j] = address_of(kallsyms, i)
						       ?: kallsyms->offset[i];
	}
}
