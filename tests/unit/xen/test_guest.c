/* SPDX-License-Identifier: BSD-3-Clause */

/* What calls a round makes to Xen. Xen is a fake, which counts its calls: the lab shows
 * that the answers are right. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "guest/guest.h"
#include "xen/pause.h"

#define VCPUS 2
#define ID    5

/* The fake Xen and its domain. */
static struct {
	unsigned int multicalls;
	unsigned int domctls;
	unsigned int pauses; /* of the domain */
	unsigned int held;   /* pauses that are not over */
	bool observed_held;  /* a vCPU was observed while the domain was paused */
	bool running[VCPUS];
	bool waiting[VCPUS];	  /* for a physical CPU */
	uint64_t cpu_time[VCPUS]; /* ns */
} fake;

static int call_domctl(struct xen_domctl *domctl)
{
	struct xen_domctl_getvcpuinfo *vcpu = &domctl->u.getvcpuinfo;

	fake.domctls++;
	switch (domctl->cmd) {
	case XEN_DOMCTL_getdomaininfo:
		domctl->u.getdomaininfo = (struct xen_domctl_getdomaininfo){.domain = ID};
		return 0;
	case XEN_DOMCTL_getvcpuinfo:
		fake.observed_held |= fake.held > 0;
		vcpu->online = 1;
		vcpu->running = fake.running[vcpu->vcpu];
		vcpu->blocked = !fake.running[vcpu->vcpu] && !fake.waiting[vcpu->vcpu];
		vcpu->cpu_time = fake.cpu_time[vcpu->vcpu];
		return 0;
	case XEN_DOMCTL_pausedomain:
		fake.pauses++;
		fake.held++;
		return 0;
	case XEN_DOMCTL_unpausedomain:
		fake.held--;
		return 0;
	case XEN_DOMCTL_getvcpucontext:
		domctl->u.vcpucontext.ctxt.p->user_regs.rip = 0x1000 +
							      domctl->u.vcpucontext.vcpu;
		return 0;
	default:
		return -ENOSYS;
	}
}

static int fake_call2(xencall_handle *call, unsigned int op, uint64_t first,
		      uint64_t count)
{
	multicall_entry_t *entry = (void *)(uintptr_t)first;

	(void)call;
	assert_int_equal(op, __HYPERVISOR_multicall);
	fake.multicalls++;
	for (uint64_t i = 0; i < count; i++) {
		int status;

		assert_int_equal(entry[i].op, __HYPERVISOR_domctl);
		status = call_domctl((void *)(uintptr_t)entry[i].args[0]);
		entry[i].result = (xen_ulong_t)status;
	}
	return 0;
}

static int fake_call1(xencall_handle *call, unsigned int op, uint64_t argument)
{
	(void)call;
	(void)op;
	errno = -call_domctl((void *)(uintptr_t)argument);
	return errno ? -1 : 0;
}

static void *fake_pages(xencall_handle *call, size_t pages)
{
	(void)call;
	return aligned_alloc(4096, pages * 4096);
}

static void fake_free(xencall_handle *call, void *pages, size_t count)
{
	(void)call;
	(void)count;
	free(pages);
}

static xenforeignmemory_handle *fake_open(struct xentoollog_logger *logger,
					  unsigned int flags)
{
	(void)logger;
	(void)flags;
	return (xenforeignmemory_handle *)&fake;
}

static int fake_close(xenforeignmemory_handle *memory)
{
	(void)memory;
	return 0;
}

static struct {
	multicall_entry_t resume, before[PAUSE_OBSERVED_MAX], entry[1 + VCPUS];
	struct xen_domctl resume_domctl;
	uint64_t since;
	struct pause pause;
} paused;

static struct {
	struct xen xen;
	char scratch[4096];
	struct guest *guest;
} scene;

static int set_up(void **state)
{
	const struct guest_info info = {
		.id = ID, .type = GUEST_PV, .vcpus = VCPUS, .online = VCPUS};
	struct error err;

	(void)state;
	memset(&fake, 0, sizeof(fake));
	paused.pause = (struct pause){
		.entry = paused.entry,
		.resume = &paused.resume,
		.resume_domctl = &paused.resume_domctl,
		.since = &paused.since,
	};
	scene.xen = (struct xen){.lib = {.call1 = fake_call1,
					 .call2 = fake_call2,
					 .alloc_pages = fake_pages,
					 .free_pages = fake_free,
					 .memory_open = fake_open,
					 .memory_close = fake_close},
				 .scratch = scene.scratch,
				 .pause = &paused.pause};
	scene.guest = xen_guest_open(&scene.xen.host, &info, NULL, &err);
	return scene.guest ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(fake.held, 0);
	scene.guest->ops->close(scene.guest);
	return 0;
}

