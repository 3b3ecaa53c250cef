/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest that attacks programs walking its chains and page tables, as the Xen tests'
 * guest does (tests/guest/README.md describes each kind). Each kind spins in its own
 * function; between two kinds, the guest does some harmless work. Built with start.S.
 */
#include <stdbool.h>
#include <stdint.h>

#include "tests/guest/x86/kinds.h"

#define NUMBER(kind) KIND_##kind,
enum {
	HOSTILE_KINDS(NUMBER) KINDS
};

/* tests/guest/x86/spin.S */
typedef void spin(uint64_t frame, uint64_t end, volatile uint64_t *entry,
		  const uint64_t *values, uint64_t mask);
#define DECLARE(kind) spin hostile_##kind;
HOSTILE_KINDS(DECLARE)

static uint64_t unused;

static struct kind {
	const char *name;
	spin *spin;
	uint64_t frame; /* 0: this guest has no such kind */
	volatile uint64_t *entry;
	const uint64_t *values; /* @mask + 1 values, written to the entry in turn */
	uint64_t mask;
} kinds[] = {
#define KIND(kind) {#kind, hostile_##kind, 0, &unused, &unused, 0},
	HOSTILE_KINDS(KIND)};

#define SPELL 10000000 /* how long a kind spins each time, ticks of the TSC */
#define WORDS 512      /* words in a page */
#define TABLE 7	       /* present, writable, for user mode */

/* Code and data are 1 GiB above their physical addresses (start.S). */
#define PHYSICAL(data) ((uintptr_t)(data)-0x40000000)
/* A physical address beyond all memory of the VMM. */
#define NO_MEMORY (1ull << 37)
#define APIC	  0xfee00000ull

/* Each kind has a page table. */
#define PLACES	    0x480000000000
#define PLACE(kind) (PLACES + KIND_##kind * 0x200000ull)

/* The table of the top level maps itself at this address, at all levels. */
#define RECURSIVE      0x48a452291000
#define RECURSIVE_SLOT 145
#define RECURSIVE_WORD 300

#define PAGE __attribute__((aligned(4096)))
extern uint64_t top[WORDS]; /* start.S, at its physical address */
static uint64_t third[WORDS] PAGE, second[WORDS] PAGE, first[KINDS][WORDS] PAGE;
static uint64_t own[KINDS][2][WORDS] PAGE;
/* More frames than any recorder follows: at least 4,608. */
#define ENDLESS_PAGES 18
static uint64_t endless[ENDLESS_PAGES * WORDS] PAGE;
static uint64_t flicker[2], remap[2], nowhere[4096];

void guest_main(uint64_t vcpu);

static void put_char(char c)
{
	asm volatile("outb %0, %1" : : "a"(c), "d"((uint16_t)0x3f8));
}

static void print(const char *text)
{
	while (*text)
		put_char(*text++);
}

/* The return address is a real one: chains end before any other. */
static void put_frame(uint64_t *at, uint64_t next)
{
	at[0] = next;
	at[1] = (uintptr_t)__builtin_return_address(0);
}

/* Points the kind's frame pointer at @place, on a page of its own. Returns the page. */
static uint64_t *map_own(unsigned int kind, uint64_t place)
{
	kinds[kind].frame = place;
	first[kind][0] = PHYSICAL(own[kind][0]) | TABLE;
	first[kind][1] = 0;
	return own[kind][0];
}

