/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "record/linux/kernel_seen.h"
#include "symbols/symbols.h"

/*
 * The tables are next to each other, each aligned to 8 bytes (Linux, scripts/kallsyms.c,
 * write_src()): up to Linux 6.3 offsets, base, number of symbols, names, markers, tokens,
 * places of the tokens; later the same with the offsets and the base at the end. From 6.2
 * on, another table is behind the markers or at the end. The offsets, of which every page
 * is ascending numbers, are found first, by a page here and there; then the places of the
 * tokens, which are 256 ascending numbers just before or some MiB behind the offsets;
 * then what is before the places, from the end to the start.
 */

/* Pages and CPU time, ns, after which a look ends, and number of searches in all */
#define LOOK_PAGES   (KALLSYMS_MAPS / 2)
#define LOOK_NS	     (NS_PER_S / 500)
#define SEARCHES_MAX 8
/* Number of searches that skip executable pages */
#define SKIPPING_SEARCHES 2
/* Number of searches that differ: each of the skipping ones, and once without skipping */
#define SEARCH_KINDS (2 * SKIPPING_SEARCHES)
/* How many times the CPU time of a look passes until the next one, in the first search,
 * which mostly is the only one, and in later ones; and time between two searches, ns */
#define FIRST_COST_FACTOR 4
#define COST_FACTOR	  20
#define RETRY_NS	  NS_PER_S

/* Pages in which the tables are looked for, and missing pages that end the search: a
 * kernel's parts are at most 2 MiB apart. */
#define SEARCH_PAGES  (64u << 8)
#define MISSING_PAGES 1024

/* Distance of the pages that are examined for offsets: that of 8,192 symbols, and a
 * kernel has more. */
#define OFFSET_PAGES 8
/* Maximum distance of two symbols, bytes */
#define OFFSET_STEP_MAX (1u << 20)

#define PART_SIZE ((uint64_t)2 << 20)

/* Bytes before the tokens in which the markers are looked for: at 6.2, three bytes for
 * each symbol are between them */
#define MARKERS_MAX (4u << 20)
/* The shortest and the longest 256 symbols, bytes */
#define STEP_BYTES_MIN 512
#define STEP_BYTES_MAX 65536
/* Markers that must ascend, and places tried for them */
#define MARKERS_MIN   16
#define MARKERS_TRIES 64

#define ALIGN_8(size) (((uint64_t)(size) + 7) & ~(uint64_t)7)

enum stage {
	BEGIN,
	FIND_OFFSETS,
	FIND_START,  /* of the offsets */
	FIND_PLACES, /* of the tokens */
	FIND_MARKERS,
	READ_NAMES,
	READ_OFFSETS,
	DONE, /* the names are complete, or given up */
};

struct kallsyms_search {
	enum stage stage;
	uint64_t due; /* time of the next look, ns, monotonic */
	unsigned int searches;
	uint64_t page;		     /* address of the next page to examine */
	unsigned int pages, missing; /* pages examined, and missing ones in a row */
	uint64_t places, tokens, markers, names; /* addresses of the tables */
	unsigned int tries;			 /* places tried for the markers */
	uint32_t done;		   /* bytes of the present table that were read */
	struct kallsyms *kallsyms; /* the copies; NULL: none yet */
	bool is_complete;
	uint8_t window[2 * GUEST_PAGE_SIZE];
	uint8_t first[3 * GUEST_PAGE_SIZE]; /* symbols up to the second marker */
};

/* What a look reads. */
struct view {
	const struct cpu *cpu;
	const struct guest_memory *memory;
};

struct kallsyms_search *kallsyms_search_new(void)
{
	return calloc(1, sizeof(struct kallsyms_search));
}

void kallsyms_search_free(struct kallsyms_search *search)
{
	if (!search)
		return;
	kallsyms_free(search->kallsyms);
	free(search);
}

const struct kallsyms *kallsyms_get(const struct kallsyms_search *search)
{
	return search->is_complete ? search->kallsyms : NULL;
}

