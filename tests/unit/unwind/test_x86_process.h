/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_UNWIND_TEST_X86_PROCESS_H
#define UNIPROF_TESTS_UNIT_UNWIND_TEST_X86_PROCESS_H

/* Shared by tests that unwind the stack of a traced process, as if it were a guest. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/x86/code.h"
#include "base/clock.h"
#include "unwind/unwind.h"

#define DEPTH_MAX  512
#define CODE_PAGES 1024 /* of the program, from code_start on */

/* Six times the number of steps that the workload needs. Work that takes more is to run
 * without steps: mark() in workload.c. */
#define STEPS_MAX 2000000
/* A busy machine may take long for all steps, but not 300 s for so few. */
#define STEPS_ALARM 65536
/* These many steps take some ms. If they take longer than STAY_NS, the CPU is busy. */
#define STAY_STEPS 64
#define STAY_NS	   (NS_PER_S / 50)

/* A called function: its return address, and the place of that on the stack. */
struct call {
	uint64_t caller, at;
};

struct process {
	pid_t pid;
	uint64_t steps;
	cpu_set_t cpus;	 /* that may be used */
	int cpu;	 /* that is used */
	uint64_t chosen; /* when it was last chosen or kept, ns, monotonic */
	int memory;	 /* /proc/PID/mem */
	uint64_t code_start;
	uint8_t *code; /* CODE_PAGES of code, read once; or NULL */
	bool has_code[CODE_PAGES];
	struct call call[DEPTH_MAX];
	unsigned int depth;
	_Alignas(8) uint8_t page[GUEST_PAGE_SIZE]; /* returned by process_page() */
};

/*
 * Page tables that map each address to the same physical one: a top table whose entries
 * all lead to tables of 1 GiB pages, in frames not used by the program.
 */
#define TOP_TABLE   ((uint64_t)1 << 38)
#define LOWER_TABLE (TOP_TABLE + 0x1000)
#define PRESENT	    1ull
#define LARGE	    0x80ull

static inline const void *process_table(struct process *process, uint64_t frame)
{
	uint64_t *entry = (uint64_t *)process->page;

	for (uint64_t i = 0; i < GUEST_PAGE_SIZE / 8; i++) {
		if (frame == TOP_TABLE)
			entry[i] = (LOWER_TABLE + i) << GUEST_PAGE_SHIFT | PRESENT;
		else
			entry[i] = (frame - LOWER_TABLE) << 39 | i << 30 | LARGE |
				   PRESENT;
	}
	return entry;
}

static inline const void *process_page(void *context, uint64_t frame)
{
	struct process *process = context;
	uint64_t code = process->code ? frame - process->code_start / GUEST_PAGE_SIZE
				      : CODE_PAGES;
	uint8_t *page = process->page;

	if (frame >= TOP_TABLE)
		return process_table(process, frame);
	if (code < CODE_PAGES)
		page = process->code + code * GUEST_PAGE_SIZE;
	if (code < CODE_PAGES && process->has_code[code])
		return page;
	if (pread(process->memory, page, GUEST_PAGE_SIZE,
		  (off_t)(frame << GUEST_PAGE_SHIFT)) != GUEST_PAGE_SIZE)
		return NULL;
	if (code < CODE_PAGES)
		process->has_code[code] = true;
	return page;
}

/* Functions that were called are left when the stack pointer is above where they return.
 */
static inline void process_keep_calls(struct process *process,
				      const struct user_regs_struct *before,
				      const struct user_regs_struct *after)
{
	uint64_t word;

	while (process->depth && process->call[process->depth - 1].at < after->rsp)
		process->depth--;
	if (after->rsp != before->rsp - 8 ||
	    pread(process->memory, &word, 8, (off_t)after->rsp) != 8)
		return;
	/* A call pushes the address after it, and continues elsewhere. */
	if (word <= before->rip || word > before->rip + X86_SIZE_MAX ||
	    word == after->rip)
		return;
	assert_true(process->depth < DEPTH_MAX);
	process->call[process->depth++] = (struct call){word, after->rsp};
}

static inline struct x86_cpu process_cpu(const struct user_regs_struct *registers)
{
	struct x86_cpu cpu = {
		.rip = registers->rip,
		.cr0 = X86_CR0_PG,
		.cr3 = TOP_TABLE << GUEST_PAGE_SHIFT,
		.cr4 = X86_CR4_PAE,
		.efer = X86_EFER_LMA,
	};

	const uint64_t reg[X86_REGISTERS] = {
		registers->rax, registers->rcx, registers->rdx, registers->rbx,
		registers->rsp, registers->rbp, registers->rsi, registers->rdi,
		registers->r8,	registers->r9,	registers->r10, registers->r11,
		registers->r12, registers->r13, registers->r14, registers->r15,
	};

	memcpy(cpu.reg, reg, sizeof(reg));
	return cpu;
}

static inline int process_resume(const struct process *process,
				 enum __ptrace_request request)
{
	int status;

	assert_int_equal(ptrace(request, process->pid, NULL, NULL), 0);
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	return status;
}

/* Moves this process and the traced one to one CPU, another than before if there is one:
 * a step takes a quarter of the time if it wakes no other CPU. */
static inline void process_move(struct process *process)
{
	cpu_set_t cpus = process->cpus;

	if (CPU_COUNT(&cpus) > 1 && process->chosen)
		CPU_CLR(process->cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	process->cpu = sched_getcpu();
	CPU_ZERO(&cpus);
	CPU_SET(process->cpu, &cpus);
	assert_int_equal(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
	assert_int_equal(sched_setaffinity(process->pid, sizeof(cpus), &cpus), 0);
}

static inline void process_choose_cpu(struct process *process)
{
	uint64_t now = clock_monotonic();

	if (now - process->chosen > STAY_NS)
		process_move(process);
	process->chosen = now;
}

/* Steps one instruction or, if the process gets a SIGURG, runs all instructions up to the
 * next SIGURG. pid becomes 0 if the process has exited. */
static inline void process_step(struct process *process,
				struct user_regs_struct *registers)
{
	uint64_t stack = registers->rsp;
	int status, stop = SIGTRAP;

	if (process->steps % STEPS_ALARM == 0)
		alarm(300);
	if (process->steps % STAY_STEPS == 0)
		process_choose_cpu(process);
	assert_true(process->steps++ < STEPS_MAX);
	status = process_resume(process, PTRACE_SINGLESTEP);
	if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGURG) {
		stop = SIGURG;
		status = process_resume(process, PTRACE_CONT);
	}
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		process->pid = 0;
		return;
	}
	assert_true(WIFSTOPPED(status));
	assert_int_equal(WSTOPSIG(status), stop);
	assert_int_equal(ptrace(PTRACE_GETREGS, process->pid, NULL, registers), 0);
	if (stop == SIGURG)
		assert_int_equal(registers->rsp, stack);
}

static inline void process_start(struct process *process, const char *path)
{
	char memory[64];
	int status;

	process->pid = fork();
	assert_true(process->pid >= 0);
	if (process->pid == 0) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl(path, path, NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(process->pid, &status, 0), process->pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(sched_getaffinity(0, sizeof(process->cpus), &process->cpus), 0);
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, process->pid, NULL, PTRACE_O_EXITKILL),
			 0);
	snprintf(memory, sizeof(memory), "/proc/%d/mem", (int)process->pid);
	process->memory = open(memory, O_RDONLY | O_CLOEXEC);
	assert_true(process->memory >= 0);
}

#endif
