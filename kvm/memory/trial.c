/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/trial.h"

#include <stdlib.h>
#include <string.h>

#include "kvm/vmm.h"

/* A layout on trial, with room for a page. */
struct trial {
	const struct vmm_pages *pages;
	const struct layout *layout;
	char page[GUEST_PAGE_SIZE];
};

static const void *trial_page(void *context, uint64_t frame)
{
	struct trial *trial = context;
	unsigned int i = layout_region(trial->layout, frame);
	const struct region *region = &trial->layout->region[i];

	if (i == trial->layout->count ||
	    !vmm_pages_copy(trial->pages, region_address(region, frame), trial->page))
		return NULL;
	return trial->page;
}

/* The page of its memory that the guest's page tables lead to; NULL if they do not. */
static const char *try_address(struct trial *trial, const struct x86_cpu *cpu,
			       uint64_t address)
{
	const struct guest_memory memory = {.page = trial_page, .context = trial};
	uint64_t frame;

	if (x86_translate(cpu, &memory, address, &frame) != TRANSLATED)
		return NULL;
	return trial_page(trial, frame);
}

/* Without paging there is nothing to compare with. */
static bool has_paging(const struct cpu *cpu)
{
	return cpu->family == CPU_FAMILY_X86 && cpu->x86.cr0 & X86_CR0_PG;
}

/* Returns points for the layout: a vCPU's current instruction must be there, and its
 * stack should be. Memory that was never used is all zeros, and is neither. */
static unsigned int score_vcpu(struct trial *trial, const struct cpu *cpu)
{
	static const char zeros[GUEST_PAGE_SIZE];
	const struct x86_cpu *x86 = &cpu->x86;
	const char *page;

	if (!has_paging(cpu))
		return 0;
	page = try_address(trial, x86, x86->rip);
	if (!page || memcmp(page, zeros, sizeof(zeros)) == 0)
		return 0;
	page = try_address(trial, x86, x86->reg[X86_RSP]);
	return page && memcmp(page, zeros, sizeof(zeros)) != 0 ? 3 : 2;
}

unsigned int trial_score(const struct layout *layout, const struct vmm_pages *pages,
			 const struct guest *guest)
{
	struct trial trial = {.pages = pages, .layout = layout};
	unsigned int sum = 0;

	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		if (guest->vcpu[i].captured)
			sum += score_vcpu(&trial, &guest->vcpu[i].cpu);
	return sum;
}

static const struct layout_split *find_split(pid_t pid, const char *vmm)
{
	char arguments[4096];
	ssize_t length = proc_read(pid, 0, "cmdline", arguments, sizeof(arguments));

	return vmm_split(vmm, arguments, length > 0 ? (size_t)length : 0);
}

bool trial_find(const struct vmm_pages *pages, const struct guest *guest,
		const struct proc_map *maps, size_t count, unsigned int least,
		struct layout *best)
{
	struct layout *layouts = calloc(LAYOUT_CANDIDATES, sizeof(*layouts));
	const struct layout_split *split = find_split(pages->pid, guest->info.vmm);
	size_t candidates = layouts ? layout_candidates(maps, count, split, layouts) : 0;
	bool found = false;

	for (size_t i = 0; i < candidates; i++) {
		unsigned int points = trial_score(&layouts[i], pages, guest);

		if (points <= least)
			continue;
		least = points;
		*best = layouts[i];
		found = true;
	}
	free(layouts);
	return found;
}

unsigned int trial_full_score(const struct guest *guest)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		sum += guest->vcpu[i].captured && has_paging(&guest->vcpu[i].cpu) ? 3 : 0;
	return sum;
}
