/* Chains and page tables made to harm who walks them: README.md tells of each kind. */
#include "guest.h"

#include <xen/xen.h>
#include <xen/memory.h>

#include "hostile.h"

/* How long a kind has its turn, and how long it spins each time (ns). */
#define TURN  500000000ul
#define SPELL 12000000ul

/* Addresses that nothing else is at, a GiB apart. */
#define PLACE(kind) ((1ul << 39) + ((KIND_##kind + 1ul) << 30))

/* The entries of the top table that map the table itself, and a page not there. */
#define RECURSIVE 300ul
#define RESERVED  301ul
#define TOP(slot) (0xffff000000000000 | (slot) << 39)

#define PAGES	     1024
#define FRAMES	     256 /* that fit a page */
#define FLAGS	     (PTE_PRESENT | PTE_WRITE)
#define NO_MEMORY    0x7000000000ul /* an address beyond all guests' memory */
#define GRANTS_GFN   0x80000ul	    /* a guest frame that is free */
#define APIC	     0xfee00000ul   /* Intel SDM vol. 3A, 10.4.1 */
#define STORM_TABLES 64
#define STORM_PAGES  (FRAMES * STORM_TABLES)
#define STORM_RAM    0x2000000ul /* behind all that Xen's tools put there */

#define NUMBER(kind) KIND_##kind,
enum {
	HOSTILE_KINDS(NUMBER) KINDS
};

typedef void spin(uint64_t frame, uint64_t end, volatile uint64_t *entry,
		  const uint64_t *values, uint64_t mask);
#define DECLARE(kind) spin hostile_##kind;
HOSTILE_KINDS(DECLARE)

static uint64_t unused;

static struct kind {
	const char *name;
	spin *spin;
	uint64_t frame;
	volatile uint64_t *entry;
	const uint64_t *values; /* to go to the entry in turns, mask + 1 of them */
	uint64_t mask;
	bool allowed; /* Xen lets the guest do it */
} kinds[] = {
#define KIND(kind) {#kind, hostile_##kind, 0, &unused, &unused, 0, true},
	HOSTILE_KINDS(KIND)};

/* Pages that are all alike: frame n of a page has its caller's in the next page. */
static uint64_t page[PAGES][512] __attribute__((aligned(PAGE_SIZE)));
/* A page for some kinds, two for those whose chain goes on. */
static uint64_t own[KINDS][2][512] __attribute__((aligned(PAGE_SIZE)));
static uint64_t moving[PAGES], nowhere[4096], flicker[2], remap[2], storm[STORM_TABLES];

static const struct kind *chosen; /* NULL: all in turn */
static uint64_t ticks;		  /* of the TSC, for SPELL */

static void put_frame(uint64_t *at, uint64_t next)
{
	at[0] = next;
	at[1] = (uint64_t)hostile_spell;
}

static uint64_t apart_frame(uint64_t i)
{
	return ((i + 1) << 39) - 8;
}

static void fill_page(uint64_t *words)
{
	for (uint64_t n = 0; n < FRAMES; n++)
		put_frame(words + 2 * n, PLACE(storm) + (n + 1) * (PAGE_SIZE + 16));
	words[2 * (FRAMES - 1)] = 0;
}

static void fill_pages(void)
{
	for (uint64_t i = 0; i < PAGES; i++) {
		fill_page(page[i]);
		/* The last word is a frame's first one for apart. */
		page[i][511] = i + 1 < FRAMES - 1 ? apart_frame(i + 1) : 1;
	}
}

static bool have_ram(volatile uint64_t *at)
{
	*at = 1;
	return *at == 1;
}

static uint64_t *own_page(unsigned int kind)
{
	return own[kind][0];
}

static bool map_own(unsigned int kind, uint64_t address)
{
	kinds[kind].frame = address;
	return tables_map(address, own[kind][0]);
}

/* An entry of no use at @level for the frame pointer to go through. */
static bool map_entry(unsigned int kind, uint64_t address, unsigned int level,
		      uint64_t value)
{
	uint64_t *entry = tables_entry(address, level);

	kinds[kind].frame = address;
	return entry && tables_set(entry, value);
}

