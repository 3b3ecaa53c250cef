/* Chains and page tables that attack programs walking them: README.md describes each
 * kind. */
#include "hostile.h"

#include <xen/xen.h>
#include <xen/memory.h>

#define SPELL 12000000ul /* how long a kind spins each time, ns */

#define PAGES	     1024
#define PAGE_WORDS   (PAGE_SIZE / sizeof(long))
#define FRAME_SIZE   (2 * sizeof(long))
#define FRAMES	     256 /* frames in a page */
#define STORM_TABLES 64
#define STORM_PAGES  (FRAMES * STORM_TABLES)
#define STORM_RAM    (RAM + 0x2000000) /* after everything placed there by Xen's tools */

static pte_t unused;

struct kind kinds[] = {
#define KIND(kind) {#kind, hostile_##kind, 0, &unused, &unused, 0, true},
	HOSTILE_KINDS(KIND)};

/* Identical pages: the caller of frame n of a page is in the next page. */
static unsigned long page[PAGES][PAGE_WORDS] __attribute__((aligned(PAGE_SIZE)));
/* The pages of each kind; a kind whose chain stays in one page uses the first only. */
static unsigned long own[KINDS][2][PAGE_WORDS] __attribute__((aligned(PAGE_SIZE)));
/* More frames than any recorder follows: at least 4,608. */
#define ENDLESS_PAGES 18
static unsigned long endless[ENDLESS_PAGES * PAGE_WORDS]
	__attribute__((aligned(PAGE_SIZE)));
static pte_t moving[PAGES], nowhere[4096], flicker[2], remap[2], storm[STORM_TABLES];

/* The order of turns, and the kinds to run, in turn. */
static const unsigned char order[] = {HOSTILE_KINDS(NUMBER) MORE_TURNS};
static const struct kind *turns[sizeof(order)];
static unsigned int turns_count;
static uint64_t ticks; /* SPELL in units of cpu_ticks() */

/* The return address is a real one: chains end before any other. */
void hostile_put_frame(unsigned long *at, unsigned long next)
{
	at[0] = next ? next + FRAME_POINTER : 0;
	at[1] = (unsigned long)__builtin_return_address(0);
}

static unsigned long apart_frame(unsigned long i)
{
	return (i + 1) * APART_BY - sizeof(long);
}

static void fill_page(unsigned long *words)
{
	for (unsigned long n = 0; n < FRAMES; n++)
		hostile_put_frame(words + 2 * n,
				  PLACE(storm) + (n + 1) * (PAGE_SIZE + FRAME_SIZE));
	words[2 * (FRAMES - 1)] = 0;
}

static void fill_pages(void)
{
	for (unsigned long i = 0; i < PAGES; i++) {
		fill_page(page[i]);
		/* The last frame for moving. */
		page[i][2 * (FRAMES - 2)] = 0;
		/* The first word is a return address for apart, and the last one a
		 * frame's first word. */
		page[i][0] = (unsigned long)__builtin_return_address(0);
		page[i][PAGE_WORDS - 1] = i + 1 < FRAMES - 1
						  ? apart_frame(i + 1) + FRAME_POINTER
						  : 1;
	}
}

static unsigned long *own_page(unsigned int kind)
{
	return own[kind][0];
}

static bool map_own(unsigned int kind, unsigned long address)
{
	kinds[kind].frame = address + FRAME_POINTER;
	return tables_map(address, own[kind][0]);
}

unsigned long *hostile_map_page(unsigned int kind, unsigned long address)
{
	kinds[kind].allowed = map_own(kind, address);
	return own_page(kind);
}

bool hostile_map_entry(unsigned int kind, unsigned long address, unsigned int level,
		       pte_t value)
{
	pte_t *entry = tables_entry(address, level);

	kinds[kind].frame = address + FRAME_POINTER;
	return entry && tables_set(entry, value);
}

