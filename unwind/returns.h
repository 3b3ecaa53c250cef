/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_RETURNS_H
#define UNIPROF_UNWIND_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What is known of addresses in chains: whether they are return addresses. Code is
 * examined after a pause (record/learning/returns.h), and looked up here in the next one,
 * so that no page of code is read for it.
 */

enum return_kind {
	RETURN_UNKNOWN,
	RETURN_GOOD, /* executable, and behind a call */
	RETURN_BAD,
};

struct return_note {
	uint64_t address;
	uint64_t target; /* where the call leads; 0: not known */
	enum return_kind kind;
};

/* Starts as zeros. */
#define RETURN_NOTES 2048
#define GUESS_NOTES  1024
struct return_notes {
	struct return_note note[RETURN_NOTES];
	uint64_t wrong[GUESS_NOTES]; /* addresses at which guesses were wrong; 0: free */
};

/* Returns the number of the note that @address has, or could have. */
static inline size_t return_place(uint64_t address)
{
	return (address ^ address >> 11) % RETURN_NOTES;
}

static inline enum return_kind return_kind_of(const struct return_notes *notes,
					      uint64_t address)
{
	const struct return_note *note;

	if (!notes)
		return RETURN_UNKNOWN;
	note = &notes->note[return_place(address)];
	return note->address == address ? note->kind : RETURN_UNKNOWN;
}

/* Notes that the rule for @address, a guess, led to no return address. */
static inline void guess_is_wrong(struct return_notes *notes, uint64_t address)
{
	notes->wrong[address % GUESS_NOTES] = address;
}

static inline bool guess_was_wrong(const struct return_notes *notes, uint64_t address)
{
	return notes && notes->wrong[address % GUESS_NOTES] == address;
}

#endif
