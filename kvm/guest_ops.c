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
#include "kvm/memory/memory.h"
#include "kvm/registers.h"
#include "kvm/vcpus.h"
#include "kvm/vmm.h"

/* How often, and at what distance in ns, to look for the threads of vCPUs at first: a
 * thread can be in the VMM's own code at the moment of the look. */
#define TRIES  50
#define TRY_NS 1000000

/* Time between two looks for lost threads of vCPUs, and for new vCPUs, ns. */
#define LOOK_NS NS_PER_S

/* There is no permission to trace a VMM that is being opened, or none any more, if
 * tracing was refused this number of times, one after another, and for one of these
 * times, ns, while nobody else was seen to trace the VMM. */
#define REFUSALS   10
#define REFUSED_NS (NS_PER_S / 50)
#define REVOKED_NS NS_PER_S

/* Another profiler traces a thread for some microseconds at a time, unless it waits for a
 * CPU; a debugger keeps it. How long to wait for one that stays, and for any, ns. */
#define TRACER_NS  NS_PER_S
#define TRACERS_NS (10 * NS_PER_S)

struct kvm_guest {
	struct guest guest;
	struct kvm *kvm;
	pid_t pid;
	int pidfd;
	struct vcpu *vcpu; /* info.vcpus elements */
	struct kvm_memory *memory;
	uint64_t looked;  /* time of the last look for threads, ns, monotonic */
	uint64_t counted; /* time of the last count of vCPUs, ns, monotonic */
	bool syncs;	  /* its VMM may use synchronized registers (kvm/requests.h) */
	bool again;    /* registers were not stored in the last pause, but may be soon */
	bool grew;     /* gained vCPUs since it was opened */
	pid_t refused; /* thread that could not be attached to; 0: none */
	unsigned int refusals; /* number of refusals, one after another */
	uint64_t refused_at;   /* time of the first of them, ns, monotonic */
	uint64_t observed;     /* time of the last observation, ns, monotonic */
	uint64_t begun;	       /* start of the last pause, ns, monotonic */
	uint64_t stopping;     /* time that the last pause took to stop all vCPUs, ns */
};

static struct kvm_guest *kvm_guest_of(struct guest *guest)
{
	return (struct kvm_guest *)guest;
}

/* Notes for the guard that threads may be stopped from now on. */
static void begin_hold(struct kvm_guest *vmm)
{
	atomic_store(&vmm->kvm->shared->since, clock_monotonic());
}

