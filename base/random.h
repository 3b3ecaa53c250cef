/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_RANDOM_H
#define UNIPROF_BASE_RANDOM_H

#include <stdint.h>

/* Returns the next of a series of pseudorandom numbers, by splitmix64 (Steele, Lea,
 * Flood: Fast splittable pseudorandom generators). Any state starts a series. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

#endif
