/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/compat.h"

/*
 * Frames are mapped in aligned groups, each with one call and one kernel mapping: eight
 * pages cost little more than one, and the next page of a stack is often the next frame.
 */
#define GROUP 8

/* Maximum number of groups, and how many must be free at the start of a round: otherwise
 * all groups expire. A process may have 65530 kernel mappings (vm.max_map_count), which
 * is enough for 30 domains. */
#define GROUPS_MAX     2048
#define GROUPS_RESERVE 512

/* Size of the hash table, which is at most half full. */
#define SLOTS (2 * GROUPS_MAX)

/* How long pages are kept, ns: a guest may release a frame and get another page of the
 * host for it, which an old mapping does not show. */
#define KEEP_NS 10000000000u

/* How many groups are unmapped at a time: it takes some microseconds for each. */
#define RELEASE_MOST 64

/* Time before mapping a frame is tried again, ns. */
#define RETRY_NS 1000000000u

/* A guest frame number is at most 52 - 12 bits long (Intel SDM, volume 3,
 * section 4.1.4). */
#define FRAME_MAX (1ull << 40)

struct slot {
	uint64_t group; /* the first frame's number / GROUP */
	char *pages;	/* NULL: none could be mapped */
	uint64_t tried; /* time of the last attempt to map it, ns; 0: the slot is free */
	bool mapped[GROUP]; /* by page: it could be mapped */
};

/* Number of recently used frames whose pages are found without a search. */
#define RECENT 64

struct recent {
	uint64_t frame;
	const void *page; /* NULL: none */
};

struct pages {
	struct xen *xen;
	xenforeignmemory_handle *memory;
	uint32_t domain;
	struct slot *slot; /* SLOTS elements, a hash table that is probed linearly */
	uint64_t key;	   /* key of the hash, so that no guest can predict the hash */
	size_t used;	   /* slots that are not free */
	uint64_t now;	   /* start of the round, ns, monotonic */
	uint64_t expired;  /* groups mapped before this have expired, ns, monotonic */
	size_t sweep;	   /* the next slot to search for expired groups; SLOTS: none */
	bool crowded;	   /* the kernel refused a mapping (ENOMEM) */
	uint64_t misses;   /* total number of misses */
	uint64_t asked;	   /* value of @misses at the last pages_missed() */
	unsigned int allowed;	      /* map calls left in this round */
	uint64_t map_calls;	      /* total number of map calls */
	struct recent recent[RECENT]; /* by the frame's number */
};

struct pages *pages_new(struct xen *xen, uint32_t domain, struct error *err)
{
	struct pages *pages = calloc(1, sizeof(*pages));

	if (pages)
		pages->slot = calloc(SLOTS, sizeof(*pages->slot));
	if (!pages || !pages->slot) {
		free(pages);
		error_set(err, "out of memory");
		return NULL;
	}
	if (getrandom(&pages->key, sizeof(pages->key), 0) != sizeof(pages->key)) {
		pages_free(pages);
		error_set(err, "can't get random numbers from the kernel");
		return NULL;
	}
	pages->xen = xen;
	pages->domain = domain;
	pages->sweep = SLOTS;
	pages->memory = xen->lib.memory_open(xen_library_silence(), 0);
	if (!pages->memory) {
		error_errno(err, errno, "can't open Xen's foreign memory interface");
		pages_free(pages);
		return NULL;
	}
	if (xen->lib.memory_restrict)
		xen->lib.memory_restrict(pages->memory, (domid_t)domain);
	return pages;
}

static void unmap_group(struct pages *pages, struct slot *slot)
{
	if (!slot->pages)
		return;
	memset(pages->recent, 0, sizeof(pages->recent));
	pages->xen->lib.memory_unmap(pages->memory, slot->pages, GROUP);
	slot->pages = NULL;
}

void pages_free(struct pages *pages)
{
	if (!pages)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		unmap_group(pages, &pages->slot[i]);
	if (pages->memory)
		pages->xen->lib.memory_close(pages->memory);
	free(pages->slot);
	free(pages);
}

/* The number of the slot at which the search for a group begins, modulo SLOTS */
static size_t home_of(const struct pages *pages, uint64_t group)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4); applied
	 * twice, because a guest could otherwise choose frames that collide with any key.
	 */
	uint64_t hash = (group ^ pages->key) * 0x9e3779b97f4a7c15u;

	return (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32);
}

static struct slot *slot_of(const struct pages *pages, uint64_t group)
{
	size_t i = home_of(pages, group);