static bool vmm_is_gone(const struct kvm_guest *vmm)
{
	struct pollfd ended = {.fd = vmm->pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

static void close_guest(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);

	kvm_memory_free(vmm->memory);
	for (unsigned int i = 0; vmm->vcpu && i < guest->info.vcpus; i++)
		vcpu_close(&vmm->vcpu[i]);
	if (vmm->pidfd >= 0)
		close(vmm->pidfd);
	free(vmm->vcpu);
	guest_free(guest);
}

/* Looks for the threads of vCPUs, as vcpus_find_threads() does. */
static size_t find_threads(struct kvm_guest *vmm, bool *is_held)
{
	size_t without = vcpus_find_threads(vmm->vcpu, vmm->guest.info.vcpus, vmm->pid,
					    vmm->kvm, is_held);

	vmm->looked = clock_monotonic();
	return without;
}

/* Returns the state of the vCPU's thread as in struct proc_stat; 0 if it has none. */
static char observe_vcpu(struct kvm_guest *vmm, unsigned int i)
{
	struct guest_vcpu *seen = &vmm->guest.vcpu[i];
	struct vcpu *vcpu = &vmm->vcpu[i];
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

/* Whether the VMM has more than the @open vCPUs that are open here. */
static bool has_new_vcpus(struct kvm_guest *vmm, unsigned int open)
{
	struct vcpu_fd *fds;
	size_t count;

	if (vmm->grew || vmm->observed - vmm->counted < LOOK_NS)
		return vmm->grew;
	vmm->counted = vmm->observed;
	if (vcpus_list(vmm->pid, &fds, &count) < 0)
		return false;
	free(fds);
	vmm->grew = count > open;
	return vmm->grew;
}

/* Whether the vCPU's thread, which has this @state, was stopped by someone else. A thread
 * that was late for a pause may have stopped since. */
static bool is_stopped_by_others(const struct kvm_guest *vmm, unsigned int i, char state)
{
	return (state == 'T' || state == 't') &&
	       !trace_is_late(&vmm->kvm->trace, vmm->vcpu[i].tid);
}

/* Asks KVM where the guest's memory is. */
static void follow_memory(struct kvm_guest *vmm)
{
	unsigned int i = 0;

	while (i < vmm->guest.info.vcpus && !vmm->vcpu[i].run)
		i++;
	if (i < vmm->guest.info.vcpus)
		kvm_memory_follow(vmm->memory, vmm->vcpu[i].ours);
}

static int observe_guest(struct guest *guest, uint64_t now, enum observation *observation,
			 struct error *err)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	unsigned int open = 0, threads = 0;
	bool is_stopped = false, is_held;

	(void)err;
	kvm_sweep(vmm->kvm);
	vmm->observed = now;
	follow_memory(vmm);
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		char state;

		/* After exec(), the process is not a VMM any more. */
		if (!vcpu_is_open(&vmm->vcpu[i], vmm->pid))
			vcpu_close(&vmm->vcpu[i]);
		open += vmm->vcpu[i].run != NULL;
		state = observe_vcpu(vmm, i);
		threads += state != 0;
		is_stopped |= is_stopped_by_others(vmm, i, state);
	}
	if (!open || vmm_is_gone(vmm)) {
		*observation = OBSERVED_GONE;
		return 0;
	}
	if (kvm_memory_is_cut(vmm->memory)) {
		*observation = OBSERVED_SHUT;
		return 0;
	}
	if (threads < open && !is_stopped && clock_monotonic() - vmm->looked >= LOOK_NS)
		find_threads(vmm, &is_held);
	if (is_stopped || !threads)
		*observation = OBSERVED_PAUSED;
	else
		*observation = has_new_vcpus(vmm, open) ? OBSERVED_GREW
							: OBSERVED_RUNNING;
	return 0;
}

static const char *ending_of(const struct guest *guest)
{
	(void)guest;
	return "is not sampled any more: its VMM has truncated the file with its memory";
}

static void release_all(struct kvm_guest *vmm)
{
	struct trace *trace = &vmm->kvm->trace;

	for (unsigned int i = 0; i < vmm->guest.info.vcpus; i++) {
		if (!vmm->vcpu[i].keeps)
			vcpu_withdraw(&vmm->vcpu[i]);
		trace_release(trace, &vmm->vcpu[i].traced);
	}
	kvm_note_late(vmm->kvm);
}

/* Ends a pause, even one that failed. */
static void end_trace(struct kvm_guest *vmm)
{
	kvm_note_late(vmm->kvm);
	trace_end(&vmm->kvm->trace);
	kvm_note_late(vmm->kvm);
}

static void prepare_pause(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	struct trace *trace = &vmm->kvm->trace;
	bool has_room = trace_has_room(trace, guest->info.vcpus);

	vmm->refused = 0;
	begin_hold(vmm);
	trace_begin(trace, guest->info.vcpus);
	kvm_registers_ask(vmm->kvm->kernel, vmm->vcpu, guest, KVM_BEFORE_PAUSE);
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct vcpu *vcpu = &vmm->vcpu[i];
		struct guest_vcpu *seen = &guest->vcpu[i];

		seen->captured = false;
		vcpu->traced = (struct traced){0};
		vcpu->known &= vcpu->rests;
		if (!vcpu->known && seen->wanted && seen->state == VCPU_BLOCKED)
			vcpu_look_blocked(vcpu, vmm->pid);
		if (!vcpu->run || !vcpu->tid || vcpu->rests || vmm->refused ||
		    !has_room || trace_is_late(trace, vcpu->tid))
			continue;
		if (trace_attach(&vcpu->traced, vmm->pid, vcpu->tid) < 0 &&
		    errno == EPERM)
			vmm->refused = vcpu->tid;
	}
	kvm_memory_prepare(vmm->memory);
}

static bool rest_guest(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);

	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		vcpu_withdraw(&vmm->vcpu[i]);
	/* A thread that stops later would stay stopped until this process continues. */
	kvm_sweep(vmm->kvm);
	return trace_late_count(&vmm->kvm->trace) == 0;
}

