/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/unwound.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Domains often share a table. */
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

int unwound_refuse(const struct unwound *unwound, const struct target *target,
		   bool *is_told, struct error *err)
{
	const char *name = target->guest->info.name, *why;

	if (*is_told || sampler_table(target->sampler, &why) != TABLE_REFUSED)
		return 0;
	*is_told = true;
	if (unwound->is_wanted) {
		error_set(err, "'%s' is not sampled: %s", name, why);
		return 1;
	}
	fprintf(stderr, "uniprof record: '%s' is unwound by frame pointers: %s\n", name,
		why);
	return 0;
}

void unwound_add(struct unwound *unwound, const struct target *target)
{
	const char *why;

	unwound->domains++;
	switch (sampler_table(target->sampler, &why)) {
	case TABLE_USED:
		add_table(unwound, target->table);
		break;
	case TABLE_PENDING:
		if (*why)
			fprintf(stderr,
				"uniprof record: '%s' was unwound by frame pointers: "
				"%s\n",
				target->guest->info.name, why);
		break;
	case TABLE_NONE:
	case TABLE_REFUSED:
		break;
	}
}

void unwound_text(const struct unwound *unwound, char *to, size_t size)
{
	unsigned int others = unwound->domains - unwound->by_table;
	int used;

	if (!unwound->by_table) {
		snprintf(to, size, "by frame pointers");
		return;
	}
	used = snprintf(to, size, "by tables of %s (%" PRIu64 " rows)", unwound->names,
			unwound->rows);
	if (others && used >= 0 && (size_t)used < size)
		snprintf(to + used, size - (size_t)used,
			 ", %u of %u domains by frame pointers", others,
			 unwound->domains);
}
