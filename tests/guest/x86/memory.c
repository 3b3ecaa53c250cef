/*
 * The address space. Programs that walk it from outside find the same cases as in real
 * guests:
 *
 *	virtual         PVH, HVM                        PV
 *	BASE + 0        2M page: text, data, bss        4K pages, by Xen
 *	moving          2M pages                        4K pages, by Xen
 *	window          4K pages, the upper part        4K pages, the upper part
 *	                in reverse order                in reverse order
 *	large           2M page -> large + 2M           4K pages, by Xen
 *	large + 2M      2M page -> large                4K pages, by Xen
 *	ALIAS           one 1G page -> 0                none
 *
 * Xen allows a PV guest no large pages. The window's upper part and the large pages hold
 * the stacks, the window's lower end the pages shared with Xen.
 */
#include "guest.h"

#include <xen/xen.h>
#include <xen/sched.h>

#include "hypercall.h"

#define ALIAS	    0xffffc00000000000 /* entry 384 of the top table */
#define STACK_PAGES 64

/* Size of all stacks to move to, and minimum size of each: three times the size of 60
 * small frames. */
#define MOVING_SIZE  0x800000
#define MOVING_LEAST (4 * PAGE_SIZE)

/* Bytes of a mixed stack that are on its 2M page: some outer frames of each chain. */
#define MIXED_TOP 256

static uint8_t window[LARGE_SIZE]
	__attribute__((section(".bss.window"), aligned(LARGE_SIZE)));
static uint8_t large[2 * LARGE_SIZE]
	__attribute__((section(".bss.large"), aligned(LARGE_SIZE)));

static uint8_t moving[MOVING_SIZE] __attribute__((aligned(PAGE_SIZE)));

static uint64_t window_l1[512] __attribute__((aligned(PAGE_SIZE)));
static uint64_t alias_l3[512] __attribute__((aligned(PAGE_SIZE)));
static uint64_t *root;
static const unsigned long *p2m;

static void map_page(void *virt, uint64_t addr)
{
	uint64_t pte = addr | PTE_PRESENT | PTE_WRITE;

	if (p2m) {
		if (hypercall(__HYPERVISOR_update_va_mapping, (unsigned long)virt, pte,
			      UVMF_INVLPG | UVMF_ALL, 0) < 0)
			xen_shutdown(SHUTDOWN_crash);
		return;
	}
	window_l1[((uint8_t *)virt - window) / PAGE_SIZE] = pte;
	asm volatile("invlpg (%0)" : : "r"(virt) : "memory");
}

/* Reverses the order of the stack's pages, before the stack is used. */
static void reverse_stack_pages(void)
{
	uint8_t *low = window + LARGE_SIZE - STACK_PAGES * PAGE_SIZE;

	for (unsigned int i = 0; i < STACK_PAGES; i++) {
		uint64_t phys = virt_to_phys(low + i * PAGE_SIZE);
		uint64_t addr = p2m ? p2m[phys / PAGE_SIZE] * PAGE_SIZE : phys;

		map_page(low + (STACK_PAGES - 1 - i) * PAGE_SIZE, addr);
	}
}

static void build_pvh_tables(void)
{
	uint64_t *window_entry = &boot_l2[virt_to_phys(window) / LARGE_SIZE];

	for (unsigned int i = 0; i < 512; i++)
		window_l1[i] = virt_to_phys(window + i * PAGE_SIZE) | PTE_PRESENT |
			       PTE_WRITE;
	window_entry[0] = virt_to_phys(window_l1) | PTE_PRESENT | PTE_WRITE;

	/* window_entry[1] and [2] are the two large pages: swap them. */
	window_entry[1] = virt_to_phys(large + LARGE_SIZE) | PTE_PRESENT | PTE_WRITE |
			  PTE_LARGE;
	window_entry[2] = virt_to_phys(large) | PTE_PRESENT | PTE_WRITE | PTE_LARGE;

	boot_l4[0] = 0;
	asm volatile("mov %0, %%cr3" : : "r"(virt_to_phys(boot_l4)) : "memory");
}

/* AMD64 APM vol. 3, E.4.2: CPUID 8000_0001h, edx bit 26 (Page1GB). */
static bool have_1g_pages(void)
{
	uint32_t eax = 0x80000001, ebx, ecx, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "=c"(ecx), "=d"(edx));
	return edx & 1 << 26;
}

void memory_init(uint64_t *top_table, const unsigned long *pv_p2m)
{
	root = top_table;
	p2m = pv_p2m;
	if (!p2m)
		build_pvh_tables();
	reverse_stack_pages();
}

uint64_t *memory_root(void)
{
	return root;
}

bool memory_is_pv(void)
{
	return p2m;
}

uint64_t memory_address(const void *virt)
{
	uint64_t phys = virt_to_phys(virt);

	return p2m ? p2m[phys / PAGE_SIZE] * PAGE_SIZE + phys % PAGE_SIZE : phys;
}

void *memory_at(uint64_t entry)
{
	uint64_t frame = (entry & 0x000ffffffffff000) / PAGE_SIZE;

	/* xen/include/public/arch-x86/xen-x86_64.h: from machine to physical frames. */
	return phys_to_virt((p2m ? machine_to_phys_mapping[frame] : frame) * PAGE_SIZE);
}

void *memory_ram(uint64_t phys, uint64_t size)
{
	volatile uint64_t *last = phys_to_virt(phys + size - sizeof(*last));

	if (p2m)
		return NULL;
	*last = 1;
	return *last == 1 ? phys_to_virt(phys) : NULL;
}

void *memory_map_slot(unsigned int nr, uint64_t addr)
{
	map_page(window + nr * PAGE_SIZE, addr);
	return window + nr * PAGE_SIZE;
}

uint64_t memory_slot_phys(unsigned int nr)
{
	return virt_to_phys(window + nr * PAGE_SIZE);
}

void *memory_stack_top(enum stack_kind *kind, const char **pages)
{
	if (*kind == STACK_1G && (p2m || !have_1g_pages()))
		*kind = STACK_2M;

	switch (*kind) {
	case STACK_1G:
		*pages = "1g";
		alias_l3[0] = PTE_PRESENT | PTE_WRITE | PTE_LARGE;
		boot_l4[ALIAS >> 39 & 511] = virt_to_phys(alias_l3) | PTE_PRESENT |
					     PTE_WRITE;
		/* The first large page's frame: vCPU 1's stack is in the other large
		 * page. */
		return (uint8_t *)ALIAS + virt_to_phys(large) + LARGE_SIZE;
	case STACK_2M:
		*pages = p2m ? "4k" : "2m";
		return large + LARGE_SIZE / 2;
	case STACK_4K:
		*pages = "4k-reversed";
		return window + LARGE_SIZE;
	default:
		*pages = p2m ? "4k+4k-reversed" : "2m+4k-reversed";
		return large + MIXED_TOP;
	}
}

void *memory_secondary_stack_top(unsigned int vcpu)
{
	/* Below the previous vCPU's stack; all seven take less than half a large page. */
	return large + LARGE_SIZE - (vcpu - 1) * STACK_SIZE;
}

void *memory_next_stack_top(size_t bytes)
{
	static size_t top;
	size_t size = (bytes + PAGE_SIZE - 1) / PAGE_SIZE * PAGE_SIZE;

	if (size < MOVING_LEAST)
		size = MOVING_LEAST;
	top = top + size > MOVING_SIZE ? size : top + size;
	return moving + top;
}
