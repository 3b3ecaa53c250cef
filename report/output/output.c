/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/output/output.h"

#include <string.h>

/* In the order of --help. */
#define OUTPUTS(X)        \
	X(histogram)      \
	X(histogram_csv)  \
	X(histogram_json) \
	X(tree)           \
	X(flamegraph)     \
	X(timeline)       \
	X(folded)         \
	X(perf_script)    \
	X(perf_data)      \
	X(pprof)          \
	X(speedscope)     \
	X(callgrind)      \
	X(rows)

#define DECLARE(name) extern const struct output output_##name;
#define ADDRESS(name) &output_##name,

OUTPUTS(DECLARE)

static const struct output *const outputs[] = {OUTPUTS(ADDRESS) NULL};

const struct output *output_find(const char *name)
{
	for (size_t i = 0; outputs[i]; i++)
		if (strcmp(outputs[i]->name, name) == 0)
			return outputs[i];
	return NULL;
}

const struct output *const *output_list(void)
{
	return outputs;
}