static void init_chains(void)
{
	uint64_t at = PLACE(pair);

	put_frame(map_own(KIND_self, PLACE(self)), PLACE(self));
	put_frame(map_own(KIND_pair, at), at + 16);
	put_frame(own[KIND_pair][0] + 2, at);
	put_frame(map_own(KIND_unmapped, PLACE(unmapped)), PLACE(unmapped) + 4096);
	kinds[KIND_noncanonical].frame = 1ull << 63;
	map_own(KIND_unaligned, PLACE(unaligned) + 1);

	map_own(KIND_across, PLACE(across) + 4088)[WORDS - 1] = 0;
	first[KIND_across][1] = PHYSICAL(own[KIND_across][1]) | TABLE;
	own[KIND_across][1][0] = (uintptr_t)__builtin_return_address(0);
	map_own(KIND_cut, PLACE(cut) + 4088)[WORDS - 1] = 0;

	at = PLACE(endless);
	kinds[KIND_endless].frame = at;
	for (uint64_t i = 0; i < ENDLESS_PAGES; i++)
		first[KIND_endless][i] = PHYSICAL(endless + i * WORDS) | TABLE;
	for (uint64_t i = 0; i < ENDLESS_PAGES * WORDS; i += 2)
		put_frame(endless + i, at + (i + 2) * 8);
}

static void set_entry(unsigned int kind, uint64_t place, uint64_t *entry, uint64_t value)
{
	kinds[kind].frame = place;
	*entry = value;
}

static void init_tables(void)
{
	uint64_t frame = RECURSIVE + RECURSIVE_WORD * 8;

	/* Neither word of the frame is a present entry. */
	set_entry(KIND_recursive, frame, &top[RECURSIVE_SLOT], (uintptr_t)top | TABLE);
	top[RECURSIVE_WORD] = frame;
	top[RECURSIVE_WORD + 1] = 4;

	set_entry(KIND_beyond, PLACE(beyond), first[KIND_beyond], NO_MEMORY | TABLE);
	set_entry(KIND_ones, PLACE(ones), first[KIND_ones], ~0ull);
	set_entry(KIND_huge, PLACE(huge), &second[KIND_huge], ~0ull);
	set_entry(KIND_reserved, PLACE(reserved), &second[KIND_reserved],
		  NO_MEMORY | TABLE);
	set_entry(KIND_apic, PLACE(apic), first[KIND_apic], APIC | TABLE);
}

static void set_turns(unsigned int kind, const uint64_t *values, uint64_t count)
{
	kinds[kind].frame = PLACES + kind * 0x200000ull;
	kinds[kind].entry = first[kind];
	kinds[kind].values = values;
	kinds[kind].mask = count - 1;
}

static void init_changes(void)
{
	flicker[0] = PHYSICAL(own[KIND_flicker][0]) | TABLE;
	put_frame(own[KIND_flicker][0], 0);
	set_turns(KIND_flicker, flicker, 2);

	for (unsigned int i = 0; i < 2; i++)
		remap[i] = PHYSICAL(own[KIND_remap][i]) | TABLE;
	put_frame(own[KIND_remap][0], 0);
	put_frame(own[KIND_remap][1], PLACE(remap));
	set_turns(KIND_remap, remap, 2);

	for (unsigned int i = 0; i < 4096; i++)
		nowhere[i] = (NO_MEMORY + i * 64 * 4096ull) | TABLE;
	set_turns(KIND_nowhere, nowhere, 4096);
}

static __attribute__((noinline, noclone)) void work(void)
{
	for (uint64_t i = 0; i < SPELL / 4; i++)
		asm volatile("");
}

static uint64_t ticks(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static void take_turns(void)
{
	for (unsigned int i = 0; i < KINDS; i++) {
		const struct kind *kind = &kinds[i];

		if (kind->frame)
			kind->spin(kind->frame, ticks() + SPELL, kind->entry,
				   kind->values, kind->mask);
		work();
	}
}

void guest_main(uint64_t vcpu)
{
	(void)vcpu;
	for (unsigned int i = 0; i < KINDS; i++)
		second[i] = PHYSICAL(first[i]) | TABLE;
	third[0] = PHYSICAL(second) | TABLE;
	top[PLACES >> 39] = PHYSICAL(third) | TABLE;
	init_chains();
	init_tables();
	init_changes();
	for (unsigned int i = 0; i < KINDS; i++) {
		if (kinds[i].frame)
			continue;
		print("hostile ");
		print(kinds[i].name);
		print(": not allowed\n");
	}
	for (;;) {
		print("first\n");
		take_turns();
	}
}
