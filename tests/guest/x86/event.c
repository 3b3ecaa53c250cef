/* Events of Xen for a PV guest: a timer's, every ten milliseconds. */
#include "guest.h"

#include <xen/xen.h>
#include <xen/event_channel.h>

#include "hypercall.h"

void entry_event(void);
void on_event(void);

static struct shared_info *shared(void)
{
	return (struct shared_info *)(uintptr_t)xen_shared_info();
}

/* Takes all pending events; only the timer sends any. */
void on_event(void)
{
	struct shared_info *info = shared();

	info->vcpu_info[0].evtchn_upcall_pending = 0;
	__atomic_exchange_n(&info->vcpu_info[0].evtchn_pending_sel, 0, __ATOMIC_SEQ_CST);
	for (size_t i = 0; i < sizeof(info->evtchn_pending) / sizeof(unsigned long); i++)
		__atomic_exchange_n(&info->evtchn_pending[i], 0, __ATOMIC_SEQ_CST);
	event_work();
}

long xen_start_events(void)
{
	struct evtchn_bind_virq timer = {.virq = VIRQ_TIMER};
	unsigned long entry = (unsigned long)entry_event;
	long err = hypercall(__HYPERVISOR_set_callbacks, entry, entry, entry, 0);

	if (!err)
		err = hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_bind_virq,
				(unsigned long)&timer, 0, 0);
	if (!err)
		shared()->vcpu_info[0].evtchn_upcall_mask = 0;
	return err;
}
