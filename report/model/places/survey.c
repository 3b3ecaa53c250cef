/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/places/survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/chain.h"
#include "report/model/domains.h"
#include "symbols/spec.h"

/* Maximum number of samples that are examined, and of address spaces in which files are
 * looked for */
#define SAMPLES_MAX 200000
#define SPACES_MAX  64

/* The return addresses in one address space of a domain. */
struct space {
	uint32_t domain; /* index of the recording */
	struct recording_process process;
	uint64_t address[VOTERS_MAX];
	size_t count;
	size_t upper; /* number of addresses in the upper half, where kernels are */
};

struct survey {
	struct sources *sources;
	uint32_t base;
	struct space *spaces;
	uint32_t space_count;
	uint64_t samples;
	uint32_t *seen; /* by the batch's node: the last space it was seen in, plus 1 */
	size_t seen_room;
};

/* Returns the code of a file that may have been moved; NULL if it was not. */
static const struct code *movable_code(const struct symbols *symbols, uint32_t number)
{
	const struct symbols_file *files;

	symbols_files(symbols, &files);
	return files[number].has_offset ? NULL : symbols_code(symbols, number);
}

bool survey_is_needed(const struct sources *sources)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		for (uint32_t j = 0; j < count; j++)
			if (movable_code(sources->list[i].symbols, j))
				return true;
	}
	return false;
}

struct survey *survey_new(struct sources *sources, uint32_t base)
{
	struct survey *survey = calloc(1, sizeof(*survey));

	if (!survey)
		return NULL;
	survey->sources = sources;
	survey->base = base;
	survey->spaces = calloc(SPACES_MAX, sizeof(*survey->spaces));
	if (survey->spaces)
		return survey;
	free(survey);
	return NULL;
}

void survey_free(struct survey *survey)
{
	if (!survey)
		return;
	free(survey->spaces);
	free(survey->seen);
	free(survey);
}

/* Returns the sample's address space; NULL if there are too many. */
static struct space *find_space(struct survey *survey, uint32_t domain,
				const struct recording_process *process)
{
	struct space *space;

	for (uint32_t i = 0; i < survey->space_count; i++)
		if (survey->spaces[i].domain == domain &&
		    survey->spaces[i].process.space == process->space)
			return &survey->spaces[i];
	if (survey->space_count == SPACES_MAX)
		return NULL;
	space = &survey->spaces[survey->space_count++];
	space->domain = domain;
	space->process = *process;
	return space;
}

/* Adds a return address. Kernels and programs have half of the room each, since a process
 * may be in the kernel nearly always. */
static void space_add(struct space *space, uint64_t address)
{
	bool is_upper = address >> 63;
	size_t known = is_upper ? space->upper : space->count - space->upper;

	for (size_t i = 0; i < space->count; i++)
		if (space->address[i] == address)
			return;
	if (known == VOTERS_MAX / 2)
		return;
	space->address[space->count++] = address;
	space->upper += is_upper;
}

/* Adds the return addresses of the chain at @node. Behind a mark is an address that was
 * interrupted. */
static void add_chain(struct survey *survey, struct space *space,
		      const struct samples_batch *batch, uint32_t node)
{
	uint32_t number = (uint32_t)(space - survey->spaces) + 1;

	while (node >= SAMPLES_ROOTS) {
		bool is_mark = chain_mark_name(batch->address[node]);

		node = batch->parent[node];
		if (node < SAMPLES_ROOTS || survey->seen[node] == number)
			return;
		if (is_mark)
			continue;
		survey->seen[node] = number;
		if (!chain_mark_name(batch->address[node]))
			space_add(space, batch->address[node]);
	}
}

int survey_add(struct survey *survey, const struct samples_batch *batch)
{
	if (batch->nodes > survey->seen_room) {
		if (!array_grow(&survey->seen, batch->nodes, sizeof(*survey->seen)))
			return -1;
		survey->seen_room = batch->nodes;
	}
	memset(survey->seen, 0, batch->nodes * sizeof(*survey->seen));
	for (size_t i = 0; i < batch->count; i++) {
		const struct recording_process *process =
			&batch->processes[batch->process[i]];
		struct space *space = find_space(survey, batch->domain[i], process);

		if (space)
			add_chain(survey, space, batch, batch->stack[i]);
	}
	survey->samples += batch->count;
	return 0;
}

