/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_RETURNS_H
#define UNIPROF_UNWIND_RETURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
	uint64_t key;	 /* return_key() */
	uint64_t target; /* where the call leads; 0: not known */
	enum return_kind kind;
};

/* Starts as zeros. */
#define RETURN_NOTES 2048
#define GUESS_NOTES  1024
struct return_notes {
	struct return_note note[RETURN_NOTES];
	uint64_t wrong[GUESS_NOTES]; /* keys of addresses at which guesses were wrong */
};

/* The upper half of the addresses is the kernel's, in all address spaces. */
static inline bool is_in_upper_half(uint64_t address)
{
	return address >> 63;
}

/* Returns what notes know an address by, of the address space @space (cpu_space()):
 * programs have other code at the same address. */
static inline uint64_t return_key(uint64_t address, uint64_t space)
{
	/* 2^64 divided by the golden ratio spreads close numbers. */
	return is_in_upper_half(address) ? address : address ^ space * 0x9e3779b97f4a7c15;
}

/* Returns the number of the note that an address has, or could have. */
static inline size_t return_place(uint64_t key)
{
	return (key ^ key >> 11) % RETURN_NOTES;
}

static inline enum return_kind return_kind_of(const struct return_notes *notes,
					      uint64_t key)
{
	const struct return_note *note;

	if (!notes)
		return RETURN_UNKNOWN;
	note = &notes->note[return_place(key)];
	return note->key == key ? note->kind : RETURN_UNKNOWN;
}

/* Notes that the rule for an address, a guess, led to no return address. */
static inline void guess_is_wrong(struct return_notes *notes, uint64_t key)
{
	notes->wrong[key % GUESS_NOTES] = key;
}

/* Forgets which guesses were wrong. */
static inline void guesses_forgive(struct return_notes *notes)
{
	memset(notes->wrong, 0, sizeof(notes->wrong));
}

static inline bool guess_was_wrong(const struct return_notes *notes, uint64_t key)
{
	return notes && notes->wrong[key % GUESS_NOTES] == key;
}

#endif
