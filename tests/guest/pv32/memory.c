/*
 * The address space: Xen's page tables map the image by 4K pages, because a PV guest may
 * have no others. The first vCPU's stack is on pages in reverse order, so that frames
 * which are neighbours lie apart.
 */
#include "guest.h"

#include <xen/xen.h>
#include <xen/sched.h>

#include "hypercall.h"

#define STACK_PAGES 64
#define SLOTS	    2

static uint8_t slots[SLOTS][PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static uint8_t stack[STACK_PAGES][PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));
static uint8_t others[MAX_VCPUS - 1][STACK_SIZE] __attribute__((aligned(PAGE_SIZE)));
static const unsigned long *p2m;

static void map_page(void *virt, uint64_t addr)
{
	uint64_t pte = addr | PTE_PRESENT | PTE_WRITE;

	if (hypercall(__HYPERVISOR_update_va_mapping, (unsigned long)virt,
		      (unsigned long)pte, (unsigned long)(pte >> 32),
		      UVMF_INVLPG | UVMF_ALL) < 0)
		xen_shutdown(SHUTDOWN_crash);
}

/* Reverses the order of the stack's pages, before the stack is used. */
void memory_init(const unsigned long *pv_p2m)
{
	p2m = pv_p2m;
	for (unsigned int i = 0; i < STACK_PAGES; i++)
		map_page(stack[STACK_PAGES - 1 - i], memory_address(stack[i]));
}

uint64_t memory_address(const void *virt)
{
	unsigned long phys = (unsigned long)virt - BASE;

	return (uint64_t)p2m[phys / PAGE_SIZE] * PAGE_SIZE + phys % PAGE_SIZE;
}

void *memory_map_slot(unsigned int nr, uint64_t addr)
{
	map_page(slots[nr], addr);
	return slots[nr];
}

void *memory_stack_top(enum stack_kind *kind, const char **pages)
{
	*kind = STACK_4K;
	*pages = "4k-reversed";
	return stack[STACK_PAGES];
}

void *memory_secondary_stack_top(unsigned int vcpu)
{
	return others[vcpu - 1] + STACK_SIZE;
}

void *memory_next_stack_top(size_t bytes)
{
	(void)bytes;
	return NULL;
}
