/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/info/links.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/model/domains.h"
#include "symbols/spec.h"

void links_free(struct links *links)
{
	for (size_t i = 0; i < links->files; i++) {
		program_close(&links->file[i].program);
		free(links->file[i].spec);
	}
	free(links->file);
	*links = (struct links){0};
}

int links_add(struct links *links, const char *spec, struct error *err)
{
	struct links_file file = {.spec = strdup(spec)};

	if (!file.spec || !array_grow(&links->file, links->files + 1, sizeof(file))) {
		error_set(err, "out of memory");
		goto fail;
	}
	if (symbols_spec_cut_domain(file.spec, &file.domain, err) < 0 ||
	    program_open(&file.program, file.spec, DEBUG_DIRECTORY, err) < 0)
		goto fail;
	if (!cpu_kind_has_tables(cpu_kind_of_elf(file.program.machine))) {
		error_set(err, "%s: links are checked in code for x86-64 and arm64 only",
			  file.program.path);
		goto fail;
	}
	links->file[links->files++] = file;
	return 0;
fail:
	program_close(&file.program);
	free(file.spec);
	return -1;
}

/* What has been checked, because chains have many links in common: the callee's address
 * below the domain and the caller's; and the result by number. */
struct checked {
	struct tree tree;
	uint8_t *result;
	size_t room;
};

static enum program_link check_link(const struct links *links,
				    const struct recording_domain *domain,
				    uint64_t caller, uint64_t callee)
{
	enum program_link link = LINK_UNKNOWN;

	for (size_t i = 0; i < links->files && link == LINK_UNKNOWN; i++) {
		const struct links_file *file = &links->file[i];

		if (!file->domain || (domain && domain_is(domain, file->domain)))
			link = program_check_link(&file->program, caller, callee);
	}
	return link;
}

static int count_link(struct links *links, struct checked *checked, uint32_t domain,
		      const struct recording_domain *about, uint64_t caller,
		      uint64_t callee, uint64_t weight)
{
	uint32_t node = tree_intern(&checked->tree, 0, domain), before;

	if (!weight)
		return 0;
	if (node != TREE_NONE)
		node = tree_intern(&checked->tree, node, caller);
	before = checked->tree.count;
	if (node != TREE_NONE)
		node = tree_intern(&checked->tree, node, callee);
	if (node == TREE_NONE)
		return -1;
	if (checked->room < checked->tree.capacity) {
		if (!array_grow(&checked->result, checked->tree.capacity, 1))
			return -1;
		checked->room = checked->tree.capacity;
	}
	if (checked->tree.count > before)
		checked->result[node] = (uint8_t)check_link(links, about, caller, callee);
	links->counts[checked->result[node]] += weight;
	return 0;
}

int links_measure(struct links *links, const struct stacks *stacks,
		  const struct summary *summary)
{
	uint64_t *inclusive = stacks_inclusive(stacks);
	struct checked checked = {0};
	int status = inclusive && tree_init(&checked.tree, 1) == 0 ? 0 : -1;

	memset(links->counts, 0, sizeof(links->counts));
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		uint32_t parent = stacks->tree.nodes[i].parent;
		uint64_t callee = stacks->tree.nodes[i].key, caller;
		const struct recording_domain *about;

		if (!stacks_is_address(stacks, i) || !stacks_is_address(stacks, parent))
			continue;
		about = summary_domain(summary, stacks->domain[i]);
		caller = stacks->tree.nodes[parent].key;
		/* The sampled address, and return addresses (symbols_find()). */
		if (count_link(links, &checked, stacks->domain[i], about, caller, callee,
			       stacks->self[i]) < 0 ||
		    count_link(links, &checked, stacks->domain[i], about, caller,
			       callee - 1, inclusive[i] - stacks->self[i]) < 0)
			status = -1;
	}
	free(checked.result);
	tree_free(&checked.tree);
	free(inclusive);
	return status;
}
