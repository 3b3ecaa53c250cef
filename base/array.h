/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_ARRAY_H
#define UNIPROF_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Grows the array that the pointer at @array refers to, to @count elements of @size
 * bytes. Its contents are kept. False if out of memory; the array is then unchanged. */
bool array_grow(void *array, size_t count, size_t size);

/* Like array_grow(), for an array of @old elements; sets the new elements to zero. */
bool array_grow_zeroed(void *array, size_t old, size_t count, size_t size);

/* Returns the name with the index @i in an array of names; "unknown" if there is none. */
#define ARRAY_NAME(names, i) array_name(names, sizeof(names) / sizeof((names)[0]), i)
const char *array_name(const char *const *names, size_t count, unsigned int i);

#endif
