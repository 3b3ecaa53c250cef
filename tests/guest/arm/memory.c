/*
 * The address space, and the code that sets it up. Programs that walk it from outside
 * find the same cases as in real guests; STACKS is at 7/8 of the low or the high half:
 *
 *	virtual            guest-physical
 *	RAM                RAM, the first GiB: a block of 1G, or the largest there are
 *	RAM + BASE         the image: blocks of 2M (4K granule), 32M, 512M, supersections
 *	below STACKS       `pages`, in reverse order: pages
 *	STACKS             a block of 2M, 32M, 512M; two sections
 *	STACKS + OTHERS    the other vCPUs' stacks: pages, large pages (short descriptors)
 *	STACKS + SLOTS     the console's ring: a page
 *
 * The code here, in fdt.c and in tables_*.c first runs without page tables, at its
 * guest-physical address: it addresses everything in the image relative to the
 * instruction, and keeps its data in .bss.boot, which start*.S clears.
 */
#include "tables.h"

#include "fdt.h"

#ifdef __aarch64__
#define OTHERS 0x60000000
#define SLOTS  0x40000000
#else
#define OTHERS 0x08000000
#define SLOTS  0x10000000
#endif

/* Size of `pages`, which are mapped in reverse order; a multiple of any granule. */
#define PAGES_SIZE (MOVING_SIZE + 0x100000)

/* Size of all stacks to move to, and minimum size of each: three times the size of 60
 * small frames. */
#define MOVING_SIZE  0x800000
#define MOVING_LEAST (4 * PAGE_SIZE)

/* Size of another vCPU's stack. */
#define OTHER_SIZE (32 * PAGE_SIZE)

/* Bytes of a mixed stack that are on its block: some outer frames of each chain. */
#define MIXED_TOP 256

#define TABLES_SIZE 0x700000

#define BOOT __attribute__((section(".bss.boot")))

/* Memory in .bss.tables and .bss.stacks is not cleared at the start. */
static uint8_t tables[TABLES_SIZE]
	__attribute__((section(".bss.tables"), aligned(0x10000)));
static uint8_t pages[PAGES_SIZE]
	__attribute__((section(".bss.stacks"), aligned(0x10000)));
static uint8_t others[(MAX_VCPUS - 1) * OTHER_SIZE]
	__attribute__((section(".bss.stacks"), aligned(0x10000)));

static size_t tables_used BOOT;
static struct paging paging BOOT;
static struct fdt fdt BOOT;
struct boot_registers boot_registers BOOT;
void *secondary_stack;

void boot_init(const void *device_tree);

uint64_t memory_address(const void *virt)
{
	return (uintptr_t)virt - (uintptr_t)image_start + IMAGE_PHYS;
}

void *memory_pointer(uint64_t phys)
{
	return image_start + (uintptr_t)(phys - IMAGE_PHYS);
}

void *memory_new_table(size_t size)
{
	unsigned long *table;

	tables_used = (tables_used + size - 1) & ~(size - 1);
	table = (unsigned long *)(tables + tables_used);
	tables_used += size;
	if (tables_used > sizeof(tables))
		__builtin_trap();
	for (size_t i = 0; i < size / sizeof(*table); i++)
		table[i] = 0;
	return table;
}

static unsigned long stacks(void)
{
#ifdef __aarch64__
	return (paging.split ? ~0ul << paging.bits : 0) | 7ul << (paging.bits - 3);
#else
	return 0xe0000000;
#endif
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void map_all(void)
{
	unsigned long page_size = 1ul << paging.granule;
	uint64_t block = tables_block();

	tables_fill(RAM, RAM, 1u << 30);
	tables_fill(RAM + (unsigned long)BASE, RAM, larger(block, 1u << 25));
	tables_fill(stacks(), LARGE, larger(block, LARGE_SIZE));
	for (unsigned long at = 0; at < PAGES_SIZE; at += page_size)
		tables_fill(stacks() - page_size - at, memory_address(pages + at),
			    page_size);
	tables_fill(stacks() + OTHERS, memory_address(others), sizeof(others));
}

void boot_init(const void *device_tree)
{
	const char *line = fdt.command_line;

	fdt_read(device_tree, &fdt);
#ifdef __aarch64__
	paging.split = BASE >> 63;
#else
	paging.split = option_number(line, "split", 1);
#endif
	switch (option_number(line, "granule", 4)) {
	case 16:
		paging.granule = 14;
		break;
	case 64:
		paging.granule = 16;
		break;
	default:
		paging.granule = 12;
	}
	paging.bits = option_number(line, "bits", 39);
	tables_choose(&paging);
	tables_init(&paging, &boot_registers);
	map_all();
}

const char *memory_command_line(void)
{
	return fdt.command_line;
}

void memory_set_secondary(void *stack_top)
{
	secondary_stack = stack_top;
}

const struct paging *memory_paging(void)
{
	return &paging;
}

void *memory_ram(uint64_t phys, uint64_t size)
{
	return phys - RAM + size <= fdt.memory_size ? (void *)(uintptr_t)phys : NULL;
}

void *memory_map_slot(unsigned int nr, uint64_t addr)
{
	unsigned long size = 1ul << paging.granule;
	unsigned long at = stacks() + SLOTS + nr * size;

	tables_fill(at, addr & ~(uint64_t)(size - 1), size);
	return (uint8_t *)at + (addr & (size - 1));
}

/* 4k and 1g mean pages and the largest blocks, whatever their size. */
void *memory_stack_top(enum stack_kind *kind, const char **names)
{
	uint8_t *top = (uint8_t *)stacks();

	switch (*kind) {
	case STACK_1G:
		*names = "largest";
		return (uint8_t *)LARGE + LARGE_SIZE / 2;
	case STACK_2M:
		*names = "blocks";
		return top + LARGE_SIZE / 2;
	case STACK_4K:
		*names = "pages-reversed";
		return top;
	default:
		*names = "blocks+pages-reversed";
		return top + MIXED_TOP;
	}
}

void *memory_secondary_stack_top(unsigned int vcpu)
{
	return (uint8_t *)stacks() + OTHERS + vcpu * OTHER_SIZE;
}

void *memory_next_stack_top(size_t bytes)
{
	static size_t top;
	size_t size = (bytes + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;

	if (size < MOVING_LEAST)
		size = MOVING_LEAST;
	top = top + size > MOVING_SIZE ? size : top + size;
	/* Stacks to move to start at the lower end of `pages`, which vCPU 0's first stack
	 * doesn't reach. */
	return (uint8_t *)stacks() - PAGES_SIZE + top;
}
