/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Arbitrary mangled names. Build with -fsanitize=fuzzer,address,undefined and run on
 * tests/fuzz/corpus/demangle.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"
#include "tests/fuzz/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct demangled demangled;
	char *name = malloc(size + 1);

	check(name != NULL);
	memcpy(name, data, size);
	name[size] = '\0';
	if (demangle(name, size % 2, &demangled)) {
		check(demangled.length > 0 && demangled.length <= DEMANGLE_TO_MAX);
		check(strlen(demangled.text) == demangled.length);
		check(demangled.made >= demangled.length);
	}
	free(name);
	return 0;
}