static void init_chains(void)
{
	unsigned long at;

	at = PLACE(self);
	kinds[KIND_self].allowed = map_own(KIND_self, at);
	hostile_put_frame(own_page(KIND_self), at);

	at = PLACE(pair);
	kinds[KIND_pair].allowed = map_own(KIND_pair, at);
	hostile_put_frame(own_page(KIND_pair), at + FRAME_SIZE);
	hostile_put_frame(own_page(KIND_pair) + 2, at);

	at = PLACE(endless);
	kinds[KIND_endless].frame = at + FRAME_POINTER;
	for (unsigned long i = 0; i < ENDLESS_PAGES; i++)
		kinds[KIND_endless].allowed &= tables_map(at + i * PAGE_SIZE,
							  endless + i * PAGE_WORDS);
	for (unsigned long i = 0; i < ENDLESS_PAGES * PAGE_SIZE / FRAME_SIZE; i++)
		hostile_put_frame(endless + 2 * i, at + (i + 1) * FRAME_SIZE);

	at = PLACE(unmapped);
	kinds[KIND_unmapped].allowed = map_own(KIND_unmapped, at);
	hostile_put_frame(own_page(KIND_unmapped), at + PAGE_SIZE);

	kinds[KIND_noncanonical].frame = NONCANONICAL;
	kinds[KIND_noncanonical].allowed = NONCANONICAL;

	at = PLACE(unaligned);
	kinds[KIND_unaligned].allowed = map_own(KIND_unaligned, at);
	kinds[KIND_unaligned].frame++;

	at = PLACE(across);
	kinds[KIND_across].allowed = map_own(KIND_across, at) &&
				     tables_map(at + PAGE_SIZE, own[KIND_across][1]);
	hostile_put_frame(own_page(KIND_across) + PAGE_WORDS - 1, 0);
	kinds[KIND_across].frame += PAGE_SIZE - sizeof(long);

	at = PLACE(cut);
	kinds[KIND_cut].allowed = map_own(KIND_cut, at);
	hostile_put_frame(own_page(KIND_cut) + PAGE_WORDS - 1, 0);
	kinds[KIND_cut].frame += PAGE_SIZE - sizeof(long);
}

/*
 * Puts a frame into a table that maps itself at RECURSIVE_LEVEL and all levels below. The
 * words of the frame count as absent entries.
 */
static void init_recursive(void)
{
	pte_t *slot = tables_entry(RECURSIVE, RECURSIVE_LEVEL);
	pte_t *table = (pte_t *)((uintptr_t)slot & ~(uintptr_t)(TABLE_SIZE - 1));
	pte_t *self = table + RECURSIVE_WORD;

	kinds[KIND_recursive].frame = RECURSIVE + FRAME_POINTER;
	kinds[KIND_recursive].allowed = tables_set(slot, memory_address(table) |
								 PTE_RECURSIVE) &&
					tables_set(self, (RECURSIVE + FRAME_POINTER) |
								 RECURSIVE_RETURN) &&
					tables_set(self + 1, 4);
}

static void init_tables(void)
{
	kinds[KIND_beyond].allowed = hostile_map_entry(KIND_beyond, PLACE(beyond), 1,
						       NO_MEMORY | PTE_PAGE);
	kinds[KIND_ones].allowed = hostile_map_entry(KIND_ones, PLACE(ones), 1,
						     (pte_t)~0);
	kinds[KIND_huge].allowed = hostile_map_entry(KIND_huge, PLACE(huge), HUGE_LEVEL,
						     HUGE_ONES);
	kinds[KIND_reserved].allowed = hostile_map_entry(KIND_reserved, RESERVED_PLACE,
							 TOP_LEVEL, RESERVED_TABLE);
}

static void set_turns(unsigned int kind, unsigned long address, unsigned int level,
		      const pte_t *values, unsigned long count)
{
	kinds[kind].allowed = hostile_map_entry(kind, address, level, values[0]);
	kinds[kind].entry = tables_entry(address, level);
	kinds[kind].values = values;
	kinds[kind].mask = count - 1;
}

static void init_changes(void)
{
	unsigned long at = PLACE(flicker);

	flicker[0] = memory_address(own_page(KIND_flicker)) | PTE_PAGE;
	hostile_put_frame(own_page(KIND_flicker), 0);
	set_turns(KIND_flicker, at, 1, flicker, 2);

	at = PLACE(remap);
	for (unsigned int i = 0; i < 2; i++)
		remap[i] = memory_address(own[KIND_remap][i]) | PTE_PAGE;
	hostile_put_frame(own[KIND_remap][0], 0);
	hostile_put_frame(own[KIND_remap][1], at);
	set_turns(KIND_remap, at, 1, remap, 2);

	for (unsigned int i = 0; i < PAGES; i++)
		moving[i] = memory_address(page[i * 409 % PAGES]) | PTE_PAGE;
	set_turns(KIND_moving, PLACE(moving), 1, moving, PAGES);
	kinds[KIND_moving].frame += (FRAMES - 2) * FRAME_SIZE;

	for (unsigned int i = 0; i < 4096; i++)
		nowhere[i] = (NO_MEMORY + i * 64 * (pte_t)PAGE_SIZE) | PTE_PAGE;
	set_turns(KIND_nowhere, PLACE(nowhere), 1, nowhere, 4096);
}

