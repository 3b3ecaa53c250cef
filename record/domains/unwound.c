/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/unwound.h"

#include <stdio.h>
#include <string.h>

/* Counts a domain that was unwound by the table. A table that domains share is named only
 * once. */
static void add_table(struct unwound *unwound, const struct program_table *table)
{
	size_t used = strlen(unwound->names);

	unwound->by_table++;
	for (unsigned int i = 0; i < unwound->tables; i++)
		if (unwound->seen[i] == table)
			return;
	if (unwound->tables == UNWOUND_TABLES)
		return;
	unwound->seen[unwound->tables++] = table;
	unwound->rows += unwind_table_rows(table->table);
	if (used)
		used += (size_t)snprintf(unwound->names + used,
					 sizeof(unwound->names) - used, ", ");
	if (used < sizeof(unwound->names))
		program_table_names(table, unwound->names + used,
				    sizeof(unwound->names) - used);
}

void unwound_add(struct unwound *unwound, const struct target *target,
		 const struct early *early)
{
	const struct learning *learning = sampler_learning(target->sampler);
	const struct unwind_table *found = code_search_table(&learning->code);

	unwound->domains++;
	unwound->captured += target_captures_stacks(target);
	unwound->by_frames += learning->table.state != TABLE_USED && !found;
	if (learning->table.state == TABLE_USED)
		add_table(unwound, target->sampling.table);
	if (learning->table.state == TABLE_USED || found)
		unwound->early += early->samples;
	if (found) {
		unwound->by_code++;
		unwound->code_rows += unwind_table_rows(found);
	}
}
