/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/arch.h"

/* Maximum numbers of copies, and of pages that are read at once, and one by one, during a
 * pause. Each page takes some ten microseconds. */
#define COPIES	     256
#define AT_ONCE	     32
#define SINGLE_READS 64

/* Bytes per read: at most half the number of characters of QEMU's packets
 * (MAX_PACKET_LENGTH in its gdbstub). */
#define READ_SIZE  2048
#define PAGE_READS (GUEST_PAGE_SIZE / READ_SIZE)

struct copy {
	uint64_t frame;
	uint64_t asked; /* last round that asked for the page; 0: the entry is free */
	bool is_tried;	/* the page was asked of the stub */
	bool is_read;	/* the page could be read */
	bool is_fresh;	/* the page was read since the guest was stopped */
};

struct gdb_memory {
	struct stub *stub;
	struct gdb_regions regions;
	bool is_stopped;
	bool is_refreshed;    /* old copies were read again since the guest was stopped */
	unsigned int singles; /* pages that may still be read one by one in this pause */
	uint64_t round;	      /* number of rounds begun, plus 1 */
	uint64_t misses;      /* total number of misses */
	uint64_t told;	      /* value of @misses at the last gdb_memory_missed() */
	struct copy copy[COPIES];
	char *pages;	 /* the pages of @copy */
	bool has_failed; /* the stub has failed, with the reason in @error */
	struct error error;
};

struct gdb_memory *gdb_memory_new(struct stub *stub, const struct gdb_regions *regions,
				  struct error *err)
{
	struct gdb_memory *memory = calloc(1, sizeof(*memory));

	if (!memory) {
		error_set(err, "out of memory");
		return NULL;
	}
	memory->stub = stub;
	memory->regions = *regions;
	memory->round = 1;
	memory->pages = mmap(NULL, (size_t)COPIES * GUEST_PAGE_SIZE,
			     PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (memory->pages != MAP_FAILED)
		return memory;
	error_errno(err, errno, "can't allocate memory");
	free(memory);
	return NULL;
}

void gdb_memory_free(struct gdb_memory *memory)
{
	if (!memory)
		return;
	munmap(memory->pages, (size_t)COPIES * GUEST_PAGE_SIZE);
	free(memory);
}

void gdb_memory_stopped(struct gdb_memory *memory, bool is_stopped)
{
	memory->is_stopped = is_stopped;
	memory->is_refreshed = memory->has_failed = false;
	memory->singles = SINGLE_READS;
	for (unsigned int i = 0; i < COPIES; i++)
		memory->copy[i].is_fresh = false;
}

int gdb_memory_status(const struct gdb_memory *memory, struct error *err)
{
	return memory->has_failed ? error_set(err, "%s", memory->error.text) : 0;
}

static char *page_of(const struct gdb_memory *memory, const struct copy *copy)
{
	return memory->pages + (size_t)(copy - memory->copy) * GUEST_PAGE_SIZE;
}

static void ask_page(struct commands *commands, uint64_t frame)
{
	for (unsigned int i = 0; i < PAGE_READS; i++)
		commands_add(commands, "m%" PRIx64 ",%x",
			     (frame << GUEST_PAGE_SHIFT) + (uint64_t)i * READ_SIZE,
			     READ_SIZE);
}

/* Takes the replies about a page, and drops it if it can't be read, as after its memory
 * was unplugged: 0, or -1 if the stub failed. */
static int take_page(struct gdb_memory *memory, struct copy *copy)
{
	copy->is_tried = copy->is_read = copy->is_fresh = true;
	for (unsigned int i = 0; i < PAGE_READS; i++) {
		struct packet reply;

		if (stub_reply(memory->stub, &reply, &memory->error) < 0)
			return -1;
		if (!packet_bytes(reply.text, reply.length,
				  page_of(memory, copy) + (size_t)i * READ_SIZE,
				  READ_SIZE))
			copy->is_read = copy->is_fresh = false;
	}
	return 0;
}

static void read_pages(struct gdb_memory *memory, struct copy *const *copies,
		       unsigned int count)
{
	struct commands commands = {.count = 0};
	int status;

	for (unsigned int i = 0; i < count; i++)
		ask_page(&commands, copies[i]->frame);
	status = stub_send(memory->stub, &commands, &memory->error);
	for (unsigned int i = 0; i < count && status == 0; i++)
		status = take_page(memory, copies[i]);
	memory->has_failed = status < 0;
}

_Static_assert(AT_ONCE *PAGE_READS * 32 <= COMMANDS_SIZE, "they fit");

/* How urgently a page is read when the guest has been stopped. */
enum urgency {
	URGENCY_NEW,  /* asked for, and never read */
	URGENCY_NOW,  /* asked for in this round */
	URGENCY_LAST, /* asked for in the round before */
	URGENCIES,
	URGENCY_NONE = URGENCIES
};

static enum urgency urgency_of(const struct gdb_memory *memory, const struct copy *copy)
{
	if (!copy->asked)
		return URGENCY_NONE;
	if (!copy->is_tried)
		return URGENCY_NEW;
	if (copy->asked == memory->round)
		return URGENCY_NOW;
	return copy->asked + 1 == memory->round ? URGENCY_LAST : URGENCY_NONE;
}

/* Reads the pages that will be needed, as many as can be read at once: first those that
 * were never read, however long ago they were asked for. */
static void refresh_copies(struct gdb_memory *memory)
{
	struct copy *copies[AT_ONCE];
	unsigned int count = 0;

	memory->is_refreshed = true;
	for (enum urgency urgency = URGENCY_NEW; urgency < URGENCIES; urgency++)
		for (unsigned int i = 0; i < COPIES && count < AT_ONCE; i++)
			if (urgency_of(memory, &memory->copy[i]) == urgency)
				copies[count++] = &memory->copy[i];
	if (count)
		read_pages(memory, copies, count);
}

/* Returns the copy of a frame; if there is none, replaces the least recently used copy.
 */
static struct copy *find_copy(struct gdb_memory *memory, uint64_t frame)
{
	struct copy *oldest = memory->copy;

	for (struct copy *copy = memory->copy; copy < memory->copy + COPIES; copy++) {
		if (copy->asked && copy->frame == frame)
			return copy;
		if (copy->asked < oldest->asked)
			oldest = copy;
	}
	*oldest = (struct copy){.frame = frame};
	return oldest;
}

const void *gdb_memory_page(void *context, uint64_t frame)
{
	struct gdb_memory *memory = context;
	struct copy *copy;

	if (memory->has_failed || !gdb_regions_have(&memory->regions, frame))
		return NULL;
	if (memory->is_stopped && !memory->is_refreshed)
		refresh_copies(memory);
	copy = find_copy(memory, frame);
	copy->asked = memory->round;
	if (memory->is_stopped && !copy->is_fresh) {
		if (!memory->singles) {
			memory->misses++;
			return NULL;
		}
		memory->singles--;
		read_pages(memory, &copy, 1);
	}
	return copy->is_read && !memory->has_failed ? page_of(memory, copy) : NULL;
}

void gdb_memory_begin(void *context, uint64_t now, unsigned int map_calls)
{
	struct gdb_memory *memory = context;

	(void)now;
	memory->round++;
	if (memory->is_stopped)
		memory->singles = map_calls < COPIES ? map_calls : COPIES;
}

bool gdb_memory_missed(void *context)
{
	struct gdb_memory *memory = context;
	bool missed = memory->misses != memory->told;

	memory->told = memory->misses;
	return missed;
}

uint64_t gdb_memory_misses(const void *context)
{
	const struct gdb_memory *memory = context;

	return memory->misses;
}
