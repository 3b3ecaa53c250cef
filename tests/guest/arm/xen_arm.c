/* Requests to Xen specific to ARM: clock, additional vCPUs. */
#include "tables.h"

#include <xen/xen.h>
#include <xen/hvm/params.h>

#include "hypercall.h"

/* Arm's Power State Coordination Interface (DEN 0022), 5.4. */
#ifdef __aarch64__
#define CPU_ON 0xc4000003
#else
#define CPU_ON 0x84000003
#endif

static uint32_t ns_per_tick; /* in units of 2^-24 ns */

const char *xen_init(const void *start_info, bool pv)
{
	uint64_t console = xen_hvm_param(HVM_PARAM_CONSOLE_PFN) * PAGE_SIZE;

	(void)start_info;
	(void)pv;
	xen_console_init(memory_map_slot(SLOT_CONSOLE, console),
			 xen_hvm_param(HVM_PARAM_CONSOLE_EVTCHN));
	return memory_command_line();
}

const char *xen_mode(void)
{
#ifdef __aarch64__
	return memory_paging()->split ? "arm64-high" : "arm64-low";
#elif defined(LONG_TABLES)
	return memory_paging()->split ? "arm32-lpae" : "arm32-lpae-whole";
#else
	return memory_paging()->split ? "arm32-short" : "arm32-short-whole";
#endif
}

/* The frequency of the counter is above 4 MHz on all hardware that runs Xen. */
void xen_clock_init(void)
{
	unsigned long frequency;

#ifdef __aarch64__
	asm("mrs %0, cntfrq_el0" : "=r"(frequency));
#else
	asm("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
#endif
	ns_per_tick = (1000000000ull << 24) / frequency;
}

uint64_t xen_time(void)
{
	uint64_t ticks = cpu_ticks();

	return ((ticks >> 32) * ns_per_tick << 8) +
	       ((ticks & 0xffffffff) * ns_per_tick >> 24);
}

long xen_start_vcpu(unsigned int vcpu, void *stack_top)
{
	memory_set_secondary(stack_top);
	return firmware_call(CPU_ON, vcpu, memory_address(&secondary_boot), vcpu);
}