/* Takes a round at @now, and returns the number of its calls to Xen. */
static unsigned int take_round(uint64_t now)
{
	struct guest *guest = scene.guest;
	enum observation observation;
	struct error err;
	int status;

	fake.multicalls = fake.pauses = 0;
	assert_int_equal(guest->ops->observe(guest, now, &observation, &err), 0);
	assert_int_equal(observation, OBSERVED_RUNNING);
	guest->ops->prepare(guest);
	status = guest->ops->pause(guest, &err);
	assert_true(status == 0 || status == PAUSE_NEEDLESS);
	assert_int_equal(status == 0, fake.pauses);
	if (status == 0) {
		assert_int_equal(guest->ops->resume(guest, &err), 0);
		guest->ops->finish(guest);
	}
	return fake.multicalls;
}

static void the_pause_observes_a_guest_that_was_seen_just_now(void **state)
{
	uint64_t now = clock_monotonic();

	(void)state;
	fake.running[0] = true;
	fake.cpu_time[0] = 1000;
	assert_int_equal(take_round(now), 3);
	assert_int_equal(scene.guest->vcpu[0].state, VCPU_RUNNING);
	assert_int_equal(scene.guest->vcpu[1].state, VCPU_BLOCKED);

	fake.running[1] = true;
	fake.cpu_time[0] = 2000;
	assert_int_equal(take_round(now + NS_PER_S / 1000), 2);
	assert_int_equal(scene.guest->vcpu[1].state, VCPU_RUNNING);
	assert_int_equal(scene.guest->vcpu[0].cpu_time, 2000);
	assert_int_equal(scene.guest->vcpu[1].cpu.x86.rip, 0x1001);

	/* The domain itself is looked at now and then. */
	assert_int_equal(take_round(now + NS_PER_S / 100), 3);
	assert_false(fake.observed_held);
}

static void a_guest_that_rests_is_not_paused_at_high_rates_either(void **state)
{
	uint64_t now = clock_monotonic();

	(void)state;
	fake.running[0] = true;
	take_round(now);
	fake.running[0] = false;
	assert_int_equal(take_round(now += NS_PER_S / 10000), 2);
	/* None ran at the last pause, so the next round looks first. */
	assert_int_equal(take_round(now += NS_PER_S / 10000), 1);
	assert_int_equal(fake.pauses, 0);

	fake.cpu_time[1]++;
	assert_int_equal(take_round(now + NS_PER_S / 10000), 3);
	assert_int_equal(fake.pauses, 1);
}

static void a_guest_that_gets_no_cpu_is_paused_once(void **state)
{
	uint64_t now = clock_monotonic();

	(void)state;
	fake.waiting[0] = true;
	take_round(now);
	assert_int_equal(fake.pauses, 1);
	assert_int_equal(scene.guest->vcpu[0].state, VCPU_RUNNABLE);
	assert_int_equal(take_round(now += NS_PER_S / 100), 1);
	assert_int_equal(fake.pauses, 0);
	assert_int_equal(scene.guest->vcpu[0].cpu.x86.rip, 0x1000);

	/* It has had a turn meanwhile. */
	fake.cpu_time[0]++;
	take_round(now += NS_PER_S / 100);
	assert_int_equal(fake.pauses, 1);

	/* It ran before this pause, and how long until the pause is unknown. */
	fake.running[0] = true;
	take_round(now += NS_PER_S / 100);
	fake.running[0] = false;
	take_round(now += NS_PER_S / 100);
	assert_int_equal(fake.pauses, 1);
	take_round(now + NS_PER_S / 100);
	assert_int_equal(fake.pauses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_pause_observes_a_guest_that_was_seen_just_now, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_guest_that_rests_is_not_paused_at_high_rates_either, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_guest_that_gets_no_cpu_is_paused_once,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
