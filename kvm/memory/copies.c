/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/copies.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include "base/clock.h"
#include "base/compat.h"
#include "guest/guest.h"

/* Maximum number of copied pages in a round. */
#define COPIES 512
/* Size of the hash table, which is at most half full. */
#define SLOTS (2 * COPIES)

/* Maximum number of pages that are copied one by one during a pause. */
#define SINGLE_READS 64

/* For how long after a pause its pages are copied again without the question whether they
 * are still in memory, ns. A VMM that gives one back has it filled with zeros then. */
#define KEEP_NS (5 * NS_PER_S / 1000)

struct copies {
	const struct vmm_pages *pages;
	uint64_t now;	      /* start of the round, ns, monotonic */
	uint64_t paused;      /* start of the last round with a pause, likewise */
	unsigned int count;   /* copies in this round */
	unsigned int allowed; /* maximum number of copies in this round */
	unsigned int
		singles; /* those that may still be copied one by one in this pause */
	bool is_stale;	 /* the copies are from before the pause or the round */
	uint64_t frame[COPIES];
	uint64_t used[COPIES];	   /* start of the last round that looked at it */
	uint64_t in_pause[COPIES]; /* start of the last round whose pause looked at it */
	struct iovec here[COPIES], there[COPIES];
	char *page;
	uint16_t slot[SLOTS]; /* a hash table of copies: their index + 1 */
	uint64_t key;	      /* key of the hash, so that no guest can predict the hash */
	uint64_t misses;
};

struct copies *copies_new(const struct vmm_pages *pages, struct error *err)
{
	struct copies *copies = calloc(1, sizeof(*copies));

	if (!copies) {
		error_set(err, "out of memory");
		return NULL;
	}
	copies->pages = pages;
	copies->page = mmap(NULL, (size_t)COPIES * GUEST_PAGE_SIZE,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (copies->page == MAP_FAILED) {
		copies->page = NULL;
		error_errno(err, errno, "can't allocate memory");
	} else if (getrandom(&copies->key, sizeof(copies->key), 0) !=
		   sizeof(copies->key)) {
		error_set(err, "can't get random numbers from the kernel");
	} else {
		for (size_t i = 0; i < COPIES; i++)
			copies->here[i] = (struct iovec){
				copies->page + i * GUEST_PAGE_SIZE, GUEST_PAGE_SIZE};
		return copies;
	}
	copies_free(copies);
	return NULL;
}

void copies_free(struct copies *copies)
{
	if (!copies)
		return;
	if (copies->page)
		munmap(copies->page, (size_t)COPIES * GUEST_PAGE_SIZE);
	free(copies);
}

/* The slot of the frame, or a free slot for it. */
static uint16_t *slot_of(struct copies *copies, uint64_t frame)
{
	/* As in xen/pages.c: multiplicative hashing (Knuth, TAOCP 3, 6.4), twice. */
	uint64_t hash = (frame ^ copies->key) * 0x9e3779b97f4a7c15u;
	size_t i = (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32) % SLOTS;

	while (copies->slot[i] && copies->frame[copies->slot[i] - 1] != frame)
		i = (i + 1) % SLOTS;
	return &copies->slot[i];
}

void copies_forget(struct copies *copies)
{
	copies->count = 0;
	copies->is_stale = false;
	memset(copies->slot, 0, sizeof(copies->slot));
}

/* Forgets the pages but those whose entry in @last, one of the arrays of @copies, is
 * @time. The others are to be copied again. */
static void keep(struct copies *copies, const uint64_t *last, uint64_t time)
{
	unsigned int count = copies->count;

	copies_forget(copies);
	for (unsigned int i = 0; i < count; i++) {
		unsigned int kept = copies->count;

		if (last[i] != time)
			continue;
		copies->frame[kept] = copies->frame[i];
		copies->there[kept] = copies->there[i];
		copies->used[kept] = copies->used[i];
		copies->in_pause[kept] = copies->in_pause[i];
		*slot_of(copies, copies->frame[kept]) = (uint16_t)++copies->count;
	}
	copies->is_stale = copies->count > 0;
}

void copies_begin(struct copies *copies, uint64_t now, unsigned int calls)
{
	calls = calls < COPIES ? calls : COPIES;
	now = now ? now : 1;
	if (now != copies->now && now - copies->paused <= KEEP_NS)
		keep(copies, copies->in_pause, copies->paused);
	else if (now != copies->now)
		copies_forget(copies);
	if (calls > COPIES - copies->count)
		copies_forget(copies);
	copies->now = now;
	copies->allowed = copies->count + calls;
}

void copies_prepare(struct copies *copies)
{
	keep(copies, copies->used, copies->now);
	copies->paused = copies->now;
	copies->singles = SINGLE_READS;
}

/* Copies all pages again, in one call. A page that is no longer there, and all pages
 * after it, are dropped. */
static void refresh(struct copies *copies)
{
	unsigned int count = copies->count, good;
	ssize_t bytes;

	copies->is_stale = false;
	if (!count)
		return;
	bytes = process_vm_readv(copies->pages->pid, copies->here, count, copies->there,
				 count, 0);
	good = bytes < 0 ? 0 : (unsigned int)((size_t)bytes / GUEST_PAGE_SIZE);
	if (good == count)
		return;
	copies_forget(copies);
	for (unsigned int i = 0; i < good; i++)
		*slot_of(copies, copies->frame[i]) = (uint16_t)++copies->count;
}

/* Copies one more page; false if it is not in memory. */
static bool add(struct copies *copies, uint16_t *slot, uint64_t frame, uint64_t address)
{
	unsigned int i = copies->count;

	if (!vmm_pages_copy(copies->pages, address, copies->here[i].iov_base))
		return false;
	copies->frame[i] = frame;
	copies->in_pause[i] = 0;
	copies->there[i] = (struct iovec){(void *)(uintptr_t)address, GUEST_PAGE_SIZE};
	*slot = (uint16_t)++copies->count;
	return true;
}

const void *copies_get(struct copies *copies, uint64_t frame, uint64_t address,
		       enum copies_access access, bool *absent)
{
	bool is_in_pause = access == COPIES_IN_PAUSE;
	unsigned int i;
	uint16_t *slot;

	*absent = false;
	if (copies->is_stale)
		refresh(copies);
	slot = slot_of(copies, frame);
	if (!*slot) {
		if (copies->count >= copies->allowed ||
		    (is_in_pause && !copies->singles)) {
			copies->misses++;
			return NULL;
		}
		copies->singles -= is_in_pause;
		*absent = !add(copies, slot, frame, address);
		if (*absent)
			return NULL;
	}
	i = *slot - 1u;
	copies->used[i] = copies->now;
	if (is_in_pause)
		copies->in_pause[i] = copies->now;
	return copies->here[i].iov_base;
}

uint64_t copies_misses(const struct copies *copies)
{
	return copies->misses;
}

bool copies_have_room(const struct copies *copies)
{
	return copies->count < copies->allowed;
}
