/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/compat.h"
#include "kvm/memory/layout.h"
#include "kvm/memory/pages.h"
#include "kvm/memory/share.h"
#include "kvm/memory/trial.h"

/* Maximum number of copied pages in a round. */
#define COPIES 512
/* Size of the hash table, which is at most half full. */
#define SLOTS (2 * COPIES)
/*
 * Time between two searches for a layout, ns. The first one is repeated soon if it finds
 * none, as a vCPU may have been at a place that tells nothing; the time then doubles.
 */
#define LEARN_NS  NS_PER_S
#define LEARN_MIN (NS_PER_S / 128)

/* Time between two questions to KVM, ns: they take CPU time from samples at high rates,
 * and a guest can make its VMM change its slots often. */
#define FOLLOW_NS (NS_PER_S / 64)

/* Maximum number of pages that are copied one by one during a pause. */
#define SINGLE_READS 64

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

	unsigned int count;   /* copies in this round */
	unsigned int allowed; /* maximum number of copies in this round */
	unsigned int
		singles; /* pages that may still be copied one by one in this pause */
	bool stale;	 /* the copies are from before the pause */
	uint64_t frame[COPIES];
	struct iovec here[COPIES], there[COPIES];
	char *copy;
	uint16_t slot[SLOTS]; /* a hash table of copies: their index + 1 */
	uint64_t key;	      /* key of the hash, so that no guest can predict the hash */
	uint64_t misses;      /* pages that another pause would not miss, in total */
	uint64_t asked;	      /* value of @misses at the last kvm_memory_missed() */
	uint64_t absent;      /* pages that were not in memory, in total */
	uint64_t judged;      /* value of @absent at the last kvm_memory_learn() */
	bool is_cut;	      /* the VMM has truncated its guest's memory */
	uint64_t serial;      /* number of layouts so far */
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
	memory->copy = mmap(NULL, (size_t)COPIES * GUEST_PAGE_SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory->copy == MAP_FAILED) {
		memory->copy = NULL;
		error_errno(err, errno, "can't allocate memory");
	} else if (getrandom(&memory->key, sizeof(memory->key), 0) !=
		   sizeof(memory->key)) {
		error_set(err, "can't get random numbers from the kernel");
	} else if (vmm_pages_open(&memory->pages, pid, err) == 0) {
		return memory;
	}
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
	vmm_pages_close(&memory->pages);
	if (memory->copy)
		munmap(memory->copy, (size_t)COPIES * GUEST_PAGE_SIZE);
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

static void drop_copies(struct kvm_memory *memory)
{
	memory->count = 0;
	memory->stale = false;
	memset(memory->slot, 0, sizeof(memory->slot));
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
	drop_copies(memory);
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
	unsigned int calls = map_calls < COPIES ? map_calls : COPIES;

	now = now ? now : 1;
	if (now != memory->now || memory->stale || calls > COPIES - memory->count)
		drop_copies(memory);
	memory->now = now;
	memory->allowed = memory->count + calls;
}

void kvm_memory_prepare(struct kvm_memory *memory)
{
	memory->stale = true;
	memory->singles = SINGLE_READS;
}

/* The slot of the frame, or a free slot for it. */
static uint16_t *slot_of(struct kvm_memory *memory, uint64_t frame)
{
	/* As in xen/pages.c: multiplicative hashing (Knuth, TAOCP 3, 6.4), twice. */
	uint64_t hash = (frame ^ memory->key) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32) % SLOTS;

	while (memory->slot[i] && memory->frame[memory->slot[i] - 1] != frame)
		i = (i + 1) % SLOTS;
	return &memory->slot[i];
}

/* Copies all pages of this round again, in one call. A page that is no longer there, and
 * all pages after it, are dropped. */
static void refresh_copies(struct kvm_memory *memory)
{
	unsigned int count = memory->count, good;
	ssize_t bytes;

	memory->stale = false;
	if (!count)
		return;
	bytes = process_vm_readv(memory->pages.pid, memory->here, count, memory->there,
				 count, 0);
	good = bytes < 0 ? 0 : (unsigned int)((size_t)bytes / GUEST_PAGE_SIZE);
	if (good == count)
		return;
	memory->count = 0;
	memset(memory->slot, 0, sizeof(memory->slot));
	for (unsigned int i = 0; i < good; i++)
		*slot_of(memory, memory->frame[i]) = (uint16_t)++memory->count;
}

/* Copies one more page; NULL if it is not in memory. */
static const void *copy_one(struct kvm_memory *memory, uint16_t *slot, uint64_t frame,
			    uint64_t address)
{
	unsigned int i = memory->count;
	char *copy = memory->copy + (size_t)i * GUEST_PAGE_SIZE;

	if (!vmm_pages_copy(&memory->pages, address, copy))
		return NULL;
	memory->frame[i] = frame;
	memory->here[i] = (struct iovec){copy, GUEST_PAGE_SIZE};
	memory->there[i] = (struct iovec){(void *)(uintptr_t)address, GUEST_PAGE_SIZE};
	*slot = (uint16_t)++memory->count;
	return copy;
}

/* Finds the page of a frame in a region that is not mapped. NULL if it is not in memory,
 * or if it would have to be copied and *@singles, the number of pages that may be copied
 * one by one, is 0. Sets @absent if it is not in memory. */
static const void *find_copy(struct kvm_memory *memory, const struct region *region,
			     uint64_t frame, unsigned int *singles, bool *absent)
{
	const void *copy;
	uint16_t *slot;

	if (memory->stale)
		refresh_copies(memory);
	slot = slot_of(memory, frame);
	if (*slot)
		return memory->copy + (size_t)(*slot - 1) * GUEST_PAGE_SIZE;
	if (!*singles || memory->count >= memory->allowed) {
		memory->misses++;
		return NULL;
	}
	--*singles;
	copy = copy_one(memory, slot, frame, region_address(region, frame));
	*absent = !copy;
	return copy;
}

/* Finds the page of a frame. Sets @absent to its address in the VMM if it is not in
 * memory. */
static const void *find_page(struct kvm_memory *memory, uint64_t frame,
			     unsigned int *singles, uint64_t *absent)
{
	unsigned int i = layout_region(&memory->layout, frame);
	const struct region *region = &memory->layout.region[i];
	const struct share *share = &memory->share[i];
	const char *page;
	bool is_absent = false;

	*absent = 0;
	if (i == memory->layout.count)
		return NULL;
	if (!share->start) {
		page = find_copy(memory, region, frame, singles, &is_absent);
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
	struct kvm_memory *memory = context;
	uint64_t absent;

	return find_page(memory, frame, &memory->singles, &absent);
}

const void *kvm_memory_map(void *context, uint64_t frame)
{
	struct kvm_memory *memory = context;
	unsigned int any = 1;
	uint64_t absent;
	const void *page = find_page(memory, frame, &any, &absent);

	if (absent)
		fetch_ask(memory->fetch, memory->pages.pid, absent);
	return page;
}

bool kvm_memory_missed(void *context)
{
	struct kvm_memory *memory = context;
	bool missed = memory->count < memory->allowed && memory->misses != memory->asked;

	memory->asked = memory->misses;
	return missed;
}

uint64_t kvm_memory_misses(const void *context)
{
	const struct kvm_memory *memory = context;

	return memory->misses + memory->absent;
}