/*
 * Makes a chain of 255 pages below an entry that changes, so that its pages differ each
 * time. There are more pages than any recorder keeps. PV guests can change upper entries
 * by hypercalls only.
 */
static void init_storm(void)
{
	static pte_t table[STORM_TABLES][PAGE_SIZE / sizeof(pte_t)]
		__attribute__((aligned(PAGE_SIZE)));
	unsigned long(*ram)[PAGE_WORDS] = memory_ram(STORM_RAM, STORM_PAGES * PAGE_SIZE);

	kinds[KIND_storm].allowed = ram;
	if (!ram)
		return;
	for (unsigned int i = 0; i < STORM_PAGES; i++) {
		fill_page(ram[i]);
		table[i % STORM_TABLES][i / STORM_TABLES] = (STORM_RAM +
							     (pte_t)i * PAGE_SIZE) |
							    PTE_PAGE;
	}
	for (unsigned int i = 0; i < STORM_TABLES; i++)
		storm[i] = memory_address(table[i]) | PTE_TABLE;
	set_turns(KIND_storm, PLACE(storm), 2, storm, STORM_TABLES);
}

static void init_xen(void)
{
	unsigned long at = PLACE(balloon);

	kinds[KIND_balloon].allowed = CAN_BALLOON && map_own(KIND_balloon, at) &&
				      tables_map(at + PAGE_SIZE, own[KIND_balloon][1]);
	hostile_put_frame(own_page(KIND_balloon), at + PAGE_SIZE);

	kinds[KIND_grants].allowed = xen_add_to_physmap(XENMAPSPACE_grant_table,
							GRANTS_GFN) == 0 &&
				     hostile_map_entry(KIND_grants, PLACE(grants), 1,
						       GRANTS_GFN * PAGE_SIZE | PTE_PAGE);
	kinds[KIND_grants].frame += 0x100;
}

/* Makes a chain of frames whose words each need separate tables, at every level. */
static void init_apart(void)
{
	bool allowed = true;

	for (unsigned long i = 0; i < FRAMES - 1; i++)
		allowed = allowed && tables_map(apart_frame(i), page[i]) &&
			  tables_map(apart_frame(i) + sizeof(long), page[FRAMES + i]);
	kinds[KIND_apart].frame = apart_frame(0) + FRAME_POINTER;
	kinds[KIND_apart].allowed = allowed;
}

static bool is_word(const char *text, const char *word)
{
	while (*word && *text == *word) {
		text++;
		word++;
	}
	return !*word && (!*text || *text == ' ');
}

static void add_turn(const char *name, const struct kind *kind)
{
	if (!is_word(name, "all") && !is_word(name, kind->name))
		return;
	if (kind->allowed)
		turns[turns_count++] = kind;
	else
		print("hostile %s: not allowed", kind->name);
}

void hostile_init(const char *name)
{
	uint64_t time = xen_time(), before = cpu_ticks();

	fill_pages();
	hostile_init_cpu();
	init_chains();
	init_recursive();
	init_tables();
	init_changes();
	init_storm();
	init_xen();
	init_apart();
	for (unsigned int i = 0; i < sizeof(order); i++)
		add_turn(name, &kinds[order[i]]);
	while (xen_time() - time < SPELL)
		;
	ticks = cpu_ticks() - before;
	ticks = ticks * SPELL / (xen_time() - time);
}

/* Returns the chain's second page to Xen, or takes it back, in every other spell. */
static void balloon_turn(void)
{
	static bool out;
	uint64_t gfn = memory_address(own[KIND_balloon][1]) / PAGE_SIZE;

	out = !out;
	if (out ? xen_balloon_out(gfn) : xen_balloon_in(gfn))
		print("ballooning failed");
	else if (!out)
		hostile_put_frame(own[KIND_balloon][1], 0);
}

void hostile_spell(uint64_t time)
{
	static const struct kind *last;
	const struct kind *kind;

	if (!turns_count)
		return;
	kind = turns[time / TURN % turns_count];
	if (kind != last)
		print("hostile %s", kind->name);
	last = kind;
	if (kind == &kinds[KIND_balloon])
		balloon_turn();
	kind->spin(kind->frame, cpu_ticks() + ticks, kind->entry, kind->values,
		   kind->mask);
}
