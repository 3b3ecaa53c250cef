/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/places/places.h"

#include <stdlib.h>

#include "base/array.h"

void places_free(struct places *places)
{
	free(places->list);
	*places = (struct places){0};
}

int places_add(struct places *places, const struct place *place)
{
	if (!array_grow(&places->list, places->count + 1, sizeof(*places->list)))
		return -1;
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
		 struct symbols_place list[PLACES_MAX])
{
	size_t count = 0, own;

	if (!domain)
		return 0;
	for (size_t i = 0; i < places->count && count < PLACES_MAX; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols == symbols && place->domain == domain->index &&
		    place->space == domain->process.space)
			list[count++] = place->at;
	}
	own = count;
	for (size_t i = 0; i < places->count && count < PLACES_MAX; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols == symbols && place->domain == domain->index &&
		    !has_file(list, own, place->at.file) &&
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

uint64_t places_common(const struct places *places, const struct symbols *symbols,
		       uint32_t file)
{
	const struct place *common = NULL;

	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols != symbols || place->at.file != file)
			continue;
		if (common && common->at.shift != place->at.shift)
			return 0;
		common = place;
	}
	return common ? common->at.shift : 0;
}
