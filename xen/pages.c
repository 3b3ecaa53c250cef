/* SPDX-License-Identifier: BSD-3-Clause */
#include "xen/pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "xen/internal.h"

/* How many pages are kept, and how many places have to be free at a round's
 * beginning: else all are freed. A page costs a kernel mapping, of which a
 * process may have 65530 (vm.max_map_count). */
#define PAGES_MAX     8192
#define PAGES_RESERVE 2048

/* A hash table at most half full. */
#define SLOTS (2 * PAGES_MAX)

/* How long pages are kept: a guest may give a frame back and get another page of
 * the host's for it, which an old mapping does not show. */
#define KEEP_NS 10000000000u

/* How long a frame is taken for one that can't be mapped. */
#define RETRY_NS 1000000000u

/* A guest frame number is at most 52 - 12 bits long (Intel SDM, volume 3,
 * section 4.1.4). */
#define FRAME_MAX (1ull << 40)

struct slot {
	uint64_t frame;
	void *page;	/* NULL: it could not be mapped, at time @tried */
	uint64_t tried; /* ns; 0: the slot is free */
};

struct pages {
	struct xen *xen;
	uint32_t domain;
	struct slot *slot; /* SLOTS of them, a hash table, probed linearly */
	size_t used;
	uint64_t now;
	uint64_t emptied; /* when all were unmapped */
	bool missed;
	uint64_t map_calls;
};

struct pages *pages_new(struct xen *xen, uint32_t domain, struct error *err)
{
	struct pages *pages = calloc(1, sizeof(*pages));

	if (pages)
		pages->slot = calloc(SLOTS, sizeof(*pages->slot));
	if (!pages || !pages->slot) {
		free(pages);
		error_set(err, "not enough memory");
		return NULL;
	}
	pages->xen = xen;
	pages->domain = domain;
	return pages;
}

static void unmap_all(struct pages *pages)
{
	for (size_t i = 0; i < SLOTS; i++)
		if (pages->slot[i].page)
			pages->xen->lib.memory_unmap(pages->xen->memory,
						     pages->slot[i].page, 1);
	memset(pages->slot, 0, SLOTS * sizeof(*pages->slot));
	pages->used = 0;
}

void pages_free(struct pages *pages)
{
	if (!pages)
		return;
	unmap_all(pages);
	free(pages->slot);
	free(pages);
}

void pages_begin(struct pages *pages, uint64_t now)
{
	pages->now = now ? now : 1;
	if (PAGES_MAX - pages->used < PAGES_RESERVE ||
	    pages->now - pages->emptied >= KEEP_NS) {
		unmap_all(pages);
		pages->emptied = pages->now;
	}
}

static struct slot *slot_of(const struct pages *pages, uint64_t frame)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	size_t i = (size_t)((frame * 0x9e3779b97f4a7c15u) >> 32);

	while (pages->slot[i % SLOTS].tried && pages->slot[i % SLOTS].frame != frame)
		i++;
	return &pages->slot[i % SLOTS];
}

static bool is_fresh(const struct pages *pages, const struct slot *slot)
{
	return slot->tried && pages->now - slot->tried < RETRY_NS;
}

const void *pages_get(void *context, uint64_t frame)
{
	struct pages *pages = context;
	const struct slot *slot;

	if (frame >= FRAME_MAX)
		return NULL;
	slot = slot_of(pages, frame);
	if (slot->page)
		return slot->page;
	if (!is_fresh(pages, slot))
		pages->missed = true;
	return NULL;
}

const void *pages_map(void *context, uint64_t frame)
{
	struct pages *pages = context;
	xen_pfn_t gfn = frame;
	struct slot *slot;
	int failure = 0;

	if (frame >= FRAME_MAX)
		return NULL;
	slot = slot_of(pages, frame);
	if (slot->page || is_fresh(pages, slot))
		return slot->page;
	if (!slot->tried) {
		if (pages->used == PAGES_MAX)
			return NULL;
		pages->used++;
	}
	pages->map_calls++;
	slot->frame = frame;
	slot->tried = pages->now;
	slot->page = pages->xen->lib.memory_map(pages->xen->memory, pages->domain,
						PROT_READ, 1, &gfn, &failure);
	if (slot->page && failure) {
		pages->xen->lib.memory_unmap(pages->xen->memory, slot->page, 1);
		slot->page = NULL;
	}
	return slot->page;
}

bool pages_missed(struct pages *pages)
{
	bool missed = pages->missed;

	pages->missed = false;
	return missed;
}

uint64_t pages_map_calls(const struct pages *pages)
{
	return pages->map_calls;
}