static void init_chains(void)
{
	uint64_t at;

	at = PLACE(self);
	kinds[KIND_self].allowed = map_own(KIND_self, at);
	put_frame(own_page(KIND_self), at);

	at = PLACE(pair);
	kinds[KIND_pair].allowed = map_own(KIND_pair, at);
	put_frame(own_page(KIND_pair), at + 16);
	put_frame(own_page(KIND_pair) + 2, at);

	at = PLACE(endless);
	kinds[KIND_endless].allowed = map_own(KIND_endless, at) &&
				      tables_map(at + PAGE_SIZE, own[KIND_endless][1]);
	for (uint64_t i = 0; i < 2 * FRAMES; i++)
		put_frame(own_page(KIND_endless) + 2 * i, at + (i + 1) * 16);

	at = PLACE(unmapped);
	kinds[KIND_unmapped].allowed = map_own(KIND_unmapped, at);
	put_frame(own_page(KIND_unmapped), at + PAGE_SIZE);

	kinds[KIND_noncanonical].frame = 1ul << 47;

	at = PLACE(unaligned);
	kinds[KIND_unaligned].allowed = map_own(KIND_unaligned, at);
	kinds[KIND_unaligned].frame = at + 1;

	at = PLACE(across);
	kinds[KIND_across].allowed = map_own(KIND_across, at) &&
				     tables_map(at + PAGE_SIZE, own[KIND_across][1]);
	put_frame(own_page(KIND_across) + 511, 0);
	kinds[KIND_across].frame = at + PAGE_SIZE - 8;

	at = PLACE(cut);
	kinds[KIND_cut].allowed = map_own(KIND_cut, at);
	put_frame(own_page(KIND_cut) + 511, 0);
	kinds[KIND_cut].frame = at + PAGE_SIZE - 8;
}

/* A PV guest has no control registers of its own. */
static void init_modes(void)
{
	kinds[KIND_modes].allowed = !memory_is_pv() && map_own(KIND_modes, PLACE(modes));
	put_frame(own_page(KIND_modes), 0);
}

static void init_tables(void)
{
	uint64_t *root = memory_root(), *self = &root[400];
	uint64_t here = TOP(RECURSIVE) | RECURSIVE << 30 | RECURSIVE << 21 |
			RECURSIVE << 12 | 400 * 8;

	/* A frame that lies in the top table itself; its words count as absent entries.
	 */
	kinds[KIND_recursive].frame = here;
	kinds[KIND_recursive].allowed = tables_set(&root[RECURSIVE],
						   memory_address(root) | PTE_PRESENT) &&
					tables_set(self, here) && tables_set(self + 1, 2);

	kinds[KIND_beyond].allowed = map_entry(KIND_beyond, PLACE(beyond), 1,
					       NO_MEMORY | FLAGS);
	kinds[KIND_ones].allowed = map_entry(KIND_ones, PLACE(ones), 1, ~0ul);
	kinds[KIND_huge].allowed = map_entry(KIND_huge, PLACE(huge), 3, ~0ul);
	kinds[KIND_reserved].allowed = map_entry(KIND_reserved, TOP(RESERVED), 4,
						 0x000ffffffffff000 | FLAGS);
}

static void set_turns(unsigned int kind, uint64_t address, unsigned int level,
		      const uint64_t *values, uint64_t count)
{
	kinds[kind].allowed = map_entry(kind, address, level, values[0]);
	kinds[kind].entry = tables_entry(address, level);
	kinds[kind].values = values;
	kinds[kind].mask = count - 1;
}

static void init_changes(void)
{
	uint64_t at = PLACE(flicker);

	flicker[0] = memory_address(own_page(KIND_flicker)) | FLAGS;
	put_frame(own_page(KIND_flicker), 0);
	set_turns(KIND_flicker, at, 1, flicker, 2);

	at = PLACE(remap);
	for (unsigned int i = 0; i < 2; i++)
		remap[i] = memory_address(own[KIND_remap][i]) | FLAGS;
	put_frame(own[KIND_remap][0], 0);
	put_frame(own[KIND_remap][1], at);
	set_turns(KIND_remap, at, 1, remap, 2);

	for (unsigned int i = 0; i < PAGES; i++)
		moving[i] = memory_address(page[i * 409 % PAGES]) | FLAGS;
	set_turns(KIND_moving, PLACE(moving), 1, moving, PAGES);
	kinds[KIND_moving].frame += PAGE_SIZE - 16;

	for (unsigned int i = 0; i < 4096; i++)
		nowhere[i] = (NO_MEMORY + i * 64ul * PAGE_SIZE) | FLAGS;
	set_turns(KIND_nowhere, PLACE(nowhere), 1, nowhere, 4096);
}

