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

bool kvm_registers_ask(const struct kernel *kernel, struct vcpu *vcpus,
		       struct guest *guest, enum kvm_moment moment)
{
	(void)kernel, (void)vcpus, (void)guest, (void)moment;
	return false;
}

int kvm_registers_check(const struct kernel *kernel, const struct vcpu *vcpu,
			const char *name, struct error *err)
{
	(void)kernel, (void)vcpu, (void)name, (void)err;
	return 0;
}
