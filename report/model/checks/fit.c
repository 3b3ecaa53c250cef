/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/checks/fit.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"
#include "report/model/domains.h"

/*
 * With other builds, 39 to 100 % of the addresses were seen to be misfits. With the right
 * build there are few: values that are not return addresses, such as what is in memory
 * where a function without a frame pointer has the caller's. So each address is weighed
 * as evidence for 40 % against 10 % (the sequential probability ratio test): a misfit by
 * log(0.4 / 0.1), others by log(0.6 / 0.9). A file does not fit if that adds up to odds
 * of 60 to 1. Weights are in units of log(60) / 100.
 */
#define MISFIT_WEIGHT 34
#define MATCH_WEIGHT  (-10)
#define WEIGHT_MAX    100

struct survey {
	struct fit *fit;
	struct tree seen; /* one root, then domains by name, then frames */
	const struct stacks *stacks;
	struct frames *frames;
	const struct summary *summary;
	uint32_t index, domain; /* the most recent domain, and the number of its name */
};

static struct fit_part *find_part(struct fit *fit, const char *domain,
				  const struct symbols_file *file)
{
	for (size_t i = 0; i < fit->count; i++)
		if (fit->list[i].domain == domain && fit->list[i].file == file)
			return &fit->list[i];
	if (!array_grow(&fit->list, fit->count + 1, sizeof(*fit->list)))
		return NULL;
	fit->list[fit->count] = (struct fit_part){.domain = domain, .file = file};
	return &fit->list[fit->count++];
}

/* Whether the frame is new in the domain: 1 or 0; -1 if out of memory. */
static int is_new(struct survey *survey, uint32_t domain, uint32_t frame)
{
	uint32_t parent = tree_intern(&survey->seen, 0, domain), before;

	before = survey->seen.count;
	if (parent == TREE_NONE || tree_intern(&survey->seen, parent, frame) == TREE_NONE)
		return -1;
	return survey->seen.count > before;
}

/* Returns the number of the domain's name; NAMES_NONE if out of memory. */
static uint32_t find_domain(struct survey *survey, uint32_t index,
			    const struct recording_domain *about)
{
	char name[DOMAIN_NAME_SIZE];

	if (survey->domain != NAMES_NONE && survey->index == index)
		return survey->domain;
	domain_name(name, about);
	survey->index = index;
	survey->domain = names_intern(survey->fit->domains, name);
	return survey->domain;
}

static int count_address(struct survey *survey, uint32_t node)
{
	uint32_t index = survey->stacks->domain[node];
	const struct recording_domain *about = summary_domain(survey->summary, index);
	uint32_t number = frames_find(survey->frames, index,
				      survey->stacks->tree.nodes[node].key, FRAME_CALLER);
	const struct frame *frame;
	struct fit_part *part;
	uint32_t domain;
	int status;

	if (number == FRAMES_NONE)
		return -1;
	frame = frames_get(survey->frames, number);
	/* Imported recordings may have the addresses of the calls instead. */
	if (frame->call == SYMBOLS_CALL_UNKNOWN || !about || about->cpu == CPU_UNKNOWN)
		return 0;
	domain = find_domain(survey, index, about);
	status = domain == NAMES_NONE ? -1 : is_new(survey, domain, number);
	if (status < 1)
		return status;
	part = find_part(survey->fit, names_get(survey->fit->domains, domain),
			 frame->file);
	if (!part)
		return -1;
	part->addresses++;
	part->misfits += frame->call == SYMBOLS_CALL_MISSING;
	return 0;
}

/* Start of the kernel's half of the addresses */
#define KERNEL_START ((uint64_t)1 << 63)

/*
 * Returns, by node, whether the node's address is a return address in chains that count.
 * Where an interrupt stopped code, or a program made a system call, it may be behind any
 * instruction. The caller frees the array; NULL if out of memory.
 */
static bool *find_returns(const struct stacks *stacks, const uint64_t *inclusive)
{
	bool *is_return = calloc(stacks->tree.count, sizeof(*is_return));
	const struct tree_node *nodes = stacks->tree.nodes;

	for (uint32_t i = SAMPLES_ROOTS; is_return && i < stacks->tree.count; i++) {
		uint64_t callee = nodes[i].key;
		uint32_t parent = nodes[i].parent;

		if (!inclusive[i] || !stacks_is_address(stacks, i) ||
		    !stacks_is_address(stacks, parent))
			continue;
		is_return[parent] |= callee != CHAIN_INTERRUPT &&
				     (callee < KERNEL_START) ==
					     (nodes[parent].key < KERNEL_START);
	}
	return is_return;
}

int fit_measure(struct fit *fit, const struct stacks *stacks, struct frames *frames,
		const struct summary *summary)
{
	struct survey survey = {.fit = fit,
				.stacks = stacks,
				.frames = frames,
				.summary = summary,
				.domain = NAMES_NONE};
	uint64_t *inclusive;
	bool *is_return = NULL;
	int status = -1;

	fit->domains = names_new();
	if (!fit->domains || tree_init(&survey.seen, 1) < 0)
		return -1;
	inclusive = stacks_inclusive(stacks);
	if (inclusive)
		is_return = find_returns(stacks, inclusive);
	if (is_return)
		status = 0;
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++)
		if (is_return[i])
			status = count_address(&survey, i);
	free(inclusive);
	free(is_return);
	tree_free(&survey.seen);
	return status;
}

void fit_free(struct fit *fit)
{
	free(fit->list);
	if (fit->domains)
		names_free(fit->domains);
	*fit = (struct fit){0};
}

bool fit_note(const struct fit *fit, size_t part, struct error *line)
{
	const struct fit_part *about = &fit->list[part];
	bool is_one = names_count(fit->domains) == 1;

	if (MISFIT_WEIGHT * (int64_t)about->misfits +
		    MATCH_WEIGHT * (int64_t)(about->addresses - about->misfits) <
	    WEIGHT_MAX)
		return false;
	error_set(line,
		  "%s does not match what ran in the domain %s: only %.0f %% of %" PRIu32
		  " return addresses follow a call in it, so its names are wrong; use "
		  "the file of that build, at its load address (FILE@OFFSET)%s",
		  about->file->path, about->domain,
		  100.0 * (about->addresses - about->misfits) / about->addresses,
		  about->addresses,
		  is_one ? "" : ", or one for each domain (FILE,domain=NAME)");
	return true;
}

void fit_describe(const struct fit *fit, size_t part, struct error *line)
{
	const struct fit_part *about = &fit->list[part];

	error_set(line,
		  "%s in the domain %s: %" PRIu32 " of %" PRIu32
		  " different return addresses follow a call",
		  about->file->path, about->domain, about->addresses - about->misfits,
		  about->addresses);
}