/*
 * An entry above 255 pages that changes: each time these are others, and all together
 * more than any recorder keeps. PV guests change such entries by hypercalls only.
 */
static void init_storm(void)
{
	static uint64_t table[STORM_TABLES][512] __attribute__((aligned(PAGE_SIZE)));
	uint64_t(*ram)[512] = phys_to_virt(STORM_RAM);

	kinds[KIND_storm].allowed = !memory_is_pv() && have_ram(ram[STORM_PAGES - 1]);
	if (!kinds[KIND_storm].allowed)
		return;
	for (unsigned int i = 0; i < STORM_PAGES; i++) {
		fill_page(ram[i]);
		table[i % STORM_TABLES][i / STORM_TABLES] = virt_to_phys(ram[i]) | FLAGS;
	}
	for (unsigned int i = 0; i < STORM_TABLES; i++)
		storm[i] = virt_to_phys(table[i]) | FLAGS;
	set_turns(KIND_storm, PLACE(storm), 2, storm, STORM_TABLES);
}

static void init_devices(void)
{
	uint64_t at = PLACE(balloon);

	/* A PV guest can't name a page that it has given back. */
	kinds[KIND_balloon].allowed = !memory_is_pv() && map_own(KIND_balloon, at) &&
				      tables_map(at + PAGE_SIZE, own[KIND_balloon][1]);
	put_frame(own_page(KIND_balloon), at + PAGE_SIZE);

	kinds[KIND_apic].allowed = map_entry(KIND_apic, PLACE(apic), 1, APIC | FLAGS);
	kinds[KIND_grants].allowed = xen_add_to_physmap(XENMAPSPACE_grant_table,
							GRANTS_GFN) == 0 &&
				     map_entry(KIND_grants, PLACE(grants), 1,
					       GRANTS_GFN * PAGE_SIZE | FLAGS);
	kinds[KIND_grants].frame += 0x100;
	kinds[KIND_shared].frame = (uint64_t)xen_shared_info();
}

/* Each word of each frame is behind other tables, at every level. */
static void init_apart(void)
{
	bool allowed = true;

	for (uint64_t i = 0; i < FRAMES - 1; i++)
		allowed = allowed && tables_map(apart_frame(i), page[i]) &&
			  tables_map(apart_frame(i) + 8, page[FRAMES + i]);
	kinds[KIND_apart].frame = apart_frame(0);
	kinds[KIND_apart].allowed = allowed;
}

static uint64_t read_tsc(void)
{
	uint32_t low, high;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

static bool is_word(const char *text, const char *word)
{
	while (*word && *text == *word) {
		text++;
		word++;
	}
	return !*word && (!*text || *text == ' ');
}

void hostile_init(const char *name)
{
	uint64_t time = xen_time(), tsc = read_tsc();

	fill_pages();
	if (memory_is_pv())
		xen_allow_table_writes();
	init_chains();
	init_tables();
	init_changes();
	init_storm();
	init_devices();
	init_apart();
	init_modes();
	for (unsigned int i = 0; i < KINDS; i++)
		if (is_word(name, kinds[i].name))
			chosen = &kinds[i];
	while (xen_time() - time < SPELL)
		;
	ticks = read_tsc() - tsc;
	ticks = ticks * SPELL / (xen_time() - time);
}

/* Xen has the chain's second page in every other spell. */
static void balloon_turn(void)
{
	static bool out;
	uint64_t gfn = virt_to_phys(own[KIND_balloon][1]) / PAGE_SIZE;

	out = !out;
	if (out ? xen_balloon_out(gfn) : xen_balloon_in(gfn))
		print("ballooning failed");
	else if (!out)
		put_frame(own[KIND_balloon][1], 0);
}

void hostile_spell(uint64_t time)
{
	static const struct kind *last;
	const struct kind *kind = chosen ? chosen : &kinds[time / TURN % KINDS];

	if (kind != last)
		print("hostile %s%s", kind->name, kind->allowed ? "" : ": not allowed");
	last = kind;
	if (!kind->allowed)
		return;
	if (kind == &kinds[KIND_balloon])
		balloon_turn();
	kind->spin(kind->frame, read_tsc() + ticks, kind->entry, kind->values,
		   kind->mask);
}
