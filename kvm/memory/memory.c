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
#include "kvm/memory/share.h"
#include "kvm/vmm.h"

/* Maximum number of copied pages in a round. */
#define COPIES 512
/* Size of the hash table, which is at most half full. */
#define SLOTS (2 * COPIES)
/* Maximum number of pages that are copied one by one during a pause. */
#define SINGLE_READS 64

/* A guest frame number is at most 52 - 12 bits long (Intel SDM, volume 3,
 * section 4.1.4). */
#define FRAME_MAX (1ull << 40)

struct kvm_memory {
	pid_t pid;
	struct layout layout;		    /* count is 0 if the layout is not known */
	const char *mapped[LAYOUT_REGIONS]; /* NULL: private, or can't be mapped */
	uint64_t now;			    /* start of the round, ns, monotonic */
	uint64_t learned; /* time of the last search for a layout, ns; 0: none */

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
	uint64_t misses;      /* total number of misses */
	uint64_t asked;	      /* value of @misses at the last kvm_memory_missed() */
};

struct kvm_memory *kvm_memory_new(pid_t pid, struct error *err)
{
	struct kvm_memory *memory = calloc(1, sizeof(*memory));

	if (!memory) {
		error_set(err, "out of memory");
		return NULL;
	}
	memory->pid = pid;
	memory->copy = mmap(NULL, (size_t)COPIES * GUEST_PAGE_SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory->copy == MAP_FAILED) {
		memory->copy = NULL;
		error_errno(err, errno, "can't allocate memory");
	} else if (getrandom(&memory->key, sizeof(memory->key), 0) !=
		   sizeof(memory->key)) {
		error_set(err, "can't get random numbers from the kernel");
	} else {
		return memory;
	}
	kvm_memory_free(memory);
	return NULL;
}

static void unmap_regions(struct kvm_memory *memory)
{
	for (unsigned int i = 0; i < memory->layout.count; i++)
		if (memory->mapped[i])
			munmap((void *)memory->mapped[i], memory->layout.region[i].size);
	memset(memory->mapped, 0, sizeof(memory->mapped));
}

void kvm_memory_free(struct kvm_memory *memory)
{
	if (!memory)
		return;
	unmap_regions(memory);
	if (memory->copy)
		munmap(memory->copy, (size_t)COPIES * GUEST_PAGE_SIZE);
	free(memory);
}

/* The index of the region with the frame; layout->count if there is none. */
static unsigned int region_of(const struct layout *layout, uint64_t frame)
{
	unsigned int i = 0;

	if (frame >= FRAME_MAX)
		return layout->count;
	while (i < layout->count &&
	       (frame << GUEST_PAGE_SHIFT) - layout->region[i].guest >=
		       layout->region[i].size)
		i++;
	return i;
}

static uint64_t offset_in(const struct region *region, uint64_t frame)
{
	return (frame << GUEST_PAGE_SHIFT) - region->guest;
}

/* Copies a page of the VMM: whether that was possible. */
static bool copy_page(pid_t pid, uint64_t address, void *to)
{
	struct iovec here = {to, GUEST_PAGE_SIZE};
	struct iovec there = {(void *)(uintptr_t)address, GUEST_PAGE_SIZE};

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == GUEST_PAGE_SIZE;
}

/* A layout on trial, with room for a page. */
struct trial {
	pid_t pid;
	const struct layout *layout;
	char page[GUEST_PAGE_SIZE];
};