/* Counts a refusal to trace a thread of the VMM. Returns whether the permission is
 * missing, after refusals for @least ns: a tracer may go before the look for it. */
static bool is_forbidden(struct kvm_guest *vmm, pid_t tracer, uint64_t least)
{
	uint64_t now = clock_monotonic();

	if (tracer || vmm_is_gone(vmm))
		vmm->refusals = 0;
	else if (vmm->refusals++ == 0)
		vmm->refused_at = now;
	return vmm->refusals >= REFUSALS && now - vmm->refused_at >= least;
}

/* Gives up a pause because someone else traces a thread: returns what pause() does. */
static int refuse_pause(struct kvm_guest *vmm, struct error *err)
{
	release_all(vmm);
	end_trace(vmm);
	if (is_forbidden(vmm, trace_tracer(vmm->pid, vmm->refused), REVOKED_NS))
		return trace_refused(vmm->pid, EPERM, err);
	return PAUSE_HELD;
}

/* Takes the registers of a vCPU whose thread has stopped. */
static void take_registers(struct kvm_guest *vmm, unsigned int i)
{
	struct guest_vcpu *vcpu = &vmm->guest.vcpu[i];
	enum vcpu_registers registers = vcpu_look(&vmm->vcpu[i]);

	vmm->again |= vcpu->wanted && registers == VCPU_STORED_SOON;
	vcpu->captured = vcpu->wanted && registers == VCPU_STORED;
	vmm->vcpu[i].known = vcpu->captured;
	if (!vcpu->captured)
		return;
	kvm_registers_take(vmm->vcpu[i].run, &vcpu->cpu);
	vcpu->exit = vcpu_exit(&vmm->vcpu[i], vcpu->state);
	vcpu->online = vcpu->captured = cpu_has_started(&vcpu->cpu);
}

/* Asks all threads that run vCPUs to stop. */
static void interrupt_all(struct kvm_guest *vmm)
{
	for (unsigned int i = 0; i < vmm->guest.info.vcpus; i++) {
		struct vcpu *vcpu = &vmm->vcpu[i];

		if (vcpu->traced.state != TRACED_RUNNING)
			continue;
		vcpu_request(vcpu);
		trace_interrupt(&vcpu->traced);
	}
}

static int pause_guest(struct guest *guest, struct error *err)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	struct trace *trace = &vmm->kvm->trace;
	unsigned int vcpus = guest->info.vcpus, stopped = 0, resting = 0;

	if (vmm->refused)
		return refuse_pause(vmm, err);
	vmm->refusals = 0;
	vmm->begun = clock_monotonic();
	vmm->again = false;
	interrupt_all(vmm);
	for (unsigned int i = 0; i < vcpus; i++) {
		resting += vmm->vcpu[i].rests;
		stopped += trace_wait(trace, &vmm->vcpu[i].traced);
	}
	vmm->stopping = clock_monotonic() - vmm->begun;
	if (!stopped) {
		release_all(vmm);
		end_trace(vmm);
		if (vmm_is_gone(vmm) || !resting)
			return vmm_is_gone(vmm) ? PAUSE_GONE : PAUSE_LATE;
	}
	for (unsigned int i = 0; i < vcpus; i++)
		if (vmm->vcpu[i].traced.state == TRACED_STOPPED)
			take_registers(vmm, i);
	vmm->again |= kvm_registers_ask(vmm->kvm->kernel, vmm->vcpu, guest, KVM_IN_PAUSE);
	return stopped ? 0 : PAUSE_NEEDLESS;
}

static int resume_guest(struct guest *guest, struct error *err)
{
	(void)err;
	release_all(kvm_guest_of(guest));
	return 0;
}

/*
 * A vCPU's thread that waits for a CPU can't stop before it gets one. The wait counts as
 * far as all vCPUs waited, less the time since they were observed: a thread may have
 * waited before the pause, for this process.
 */
