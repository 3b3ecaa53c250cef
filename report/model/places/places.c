/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/places/places.h"

#include <stdlib.h>

#include "base/array.h"

void places_free(struct places *places)
{
	free(places->list);
	*places = (struct places){0};
}

/* Returns the distance from the start of the code to its end, bytes. */
static uint64_t code_size(const struct code *code)
{
	const struct code_range *last = &code->list[code->count - 1];

	return last->address + last->size - code->list[0].address;
}

/* Whether the places are of different files whose code, taken as a whole, overlaps. */
static bool is_overlapping(const struct place *a, const struct place *b)
{
	const struct code *one = symbols_code(a->symbols, a->at.file);
	const struct code *other = symbols_code(b->symbols, b->at.file);
	uint64_t distance;

	if (!one || !other || one == other)
		return false;
	distance = other->list[0].address + b->at.shift - one->list[0].address -
		   a->at.shift;
	return distance < code_size(one) || -distance < code_size(other);
}

/* Whether the address space has the file at this place. */
static bool has_in_space(const struct places *places, const struct place *place,
			 uint64_t space)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct place *at = &places->list[i];

		if (at->symbols == place->symbols && at->domain == place->domain &&
		    at->space == space && at->at.file == place->at.file &&
		    at->at.shift == place->at.shift)
			return true;
	}
	return false;
}

/* Whether an address space of the domain has another file at the address of @place, but
 * not that one. */
static bool has_rival(const struct places *places, const struct place *place)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct place *at = &places->list[i];

		if (at->domain == place->domain && at->space != place->space &&
		    is_overlapping(at, place) && !has_in_space(places, place, at->space))
			return true;
	}
	return false;
}

int places_add(struct places *places, const struct place *place)
{
	if (!array_grow(&places->list, places->count + 1, sizeof(*places->list)))
		return -1;
	places->has_rivals = places->has_rivals || has_rival(places, place);
	places->list[places->count++] = *place;
	places->has_moved |= place->is_moved;
	return 0;
}

static bool has_file(const struct symbols_place *list, size_t count, uint32_t file)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].file == file)
			return true;
	return false;
}

static bool has_place(const struct symbols_place *list, size_t count,
		      const struct symbols_place *place)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].file == place->file && list[i].shift == place->shift)
			return true;
	return false;
}

size_t places_of(const struct places *places, const struct symbols *symbols,
		 const struct recording_domain *domain,
		 struct symbols_place list[PLACES_MAX], size_t *own)
{
	size_t count = 0;

	*own = 0;
	if (!domain)
		return 0;
	for (size_t i = 0; i < places->count && count < PLACES_MAX; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols == symbols && place->domain == domain->index &&
		    place->space == domain->process.space)
			list[count++] = place->at;
	}
	*own = count;
	for (size_t i = 0; i < places->count && count < PLACES_MAX; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols == symbols && place->domain == domain->index &&
		    !has_file(list, *own, place->at.file) &&
		    !has_place(list, count, &place->at))
			list[count++] = place->at;
	}
	return count;
}

const struct place *places_find(const struct places *places, const struct place *place)
{
	const struct place *at = places->list;

	while (at != place &&
	       (at->domain != place->domain || at->symbols != place->symbols ||
		at->at.file != place->at.file || at->at.shift != place->at.shift))
		at++;
	return at;
}

/* @domain: NULL for all of them */
static uint64_t find_common(const struct places *places, const struct symbols *symbols,
			    uint32_t file, const uint32_t *domain)
{
	const struct place *common = NULL;

	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols != symbols || place->at.file != file ||
		    (domain && place->domain != *domain))
			continue;
		if (common && common->at.shift != place->at.shift)
			return 0;
		common = place;
	}
	return common ? common->at.shift : 0;
}

uint64_t places_common(const struct places *places, const struct symbols *symbols,
		       uint32_t file)
{
	return find_common(places, symbols, file, NULL);
}

uint64_t places_common_in(const struct places *places, const struct symbols *symbols,
			  uint32_t file, uint32_t domain)
{
	return find_common(places, symbols, file, &domain);
}