static const void *trial_page(void *context, uint64_t frame)
{
	struct trial *trial = context;
	unsigned int i = region_of(trial->layout, frame);
	const struct region *region = &trial->layout->region[i];

	if (i == trial->layout->count ||
	    !copy_page(trial->pid, region->address + offset_in(region, frame),
		       trial->page))
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

/* Returns points for the layout: a vCPU's current instruction must be there, and its
 * stack should be. Memory that was never used is all zeros, and is neither. */
static unsigned int score_vcpu(struct trial *trial, const struct cpu *cpu)
{
	static const char zeros[GUEST_PAGE_SIZE];
	const struct x86_cpu *x86 = &cpu->x86;
	const char *page;

	/* Without paging there is nothing to compare with. */
	if (cpu->family != CPU_FAMILY_X86 || !(x86->cr0 & X86_CR0_PG))
		return 0;
	page = try_address(trial, x86, x86->rip);
	if (!page || memcmp(page, zeros, sizeof(zeros)) == 0)
		return 0;
	page = try_address(trial, x86, x86->reg[X86_RSP]);
	return page && memcmp(page, zeros, sizeof(zeros)) != 0 ? 3 : 2;
}

static unsigned int score_layout(pid_t pid, const struct layout *layout,
				 const struct guest *guest)
{
	struct trial trial = {.pid = pid, .layout = layout};
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

/* Finds the candidate with the most points: whether it has more than @least. */
static bool find_layout(const struct guest *guest, pid_t pid, const struct proc_map *maps,
			size_t count, unsigned int least, struct layout *best)
{
	struct layout *layouts = calloc(LAYOUT_CANDIDATES, sizeof(*layouts));
	const struct layout_split *split = find_split(pid, guest->info.vmm);
	size_t candidates = layouts ? layout_candidates(maps, count, split, layouts) : 0;
	bool found = false;

	for (size_t i = 0; i < candidates; i++) {
		unsigned int points = score_layout(pid, &layouts[i], guest);

		if (points <= least)
			continue;
		least = points;
		*best = layouts[i];
		found = true;
	}
	free(layouts);
	return found;
}

/* The most points that the captured vCPUs can give. */
static unsigned int full_score(const struct guest *guest)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		sum += guest->vcpu[i].captured ? 3 : 0;
	return sum;
}

bool kvm_memory_learn(struct kvm_memory *memory, const struct guest *guest)
{
	unsigned int full = full_score(guest), points;
	struct layout best;
	struct proc_map *maps;
	size_t count;
	bool found;

	if (!full || (memory->learned && memory->now - memory->learned < NS_PER_S))
		return false;
	memory->learned = memory->now;
	points = score_layout(memory->pid, &memory->layout, guest);
	if (points == full || proc_read_maps(memory->pid, &maps, &count) < 0)
		return false;
	found = find_layout(guest, memory->pid, maps, count, points, &best);
	if (found) {
		unmap_regions(memory);
		memory->layout = best;
		for (unsigned int i = 0; i < best.count; i++)
			memory->mapped[i] = share_map(memory->pid, maps, count,
						      &best.region[i]);
		kvm_memory_begin(memory, memory->now, memory->allowed);
	}
	free(maps);
	return found;
}

void kvm_memory_begin(void *context, uint64_t now, unsigned int map_calls)
{
	struct kvm_memory *memory = context;

	memory->now = now ? now : 1;
	memory->allowed = map_calls < COPIES ? map_calls : COPIES;
	memory->count = 0;
	memory->stale = false;
	memset(memory->slot, 0, sizeof(memory->slot));
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
	bytes = process_vm_readv(memory->pid, memory->here, count, memory->there, count,
				 0);
	good = bytes < 0 ? 0 : (unsigned int)((size_t)bytes / GUEST_PAGE_SIZE);
	if (good == count)
		return;
	memory->count = 0;
	memset(memory->slot, 0, sizeof(memory->slot));
	for (unsigned int i = 0; i < good; i++)
		*slot_of(memory, memory->frame[i]) = (uint16_t)++memory->count;
}

/* Copies one more page; NULL if that is not possible. */
static const void *copy_one(struct kvm_memory *memory, uint16_t *slot, uint64_t frame,
			    uint64_t address)
{
	unsigned int i = memory->count;
	char *copy = memory->copy + (size_t)i * GUEST_PAGE_SIZE;

	if (!copy_page(memory->pid, address, copy))
		return NULL;
	memory->frame[i] = frame;
	memory->here[i] = (struct iovec){copy, GUEST_PAGE_SIZE};
	memory->there[i] = (struct iovec){(void *)(uintptr_t)address, GUEST_PAGE_SIZE};
	*slot = (uint16_t)++memory->count;
	return copy;
}

/* The page of a frame; NULL if it would have to be copied and *@singles, the number of
 * pages that may be copied one by one, is 0. */
static const void *find_page(struct kvm_memory *memory, uint64_t frame,
			     unsigned int *singles)
{
	unsigned int i = region_of(&memory->layout, frame);
	const struct region *region = &memory->layout.region[i];
	uint16_t *slot;

	if (i == memory->layout.count)
		return NULL;
	if (memory->mapped[i])
		return memory->mapped[i] + offset_in(region, frame);
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
	return copy_one(memory, slot, frame, region->address + offset_in(region, frame));
}

const void *kvm_memory_get(void *context, uint64_t frame)
{
	struct kvm_memory *memory = context;

	return find_page(memory, frame, &memory->singles);
}

const void *kvm_memory_map(void *context, uint64_t frame)
{
	unsigned int any = 1;

	return find_page(context, frame, &any);
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

	return memory->misses;
}
