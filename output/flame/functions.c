/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/flame/functions.h"

#include <stdlib.h>

#include "base/array.h"
#include "report/model/domains.h"

struct seen {
	const struct report *report;
	struct function_place *list; /* by function */
	uint32_t room;
};

/* Makes room for all functions known so far. -1 if out of memory. */
static int seen_grow(struct seen *seen)
{
	uint32_t count = frames_functions(seen->report->frames), room = count * 2;

	if (count <= seen->room)
		return 0;
	if (!array_grow_zeroed(&seen->list, seen->room, room, sizeof(*seen->list)))
		return -1;
	seen->room = room;
	return 0;
}

/* Adds an address, a node of the report's stacks. -1 if out of memory. */
static int seen_add(void *arg, uint32_t node, bool is_caller)
{
	struct seen *seen = arg;
	const struct report *report = seen->report;
	enum frame_use use = is_caller ? FRAME_CALLER : FRAME_LEAF;
	const struct stacks *stacks = report->stacks;
	uint64_t address = stacks->tree.nodes[node].key;
	const struct recording_domain *domain = summary_domain(report->summary,
							       stacks->domain[node]);
	uint32_t number = frames_find(report->frames, stacks->domain[node], address, use);
	const struct frame *frame;

	if (number == FRAMES_NONE || seen_grow(seen) < 0)
		return -1;
	frame = frames_get(report->frames, number);
	for (uint32_t i = 0; i < frame->function_count; i++) {
		uint32_t function = frames_function_at(report->frames, frame, i);
		struct function_place *place = &seen->list[function];

		if (domain_is_upper(domain, address))
			place->is_upper = true;
		else
			place->is_lower = true;
		if (!place->dso)
			place->dso = frame->dso;
	}
	return 0;
}

struct function_place *functions_places(const struct report *report)
{
	struct seen seen = {.report = report};

	if (seen_grow(&seen) == 0 && stacks_visit(report->stacks, seen_add, &seen) == 0)
		return seen.list;
	free(seen.list);
	return NULL;
}
