/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_HASH_H
#define UNIPROF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Hashes for data from guests and files. The seed is unpredictable, so the data can't
 * provoke collisions in a table. */

/* Returns a new seed, from the kernel's random numbers. */
uint64_t hash_seed(void);

/* Returns the hash of @size bytes. Two different texts collide for at most one in 2^61 /
 * (@size / 7 + 2) seeds. */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
