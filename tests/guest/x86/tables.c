/* Page tables in addition to those that the guest runs on, for addresses it never uses.
 */
#include "guest.h"

#include <xen/xen.h>

#include "hypercall.h"

#define TABLES 1536

static uint64_t table[TABLES][512] __attribute__((aligned(PAGE_SIZE)));
static unsigned int used;

bool tables_set(pte_t *entry, pte_t value)
{
	struct mmu_update update = {
		.ptr = memory_address(entry) | MMU_NORMAL_PT_UPDATE,
		.val = value,
	};

	if (!memory_is_pv()) {
		*(volatile uint64_t *)entry = value;
		return true;
	}
	return hypercall(__HYPERVISOR_mmu_update, (unsigned long)&update, 1, 0,
			 DOMID_SELF) == 0;
}

/* Xen does not accept writable memory as a PV guest's page table. */
static uint64_t *new_table(void)
{
	uint64_t *new = table[used++];

	if (memory_is_pv())
		hypercall(__HYPERVISOR_update_va_mapping, (unsigned long)new,
			  memory_address(new) | PTE_PRESENT, UVMF_INVLPG | UVMF_ALL, 0);
	return new;
}

pte_t *tables_entry(unsigned long address, unsigned int level)
{
	uint64_t *at = memory_root();

	for (unsigned int i = 4;; i--) {
		uint64_t *entry = &at[address >> (12 + 9 * (i - 1)) & 511];

		if (i == level)
			return entry;
		if (*entry & PTE_PRESENT) {
			at = memory_at(*entry);
			continue;
		}
		at = new_table();
		if (!tables_set(entry, memory_address(at) | PTE_TABLE))
			return NULL;
	}
}

bool tables_map(unsigned long address, const void *page)
{
	uint64_t *entry = tables_entry(address, 1);

	return entry && tables_set(entry, memory_address(page) | PTE_PRESENT | PTE_WRITE);
}
