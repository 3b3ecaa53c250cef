/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/unwound.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/command/message.h"

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
	const struct table_check *check = &sampler_learning(target->sampler)->table;
	const char *name = target->guest->info.name, *why = check->why.text;

	if (*is_told || check->state != TABLE_REFUSED)
		return 0;
	*is_told = true;
	if (unwound->is_wanted) {
		error_set(err, "'%s' is not sampled: %s", name, why);
		return 1;
	}
	message("record", "'%s' is unwound by frame pointers: %s", name, why);
	return 0;
}

void unwound_add(struct unwound *unwound, const struct target *target)
{
	const struct learning *learning = sampler_learning(target->sampler);
	const struct unwind_table *found = code_search_table(&learning->code);
	const char *why = learning->table.why.text;

	if (found) {
		unwound->by_code++;
		unwound->code_rows += unwind_table_rows(found);
	}
	unwound->domains++;
	unwound->captured += target->sampling.stack_bytes > 0;
	switch (learning->table.state) {
	case TABLE_USED:
		add_table(unwound, target->sampling.table);
		break;
	case TABLE_PENDING:
		if (*why)
			message("record", "'%s' was unwound by frame pointers: %s",
				target->guest->info.name, why);
		break;
	case TABLE_NONE:
	case TABLE_REFUSED:
		break;
	}
}

/* Appends to the @used characters; returns how many there are then, at most @size. */
static size_t __attribute__((format(printf, 4, 5)))
append(char *to, size_t used, size_t size, const char *format, ...)
{
	va_list arguments;
	int more;

	va_start(arguments, format);
	more = vsnprintf(to + used, size - used, format, arguments);
	va_end(arguments);
	if (more < 0)
		return used;
	return (size_t)more < size - used ? used + (size_t)more : size - 1;
}

void unwound_text(const struct unwound *unwound, char *to, size_t size)
{
	unsigned int others = unwound->domains - unwound->by_table - unwound->by_code;
	size_t used = 0;

	*to = 0;
	if (unwound->by_table)
		used = append(to, used, size, "by tables of %s (%" PRIu64 " rows)",
			      unwound->names, unwound->rows);
	if (unwound->by_code)
		used = append(to, used, size, "%sby code in memory (%" PRIu64 " rows)",
			      used ? ", " : "", unwound->code_rows);
	if (unwound->captured)
		append(to, used, size, "in reports, by the captured stacks");
	else if (!used)
		append(to, used, size, "by frame pointers");
	else if (others)
		append(to, used, size, ", %u of %u domains by frame pointers", others,
		       unwound->domains);
}
