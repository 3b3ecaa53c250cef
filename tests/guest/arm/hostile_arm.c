/* Attacks specific to ARM guests. */
#include "hostile.h"

#define UART 0x22000000 /* xen/include/public/arch-arm.h */

void hostile_init_cpu(void)
{
	kinds[KIND_device].allowed = hostile_map_entry(KIND_device, PLACE(device), 1,
						       UART | PTE_PAGE);
}