bool survey_is_done(const struct survey *survey)
{
	return survey->samples >= SAMPLES_MAX;
}

/* Whether a place of the file that was found before is right in the address space, too;
 * if so, sets @votes. */
static bool find_known(const struct places *places, const struct place *wanted,
		       const struct code *code, const struct space *space,
		       struct votes *votes)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols != wanted->symbols ||
		    place->domain != wanted->domain || place->at.file != wanted->at.file)
			continue;
		*votes = votes_count(code, place->at.shift, space->address, space->count);
		if (votes_confirm(votes))
			return true;
	}
	return false;
}

static bool is_known(const struct places *places, const struct place *wanted)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols == wanted->symbols &&
		    place->domain == wanted->domain && place->space == wanted->space &&
		    place->at.file == wanted->at.file)
			return true;
	}
	return false;
}

/* Returns how much higher the recorder has found the file in the domain; 0 if not. */
static uint64_t recorded_move(const struct symbols_file *file,
			      const struct recording_domain *domain)
{
	int number = domain_table_file(domain, symbols_shown_path(file->path));

	return number >= 0 && number < RECORDING_MOVES ? domain->moves[number] : 0;
}

/* Whether a place of the file is known in the domain. */
static bool is_anywhere(const struct places *places, const struct place *wanted)
{
	for (size_t i = 0; i < places->count; i++)
		if (places->list[i].symbols == wanted->symbols &&
		    places->list[i].domain == wanted->domain &&
		    places->list[i].at.file == wanted->at.file)
			return true;
	return false;
}

/* Looks for a file in the address space. -1 if out of memory. */
static int find_file(const struct survey *survey, const struct symbols *symbols,
		     uint32_t number, const struct recording_domain *domain,
		     const struct space *space)
{
	struct places *places = &survey->sources->places;
	const struct code *code = movable_code(symbols, number);
	const struct symbols_file *files;
	struct place place = {
		.domain = space->domain + survey->base,
		.space = space->process.space,
		.symbols = symbols,
		.at.file = number,
	};
	uint64_t usual, recorded; /* distances by which the file may be moved */

	symbols_files(symbols, &files);
	if (!code || is_known(places, &place))
		return 0;
	usual = symbols_shift(&files[number], domain->linux_text);
	recorded = recorded_move(&files[number], domain);
	place.votes = votes_count(code, recorded ?: usual, space->address, space->count);
	if (!votes_confirm(&place.votes) &&
	    !find_known(places, &place, code, space, &place.votes) &&
	    !votes_find(code, space->address, space->count, &place.votes))
		return 0;
	place.at.shift = place.votes.shift;
	place.is_moved = place.at.shift != usual;
	return places_add(places, &place);
}

/* Adds the places where the recorder has found files of the source in the domain, if
 * too few return addresses have voted for a place. -1 if out of memory. */
static int add_recorded(const struct survey *survey, const struct source *source,
			const struct recording_domain *domain)
{
	struct places *places = &survey->sources->places;
	const struct symbols_file *files;
	size_t count = symbols_files(source->symbols, &files);

	for (uint32_t i = 0; i < count; i++) {
		struct place place = {
			.domain = (uint32_t)domain->index + survey->base,
			.symbols = source->symbols,
			.at = {i, recorded_move(&files[i], domain)},
			.is_moved = true,
		};

		if (place.at.shift && movable_code(source->symbols, i) &&
		    !is_anywhere(places, &place) && places_add(places, &place) < 0)
			return -1;
	}
	return 0;
}

/* Adds the places of the source's files in the address spaces that the recorder has found
 * to have one of several files at one address. -1 if out of memory. */
