/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/unwound.h"

#include <stdio.h>
#include <string.h>

/* Whether a file is still to be named; from then on, it counts as named. */
static bool is_new(struct unwound *unwound, const struct table_origin *origin)
{
	for (unsigned int i = 0; i < unwound->files; i++)
		if (unwound->seen[i] == origin)
			return false;
	if (unwound->files == UNWOUND_FILES)
		return false;
	unwound->seen[unwound->files++] = origin;
	return true;
}

/* Counts a domain that was unwound by a table. A file whose table domains share is named
 * only once. */
static void add_table(struct unwound *unwound, const struct placed_table *placed)
{
	unwound->by_table++;
	for (size_t i = 0; i < placed->table->origins; i++) {
		const struct table_origin *origin = &placed->table->origin[i];
		size_t used = strlen(unwound->names);

		if (!placed->is_found[i] || !is_new(unwound, origin))
			continue;
		unwound->rows += program_table_rows(placed->table, i);
		snprintf(unwound->names + used, sizeof(unwound->names) - used, "%s%s",
			 used ? ", " : "", origin->name);
	}
}

void unwound_add(struct unwound *unwound, const struct target *target,
		 const struct early *early)
{
	const struct learning *learning = sampler_learning(target->sampler);
	const struct unwind_table *found = code_search_table(&learning->code);
	const struct unwind_table *kernel = learning_kernel(learning);
	bool by_code = found || kernel;

	unwound->domains++;
	unwound->captured += target_captures_stacks(target);
	unwound->by_frames += learning->table.state != TABLE_USED && !by_code;
	if (learning->table.state == TABLE_USED)
		add_table(unwound, &learning->table.placed);
	if (learning->table.state == TABLE_USED || by_code)
		unwound->early += early->samples;
	if (by_code) {
		unwound->by_code++;
		unwound->code_rows += (found ? unwind_table_rows(found) : 0) +
				      (kernel ? unwind_table_rows(kernel) : 0);
	}
}
