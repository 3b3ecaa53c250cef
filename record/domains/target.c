/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"

/* Sets the elements of @wanted for the vCPUs in the list: 0, or -1. */
static int choose_vcpus(const struct guest_info *info, const char *list, bool *wanted,
			struct error *err)
{
	if (parse_list(list, wanted, info->vcpus) == 0)
		return 0;
	if (!info->vcpus)
		return error_set(err, "domain '%s' has no vCPUs yet", info->name);
	return error_set(err, "invalid list of vCPUs '%s': domain '%s' has vCPUs 0 to %u",
			 list, info->name, info->vcpus - 1);
}

int target_open(struct target *target, struct host *host, const struct guest_info *info,
		const char *vcpus, const struct sampling *sampling, struct error *err)
{
	bool *wanted = NULL;
	int status = -1;

	*target = (struct target){.sampling = *sampling};
	if (vcpus) {
		wanted = calloc(info->vcpus + 1, sizeof(*wanted));
		if (!wanted)
			return error_set(err, "out of memory");
		if (choose_vcpus(info, vcpus, wanted, err) < 0)
			goto out;
	}
	target->guest = host->ops->open(host, info, wanted, err);
	if (!target->guest)
		goto out;
	target->sampler = sampler_new(target->guest, sampling, err);
	if (target->sampler)
		status = 0;
out:
	free(wanted);
	if (status < 0)
		target_close(target);
	return status;
}

void target_close(struct target *target)
{
	sampler_free(target->sampler);
	if (target->guest)
		target->guest->ops->close(target->guest);
	*target = (struct target){0};
}

enum cpu_kind target_kind(const struct target *target)
{
	return target->guest->ops->kind(target->guest);
}

/* Whether the guest's CPU is one with tables, or not known yet. */
static bool target_may_have_tables(const struct target *target)
{
	enum cpu_kind kind = target_kind(target);

	return kind == CPU_UNKNOWN || cpu_kind_has_tables(kind);
}

bool target_captures_stacks(const struct target *target)
{
	return target->sampling.stack_bytes && target_may_have_tables(target);
}

/* Lists which processes have which of several files at one address. */
static void describe_spaces(const struct learning *learning,
			    struct recording_domain *description)
{
	struct rival_space list[RECORDING_SPACES];
	size_t count = learning_rivals(learning, list, RECORDING_SPACES);

	for (size_t i = 0; i < count; i++) {
		description->spaces[2 * i] = list[i].program;
		description->spaces[2 * i + 1] = list[i].space;
	}
}

/* @is_first: no registers were captured in an earlier round. */
static void describe_unwinding(const struct target *target, bool is_first,
			       struct recording_domain *description)
{
	const struct learning *learning = sampler_learning(target->sampler);
	const struct placed_table *placed = &learning->table.placed;
	const struct program_table *table = target->sampling.table;
	size_t files = 0;

	if (target_captures_stacks(target))
		description->unwind_way = UNWIND_LATER;
	else if ((!table || table->is_found) && target->sampling.examiner &&
		 target_may_have_tables(target))
		description->unwind_way = UNWIND_BY_FOUND_CODE;
	else
		description->unwind_way = UNWIND_BY_FRAMES;
	if (learning->table.state != TABLE_USED)
		return;
	description->unwind_way = is_first ? UNWIND_BY_TABLE : UNWIND_BY_TABLE_LATER;
	description->linux_text = learning_linux(learning);
	for (size_t i = 0; i < table->origins; i++) {
		if (!placed->is_found[i])
			continue;
		description->table_rows += program_table_rows(table, i);
		if (files < RECORDING_MOVES)
			description->moves[files++] = placed_table_move(placed, i);
	}
	describe_spaces(learning, description);
	placed_table_names(placed, description->table_files,
			   sizeof(description->table_files));
	placed_table_build_ids(placed, description->build_ids,
			       sizeof(description->build_ids));
}

void target_describe(const struct target *target, bool is_first,
		     struct recording_domain *description)
{
	const struct guest *guest = target->guest;
	const struct guest_info *info = &guest->info;

	*description = (struct recording_domain){
		.index = target->sampling.index,
		.id = info->id,
		.type = info->type,
		.cpu = target_kind(target),
		.vcpus = info->vcpus,
		.has_events = guest->has_events,
	};
	description->word = cpu_kind_word(description->cpu);
	snprintf(description->name, sizeof(description->name), "%s", info->name);
	snprintf(description->vmm, sizeof(description->vmm), "%s", info->vmm);
	memcpy(description->uuid, info->uuid, sizeof(description->uuid));
	describe_unwinding(target, is_first, description);
}