struct kallsyms *kallsyms_take(struct kallsyms_search *search)
{
	struct kallsyms *kallsyms = search->is_complete ? search->kallsyms : NULL;

	if (kallsyms)
		search->kallsyms = NULL;
	return kallsyms;
}

bool kallsyms_are_due(const struct kallsyms_search *search, uint64_t now)
{
	return search->stage != DONE && now >= search->due;
}

bool kallsyms_were_sought(const struct kallsyms_search *search)
{
	return search->searches >= SEARCH_KINDS;
}

/* Ends a search that has found nothing; another one may begin later. */
static void give_up(struct kallsyms_search *search, uint64_t now)
{
	kallsyms_free(search->kallsyms);
	search->kallsyms = NULL;
	search->stage = ++search->searches < SEARCHES_MAX ? BEGIN : DONE;
	search->due = now + RETRY_NS;
}

static uint16_t half_at(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static uint32_t word_at(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* Whether these are 256 places of tokens. */
static bool are_places(const uint8_t *at)
{
	uint16_t before = half_at(at), next;

	if (before)
		return false;
	for (unsigned int i = 1; i < KALLSYMS_TOKENS; i++, before = next) {
		next = half_at(at + 2 * i);
		if (next < before + 2 || next > before + KALLSYMS_TOKEN_MAX)
			return false;
	}
	return true;
}

/* Whether the tokens at @text, which has @size bytes, end before the places say that the
 * next ones begin. */
static bool are_tokens(const struct kallsyms *kallsyms, const uint8_t *text, size_t size)
{
	for (unsigned int i = 0; i < KALLSYMS_TOKENS; i++) {
		size_t at = kallsyms->token_at[i];
		size_t end = i + 1 < KALLSYMS_TOKENS ? kallsyms->token_at[i + 1] : 0;
		size_t length = at < size ? strnlen((const char *)text + at, size - at)
					  : 0;

		if (!length || at + length >= size || (end && at + length + 1 != end))
			return false;
	}
	return true;
}

/* Reads the tokens, which end up to 7 bytes before their places. False if there are none.
 */
static bool read_tokens(struct kallsyms_search *search, const struct view *view,
			const uint8_t *places)
{
	struct kallsyms *kallsyms = calloc(1, sizeof(*kallsyms));
	size_t last, size;

	search->kallsyms = kallsyms;
	if (!kallsyms)
		return false;
	for (unsigned int i = 0; i < KALLSYMS_TOKENS; i++)
		kallsyms->token_at[i] = half_at(places + 2 * i);
	last = kallsyms->token_at[KALLSYMS_TOKENS - 1];
	for (size = ALIGN_8(last + 2); size < last + KALLSYMS_TOKEN_MAX; size += 8) {
		search->tokens = search->places - size;
		if (cpu_copy(view->cpu, view->memory, search->tokens, kallsyms->token,
			     size) &&
		    are_tokens(kallsyms, kallsyms->token, size))
			return true;
	}
	kallsyms_free(kallsyms);
	search->kallsyms = NULL;
	return false;
}

/* Begins to look at pages downwards from @address. */
static void begin_stage(struct kallsyms_search *search, enum stage stage,
			uint64_t address)
{
	search->stage = stage;
	search->page = address & -(uint64_t)GUEST_PAGE_SIZE;
	search->pages = search->missing = search->tries = 0;
	search->done = 0;
}

/* Looks for the places in a page and the 512 bytes behind it. True if they are there. */
static bool find_places(struct kallsyms_search *search, const struct view *view,
			uint64_t page)
{
	uint8_t *bytes = search->window;

	for (size_t at = 0; at < GUEST_PAGE_SIZE; at += 8) {
		if (!are_places(bytes + at))
			continue;
		search->places = page + at;
		if (read_tokens(search, view, bytes + at))
			return true;
	}
	return false;
}

/* Whether a page has nothing but offsets: addresses that ascend by less than a MiB, which
 * are in the negative for kernels with data of each CPU. */
static bool are_offsets(const uint8_t *page)
{
	uint32_t before = word_at(page);
	bool is_signed = before >> 31;

	for (size_t at = 4; at < GUEST_PAGE_SIZE; at += 4) {
		uint32_t next = word_at(page + at);

		if ((is_signed ? before - next : next - before) >= OFFSET_STEP_MAX)
			return false;
		before = next;
	}
	return before != word_at(page);
}

/* Reads the next page unless it is code or missing; moves on to the page @distance pages
 * behind it. False if there is nothing to examine. */
static bool read_next(struct kallsyms_search *search, const struct view *view,
		      unsigned int distance, uint64_t now)
{
	uint64_t page = search->page, frame;

	if (search->pages > SEARCH_PAGES || search->missing > MISSING_PAGES) {
		give_up(search, now);
		return false;
	}
	search->pages += distance;
	search->page += (uint64_t)distance * GUEST_PAGE_SIZE;
	if (cpu_translate(view->cpu, view->memory, page, &frame) != TRANSLATED) {
		search->missing += distance;
		return false;
	}
	search->missing = 0;
	/* Read-only data begins in another 2 MiB (arch/x86/kernel/vmlinux.lds.S). It is
	 * executable until the kernel has booted (mark_rodata_ro()). */
	if (view->cpu->family == CPU_FAMILY_X86 && search->searches < SKIPPING_SEARCHES &&
	    cpu_is_executable(view->cpu, view->memory, page)) {
		search->page = (page | (PART_SIZE - 1)) + 1;
		return false;
	}
	return cpu_copy(view->cpu, view->memory, page, search->window, GUEST_PAGE_SIZE);
}

static void look_for_offsets(struct kallsyms_search *search, const struct view *view,
			     uint64_t now)
{
	if (read_next(search, view, OFFSET_PAGES, now) && are_offsets(search->window))
		begin_stage(search, FIND_START,
			    search->page - OFFSET_PAGES * (uint64_t)GUEST_PAGE_SIZE);
}

/* Looks for the page in which the offsets begin; the places may be in the page before. */
static void look_for_start(struct kallsyms_search *search, const struct view *view)
{
	uint64_t before = search->page - GUEST_PAGE_SIZE;

	if (++search->pages <= OFFSET_PAGES &&
	    cpu_copy(view->cpu, view->memory, before, search->window, GUEST_PAGE_SIZE) &&
	    are_offsets(search->window))
		search->page = before;
	else
		begin_stage(search, FIND_PLACES, before - GUEST_PAGE_SIZE);
}

static void look_for_places(struct kallsyms_search *search, const struct view *view,
			    uint64_t now)
{
	const size_t size = 2 * KALLSYMS_TOKENS;
	uint64_t page = search->page;

	if (!read_next(search, view, 1, now))
		return;
	if (!cpu_copy(view->cpu, view->memory, page + GUEST_PAGE_SIZE,
		      search->window + GUEST_PAGE_SIZE, size))
		memset(search->window + GUEST_PAGE_SIZE, 0, size);
	if (find_places(search, view, page))
		begin_stage(search, FIND_MARKERS, search->tokens);
}

/* Returns how many numbers at @at, of at most @most, ascend as markers do. */
static uint32_t count_markers(const uint8_t *at, uint32_t most)
{
	uint32_t before = word_at(at), count = 1;

	if (before)
		return 0;
	for (; count < most; count++) {
		uint32_t next = word_at(at + 4 * count);

		if (next < before + STEP_BYTES_MIN || next > before + STEP_BYTES_MAX)
			break;
		before = next;
	}
	return count;
}

/* Reads the markers at search->markers. Returns false if there are too few. */
static bool read_markers(struct kallsyms_search *search, const struct view *view)
{
	const uint32_t most = KALLSYMS_SYMBOLS_MAX / KALLSYMS_STEP;
	uint64_t room = (search->tokens - search->markers) / sizeof(uint32_t);
	uint32_t count = room < most ? (uint32_t)room : most;
	struct kallsyms *kallsyms = search->kallsyms;

	free(kallsyms->marker);
	kallsyms->marker = calloc(count ? count : 1, sizeof(*kallsyms->marker));
	if (!kallsyms->marker || !cpu_copy(view->cpu, view->memory, search->markers,
					   kallsyms->marker, 4 * (size_t)count))
		return false;
	kallsyms->markers = count_markers((const uint8_t *)kallsyms->marker, count);
	return kallsyms->markers >= MARKERS_MIN;
}

/*
 * Looks for the start of the names, before the markers: the number of symbols is before
 * them, and 256 symbols end at the second marker. The number of markers follows from the
 * number of symbols.
 */
static bool find_names(struct kallsyms_search *search, const struct view *view)
{
	struct kallsyms *kallsyms = search->kallsyms;
	uint32_t last = kallsyms->marker[kallsyms->markers - 1];
	uint64_t end = (search->markers - last) & ~(uint64_t)7;
	const uint8_t *bytes = search->first;

	/* The symbols behind the last marker are no longer than those before the second.
	 */
	for (uint64_t at = 8; at + 16 < sizeof(search->first); at += 8) {
		uint64_t start = end - at;
		struct kallsyms_place place = {0};
		uint32_t head[2], i;

		if (!cpu_copy(view->cpu, view->memory, start - 8, head, sizeof(head)))
			return false;
		if (head[1] || head[0] <= KALLSYMS_STEP * (kallsyms->markers - 1) ||
		    head[0] > KALLSYMS_STEP * kallsyms->markers)
			continue;
		if (!cpu_copy(view->cpu, view->memory, start, search->first,
			      sizeof(search->first)))
			continue;
		for (i = 0; i < KALLSYMS_STEP; i++)
			if (!kallsyms_place(bytes, sizeof(search->first), place.next,
					    &place))
				break;
		if (i < KALLSYMS_STEP || place.next != kallsyms->marker[1])
			continue;
		search->names = start;
		kallsyms->symbols = head[0];
		kallsyms->name_size = search->markers - start;
		return kallsyms->name_size <= KALLSYMS_NAMES_MAX;
	}
	return false;
}

/* Looks for the markers in a page, from its end on. */
static void look_for_markers(struct kallsyms_search *search, const struct view *view,
			     uint64_t now)
{
	const size_t more = 4 * MARKERS_MIN;
	struct kallsyms *kallsyms = search->kallsyms;

	if (++search->pages > MARKERS_MAX / GUEST_PAGE_SIZE ||
	    search->tries > MARKERS_TRIES ||
	    !cpu_copy(view->cpu, view->memory, search->page, search->window,
		      GUEST_PAGE_SIZE) ||
	    !cpu_copy(view->cpu, view->memory, search->page + GUEST_PAGE_SIZE,
		      search->window + GUEST_PAGE_SIZE, more)) {
		give_up(search, now);
		return;
	}
	for (size_t at = GUEST_PAGE_SIZE; at > 0;) {
		at -= 8;
		search->markers = search->page + at;
		if (search->markers >= search->tokens ||
		    count_markers(search->window + at, MARKERS_MIN) < MARKERS_MIN)
			continue;
		if (search->tries++ > MARKERS_TRIES)
			break;
		if (!read_markers(search, view) || !find_names(search, view))
			continue;
		kallsyms->name = malloc(kallsyms->name_size);
		kallsyms->offset = calloc(kallsyms->symbols, sizeof(*kallsyms->offset));
		if (!kallsyms->name || !kallsyms->offset)
			give_up(search, now);
		else
			begin_stage(search, READ_NAMES, search->names);
		return;
	}
	search->page -= GUEST_PAGE_SIZE;
}

/* Reads the next part of a table of @size bytes at @from. True once it is complete. */
static bool read_part(struct kallsyms_search *search, const struct view *view,
		      uint64_t from, void *to, size_t size, uint64_t now)
{
	size_t part = size - search->done;

	part = part < GUEST_PAGE_SIZE ? part : GUEST_PAGE_SIZE;
	if (!cpu_copy(view->cpu, view->memory, from + search->done,
		      (uint8_t *)to + search->done, part)) {
		give_up(search, now);
		return false;
	}
	search->done += part;
	return search->done == size;
}

/* Returns the address of the base: behind the offsets if those are behind the places of
 * the tokens, or before the number of symbols. */
static uint64_t base_at(const struct kallsyms_search *search, bool is_behind)
{
	uint64_t places_end = search->places + 2 * KALLSYMS_TOKENS;
	uint64_t size = ALIGN_8(4 * (uint64_t)search->kallsyms->symbols);

	return is_behind ? places_end + size : search->names - 16;
}

/* Whether the offsets are behind the places of the tokens: where the base is in the
 * kernel's half, as no other table's bytes are. */
static bool has_base(struct kallsyms_search *search, const struct view *view,
		     bool is_behind)
{
	uint64_t *base = &search->kallsyms->base;

	return cpu_copy(view->cpu, view->memory, base_at(search, is_behind), base,
			sizeof(*base)) &&
	       *base >= ARM64_KERNEL && *base % GUEST_PAGE_SIZE == 0;
}

static void read_offsets(struct kallsyms_search *search, const struct view *view,
			 uint64_t now)
{
	struct kallsyms *kallsyms = search->kallsyms;
	size_t size = 4 * (size_t)kallsyms->symbols;
	bool is_behind = has_base(search, view, true);
	uint64_t from = search->places + 2 * KALLSYMS_TOKENS;

	if (!is_behind && !has_base(search, view, false)) {
		give_up(search, now);
		return;
	}
	if (!is_behind)
		from = base_at(search, false) - ALIGN_8(size);
	if (!read_part(search, view, from, kallsyms->offset, size, now))
		return;
	search->is_complete = kallsyms_check(kallsyms);
	search->stage = DONE;
	if (!search->is_complete)
		give_up(search, now);
}

static void look_once(struct kallsyms_search *search, const struct view *view,
		      uint64_t now)
{
	struct kallsyms *kallsyms = search->kallsyms;

	switch (search->stage) {
	case FIND_OFFSETS:
		look_for_offsets(search, view, now);
		break;
	case FIND_START:
		look_for_start(search, view);
		break;
	case FIND_PLACES:
		look_for_places(search, view, now);
		break;
	case FIND_MARKERS:
		look_for_markers(search, view, now);
		break;
	case READ_NAMES:
		if (read_part(search, view, search->names, kallsyms->name,
			      kallsyms->name_size, now))
			begin_stage(search, READ_OFFSETS, search->names);
		break;
	case READ_OFFSETS:
		read_offsets(search, view, now);
		break;
	case BEGIN:
	case DONE:
		break;
	}
}

void kallsyms_look(struct kallsyms_search *search, const struct cpu *cpu,
		   const struct guest_memory *memory, uint64_t code, uint64_t now)
{
	const struct view view = {cpu, memory};
	uint64_t begun = clock_thread(), spent = 0;
	unsigned int searches = search->searches;
	enum cpu_kind kind = cpu_kind(cpu);

	if (kind != CPU_X86_64 && kind != CPU_ARM64)
		return;
	/* A small kernel may have too few offsets to be seen from afar. */
	if (search->stage == BEGIN)
		begin_stage(search, searches % 2 ? FIND_PLACES : FIND_OFFSETS, code);
	for (unsigned int i = 0; i < LOOK_PAGES && spent < LOOK_NS; i++) {
		look_once(search, &view, now);
		if (searches != search->searches)
			return;
		spent = clock_thread() - begun;
	}
	search->due = now + (searches ? COST_FACTOR : FIRST_COST_FACTOR) * spent;
}