	while (pages->slot[i % SLOTS].tried && pages->slot[i % SLOTS].group != group)
		i++;
	return &pages->slot[i % SLOTS];
}

/* Unmaps a group and frees its slot. Later groups move up, so that each is still found
 * (Knuth, TAOCP 3, 6.4, algorithm R). */
static void free_slot(struct pages *pages, size_t hole)
{
	unmap_group(pages, &pages->slot[hole]);
	for (size_t i = (hole + 1) % SLOTS; pages->slot[i].tried; i = (i + 1) % SLOTS) {
		size_t home = home_of(pages, pages->slot[i].group);

		if ((i - home) % SLOTS < (i - hole) % SLOTS)
			continue;
		pages->slot[hole] = pages->slot[i];
		hole = i;
	}
	pages->slot[hole] = (struct slot){0};
	pages->used--;
}

/* Unmaps some of the groups that have expired. */
static void release(struct pages *pages)
{
	unsigned int left = RELEASE_MOST;

	while (pages->sweep < SLOTS && left) {
		const struct slot *slot = &pages->slot[pages->sweep];

		if (!slot->tried || slot->tried >= pages->expired) {
			pages->sweep++;
			continue;
		}
		free_slot(pages, pages->sweep);
		left--;
	}
}

void pages_begin(void *context, uint64_t now, unsigned int map_calls)
{
	struct pages *pages = context;

	pages->allowed = map_calls;
	pages->now = now ? now : 1;
	if (pages->sweep == SLOTS &&
	    (pages->crowded || GROUPS_MAX - pages->used < GROUPS_RESERVE ||
	     pages->now - pages->expired >= KEEP_NS)) {
		pages->crowded = false;
		pages->expired = pages->now;
		pages->sweep = 0;
	}
	release(pages);
}

static const void *page_of(const struct slot *slot, uint64_t frame)
{
	unsigned int i = frame % GROUP;

	return slot->pages && slot->mapped[i] ? slot->pages + i * GUEST_PAGE_SIZE : NULL;
}

static bool is_fresh(const struct pages *pages, const struct slot *slot)
{
	return slot->tried && pages->now - slot->tried < RETRY_NS;
}

const void *pages_get(void *context, uint64_t frame)
{
	struct pages *pages = context;
	struct recent *recent = &pages->recent[frame % RECENT];
	const struct slot *slot;
	const void *page;

	if (recent->frame == frame && recent->page)
		return recent->page;
	if (frame >= FRAME_MAX)
		return NULL;
	slot = slot_of(pages, frame / GROUP);
	page = page_of(slot, frame);
	pages->misses += !page && !is_fresh(pages, slot);
	*recent = (struct recent){frame, page};
	return page;
}

static void map_group(struct pages *pages, struct slot *slot)
{
	xen_pfn_t gfn[GROUP];
	int failure[GROUP] = {0};
	bool any = false;

	for (unsigned int i = 0; i < GROUP; i++)
		gfn[i] = slot->group * GROUP + i;
	pages->allowed--;
	pages->map_calls++;
	slot->pages = pages->xen->lib.memory_map(pages->memory, pages->domain, PROT_READ,
						 GROUP, gfn, failure);
	if (!slot->pages) {
		pages->crowded |= errno == ENOMEM;
		return;
	}
	for (unsigned int i = 0; i < GROUP; i++)
		any |= slot->mapped[i] = !failure[i];
	if (!any)
		unmap_group(pages, slot);
}

const void *pages_map(void *context, uint64_t frame)
{
	struct pages *pages = context;
	struct slot *slot;
	const void *page;

	if (frame >= FRAME_MAX)
		return NULL;
	slot = slot_of(pages, frame / GROUP);
	page = page_of(slot, frame);
	if (page || !pages->allowed || is_fresh(pages, slot))
		return page;
	if (!slot->tried) {
		if (pages->used == GROUPS_MAX)
			return NULL;
		pages->used++;
	}
	unmap_group(pages, slot);
	slot->group = frame / GROUP;
	slot->tried = pages->now;
	map_group(pages, slot);
	return page_of(slot, frame);
}

bool pages_missed(void *context)
{
	struct pages *pages = context;
	bool missed = pages->allowed && pages->misses != pages->asked;

	pages->asked = pages->misses;
	return missed;
}

uint64_t pages_misses(const void *context)
{
	const struct pages *pages = context;

	return pages->misses;
}

uint64_t pages_map_calls(const struct pages *pages)
{
	return pages->map_calls;
}