static int add_spaces(const struct survey *survey, const struct source *source,
		      const struct recording_domain *domain)
{
	struct places *places = &survey->sources->places;
	const struct symbols_file *files;
	size_t count = symbols_files(source->symbols, &files);

	for (uint32_t i = 0; i < count; i++) {
		int number = domain_table_file(domain, symbols_shown_path(files[i].path));
		struct place place = {
			.domain = (uint32_t)domain->index + survey->base,
			.symbols = source->symbols,
			.at = {i, recorded_move(&files[i], domain)},
		};

		place.is_moved = place.at.shift != 0;
		for (size_t j = 0; j < RECORDING_SPACES; j++) {
			place.space = domain->spaces[2 * j + 1];
			if (!place.space)
				break;
			if (domain->spaces[2 * j] == (uint64_t)number &&
			    movable_code(source->symbols, i) &&
			    !is_known(places, &place) && places_add(places, &place) < 0)
				return -1;
		}
	}
	return 0;
}

static int survey_use_recorded(const struct survey *survey, const struct summary *summary)
{
	const struct sources *sources = survey->sources;

	for (size_t i = 0; i < summary->domain_room; i++) {
		const struct recording_domain *domain = summary->domains[i];

		for (size_t j = 0; domain && j < sources->count; j++)
			if (source_is_in(&sources->list[j], domain) &&
			    (add_spaces(survey, &sources->list[j], domain) < 0 ||
			     add_recorded(survey, &sources->list[j], domain) < 0))
				return -1;
	}
	return 0;
}

int survey_vote(const struct survey *survey, const struct summary *summary)
{
	const struct sources *sources = survey->sources;

	for (uint32_t i = 0; i < survey->space_count; i++) {
		const struct space *space = &survey->spaces[i];
		const struct recording_domain *domain = summary_domain(summary,
								       space->domain);
		struct recording_domain process;

		if (!domain)
			continue;
		process = *domain;
		process.process = space->process;
		for (size_t j = 0; j < sources->count; j++) {
			const struct source *source = &sources->list[j];
			const struct symbols_file *files;
			size_t count = symbols_files(source->symbols, &files);

			if (!source_is_for(source, &process))
				continue;
			for (uint32_t k = 0; k < count; k++)
				if (find_file(survey, source->symbols, k, domain, space) <
				    0)
					return -1;
		}
	}
	return survey_use_recorded(survey, summary);
}

/* Sets where captured stacks of the domain have the file: at one place or, if address
 * spaces have it at different ones, in each of them. */
static int move_file(const struct survey *survey, const struct symbols *symbols,
		     uint32_t file, uint32_t index, struct replay *replay)
{
	const struct places *places = &survey->sources->places;
	uint64_t shift = places_common_in(places, symbols, file, index + survey->base);
	const struct symbols_file *files;

	symbols_files(symbols, &files);
	if (shift)
		return replay_move(replay, files[file].path, index, 0, shift);
	for (size_t i = 0; i < places->count; i++) {
		const struct place *place = &places->list[i];

		if (place->symbols == symbols && place->at.file == file &&
		    place->domain == index + survey->base && place->at.shift &&
		    replay_move(replay, files[file].path, index, place->space,
				place->at.shift) < 0)
			return -1;
	}
	return 0;
}

/* Sets where captured stacks of the domain have the files of the source. */
static int move_files(const struct survey *survey, const struct source *source,
		      const struct recording_domain *domain, struct replay *replay)
{
	const struct symbols_file *files;
	size_t count = symbols_files(source->symbols, &files);

	for (uint32_t i = 0; i < count; i++)
		if (move_file(survey, source->symbols, i, (uint32_t)domain->index,
			      replay) < 0)
			return -1;
	return 0;
}

int survey_move(const struct survey *survey, const struct summary *summary,
		struct replay *replay)
{
	const struct sources *sources = survey->sources;

	for (size_t i = 0; i < summary->domain_room; i++) {
		const struct recording_domain *domain = summary->domains[i];

		for (size_t j = 0; domain && j < sources->count; j++)
			if (source_is_in(&sources->list[j], domain) &&
			    move_files(survey, &sources->list[j], domain, replay) < 0)
				return -1;
	}
	return 0;
}
