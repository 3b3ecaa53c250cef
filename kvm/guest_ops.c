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
#include "kvm/kvm_guest.h"
#include "kvm/proc.h"
#include "kvm/registers.h"

/* Time between two looks for lost threads of vCPUs, and for new vCPUs, ns. */
#define LOOK_NS NS_PER_S

/* Time between two looks while no thread of a vCPU is known, because all were in the
 * VMM's own code, ns. */
#define FIRST_LOOK_NS (NS_PER_S / 20)

/* There is no permission to trace any more if tracing was refused for this time, ns. */
#define REVOKED_NS NS_PER_S

/* The number of refusals, one after another, from which on the permission is missing. */
#define REFUSALS 10

/* Notes for the guard that threads may be stopped from now on. */
void kvm_guest_hold(struct kvm_guest *vmm)
{
	atomic_store(&vmm->kvm->shared->since, clock_monotonic());
}

bool kvm_guest_is_gone(const struct kvm_guest *vmm)
{
	struct pollfd ended = {.fd = vmm->pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

void kvm_guest_close(struct guest *guest)
{
	struct kvm_guest *vmm = kvm_guest_of(guest);

	watcher_free(vmm->watcher);
	kvm_memory_free(vmm->memory);
	for (unsigned int i = 0; vmm->vcpu && i < guest->info.vcpus; i++)
		vcpu_close(&vmm->vcpu[i]);
	if (vmm->pidfd >= 0)
		close(vmm->pidfd);
	free(vmm->vcpu);
	guest_free(guest);
}

/* Looks for the threads of vCPUs, as vcpus_find_threads() does. */
size_t kvm_guest_find_threads(struct kvm_guest *vmm, bool *is_held)
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
	seen->waited = vcpu->waited;
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
	return proc_is_stopped(state) &&
	       !trace_is_late(&vmm->kvm->trace, vmm->vcpu[i].tid);
}

/* Whether the VMM is stopped, by its first thread. */
static bool is_vmm_stopped(const struct kvm_guest *vmm)
{
	struct proc_stat stat;
	char text[1024];

	return proc_read(vmm->pid, 0, "stat", text, sizeof(text)) > 0 &&
	       proc_parse_stat(text, &stat) && proc_is_stopped(stat.state);
}

/* Asks KVM where the guest's memory is. */
void kvm_guest_follow_memory(struct kvm_guest *vmm)
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
	kvm_guest_follow_memory(vmm);
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
	if (!open || kvm_guest_is_gone(vmm)) {
		*observation = OBSERVED_GONE;
		return 0;
	}
	if (kvm_memory_is_cut(vmm->memory)) {
		*observation = OBSERVED_SHUT;
		return 0;
	}
	kvm_watch_follow(vmm);
	is_stopped |= !threads && is_vmm_stopped(vmm);
	if (threads < open && !is_stopped &&
	    clock_monotonic() - vmm->looked >= (threads ? LOOK_NS : FIRST_LOOK_NS))
		kvm_guest_find_threads(vmm, &is_held);
	if (is_stopped)
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
void kvm_guest_end_trace(struct kvm_guest *vmm)
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
	kvm_guest_hold(vmm);
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
bool kvm_guest_is_forbidden(struct kvm_guest *vmm, pid_t tracer, uint64_t least)
{
	uint64_t now = clock_monotonic();

	if (tracer || kvm_guest_is_gone(vmm))
		vmm->refusals = 0;
	else if (vmm->refusals++ == 0)
		vmm->refused_at = now;
	return vmm->refusals >= REFUSALS && now - vmm->refused_at >= least;
}

/* Gives up a pause because someone else traces a thread: returns what pause() does. */
static int refuse_pause(struct kvm_guest *vmm, struct error *err)
{
	release_all(vmm);
	kvm_guest_end_trace(vmm);
	if (kvm_guest_is_forbidden(vmm, trace_tracer(vmm->pid, vmm->refused), REVOKED_NS))
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
	vcpu->online = vcpu->captured = guest_has_started(&vmm->guest, i);
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
		kvm_guest_end_trace(vmm);
		if (kvm_guest_is_gone(vmm) || !resting)
			return kvm_guest_is_gone(vmm) ? PAUSE_GONE : PAUSE_LATE;
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

	kvm_guest_end_trace(vmm);
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
		guest->vcpu[i].captured = guest_has_started(guest, i);
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

const struct guest_ops kvm_guest_ops = {
	.close = kvm_guest_close,
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
	.next_event = kvm_next_event,
	.peek = kvm_peek,
	.has_waited = kvm_has_waited,
	.copy_more = kvm_copy_more,
	.end_events = kvm_end_events,
};