static uint64_t finish_pause(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	uint64_t before = vmm->begun - vmm->observed, least = vmm->stopping;
	bool any = false;

	end_trace(vmm);
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct vcpu *vcpu = &vmm->vcpu[i];
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

/* A VMM that is stopped can't be asked for registers: they are known only from an earlier
 * pause. */
static int take_guest(struct guest *guest, struct error *err)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	unsigned int any = 0;

	vmm->again = false;
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct vcpu *vcpu = &vmm->vcpu[i];

		guest->vcpu[i].captured = false;
		guest->vcpu[i].exit = 0;
		if (!vcpu->run || !vcpu->stored || !guest->vcpu[i].wanted)
			continue;
		kvm_registers_take(vcpu->run, &guest->vcpu[i].cpu);
		guest->vcpu[i].captured = cpu_has_started(&guest->vcpu[i].cpu);
		any++;
	}
	kvm_registers_ask(vmm->kvm->kernel, vmm->vcpu, guest, KVM_UNPAUSED);
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		any += guest->vcpu[i].captured;
	if (any)
		return 0;
	return error_set(
		err,
		"process %d is stopped, or another process traces it: its vCPUs' "
		"registers can't be read",
		vmm->pid);
}

/* True if a vCPU's registers were not stored, but may be in the next pause, if it has run
 * unexpectedly, or if registers have shown where the guest's memory is. */
static bool learn_modes(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);
	bool ran = kvm_registers_ask(vmm->kvm->kernel, vmm->vcpu, guest, KVM_AFTER_PAUSE);

	return kvm_memory_learn(vmm->memory, guest) || vmm->again || ran;
}

/* Says why KVM does not tell where the memory of a guest is. */
static const char *explain_no_slots(const struct kvm_guest *vmm,
				    enum memory_knowledge knowledge)
{
	if (knowledge == MEMORY_TOO_MANY)
		return "its VMM has too many memory slots";
	return vmm->kvm->kernel ? "this failed" : vmm->kvm->no_kernel.text;
}

static bool explain_memory(const struct guest *guest, struct error *line)
{
	const struct kvm_guest *vmm = (const struct kvm_guest *)guest;
	enum memory_knowledge knowledge = kvm_memory_knowledge(vmm->memory);
	const char *name = guest->info.name, *why = explain_no_slots(vmm, knowledge);
	bool is_qemu = strcmp(guest->info.vmm, "QEMU") == 0;

	if (knowledge == MEMORY_EXACT)
		error_set(line, "'%s': KVM tells where its memory is", name);
	else if (knowledge == MEMORY_GUESSED)
		error_set(
			line,
			"'%s': it is guessed where its memory is; KVM was not asked: %s",
			name, why);
	else
		error_set(
			line,
			"it is not known where the memory of '%s' is: no guess is right, "
			"and KVM was not asked: %s%s",
			name, why, is_qemu ? "; QEMU's GDB stub tells, too (--gdb)" : "");
	return knowledge == MEMORY_EXACT || knowledge == MEMORY_GUESSED;
}

static const struct guest_ops operations = {
	.close = close_guest,
	.observe = observe_guest,
	.ending = ending_of,
	.prepare = prepare_pause,
	.pause = pause_guest,
	.resume = resume_guest,
	.finish = finish_pause,
	.rest = rest_guest,
	.take = take_guest,
	.learn_modes = learn_modes,
	.explain_memory = explain_memory,
	.kind = guest_kind,
	.begin_pages = kvm_memory_begin,
	.get_page = kvm_memory_get,
	.map_page = kvm_memory_map,
	.pages_missed = kvm_memory_missed,
	.page_misses = kvm_memory_misses,
};

static int open_vcpus(struct kvm_guest *vmm, struct error *err)
{
	unsigned int vcpus = vmm->guest.info.vcpus;
	struct vcpu_fd *fds;
	size_t count;
	int status = 0;

	vmm->vcpu = calloc(vcpus, sizeof(*vmm->vcpu));
	if (!vmm->vcpu)
		return error_set(err, "out of memory");
	for (unsigned int i = 0; i < vcpus; i++)
		vmm->vcpu[i] = (struct vcpu){
			.ours = -1, .stat = -1, .schedstat = -1, .wchan = -1};
	if (vcpus_list(vmm->pid, &fds, &count) < 0)
		return trace_refused(vmm->pid, errno, err);
	if (count < vcpus)
		status = error_set(err, "process %d has just closed vCPUs", vmm->pid);
	for (unsigned int i = 0; i < vcpus && status == 0; i++)
		if (vcpu_open(&vmm->vcpu[i], vmm->pid, vmm->pidfd, fds[i].fd,
			      vmm->kvm->requests, !vmm_syncs(vmm->guest.info.vmm)) < 0)
			status = trace_refused(vmm->pid, errno, err);
	free(fds);
	return status;
}

