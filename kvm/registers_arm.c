/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/registers.h"

#include <elf.h>
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/compat.h"
#include "kvm/proc.h"

/*
 * On ARM, KVM stores no registers in the run page. It has them in memory while no CPU
 * runs the vCPU, and is asked for them (kvm/bpf/kernel.h), in one run for several vCPUs.
 */

uint64_t kvm_registers_wanted(void)
{
	return 0;
}

/* The kernel has forgotten the system call, but not the registers with its number and
 * second argument. */
enum kvm_stop kvm_registers_stop(pid_t tid, int fd)
{
	uint64_t regs[34]; /* struct user_pt_regs (Linux, asm/ptrace.h) */
	struct iovec to = {regs, sizeof(regs)};

	(void)fd;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &to) < 0 ||
	    regs[8] != SYS_ioctl || (uint32_t)regs[1] != PROC_KVM_RUN)
		return KVM_STOP_ELSEWHERE;
	return (int64_t)regs[0] == -EINTR ? KVM_STOP_INTERRUPTED : KVM_STOP_LEAVING;
}

bool kvm_registers_exist(const struct kvm_run *run)
{
	(void)run;
	return false;
}

void kvm_registers_take(const struct kvm_run *run, struct cpu *cpu)
{
	(void)run, (void)cpu;
}

/* Whether the vCPU's registers are of interest now. */
static bool is_asked(const struct vcpu *vcpu, const struct guest_vcpu *seen,
		     enum kvm_moment moment)
{
	switch (moment) {
	case KVM_BEFORE_PAUSE:
		return vcpu->run && vcpu->tid && seen->state == VCPU_BLOCKED;
	case KVM_IN_PAUSE:
		return seen->wanted &&
		       (vcpu->rests || vcpu->traced.state == TRACED_STOPPED);
	case KVM_AFTER_PAUSE:
		return false;
	case KVM_UNPAUSED:
		break;
	}
	return seen->wanted && vcpu->run;
}

/* Some of a guest's vCPUs: those that are asked for, of KERNEL_BATCH in KVM's order. */
struct batch {
	int fd;				   /* of any vCPU */
	unsigned int first, asked, awake;  /* as for kernel_registers() */
	unsigned int number[KERNEL_BATCH]; /* in the guest */
};

static void batch_add(struct batch *batch, const struct vcpu *vcpu, unsigned int number)
{
	unsigned int place = vcpu->index % KERNEL_BATCH;

	batch->fd = vcpu->ours;
	batch->first = vcpu->index - place;
	batch->asked |= 1u << place;
	batch->number[place] = number;
	if (vcpu->traced.state != TRACED_STOPPED)
		batch->awake |= 1u << place;
}

static bool ask_batch(const struct kernel *kernel, const struct batch *batch,
		      struct vcpu *vcpus, struct guest *guest, enum kvm_moment moment)
{
	const struct kernel_registers *registers = kernel_registers(
		kernel, batch->fd, batch->first, batch->asked, batch->awake);
	bool ran = false;

	for (unsigned int i = 0; registers && i < KERNEL_BATCH; i++, registers++) {
		struct guest_vcpu *seen = &guest->vcpu[batch->number[i]];
		bool rests = registers->before == -1 && registers->after == -1;

		if (!(batch->asked >> i & 1))
			continue;
		if (moment == KVM_BEFORE_PAUSE)
			vcpus[batch->number[i]].rests = rests;
		ran |= !rests;
		if (!rests || moment == KVM_BEFORE_PAUSE)
			continue;
		kernel_registers_take(registers, &seen->cpu);
		if (moment == KVM_IN_PAUSE)
			seen->exit = vcpu_exit(&vcpus[batch->number[i]], seen->state);
		seen->online = seen->captured = !registers->is_off;
	}
	return ran;
}

bool kvm_registers_ask(const struct kernel *kernel, struct vcpu *vcpus,
		       struct guest *guest, enum kvm_moment moment)
{
	struct batch batch = {.asked = 0};
	bool ran = false;

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		if (moment == KVM_BEFORE_PAUSE)
			vcpus[i].rests = false;
		if (!is_asked(&vcpus[i], &guest->vcpu[i], moment))
			continue;
		if (batch.asked && vcpus[i].index - batch.first >= KERNEL_BATCH) {
			ran |= ask_batch(kernel, &batch, vcpus, guest, moment);
			batch = (struct batch){.asked = 0};
		}
		batch_add(&batch, &vcpus[i], i);
	}
	if (batch.asked)
		ran |= ask_batch(kernel, &batch, vcpus, guest, moment);
	return ran;
}

int kvm_registers_check(const struct kernel *kernel, struct vcpu *vcpus,
			unsigned int count, const char *name, struct error *err)
{
	struct kernel_vcpu seen = {.hidden = 0};

	for (unsigned int i = 0; i < count && !seen.hidden; i++) {
		if (!kernel_look(kernel, vcpus[i].ours, &seen))
			return error_set(err, "the vCPUs of '%s' can't be read", name);
		vcpus[i].index = seen.index;
	}
	if (seen.hidden == VCPU_IS_PROTECTED)
		return error_set(err, "'%s' is a protected VM: its host can't read it",
				 name);
	if (seen.hidden == VCPU_IS_NESTED)
		return error_set(err,
				 "'%s' may run a hypervisor itself: registers of "
				 "such vCPUs can't be read",
				 name);
	return 0;
}

bool kvm_registers_of_event(const struct watch_event *event, struct cpu *cpu)
{
	(void)event, (void)cpu;
	return false;
}
