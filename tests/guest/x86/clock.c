/* The guest's clock, in 64-bit and 32-bit code. */
#include "guest.h"

#include <xen/xen.h>

static uint32_t tsc_to_ns;
static int8_t tsc_shift;

/*
 * The TSC rather than Xen's system time, which steps back and forth, by a millisecond or
 * two in an emulator, when Xen calibrates it or a vCPU moves to another CPU. The formula
 * is in xen/include/public/xen.h, at struct vcpu_time_info.
 */
uint64_t xen_time(void)
{
	uint32_t low, high;
	uint64_t ticks;

	asm volatile("rdtsc" : "=a"(low), "=d"(high));
	ticks = (uint64_t)high << 32 | low;
	if (tsc_shift < 0)
		ticks >>= -tsc_shift;
	else
		ticks <<= tsc_shift;
	return (ticks >> 32) * tsc_to_ns + ((ticks & 0xffffffff) * tsc_to_ns >> 32);
}

void xen_clock_init(void)
{
	const struct shared_info *shared_info = xen_shared_info();
	const volatile struct vcpu_time_info *time = &shared_info->vcpu_info[0].time;
	uint32_t version;

	do {
		version = time->version;
		tsc_to_ns = time->tsc_to_system_mul;
		tsc_shift = time->tsc_shift;
	} while (version & 1 || version != time->version);
}
