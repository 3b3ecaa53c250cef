/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kvm/memory/copies.h"
#include "kvm/memory/layout.h"
#include "kvm/memory/pages.h"
#include "kvm/memory/share.h"
#include "kvm/memory/trial.h"

/*
 * Time between two searches for a layout, ns. The first one is repeated soon if it finds
 * none, as a vCPU may have been at a place that tells nothing; the time then doubles.
 */
#define LEARN_NS  NS_PER_S
#define LEARN_MIN (NS_PER_S / 128)

/* Time between two questions to KVM, ns: they take CPU time from samples at high rates,
 * and a guest can make its VMM change its slots often. */
#define FOLLOW_NS (NS_PER_S / 64)

struct kvm_memory {
	struct vmm_pages pages;
	int watch; /* for share_map() */
	struct fetch *fetch;
	const struct kernel *kernel;	    /* NULL: the layout is guessed */
	uint64_t generation;		    /* of the slots that @layout is of */
	uint64_t followed;		    /* last question to KVM, ns; 0: none */
	bool is_exact;			    /* @layout is of the slots */
	bool is_too_long;		    /* there are too many slots */
	unsigned int guesses, wrong;	    /* checks of a guess, and those in vain */
	struct layout layout;		    /* count is 0 if the layout is not known */
	struct share share[LAYOUT_REGIONS]; /* regions that are mapped */
	uint64_t now;			    /* start of the round, ns, monotonic */
	uint64_t learned; /* time of the last search for a layout, ns; 0: none */
	uint64_t wait;	  /* time from then to the next search, ns */

	struct copies *copies; /* pages of regions that are not mapped */
	uint64_t missed;       /* copies_misses() at the last kvm_memory_missed() */
	uint64_t absent;       /* pages that were not in memory, in total */
	uint64_t judged;       /* value of @absent at the last kvm_memory_learn() */
	bool is_cut;	       /* the VMM has truncated its guest's memory */
	uint64_t serial;       /* number of layouts so far */
};

struct kvm_memory *kvm_memory_new(pid_t pid, int watch, struct fetch *fetch,
				  const struct kernel *kernel, struct error *err)
{
	struct kvm_memory *memory = calloc(1, sizeof(*memory));

	if (!memory) {
		error_set(err, "out of memory");
		return NULL;
	}
	memory->watch = watch;
	memory->fetch = fetch;
	memory->kernel = kernel;
	if (vmm_pages_open(&memory->pages, pid, err) == 0)
		memory->copies = copies_new(&memory->pages, err);
	if (memory->copies)
		return memory;
	kvm_memory_free(memory);
	return NULL;
}

static void unmap_regions(struct kvm_memory *memory)
{
	for (unsigned int i = 0; i < memory->layout.count; i++)
		share_unmap(&memory->share[i]);
	memory->layout.count = 0;
}

void kvm_memory_free(struct kvm_memory *memory)
{
	if (!memory)
		return;
	unmap_regions(memory);
	copies_free(memory->copies);
	vmm_pages_close(&memory->pages);
	free(memory);
}

/* Looks at the mapped regions if pages were absent: unmaps all regions if one has lost
 * pages while they were read, and notes if one has shrunk. */
static void judge_shares(struct kvm_memory *memory)
{
	bool is_spoiled = false;

	for (unsigned int i = 0; i < memory->layout.count; i++) {
		const struct share *share = &memory->share[i];

		is_spoiled |= share->is_spoiled;
		memory->is_cut |= share->start && memory->absent != memory->judged &&
				  share_is_cut(share);
	}
	memory->judged = memory->absent;
	if (is_spoiled) {
		unmap_regions(memory);
		memory->learned = 0;
		memory->is_exact = false;
	}
}

/* Takes a layout that differs from what is known. */
static void take_layout(struct kvm_memory *memory, const struct layout *layout,
			const struct proc_map *maps, size_t count)
{
	unmap_regions(memory);
	memory->layout = *layout;
	memory->serial++;
	for (unsigned int i = 0; i < layout->count; i++)
		share_map(&memory->share[i], memory->watch, memory->pages.pid, maps,
			  count, &layout->region[i]);
	copies_forget(memory->copies);
}

static bool is_same_layout(const struct layout *a, const struct layout *b)
{
	return a->count == b->count &&
	       memcmp(a->region, b->region, a->count * sizeof(a->region[0])) == 0;
}

/* Reads the slots; returns whether the layout is now exact. */
static bool read_slots(struct kvm_memory *memory, int vcpu)
{
	const struct kernel_slots *slots = kernel_slots(memory->kernel, vcpu,
							&memory->is_too_long);
	struct layout layout;
	struct proc_map *maps;
	size_t count;

	if (!slots || proc_read_maps(memory->pages.pid, &maps, &count) < 0)
		return false;
	memory->generation = slots->generation;
	layout_of_slots(slots, maps, count, &layout);
	if (!is_same_layout(&layout, &memory->layout))
		take_layout(memory, &layout, maps, count);
	free(maps);
	return true;
}

