/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/registers.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

#include "kvm/proc.h"

/* The start of struct kvm_sync_regs, and bits of kvm_valid_regs
 * (arch/x86/include/uapi/asm/kvm.h); older headers have neither. */
struct sync_regs {
	struct kvm_regs regs;
	struct kvm_sregs sregs;
};
#define SYNC_REGS  (1u << 0)
#define SYNC_SREGS (1u << 1)

uint64_t kvm_registers_wanted(void)
{
	return SYNC_REGS | SYNC_SREGS;
}

enum kvm_stop kvm_registers_stop(pid_t tid, int fd)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) < 0 || regs.orig_rax != SYS_ioctl ||
	    (int)regs.rdi != fd || (uint32_t)regs.rsi != PROC_KVM_RUN)
		return KVM_STOP_ELSEWHERE;
	return (int64_t)regs.rax == -EINTR ? KVM_STOP_INTERRUPTED : KVM_STOP_LEAVING;
}

/* Bit 4 of CR0 is always set (Intel SDM, volume 3, section 2.5). */
bool kvm_registers_exist(const struct kvm_run *run)
{
	const struct sync_regs *stored = (const void *)&run->s;

	return stored->sregs.cr0 != 0;
}

void kvm_registers_take(const struct kvm_run *run, struct cpu *cpu)
{
	const struct sync_regs *stored = (const void *)&run->s;
	const struct kvm_regs *regs = &stored->regs;
	const struct kvm_sregs *sregs = &stored->sregs;
	const uint64_t in_order[X86_REGISTERS] = {
		regs->rax, regs->rcx, regs->rdx, regs->rbx, regs->rsp, regs->rbp,
		regs->rsi, regs->rdi, regs->r8,	 regs->r9,  regs->r10, regs->r11,
		regs->r12, regs->r13, regs->r14, regs->r15,
	};

	cpu->family = CPU_FAMILY_X86;
	memcpy(cpu->x86.reg, in_order, sizeof(in_order));
	cpu->x86.rip = regs->rip;
	cpu->x86.rflags = regs->rflags;
	cpu->x86.cs = sregs->cs.selector;
	cpu->x86.ss = sregs->ss.selector;
	cpu->x86.cr0 = sregs->cr0;
	cpu->x86.cr3 = sregs->cr3;
	cpu->x86.cr4 = sregs->cr4;
	cpu->x86.efer = sregs->efer;
	cpu->x86.is_compat = !sregs->cs.l;
}

/* Bits of the VMCB's control of nested paging: the guest's memory, and also its
 * registers, are encrypted (AMD64 Architecture Programmer's Manual, volume 2, section
 * 15.34.5 and 15.35). */
#define NESTED_SEV (1 << 1 | 1 << 2)

/* The bits of a segment's attributes in a VMCB, as KVM packs them (struct vmcb_seg in
 * Linux's arch/x86/include/asm/svm.h). */
#define SEGMENT_LONG (1 << 9)

bool kvm_registers_of_event(const struct watch_event *event, struct cpu *cpu)
{
	struct x86_cpu *x86 = &cpu->x86;

	if (event->nested & NESTED_SEV)
		return false;
	*cpu = (struct cpu){.family = CPU_FAMILY_X86};
	memcpy(x86->reg, event->general, sizeof(x86->reg));
	x86->rip = event->general[X86_REGISTERS];
	x86->rflags = event->saved[4];
	x86->cs = event->segments[0] & 0xffff;
	x86->ss = event->segments[2] & 0xffff;
	x86->cr0 = event->cr0;
	x86->cr3 = event->nested & 1 ? event->saved[0] : event->cr3;
	x86->cr4 = event->cr4;
	x86->efer = event->efer;
	x86->is_compat = !(event->segments[0] >> 16 & SEGMENT_LONG);
	return true;
}

/* Returns how often the vCPU has left the guest's code; KERNEL_EXITS_UNKNOWN if it may be
 * in it. */
static uint64_t count_exits(const struct kernel *kernel, const struct vcpu *vcpu,
			    bool is_blocked)
{
	struct kernel_vcpu seen;

	if (!kernel || !vcpu->run || !vcpu->tid || !is_blocked ||
	    !kernel_look(kernel, vcpu->ours, &seen))
		return KERNEL_EXITS_UNKNOWN;
	return seen.exits;
}

/*
 * A vCPU has not run if it waited at both times, and did not leave the guest's code in
 * between. The first time is before the last pause: whatever was captured then still
 * holds. The second one is after the samples were taken.
 */
static void begin_rest(const struct kernel *kernel, struct vcpu *vcpu,
		       const struct guest_vcpu *seen)
{
	uint64_t exits = count_exits(kernel, vcpu, seen->state == VCPU_BLOCKED);

	vcpu->rests = vcpu->known && exits == vcpu->exits &&
		      exits != KERNEL_EXITS_UNKNOWN;
	vcpu->exits = exits;
}

static bool has_run(const struct kernel *kernel, struct vcpu *vcpu)
{
	uint64_t ran, waited;
	bool is_blocked = vcpu_thread(vcpu, &ran, &waited) == 'S';

	return count_exits(kernel, vcpu, is_blocked) != vcpu->exits;
}

/* If one has run, none rests when the samples are taken again. */
static bool end_rests(const struct kernel *kernel, struct vcpu *vcpus, unsigned int count)
{
	bool ran = false;

	for (unsigned int i = 0; i < count; i++) {
		ran |= vcpus[i].rests && has_run(kernel, &vcpus[i]);
		vcpus[i].rests = false;
	}
	for (unsigned int i = 0; i < count && ran; i++)
		vcpus[i].known = false;
	return ran;
}

bool kvm_registers_ask(const struct kernel *kernel, struct vcpu *vcpus,
		       struct guest *guest, enum kvm_moment moment)
{
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct guest_vcpu *seen = &guest->vcpu[i];

		if (moment == KVM_BEFORE_PAUSE)
			begin_rest(kernel, &vcpus[i], seen);
		else if (moment == KVM_IN_PAUSE && vcpus[i].rests)
			seen->online = seen->captured = seen->wanted &&
							guest_has_started(guest, i);
	}
	return moment == KVM_AFTER_PAUSE && end_rests(kernel, vcpus, guest->info.vcpus);
}

int kvm_registers_check(const struct kernel *kernel, struct vcpu *vcpus,
			unsigned int count, const char *name, struct error *err)
{
	(void)kernel, (void)vcpus, (void)count, (void)name, (void)err;
	return 0;
}
