/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/vote.h"

#include <stdlib.h>

#define PAGE ((uint64_t)4096)

/*
 * About one place in 20, and at most one in 10, is behind a call. So the chance that a
 * given move gets the votes of n return addresses that it puts in the code is below
 * 10^-n, and there are as many moves as return addresses times pages of code. A move is
 * accepted with enough votes that a wrong one is once in a million files.
 */
#define CHANCE_DIGITS	  6
#define CONFIRM_VOTES_MIN 3

/*
 * Shares of the addresses in the code that must be behind a call, percent: for a move,
 * which needs many votes, and to confirm a place by a few. Of the right file, addresses
 * that an interrupt stopped are not, one in five was seen; of another build, 39 % and
 * more.
 */
#define FIND_SHARE    75
#define CONFIRM_SHARE 90

/* Maximum number of pages of code, 64 MiB, and of votes */
#define PAGES_MAX ((uint64_t)1 << 14)
#define VOTES_MAX ((size_t)1 << 20)

/* Whether a place is known in the file: in its code, or just behind it. */
static bool is_behind_call(const struct code *code, uint64_t place, bool *is_inside)
{
	enum symbols_call call = code_before(code, place);

	*is_inside = call != SYMBOLS_CALL_UNKNOWN;
	return call == SYMBOLS_CALL_THERE;
}

struct votes votes_count(const struct code *code, uint64_t shift,
			 const uint64_t *addresses, size_t count)
{
	struct votes votes = {.shift = shift};

	for (size_t i = 0; i < count; i++) {
		bool is_inside;

		votes.behind += is_behind_call(code, addresses[i] - shift, &is_inside);
		votes.inside += is_inside;
	}
	return votes;
}

static bool has_share(const struct votes *votes, unsigned int percent)
{
	return 100 * (uint64_t)votes->behind >= percent * (uint64_t)votes->inside;
}

bool votes_confirm(const struct votes *votes)
{
	return votes->behind >= CONFIRM_VOTES_MIN && has_share(votes, CONFIRM_SHARE);
}

/* Returns the number of votes that a move needs. */
static uint32_t votes_needed(const struct code *code, size_t count)
{
	uint64_t moves = 0;
	uint32_t needed = CHANCE_DIGITS;

	for (size_t i = 0; i < code->count; i++)
		moves += code->list[i].size / PAGE + 1;
	for (moves *= count; moves; moves /= 10)
		needed++;
	return needed;
}

/* The moves that addresses voted for. */
struct ballot {
	uint64_t *shift;
	size_t count;
};

/* Adds the votes of @address for places in the range, from page @first on. */
static void ballot_add(struct ballot *ballot, const struct code *code,
		       const struct code_range *range, uint64_t address, uint64_t *pages)
{
	/* The first place behind a byte of the range, as far into a page as the address
	 */
	uint64_t place = range->address + 1 +
			 ((address - range->address - 1) & (PAGE - 1));
	bool is_inside;

	for (; place - range->address <= range->size && *pages; place += PAGE) {
		--*pages;
		if (ballot->count < VOTES_MAX && is_behind_call(code, place, &is_inside))
			ballot->shift[ballot->count++] = address - place;
	}
}

static int compare_shifts(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Finds the move with most votes, and the number of votes of the next one. */
static struct votes ballot_result(const struct ballot *ballot)
{
	struct votes votes = {0};

	for (size_t i = 0, end; i < ballot->count; i = end) {
		uint32_t behind;

		for (end = i; end < ballot->count; end++)
			if (ballot->shift[end] != ballot->shift[i])
				break;
		behind = (uint32_t)(end - i);
		if (behind > votes.behind) {
			votes.next = votes.behind;
			votes.behind = behind;
			votes.shift = ballot->shift[i];
		} else if (behind > votes.next) {
			votes.next = behind;
		}
	}
	return votes;
}

bool votes_find(const struct code *code, const uint64_t *addresses, size_t count,
		struct votes *votes)
{
	struct ballot ballot = {.shift = malloc(VOTES_MAX * sizeof(*ballot.shift))};
	uint32_t next;

	*votes = (struct votes){0};
	if (!ballot.shift)
		return false;
	for (size_t i = 0; i < count && i < VOTERS_MAX; i++) {
		uint64_t pages = PAGES_MAX;

		for (size_t j = 0; j < code->count && pages; j++)
			ballot_add(&ballot, code, &code->list[j], addresses[i], &pages);
	}
	qsort(ballot.shift, ballot.count, sizeof(*ballot.shift), compare_shifts);
	*votes = ballot_result(&ballot);
	free(ballot.shift);
	next = votes->next;
	*votes = votes_count(code, votes->shift, addresses, count);
	votes->next = next;
	return votes->behind >= votes_needed(code, count) &&
	       has_share(votes, FIND_SHARE) &&
	       3 * (uint64_t)votes->next <= 2 * (uint64_t)votes->behind;
}
