/* Attacks specific to x86 guests. */
#include "hostile.h"

#define APIC 0xfee00000ul /* Intel SDM vol. 3A, 10.4.1 */

void hostile_init_cpu(void)
{
	if (memory_is_pv())
		xen_allow_table_writes();
	kinds[KIND_apic].allowed = hostile_map_entry(KIND_apic, PLACE(apic), 1,
						     APIC | PTE_PAGE);
	kinds[KIND_shared].frame = (uint64_t)xen_shared_info();
	hostile_put_frame(hostile_map_page(KIND_modes, PLACE(modes)), 0);
	/* A PV guest has no control registers of its own. */
	if (memory_is_pv())
		kinds[KIND_modes].allowed = false;
}