void kvm_memory_follow(struct kvm_memory *memory, int vcpu)
{
	struct kernel_vcpu seen;

	if (!memory->kernel ||
	    (memory->followed && memory->now - memory->followed < FOLLOW_NS))
		return;
	memory->followed = memory->now;
	if (!kernel_look(memory->kernel, vcpu, &seen)) {
		/* What is known may still be right, but will not be corrected. */
		memory->is_exact = false;
		return;
	}
	if (!memory->is_exact || seen.generation != memory->generation)
		memory->is_exact = read_slots(memory, vcpu);
}

enum memory_knowledge kvm_memory_knowledge(const struct kvm_memory *memory)
{
	if (memory->is_exact)
		return MEMORY_EXACT;
	if (2 * memory->wrong <= memory->guesses &&
	    (memory->layout.count || !memory->learned))
		return MEMORY_GUESSED;
	return memory->is_too_long ? MEMORY_TOO_MANY : MEMORY_UNKNOWN;
}

/* Sets the time to the next search: @is_known after one that has found a layout, or that
 * was not needed. */
static void set_wait(struct kvm_memory *memory, bool is_known)
{
	if (is_known || memory->wait > LEARN_NS / 2)
		memory->wait = LEARN_NS;
	else
		memory->wait = memory->wait ? 2 * memory->wait : LEARN_MIN;
}

bool kvm_memory_learn(struct kvm_memory *memory, const struct guest *guest)
{
	unsigned int full = trial_full_score(guest), points;
	struct layout best;
	struct proc_map *maps;
	size_t count;
	bool found;

	judge_shares(memory);
	if (memory->is_exact || !full ||
	    (memory->learned && memory->now - memory->learned < memory->wait))
		return false;
	memory->learned = memory->now;
	points = trial_score(&memory->layout, &memory->pages, guest);
	/* The first searches, soon after each other, count as none. */
	memory->guesses += memory->wait == LEARN_NS;
	memory->wrong += memory->wait == LEARN_NS && points < full;
	set_wait(memory, points > 0);
	if (points == full || proc_read_maps(memory->pages.pid, &maps, &count) < 0)
		return false;
	found = trial_find(&memory->pages, guest, maps, count, points, &best);
	if (found) {
		set_wait(memory, true);
		take_layout(memory, &best, maps, count);
	}
	free(maps);
	return found;
}

const struct layout *kvm_memory_exact(const struct kvm_memory *memory, uint64_t *serial)
{
	*serial = memory->serial;
	return memory->is_exact && memory->serial ? &memory->layout : NULL;
}

bool kvm_memory_is_cut(const struct kvm_memory *memory)
{
	return memory->is_cut;
}

void kvm_memory_begin(void *context, uint64_t now, unsigned int map_calls)
{
	struct kvm_memory *memory = context;

	memory->now = now ? now : 1;
	copies_begin(memory->copies, memory->now, map_calls);
}

void kvm_memory_prepare(struct kvm_memory *memory)
{
	copies_prepare(memory->copies);
}

/* Finds the page of a frame. Sets @absent to its address in the VMM if it is not in
 * memory. */
static const void *find_page(struct kvm_memory *memory, uint64_t frame,
			     enum copies_access access, uint64_t *absent)
{
	unsigned int i = layout_region(&memory->layout, frame);
	const struct region *region = &memory->layout.region[i];
	const struct share *share = &memory->share[i];
	const char *page;
	bool is_absent;

	*absent = 0;
	if (i == memory->layout.count)
		return NULL;
	if (!share->start) {
		page = copies_get(memory->copies, frame, region_address(region, frame),
				  access, &is_absent);
	} else {
		page = share->start + ((frame << GUEST_PAGE_SHIFT) - region->guest);
		is_absent = !share_has(page);
	}
	if (!is_absent)
		return page;
	memory->absent++;
	*absent = region_address(region, frame);
	return NULL;
}

const void *kvm_memory_get(void *context, uint64_t frame)
{
	uint64_t absent;

	return find_page(context, frame, COPIES_IN_PAUSE, &absent);
}

const void *kvm_memory_map(void *context, uint64_t frame)
{
	struct kvm_memory *memory = context;
	uint64_t absent;
	const void *page = find_page(memory, frame, COPIES_RUNNING, &absent);

	if (absent)
		fetch_ask(memory->fetch, memory->pages.pid, absent);
	return page;
}

bool kvm_memory_missed(void *context)
{
	struct kvm_memory *memory = context;
	uint64_t misses = copies_misses(memory->copies);
	bool missed = copies_have_room(memory->copies) && misses != memory->missed;

	memory->missed = misses;
	return missed;
}

uint64_t kvm_memory_misses(const void *context)
{
	const struct kvm_memory *memory = context;

	return copies_misses(memory->copies) + memory->absent;
}
