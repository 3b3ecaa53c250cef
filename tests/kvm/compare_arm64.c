/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the registers that are read from the kernel with what the VMM gets from KVM,
 * while its vCPU's thread is stopped: compare_arm64 PID COUNT ASK TELL (vmm_arm64.c).
 * Prints how many of COUNT samples are equal, and what they took. The VMM has up to
 * KERNEL_BATCH vCPUs.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "kvm/bpf/kernel.h"
#include "kvm/vcpus.h"
#include "tests/kvm/compare_arm64.h"

static int fail(const char *what)
{
	fprintf(stderr, "compare: %s failed\n", what);
	return 1;
}

/* Whether the word @name differs. */
static bool differs(const char *name, uint64_t read, uint64_t told)
{
	if (read == told)
		return false;
	printf("%s: %#llx, and KVM says %#llx\n", name, (unsigned long long)read,
	       (unsigned long long)told);
	return true;
}

static bool is_equal(const struct kernel_registers *registers, const struct told *told)
{
	struct cpu cpu;
	bool wrong = registers->before != -1 || registers->after != -1;

	kernel_registers_take(registers, &cpu);
	for (unsigned int i = 0; i < 31; i++)
		wrong |= differs("x", cpu.arm.x[i], told->x[i]);
	wrong |= differs("sp_el0", cpu.arm.sp_el0, told->sp);
	wrong |= differs("pc", cpu.arm.pc, told->pc);
	wrong |= differs("pstate", cpu.arm.cpsr, told->pstate);
	wrong |= differs("sp_el1", cpu.arm.sp_el1, told->sp_el1);
	wrong |= differs("sctlr", cpu.arm.sctlr, told->sctlr);
	wrong |= differs("tcr", cpu.arm.tcr, told->tcr);
	wrong |= differs("ttbr0", cpu.arm.ttbr0, told->ttbr0);
	wrong |= differs("ttbr1", cpu.arm.ttbr1, told->ttbr1);
	return !wrong;
}

int main(int argc, char **argv)
{
	const struct timespec moment = {0, 1000000};
	struct error err = {.text = ""};
	unsigned int equal = 0, count, all;
	double stops = 0, reads = 0, more = 0;
	struct kernel_vcpu seen;
	struct kernel *kernel;
	struct vcpu_fd *fds;
	int pidfd, vcpu, ask, tell, status;
	size_t vcpus;
	pid_t pid;

	if (argc != 5)
		return 2;
	pid = atoi(argv[1]);
	count = (unsigned int)atoi(argv[2]);
	kernel = kernel_open(true, &err);
	if (!kernel)
		return fail(err.text);
	if (vcpus_list(pid, &fds, &vcpus) < 0 || !vcpus)
		return fail("listing vCPUs");
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	vcpu = (int)syscall(SYS_pidfd_getfd, pidfd, fds[0].fd, 0);
	ask = open(argv[3], O_WRONLY);
	tell = open(argv[4], O_RDONLY);
	if (vcpu < 0 || ask < 0 || tell < 0 || !kernel_look(kernel, vcpu, &seen) ||
	    ptrace(PTRACE_SEIZE, seen.tid, NULL, NULL) < 0)
		return fail("opening the vCPU");
	all = vcpus < KERNEL_BATCH ? (1u << vcpus) - 1 : (1u << KERNEL_BATCH) - 1;
	for (unsigned int i = 0; i < count; i++) {
		const struct kernel_registers *registers;
		uint64_t begun = clock_monotonic(), stopped, read_one, read_eight;
		struct told told;

		if (ptrace(PTRACE_INTERRUPT, seen.tid, NULL, NULL) < 0 ||
		    waitpid(seen.tid, &status, __WALL) != seen.tid)
			return fail("stopping the vCPU");
		stopped = clock_monotonic();
		kernel_registers(kernel, vcpu, 0, 1, 0);
		read_one = clock_monotonic();
		registers = kernel_registers(kernel, vcpu, 0, all, 0);
		read_eight = clock_monotonic();
		stops += (double)(stopped - begun);
		reads += (double)(read_one - stopped);
		more += (double)(read_eight - read_one) - (double)(read_one - stopped);
		if (!registers || seen.index || write(ask, "", 1) != 1 ||
		    read(tell, &told, sizeof(told)) != sizeof(told))
			return fail("reading registers");
		equal += is_equal(registers, &told);
		if (ptrace(PTRACE_CONT, seen.tid, NULL, NULL) < 0)
			return fail("releasing the vCPU");
		nanosleep(&moment, NULL);
	}
	printf("%u of %u equal; stop %.1f us, read %.1f us, each further vCPU %.1f us\n",
	       equal, count, stops / count / 1000, reads / count / 1000,
	       vcpus > 1 ? more / count / 1000 / (double)(vcpus - 1) : 0.0);
	return equal != count;
}
