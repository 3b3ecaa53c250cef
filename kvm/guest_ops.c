/* SPDX-License-Identifier: BSD-3-Clause */
#include "guest/guest.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "kvm/internal.h"
#include "kvm/memory.h"
#include "kvm/registers.h"
#include "kvm/vcpus.h"

/* To find the threads of vCPUs at first: a thread can be in the VMM's own code at the
 * moment when it is looked at. */
#define TRIES  50
#define TRY_NS 1000000

/* How often to look for the thread of a vCPU that has lost it, and for new vCPUs. */
#define LOOK_NS NS_PER_S

/* After so many pauses that were refused while nobody else traced the VMM, the permission
 * is gone. */
#define REFUSALS 4

struct kvm_guest {
	struct guest guest;
	struct kvm *kvm;
	pid_t pid;
	int pidfd;
	struct vcpu *vcpu; /* info.vcpus of them */
	bool *wanted;
	struct kvm_memory *memory;
	uint64_t looked;       /* when for threads, ns */
	uint64_t counted;      /* when all vCPUs, ns */
	bool grew;	       /* there are new vCPUs */
	pid_t refused;	       /* the thread that could not be attached to; 0: none */
	unsigned int refusals; /* one after the other */
	uint64_t observed;     /* when last: ns, monotonic */
	uint64_t begun;	       /* the last pause */
	uint64_t stopping;     /* how long that took to stop all vCPUs, ns */
};

static struct kvm_guest *kvm_guest_of(struct guest *guest)
{
	return (struct kvm_guest *)guest;
}

static void hold(struct kvm_guest *guest, bool holds)
{
	atomic_store(&guest->kvm->shared->holds, holds);
}

