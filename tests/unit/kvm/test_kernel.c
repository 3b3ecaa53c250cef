/* SPDX-License-Identifier: BSD-3-Clause */

/* What the programs for this kernel refuse. That they read vCPUs, tests/kvm/cases/slots
 * and the lab's cases kvm and arm64-kvm show. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compat.h"
#include "kvm/bpf/kernel.h"

static struct kernel *kernel;

static void refuse(int fd)
{
	struct kernel_vcpu vcpu;
	bool too_many;

	assert_false(kernel_look(kernel, fd, &vcpu));
	assert_null(kernel_slots(kernel, fd, &too_many));
	assert_false(too_many);
	close(fd);
}

static void only_descriptors_of_vcpus_are_accepted(void **state)
{
	char path[] = "/tmp/kvm-vcpu:XXXXXX";
	struct error err = {.text = ""};
	int pair[2];

	(void)state;
	kernel = kernel_open(false, &err);
	if (!kernel) {
		/* Without the permission, or a kernel that describes itself. */
		assert_true(err.text[0] != 0);
		print_message("%s\n", err.text);
		skip();
	}
	refuse(mkstemp(path));
	unlink(path);
	refuse(open("/dev/null", O_RDWR));
	refuse(open("/proc/self/stat", O_RDONLY));
	refuse(open("/dev/kvm", O_RDWR)); /* or -1 */
	refuse(memfd_create("kvm-vcpu:0", MFD_CLOEXEC));
	refuse(eventfd(0, EFD_CLOEXEC));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	refuse(pair[0]);
	close(pair[1]);
	refuse(-1);
	refuse(1000);
	refuse(INT32_MAX);
	kernel_close(kernel);
}

/* Kernels before Linux 5.17 have the slots in an array. The offsets are not theirs, so
 * the program is only loaded. */
static void the_program_for_an_array_is_accepted(void **state)
{
	struct kernel_layout layout = {.upid_size = 16, .slot_size = 64};
	struct program program;
	int slots = bpf_memory_new(sizeof(struct kernel_slots), true), walk, loaded;

	(void)state;
	if (slots < 0)
		skip();
	for (int32_t i = 0; i < KERNEL_MEMBERS; i++)
		layout.offset[i] = 8 * i;
	walk = bpf_memory_new(sizeof(struct kernel_walk), false);
	program_slots(&program, &layout, slots, walk);
	loaded = program_load(&program);
	close(walk);
	close(slots);
	if (loaded < 0 && errno == EPERM)
		skip();
	assert_true(loaded >= 0);
	/* It reads nothing without a vCPU. */
	assert_true(bpf_program_run(loaded, (uint64_t[]){0, 0}, 2) > PROGRAM_TOO_MANY);
	close(loaded);
}

/* The offsets are not this kernel's. */
static void check_program_for_registers(struct kernel_layout *layout)
{
	struct program program;
	int memory = bpf_memory_new(KERNEL_BATCH * sizeof(struct kernel_registers), true),
	    loaded;

	if (memory < 0)
		skip();
	program_registers(&program, layout, memory);
	loaded = program_load(&program);
	close(memory);
	if (loaded < 0 && errno == EPERM)
		skip();
	assert_true(loaded >= 0);
	/* It reads nothing without a vCPU. */
	assert_true(bpf_program_run(loaded, (uint64_t[]){0, 0, 255, 0}, 4) >
		    PROGRAM_TOO_MANY);
	close(loaded);
}

static void the_program_for_registers_is_accepted(void **state)
{
	struct kernel_layout layout = {.upid_size = 16};

	(void)state;
	for (int32_t i = 0; i < KERNEL_MEMBERS; i++)
		layout.offset[i] = 8 * i;
	for (int32_t i = 0; i < KERNEL_SYSTEMS; i++)
		layout.system[i] = 8 * i;
	/* The largest part that is read at once, and a register outside of it. */
	layout.system_size = 8 * KERNEL_SYSTEMS_SPAN;
	layout.system[SYSTEM_SP] = 8 * KERNEL_SYSTEMS_SPAN;
	check_program_for_registers(&layout);
	/* Before Linux 5.16, and before 5.19. */
	layout.offset[VM_TREE] = 0;
	layout.offset[VCPU_STATE] = 0;
	check_program_for_registers(&layout);
}

static void registers_are_converted(void **state)
{
	struct kernel_registers registers = {.traps = 1ull << 31};
	struct cpu cpu = {.family = CPU_FAMILY_X86};

	(void)state;
	for (unsigned int i = 0; i < 31; i++)
		registers.x[i] = 100 + i;
	registers.sp = 1;
	registers.pc = 2;
	registers.pstate = 0x3c5;
	for (unsigned int i = 0; i < KERNEL_SYSTEMS; i++)
		registers.system[i] = 200 + i;
	kernel_registers_take(&registers, &cpu);
	assert_int_equal(cpu.family, CPU_FAMILY_ARM);
	assert_int_equal(cpu.arm.x[0], 100);
	assert_int_equal(cpu.arm.x[30], 130);
	assert_int_equal(cpu.arm.sp_el0, 1);
	assert_int_equal(cpu.arm.pc, 2);
	assert_int_equal(cpu.arm.cpsr, 0x3c5);
	assert_int_equal(cpu.arm.sctlr, 200 + SYSTEM_SCTLR);
	assert_int_equal(cpu.arm.tcr, 200 + SYSTEM_TCR);
	assert_int_equal(cpu.arm.ttbr0, 200 + SYSTEM_TTBR0);
	assert_int_equal(cpu.arm.ttbr1, 200 + SYSTEM_TTBR1);
	assert_int_equal(cpu.arm.sp_el1, 200 + SYSTEM_SP);
	assert_int_equal(arm_kind(&cpu.arm), CPU_ARM64);

	/* A kernel in AArch32 runs a program; SP_EL1 is left over. */
	registers.traps = 0;
	registers.pstate = 0x10;
	kernel_registers_take(&registers, &cpu);
	assert_int_equal(arm_kind(&cpu.arm), CPU_ARM32);
	/* A program in AArch32 on a kernel in AArch64. */
	registers.traps = 1ull << 31;
	kernel_registers_take(&registers, &cpu);
	assert_int_equal(arm_kind(&cpu.arm), CPU_ARM64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_descriptors_of_vcpus_are_accepted),
		cmocka_unit_test(the_program_for_an_array_is_accepted),
		cmocka_unit_test(the_program_for_registers_is_accepted),
		cmocka_unit_test(registers_are_converted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
