/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_HASH_H
#define UNIPROF_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Hashing of data that comes from guests and files. The seed is unpredictable, so they
 * can't provoke collisions in a table.
 */

/* A new seed, from the kernel's random numbers. */
uint64_t hash_seed(void);

/*
 * The hash of @size bytes. Two different texts collide for at most one in
 * 2^61 / (@size / 7 + 2) seeds.
 */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed);

#endif
