/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/linux/kernel_seen.h"

#define KERNEL	0xffffffff81001234u
#define MODULE	0xffffffffc0300000u
#define PROGRAM 0x401000u

/* Bit 12 of CR3 tells a program's page tables from its kernel's, and the low bits are its
 * PCID (Linux, arch/x86/entry/calling.h). */
#define IN_PROGRAM (1u << 12 | 1u << 11)

static struct cpu x86_in(uint64_t cr3)
{
	struct cpu cpu = {.family = CPU_FAMILY_X86};

	cpu.x86.cr0 = X86_CR0_PE | X86_CR0_PG;
	cpu.x86.cr4 = X86_CR4_PAE | X86_CR4_PCIDE;
	cpu.x86.efer = X86_EFER_LMA;
	cpu.x86.cr3 = cr3;
	return cpu;
}

static void note(struct kernel_seen *seen, uint64_t address, const struct cpu *cpu)
{
	const struct chain chain = {.address = &address, .count = 1};

	kernel_seen_note(seen, cpu, &chain);
}

static void programs_and_modules_are_not_the_kernel(void **state)
{
	const struct cpu cpu = x86_in(0x2000);
	struct kernel_seen seen = {0};

	(void)state;
	note(&seen, PROGRAM, &cpu);
	note(&seen, MODULE, &cpu);
	assert_false(kernel_seen_maps(&seen, &cpu));
	note(&seen, KERNEL, &cpu);
	assert_int_equal(seen.code, KERNEL);
	assert_true(kernel_seen_maps(&seen, &cpu));
}

static void a_process_maps_its_kernel_while_it_runs(void **state)
{
	const struct cpu kernel = x86_in(0x2000), own = x86_in(0x2000 | IN_PROGRAM),
			 other = x86_in(0x4000 | IN_PROGRAM);
	struct kernel_seen seen = {0};

	(void)state;
	note(&seen, KERNEL, &kernel);
	note(&seen, PROGRAM, &own);
	assert_true(kernel_seen_maps(&seen, &own));
	assert_int_equal(seen.cpu.x86.cr3, 0x2000);
	assert_false(kernel_seen_maps(&seen, &other));
}

static void on_arm64_the_kernel_has_its_own_tables(void **state)
{
	struct cpu cpu = {.family = CPU_FAMILY_ARM, .arm.ttbr0 = 0x2000};
	const struct cpu x86 = x86_in(0x2000);
	struct kernel_seen seen = {0};

	(void)state;
	note(&seen, 0xffff800010001234u, &cpu);
	cpu.arm.ttbr0 = 0x4000;
	assert_true(kernel_seen_maps(&seen, &cpu));
	assert_false(kernel_seen_maps(&seen, &x86));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_and_modules_are_not_the_kernel),
		cmocka_unit_test(a_process_maps_its_kernel_while_it_runs),
		cmocka_unit_test(on_arm64_the_kernel_has_its_own_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