static bool is_gone(const struct kvm_guest *guest)
{
	struct pollfd ended = {.fd = guest->pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

static void close_guest(struct guest *closed)
{
	struct kvm_guest *guest = kvm_guest_of(closed);

	kvm_memory_free(guest->memory);
	for (unsigned int i = 0; guest->vcpu && i < closed->info.vcpus; i++)
		vcpu_close(&guest->vcpu[i]);
	if (guest->pidfd >= 0)
		close(guest->pidfd);
	free(guest->vcpu);
	free(guest->wanted);
	free(closed->vcpu);
	free(guest);
}

/* Returns how many vCPUs have no thread. */
static size_t find_threads(struct kvm_guest *guest)
{
	size_t without;

	hold(guest, true);
	without = vcpus_find_threads(guest->vcpu, guest->guest.info.vcpus, guest->pid,
				     &guest->kvm->trace);
	hold(guest, false);
	guest->looked = clock_monotonic();
	return without;
}

/* The state of the vCPU's thread as in struct proc_stat; 0 if it has none. */
static char observe_vcpu(struct kvm_guest *guest, unsigned int i)
{
	struct guest_vcpu *seen = &guest->guest.vcpu[i];
	struct vcpu *vcpu = &guest->vcpu[i];
	uint64_t ran;
	char state = vcpu_thread(vcpu, &ran, &vcpu->waited);

	seen->online = state != 0;
	if (!state)
		return 0;
	seen->cpu_time = ran;
	/* Linux does not tell a thread that runs from one that waits for a CPU. */
	seen->state = state == 'R' ? VCPU_RUNNING : VCPU_BLOCKED;
	return state;
}

/* Whether the VMM has vCPUs that are not open here. */
static bool has_grown(struct kvm_guest *guest, unsigned int open)
{
	struct vcpu_fd *fds;
	size_t count;

	if (guest->grew || guest->observed - guest->counted < LOOK_NS)
		return guest->grew;
	guest->counted = guest->observed;
	if (vcpus_list(guest->pid, &fds, &count) < 0)
		return false;
	free(fds);
	guest->grew = count > open;
	return guest->grew;
}

static int observe(struct guest *observed, uint64_t now, enum observation *observation,
		   struct error *err)
{
	struct kvm_guest *guest = kvm_guest_of(observed);
	unsigned int open = 0, threads = 0;
	bool is_stopped = false;

	(void)err;
	trace_sweep(&guest->kvm->trace);
	guest->observed = now;
	for (unsigned int i = 0; i < observed->info.vcpus; i++) {
		char state;

		/* After exec(), the same process is not a VMM any more. */
		if (!vcpu_is_open(&guest->vcpu[i], guest->pid))
			vcpu_close(&guest->vcpu[i]);
		open += guest->vcpu[i].run != NULL;
		state = observe_vcpu(guest, i);
		threads += state != 0;
		is_stopped |= state == 'T' || state == 't';
	}
	if (!open || is_gone(guest)) {
		*observation = OBSERVED_GONE;
		return 0;
	}
	if (threads < open && !is_stopped && clock_monotonic() - guest->looked >= LOOK_NS)
		find_threads(guest);
	if (is_stopped || !threads)
		*observation = OBSERVED_PAUSED;
	else
		*observation = has_grown(guest, open) ? OBSERVED_GREW : OBSERVED_RUNNING;
	return 0;
}

static const char *ending(const struct guest *guest)
{
	(void)guest;
	return "has ended";
}

static void release_all(struct kvm_guest *guest)
{
	struct trace *trace = &guest->kvm->trace;

	for (unsigned int i = 0; i < guest->guest.info.vcpus; i++)
		trace_release(trace, &guest->vcpu[i].traced);
	hold(guest, trace->late_count > 0);
}

/* After a pause, or one that failed. */
static void end_trace(struct kvm_guest *guest)
{
	trace_end(&guest->kvm->trace);
	hold(guest, false);
}

static void prepare(struct guest *prepared)
{
	struct kvm_guest *guest = kvm_guest_of(prepared);

	guest->refused = 0;
	hold(guest, true);
	trace_begin(&guest->kvm->trace, prepared->info.vcpus);
	for (unsigned int i = 0; i < prepared->info.vcpus; i++) {
		struct vcpu *vcpu = &guest->vcpu[i];

		prepared->vcpu[i].captured = false;
		vcpu->traced = (struct traced){0};
		if (!vcpu->run || !vcpu->tid || guest->refused)
			continue;
		vcpu_request(vcpu, guest->pid, guest->kvm->requests);
		if (trace_attach(&vcpu->traced, vcpu->tid) < 0 && errno == EPERM)
			guest->refused = vcpu->tid;
	}
	kvm_memory_prepare(guest->memory);
}

static bool rest(struct guest *rested)
{
	struct kvm_guest *guest = kvm_guest_of(rested);
	struct trace *trace = &guest->kvm->trace;

	for (unsigned int i = 0; i < rested->info.vcpus; i++)
		vcpu_rest(&guest->vcpu[i]);
	/* One that stops later would stay so until this process goes on. */
	trace_sweep(trace);
	return trace->late_count == 0;
}

/* Someone else traces a thread. */
static int refuse(struct kvm_guest *guest, struct error *err)
{
	release_all(guest);
	end_trace(guest);
	guest->refusals++;
	if (trace_tracer(guest->pid, guest->refused) || is_gone(guest))
		guest->refusals = 0;
	if (guest->refusals >= REFUSALS)
		return trace_refused(guest->pid, EPERM, err);
	return PAUSE_HELD;
}

static void take_registers(struct kvm_guest *guest, unsigned int i)
{
	struct guest_vcpu *vcpu = &guest->guest.vcpu[i];
	struct vcpu *from = &guest->vcpu[i];

	/* While the thread is in the VMM, the registers of the last KVM_RUN are right. */
	if (from->runs < 2 && kvm_registers_in_run(from->tid, from->theirs))
		from->runs++;
	if (from->runs < 2 || !guest->wanted[i])
		return;
	kvm_registers_take(from->run, &vcpu->cpu);
	vcpu->captured = true;
}

static int pause_guest(struct guest *paused, struct error *err)
{
	struct kvm_guest *guest = kvm_guest_of(paused);
	struct trace *trace = &guest->kvm->trace;
	unsigned int vcpus = paused->info.vcpus, stopped = 0;

	if (guest->refused)
		return refuse(guest, err);
	guest->refusals = 0;
	guest->begun = clock_monotonic();
	for (unsigned int i = 0; i < vcpus; i++)
		trace_interrupt(&guest->vcpu[i].traced);
	for (unsigned int i = 0; i < vcpus; i++)
		stopped += trace_wait(trace, &guest->vcpu[i].traced);
	guest->stopping = clock_monotonic() - guest->begun;
	if (!stopped) {
		release_all(guest);
		end_trace(guest);
		return is_gone(guest) ? PAUSE_GONE : PAUSE_HELD;
	}
	for (unsigned int i = 0; i < vcpus; i++)
		if (guest->vcpu[i].traced.state == TRACED_STOPPED)
			take_registers(guest, i);
	return 0;
}

static int resume_guest(struct guest *paused, struct error *err)
{
	(void)err;
	release_all(kvm_guest_of(paused));
	return 0;
}

/*
 * A vCPU's thread that waits for a CPU can't stop before it gets one. That counts as far
 * as all vCPUs waited, and only what can't have been before the pause: a thread may have
 * waited since it was observed, for this process.
 */
static uint64_t finish(struct guest *finished)
{
	struct kvm_guest *guest = kvm_guest_of(finished);
	uint64_t before = guest->begun - guest->observed, least = guest->stopping;
	bool any = false;

	end_trace(guest);
	for (unsigned int i = 0; i < finished->info.vcpus; i++) {
		struct vcpu *vcpu = &guest->vcpu[i];
		uint64_t ran, waited;

		if (!vcpu->traced.tid || !vcpu_thread(vcpu, &ran, &waited))
			continue;
		waited -= vcpu->waited;
		waited -= waited < before ? waited : before;
		if (waited < least)
			least = waited;
		any = true;
	}
	return any ? least : 0;
}

/* A VMM that is stopped can't be asked for registers: they are known only from a pause
 * before. */
static int take(struct guest *taken, struct error *err)
{
	struct kvm_guest *guest = kvm_guest_of(taken);
	unsigned int any = 0;

	for (unsigned int i = 0; i < taken->info.vcpus; i++) {
		struct vcpu *vcpu = &guest->vcpu[i];

		taken->vcpu[i].captured = false;
		if (!vcpu->run || vcpu->runs < 2 || !guest->wanted[i])
			continue;
		kvm_registers_take(vcpu->run, &taken->vcpu[i].cpu);
		taken->vcpu[i].captured = true;
		any++;
	}
	if (any)
		return 0;
	return error_set(
		err,
		"process %d is stopped, or another process traces it: its vCPUs' "
		"registers can't be read",
		guest->pid);
}

/* A vCPU whose registers were not stored yet has them in the next pause; and registers
 * show where the guest's memory is. */
static bool learn_modes(struct guest *learned)
{
	struct kvm_guest *guest = kvm_guest_of(learned);
	bool any = false;

	for (unsigned int i = 0; i < learned->info.vcpus; i++)
		any |= guest->wanted[i] && guest->vcpu[i].runs == 1;
	return kvm_memory_learn(guest->memory, learned) || any;
}

static const struct guest_ops operations = {
	.close = close_guest,
	.observe = observe,
	.ending = ending,
	.prepare = prepare,
	.pause = pause_guest,
	.resume = resume_guest,
	.finish = finish,
	.rest = rest,
	.take = take,
	.learn_modes = learn_modes,
	.kind = guest_kind,
	.begin_pages = kvm_memory_begin,
	.get_page = kvm_memory_get,
	.map_page = kvm_memory_map,
	.pages_missed = kvm_memory_missed,
	.page_misses = kvm_memory_misses,
};

static int open_vcpus(struct kvm_guest *guest, struct error *err)
{
	unsigned int vcpus = guest->guest.info.vcpus;
	struct vcpu_fd *fds;
	size_t count;
	int status = 0;

	for (unsigned int i = 0; i < vcpus; i++)
		guest->vcpu[i] = (struct vcpu){.ours = -1, .stat = -1, .schedstat = -1};
	if (vcpus_list(guest->pid, &fds, &count) < 0)
		return trace_refused(guest->pid, errno, err);
	if (count < vcpus)
		status = error_set(err, "process %d has just closed vCPUs", guest->pid);
	for (unsigned int i = 0; i < vcpus && status == 0; i++)
		if (vcpu_open(&guest->vcpu[i], guest->pidfd, fds[i].fd) == 0)
			vcpu_request(&guest->vcpu[i], guest->pid, guest->kvm->requests);
		else
			status = trace_refused(guest->pid, errno, err);
	free(fds);
	return status;
}

/* Also checks the permission to trace. */
static int find_all_threads(struct kvm_guest *guest, struct error *err)
{
	const struct timespec moment = {0, TRY_NS};
	struct traced traced;
	pid_t tracer = trace_tracer(guest->pid, guest->pid);

	if (tracer)
		return error_set(err, "process %d is traced by another process, %d",
				 guest->pid, tracer);
	if (trace_attach(&traced, guest->pid) < 0)
		return trace_refused(guest->pid, errno, err);
	hold(guest, true);
	trace_begin(&guest->kvm->trace, 1);
	trace_release(&guest->kvm->trace, &traced);
	end_trace(guest);
	for (int i = 0; i < TRIES && find_threads(guest); i++)
		nanosleep(&moment, NULL);
	return 0;
}

static int allocate(struct kvm_guest *guest, const bool *wanted, struct error *err)
{
	size_t vcpus = guest->guest.info.vcpus;

	guest->vcpu = calloc(vcpus, sizeof(*guest->vcpu));
	guest->wanted = calloc(vcpus, sizeof(*guest->wanted));
	guest->guest.vcpu = calloc(vcpus, sizeof(*guest->guest.vcpu));
	if (!guest->vcpu || !guest->wanted || !guest->guest.vcpu) {
		/* close_guest() must find no vCPUs that are not set up. */
		free(guest->vcpu);
		guest->vcpu = NULL;
		return error_set(err, "out of memory");
	}
	for (size_t i = 0; i < vcpus; i++)
		guest->wanted[i] = !wanted || wanted[i];
	return 0;
}

/* The process with this id may be another one by now. */
static int check_same(struct kvm_guest *guest, struct error *err)
{
	const struct guest_info *info = &guest->guest.info;
	struct guest_info now;
	int status = kvm_guest_info(&guest->kvm->host, info->id, &now, err);

	if (status < 0)
		return -1;
	if (status > 0 || strcmp(now.name, info->name) != 0 || is_gone(guest))
		return error_set(err, "'%s' has ended", info->name);
	return 0;
}

struct guest *kvm_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err)
{
	struct kvm_guest *guest = calloc(1, sizeof(*guest));

	if (!guest) {
		error_set(err, "out of memory");
		return NULL;
	}
	guest->guest.ops = &operations;
	guest->guest.info = *info;
	guest->kvm = kvm_of(host);
	guest->pid = (pid_t)info->id;
	guest->pidfd = (int)syscall(SYS_pidfd_open, guest->pid, 0);
	if (guest->pidfd < 0) {
		error_errno(err, errno, "can't open process %d", guest->pid);
		goto fail;
	}
	if (check_same(guest, err) < 0 || allocate(guest, wanted, err) < 0 ||
	    open_vcpus(guest, err) < 0 || find_all_threads(guest, err) < 0)
		goto fail;
	guest->memory = kvm_memory_new(guest->pid, err);
	if (!guest->memory)
		goto fail;
	guest->guest.memory = guest->memory;
	return &guest->guest;
fail:
	close_guest(&guest->guest);
	return NULL;
}
