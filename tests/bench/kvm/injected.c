/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bench/kvm/injected.h"

#include <errno.h>
#include <linux/kvm.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* Below the stack and its red zone, which no handler uses while the thread is stopped. */
#define SCRATCH 16384

#define SYSCALL	     0x050f /* the instruction, as a number */
#define SYSCALL_SIZE 2

static int fail_to(struct error *err, const char *what)
{
	return error_errno(err, errno, "can't %s the vCPU's thread", what);
}

int injected_attach(const struct injected *threads, unsigned int count, struct error *err)
{
	for (unsigned int i = 0; i < count; i++)
		if (ptrace(PTRACE_SEIZE, threads[i].tid, 0, 0) < 0)
			return fail_to(err, "trace");
	return 0;
}

int injected_stop(const struct injected *threads, unsigned int count, struct error *err)
{
	int status;

	for (unsigned int i = 0; i < count; i++)
		if (ptrace(PTRACE_INTERRUPT, threads[i].tid, 0, 0) < 0)
			return fail_to(err, "stop");
	for (unsigned int i = 0; i < count; i++)
		if (waitpid(threads[i].tid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return fail_to(err, "stop");
	return 0;
}

void injected_release(const struct injected *threads, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		ptrace(PTRACE_DETACH, threads[i].tid, 0, threads[i].signal);
}

/* Executes one instruction of the thread. Signals on which the thread stops before it are
 * kept for later. */
static int step_thread(struct injected *thread, struct user_regs_struct *regs,
		       struct error *err)
{
	const unsigned long long from = regs->rip;
	int status;

	do {
		if (ptrace(PTRACE_SINGLESTEP, thread->tid, 0, 0) < 0 ||
		    waitpid(thread->tid, &status, __WALL) < 0 || !WIFSTOPPED(status) ||
		    ptrace(PTRACE_GETREGS, thread->tid, 0, regs) < 0)
			return fail_to(err, "step");
		if (WSTOPSIG(status) != SIGTRAP)
			thread->signal = WSTOPSIG(status);
	} while (regs->rip == from);
	return 0;
}

/* Makes the thread execute the system call instruction that it has just left, for the
 * KVM request @number with the address @answer. */
static int request_state(struct injected *thread, const struct user_regs_struct *saved,
			 unsigned long number, uint64_t answer, struct error *err)
{
	struct user_regs_struct regs = *saved;

	regs.rip -= SYSCALL_SIZE;
	regs.orig_rax = (unsigned long long)-1; /* nothing to restart */
	regs.rax = SYS_ioctl;
	regs.rdi = (unsigned long long)thread->fd;
	regs.rsi = number;
	regs.rdx = answer;
	if (ptrace(PTRACE_SETREGS, thread->tid, 0, &regs) < 0)
		return fail_to(err, "step");
	if (step_thread(thread, &regs, err) < 0)
		return -1;
	if (regs.rax)
		return error_errno(err, (int)-(long)regs.rax,
				   "KVM refuses to show registers");
	return 0;
}

int injected_read(struct injected *thread, uint64_t *rip, struct error *err)
{
	struct user_regs_struct saved;
	struct kvm_sregs sregs;
	struct kvm_regs regs;
	const struct iovec to[] = {{&regs, sizeof(regs)}, {&sregs, sizeof(sregs)}};
	struct iovec from[] = {{NULL, sizeof(regs)}, {NULL, sizeof(sregs)}};
	uint64_t answers;
	int status = -1;

	if (ptrace(PTRACE_GETREGS, thread->tid, 0, &saved) < 0)
		return fail_to(err, "read");
	errno = 0;
	if ((ptrace(PTRACE_PEEKTEXT, thread->tid, saved.rip - SYSCALL_SIZE, 0) &
	     0xffff) != SYSCALL)
		return error_set(err, "the vCPU's thread is in no system call");
	answers = (saved.rsp - SCRATCH) & ~(uint64_t)15;
	from[0].iov_base = (void *)answers;
	from[1].iov_base = (void *)(answers + sizeof(regs));
	if (request_state(thread, &saved, KVM_GET_REGS, answers, err) == 0 &&
	    request_state(thread, &saved, KVM_GET_SREGS, answers + sizeof(regs), err) ==
		    0)
		status = process_vm_readv(thread->tid, to, 2, from, 2, 0) < 0
				 ? fail_to(err, "read")
				 : 0;
	*rip = regs.rip;
	if (ptrace(PTRACE_SETREGS, thread->tid, 0, &saved) < 0)
		return fail_to(err, "restore");
	return status;
}
