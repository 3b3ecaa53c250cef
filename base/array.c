/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool array_grow(void *array, size_t count, size_t size)
{
	void **at = array;
	void *grown;

	if (count > SIZE_MAX / size)
		return false;
	grown = realloc(*at, count * size);
	if (grown)
		*at = grown;
	return grown;
}

bool array_grow_zeroed(void *array, size_t old, size_t count, size_t size)
{
	char **at = array;

	if (!array_grow(array, count, size))
		return false;
	memset(*at + old * size, 0, (count - old) * size);
	return true;
}

const char *array_name(const char *const *names, size_t count, unsigned int i)
{
	return i < count && names[i] ? names[i] : "unknown";
}
