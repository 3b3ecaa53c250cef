/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/output.h"

#include <string.h>

static const struct output *const outputs[] = {
	&output_histogram,
	&output_histogram_csv,
	&output_histogram_json,
	&output_tree,
	&output_flamegraph,
	&output_timeline,
	&output_folded,
	&output_perf_script,
	&output_perf_data,
	&output_pprof,
	&output_speedscope,
	&output_callgrind,
	NULL,
};

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
