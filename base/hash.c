/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"

#include <string.h>
#include <time.h>

#include "base/compat.h"

uint64_t hash_seed(void)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) == sizeof(seed))
		return seed;
	/* There are no random numbers early in the boot, or before Linux 3.17; the clock
	 * at least varies. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_nsec << 20 ^
	       (uint64_t)now.tv_sec;
}

#define PRIME (((uint64_t)1 << 61) - 1)
#define STEP  7 /* bytes per coefficient: every coefficient is below PRIME */

static uint64_t add_coefficient(uint64_t hash, uint64_t coefficient, uint64_t key)
{
	unsigned __int128 product = (unsigned __int128)(hash + coefficient) * key;

	hash = (uint64_t)(product & PRIME) + (uint64_t)(product >> 61);
	return (hash & PRIME) + (hash >> 61);
}

/*
 * Evaluates a polynomial modulo 2^61 - 1, whose coefficients are the bytes, at the seed
 * (Carter and Wegman, Universal Classes of Hash Functions, 1979). Two texts of @size
 * bytes collide where their difference, a polynomial of degree @size / 7 + 1, is 0.
 */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
	const unsigned char *at = bytes;
	uint64_t key = seed % PRIME, hash = size;
	size_t left = size;

	/* Copies of a constant size need no call. */
	for (; left >= STEP; left -= STEP, at += STEP) {
		uint64_t part = 0;

		memcpy(&part, at, STEP);
		hash = add_coefficient(hash, part, key);
	}
	if (left) {
		uint64_t part = 0;

		memcpy(&part, at, left);
		hash = add_coefficient(hash, part, key);
	}
	return hash;
}
