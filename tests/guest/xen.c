/* Requests to Xen on all CPUs: console, time accounting, memory, shutdown. */
#include "guest.h"

#include <xen/xen.h>
#include <xen/event_channel.h>
#include <xen/hvm/hvm_op.h>
#include <xen/hvm/params.h>
#include <xen/io/console.h>
#include <xen/memory.h>
#include <xen/sched.h>
#include <xen/version.h>
#include <xen/vcpu.h>

#include "hypercall.h"

static struct xencons_interface *console;
static evtchn_port_t console_port;
static struct vcpu_runstate_info runstate[MAX_VCPUS] __attribute__((aligned(64)));
static uint64_t not_running_at_init[MAX_VCPUS];

void xen_console_init(void *ring, uint32_t port)
{
	console = ring;
	console_port = port;
}

bool xen_console_write(const char *bytes, size_t n)
{
	struct evtchn_send send = {.port = console_port};
	XENCONS_RING_IDX prod = console->out_prod;

	if (sizeof(console->out) - (prod - console->out_cons) < n)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	for (size_t i = 0; i < n; i++)
		console->out[MASK_XENCONS_IDX(prod++, console->out)] = bytes[i];
	__atomic_thread_fence(__ATOMIC_RELEASE);
	console->out_prod = prod;
	hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_send, (unsigned long)&send, 0,
		  0);
	return true;
}

uint64_t xen_hvm_param(uint32_t index)
{
	struct xen_hvm_param param = {.domid = DOMID_SELF, .index = index};

	hypercall(__HYPERVISOR_hvm_op, HVMOP_get_param, (unsigned long)&param, 0, 0);
	return param.value;
}

static uint64_t not_running(unsigned int vcpu)
{
	const volatile struct vcpu_runstate_info *state = &runstate[vcpu];

	return state->time[RUNSTATE_runnable] + state->time[RUNSTATE_blocked] +
	       state->time[RUNSTATE_offline];
}

void xen_time_init(unsigned int vcpu)
{
	struct vcpu_register_runstate_memory_area area = {
		.addr.p = (unsigned long)&runstate[vcpu],
	};

	if (!vcpu)
		xen_clock_init();
	if (hypercall(__HYPERVISOR_vcpu_op, VCPUOP_register_runstate_memory_area, vcpu,
		      (unsigned long)&area, 0) < 0)
		xen_shutdown(SHUTDOWN_crash);
	not_running_at_init[vcpu] = not_running(vcpu);
}

uint64_t xen_running_time(unsigned int vcpu, uint64_t *stolen)
{
	static uint64_t last[MAX_VCPUS];
	const volatile struct vcpu_runstate_info *state = &runstate[vcpu];
	uint64_t since, lost, ns;

	/* Xen writes the state while this vCPU is off its CPU, and changes the entry time
	 * whenever it does. */
	do {
		since = state->state_entry_time;
		lost = not_running(vcpu) - not_running_at_init[vcpu];
		ns = xen_time() - lost;
	} while (since != state->state_entry_time);

	/* `lost` is in Xen's system time, so it can be slightly too large. */
	if (ns < last[vcpu])
		ns = last[vcpu];
	last[vcpu] = ns;
	if (stolen)
		*stolen = lost;
	return ns;
}

long xen_add_to_physmap(unsigned int space, uint64_t gfn)
{
	struct xen_add_to_physmap map = {
		.domid = DOMID_SELF,
		.space = space,
		.gpfn = gfn,
	};

	return hypercall(__HYPERVISOR_memory_op, XENMEM_add_to_physmap,
			 (unsigned long)&map, 0, 0);
}

static long change_reservation(unsigned int command, xen_pfn_t gfn)
{
	struct xen_memory_reservation reservation = {
		.nr_extents = 1,
		.domid = DOMID_SELF,
	};

	set_xen_guest_handle(reservation.extent_start, &gfn);
	return hypercall(__HYPERVISOR_memory_op, command, (unsigned long)&reservation, 0,
			 0) == 1
		       ? 0
		       : -1;
}

long xen_balloon_out(uint64_t gfn)
{
	return change_reservation(XENMEM_decrease_reservation, gfn);
}

long xen_balloon_in(uint64_t gfn)
{
	return change_reservation(XENMEM_populate_physmap, gfn);
}

void xen_idle(void)
{
	struct sched_poll nothing = {.nr_ports = 0};

	for (;;)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_poll, (unsigned long)&nothing, 0,
			  0);
}

void xen_shutdown(unsigned int reason)
{
	struct sched_shutdown shutdown = {.reason = reason};

	for (;;)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_shutdown,
			  (unsigned long)&shutdown, 0, 0);
}

/* A leaf function, as far as its compiler knows: it makes hypercalls and calls nothing.
 */
APART void xen_ask(unsigned long calls)
{
	while (calls--)
		hypercall(__HYPERVISOR_xen_version, XENVER_version, 0, 0, 0);
}