/* Attaches to the VMM's first thread. Waits for other profilers, but not for a debugger.
 * The guard is told of a hold if that succeeds. */
static int attach_first(struct kvm_guest *vmm, struct traced *traced, struct error *err)
{
	const struct timespec moment = {0, TRY_NS};
	uint64_t begun = clock_monotonic(), since = begun;
	pid_t last = 0;

	for (;;) {
		uint64_t now;
		pid_t tracer;
		int errnum;

		begin_hold(vmm);
		if (trace_attach(traced, vmm->pid, vmm->pid) == 0)
			break;
		errnum = errno;
		kvm_note_late(vmm->kvm);
		tracer = trace_tracer(vmm->pid, vmm->pid);
		now = clock_monotonic();
		if (errnum != EPERM || is_forbidden(vmm, tracer, REFUSED_NS))
			return trace_refused(vmm->pid, errnum, err);
		if (tracer != last)
			since = now;
		last = tracer;
		if (tracer && (now - since >= TRACER_NS || now - begun >= TRACERS_NS ||
			       host_is_over(&vmm->kvm->host)))
			return error_set(err,
					 "process %d is traced by another process, %d",
					 vmm->pid, tracer);
		nanosleep(&moment, NULL);
	}
	vmm->refusals = 0;
	return 0;
}

/* Looks for the threads of all vCPUs, and checks the permission to trace. */
static int find_all_threads(struct kvm_guest *vmm, struct error *err)
{
	const struct timespec moment = {0, TRY_NS};
	uint64_t begun = clock_monotonic();
	struct traced traced;
	bool is_held;

	if (attach_first(vmm, &traced, err) < 0)
		return -1;
	trace_begin(&vmm->kvm->trace, 1);
	trace_release(&vmm->kvm->trace, &traced);
	end_trace(vmm);
	for (int i = 0; find_threads(vmm, &is_held); i++) {
		bool is_late = is_held ? clock_monotonic() - begun >= TRACER_NS
				       : i + 1 >= TRIES;
		if (host_is_over(&vmm->kvm->host))
			return error_set(err,
					 "there was no time to find the vCPUs of '%s': "
					 "nothing was recorded",
					 vmm->guest.info.name);
		if (is_late)
			break;
		nanosleep(&moment, NULL);
	}
	return 0;
}

/* Checks that the process with the guest's id is still its VMM. */
static int check_is_same(struct kvm_guest *vmm, struct error *err)
{
	const struct guest_info *info = &vmm->guest.info;
	struct guest_info now;
	int status = kvm_guest_info(&vmm->kvm->host, info->id, &now, err);

	if (status < 0)
		return -1;
	if (status > 0 || strcmp(now.name, info->name) != 0 || vmm_is_gone(vmm))
		return error_set(err, "'%s' has ended", info->name);
	return 0;
}

struct guest *kvm_guest_open(struct host *host, const struct guest_info *info,
			     const bool *wanted, struct error *err)
{
	struct kvm_guest *vmm = guest_new(sizeof(*vmm), &operations, info, wanted, err);

	if (!vmm)
		return NULL;
	vmm->kvm = kvm_of(host);
	vmm->pid = (pid_t)info->id;
	vmm->pidfd = (int)syscall(SYS_pidfd_open, vmm->pid, 0);
	if (vmm->pidfd < 0) {
		error_errno(err, errno, "can't open process %d", vmm->pid);
		goto fail;
	}
	if (check_is_same(vmm, err) < 0 || open_vcpus(vmm, err) < 0 ||
	    find_all_threads(vmm, err) < 0 ||
	    kvm_registers_check(vmm->kvm->kernel, vmm->vcpu, info->vcpus, info->name,
				err) < 0)
		goto fail;
	vmm->memory = kvm_memory_new(vmm->pid, vmm->kvm->watch, vmm->kvm->fetch,
				     vmm->kvm->kernel, err);
	if (!vmm->memory)
		goto fail;
	vmm->guest.memory = vmm->memory;
	follow_memory(vmm);
	return &vmm->guest;
fail:
	close_guest(&vmm->guest);
	return NULL;
}
