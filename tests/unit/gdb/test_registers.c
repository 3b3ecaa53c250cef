/* SPDX-License-Identifier: BSD-3-Clause */

/* Descriptions of targets, in the form of QEMU's. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gdb/registers.h"

static struct gdb_registers registers;
static struct error err;

#define TARGET(architecture, files)                                                  \
	"<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>" \
	"<architecture>" architecture "</architecture>" files "</target>"

static int scan(const char *xml)
{
	return gdb_registers_scan(&registers, xml, &err);
}

static void scan_target(const char *target)
{
	registers = (struct gdb_registers){.next = 0};
	assert_int_equal(scan(target), 0);
}

/* x86's registers in QEMU's order. */
static void describe_x86(char *xml, size_t size)
{
	static const char *const names[] = {
		"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8",
		"r9",  "r10", "r11", "r12", "r13", "r14", "r15", "rip",
	};
	size_t used = (size_t)snprintf(xml, size,
				       "<feature name=\"core\">\n"
				       "<!-- <reg name=\"cr0\"> -->");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		used += (size_t)snprintf(
			xml + used, size - used,
			"<reg name=\"%s\" bitsize=\"64\" type=\"int64\"/>", names[i]);
	snprintf(xml + used, size - used,
		 "<flags id=\"f\" size=\"4\"><field name=\"cs\" start=\"0\"/></flags>"
		 "<reg name=\"eflags\" bitsize=\"32\"/><reg name='cs' bitsize='32'/>"
		 "<reg name=\"ss\"\n\tbitsize=\"32\"/><reg name=\"st0\" bitsize=\"80\"/>"
		 "<reg name=\"cr0\" bitsize=\"64\"/><reg name=\"cr3\" bitsize=\"64\"/>"
		 "<reg name=\"cr4\" bitsize=\"64\"/><reg name=\"efer\" bitsize=\"64\"/>"
		 "</feature>");
}

static void x86_registers_have_numbers_and_offsets(void **state)
{
	uint64_t value[GDB_REGISTERS];
	struct cpu cpu = {0};
	char xml[4096];

	(void)state;
	scan_target(TARGET("i386:x86-64", "<xi:include href=\"core.xml\"/>"
					  "<xi:include href='more.xml'/>"));
	assert_int_equal(registers.files, 2);
	assert_string_equal(registers.file[0], "core.xml");
	assert_string_equal(registers.file[1], "more.xml");
	describe_x86(xml, sizeof(xml));
	assert_int_equal(gdb_registers_check(&registers, &err), -1);
	assert_int_equal(scan(xml), 0);
	assert_int_equal(gdb_registers_check(&registers, &err), 24);
	/* In the order of struct x86_cpu, rcx is before rbx. */
	assert_int_equal(registers.at[1].number, 2);
	assert_int_equal(registers.at[1].offset, 16);
	assert_int_equal(registers.at[18].number, 18);
	assert_int_equal(registers.at[18].offset, 17 * 8 + 4);
	assert_int_equal(registers.at[18].size, 4);
	assert_int_equal(registers.at[23].number, 24);
	assert_int_equal(registers.at[23].offset, 17 * 8 + 3 * 4 + 10 + 3 * 8);
	for (uint64_t i = 0; i < GDB_REGISTERS; i++)
		value[i] = 100 + i;
	gdb_registers_cpu(&registers, value, &cpu);
	assert_int_equal(cpu.family, CPU_FAMILY_X86);
	assert_int_equal(cpu.x86.reg[X86_RSP], 104);
	assert_int_equal(cpu.x86.rip, 116);
	assert_int_equal(cpu.x86.cr3, 121);
	assert_int_equal(cpu.x86.efer, 123);
}

static void arm_system_registers_are_beyond_a_gap(void **state)
{
	uint64_t value[GDB_REGISTERS];
	struct cpu cpu = {0};
	char xml[4096];
	size_t used = 0;

	(void)state;
	scan_target(TARGET("aarch64", "<xi:include href=\"core.xml\"/>"));
	for (int i = 0; i < 31; i++)
		used += (size_t)snprintf(xml + used, sizeof(xml) - used,
					 "<reg name=\"x%d\" bitsize=\"64\"/>", i);
	snprintf(xml + used, sizeof(xml) - used,
		 "<reg name=\"sp\" bitsize=\"64\"/><reg name=\"pc\" bitsize=\"64\"/>"
		 "<reg name=\"cpsr\" bitsize=\"32\"/>"
		 "<reg name=\"TTBR0_EL1\" bitsize=\"64\" regnum=\"70\" group=\"cp\"/>"
		 "<reg name=\"SCTLR_EL1\" bitsize=\"64\"/>"
		 "<reg name=\"TCR_EL1\" bitsize=\"64\"/>"
		 "<reg name=\"SCTLR_EL12\" bitsize=\"64\"/>"
		 "<reg name=\"TTBR1_EL1\" bitsize=\"64\" regnum=\"90\"/>");
	assert_int_equal(scan(xml), 0);
	assert_int_equal(gdb_registers_check(&registers, &err), 38);
	assert_int_equal(registers.at[33].offset, 33 * 8);
	assert_int_equal(registers.at[34].number, 71);
	assert_int_equal(registers.at[34].offset, UINT16_MAX);
	assert_int_equal(registers.at[37].number, 90);
	for (uint64_t i = 0; i < GDB_REGISTERS; i++)
		value[i] = 100 + i;
	gdb_registers_cpu(&registers, value, &cpu);
	assert_int_equal(cpu.family, CPU_FAMILY_ARM);
	assert_int_equal(cpu.arm.x[30], 130);
	assert_int_equal(cpu.arm.sp_el0, 131);
	assert_int_equal(cpu.arm.pc, 132);
	assert_int_equal(cpu.arm.sctlr, 134);
	assert_int_equal(cpu.arm.ttbr1, 137);
}

/* QEMU describes RISC-V's control registers by number, and its mode without one. */
static void riscv_control_registers_are_beyond_a_gap(void **state)
{
	uint64_t value[GDB_REGISTERS];
	struct cpu cpu = {0};
	char xml[4096];
	size_t used = 0;

	(void)state;
	scan_target(TARGET("riscv:rv64", "<xi:include href=\"core.xml\"/>"));
	for (int i = 0; i < 32; i++) {
		static const char *const first[] = {"zero", "ra", "sp", "gp", "tp",
						    "t0",   "t1", "t2", "fp", "s1"};
		char name[8];

		if (i < 10)
			snprintf(name, sizeof(name), "%s", first[i]);
		else
			snprintf(name, sizeof(name), "%c%d",
				 i < 18	  ? 'a'
				 : i < 28 ? 's'
					  : 't',
				 i < 18	  ? i - 10
				 : i < 28 ? i - 16
					  : i - 25);
		used += (size_t)snprintf(
			xml + used, sizeof(xml) - used,
			"<reg name=\"%s\" bitsize=\"64\" type=\"int\" regnum=\"%d\"/>",
			name, i);
	}
	snprintf(xml + used, sizeof(xml) - used,
		 "<reg name=\"pc\" bitsize=\"64\" type=\"code_ptr\"/>"
		 "<reg name=\"ft0\" bitsize=\"64\"/><reg name=\"priv\" bitsize=\"64\"/>"
		 "<reg name=\"sstatus\" bitsize=\"64\" regnum=\"322\"/>"
		 "<reg name=\"satp\" bitsize=\"64\" regnum=\"450\"/>"
		 "<reg name=\"vsatp\" bitsize=\"64\" regnum=\"706\"/>");
	assert_int_equal(scan(xml), 0);
	assert_int_equal(gdb_registers_check(&registers, &err), 35);
	assert_int_equal(registers.at[32].offset, 32 * 8);
	assert_int_equal(registers.at[33].number, 450);
	assert_int_equal(registers.at[33].offset, UINT16_MAX);
	assert_int_equal(registers.at[34].number, 34);
	for (uint64_t i = 0; i < GDB_REGISTERS; i++)
		value[i] = 100 + i;
	gdb_registers_cpu(&registers, value, &cpu);
	assert_int_equal(cpu.family, CPU_FAMILY_RISCV);
	for (unsigned int i = 0; i < RISCV_REGISTERS; i++)
		assert_int_equal(cpu.riscv.x[i], 100 + i);
	assert_int_equal(cpu.riscv.pc, 132);
	assert_int_equal(cpu.riscv.satp, 133);
	assert_int_equal(cpu.riscv.priv, 134);
}

static void other_cpus_are_refused(void **state)
{
	(void)state;
	registers = (struct gdb_registers){.next = 0};
	assert_int_equal(scan(TARGET("riscv:rv32", "")), -1);
	assert_string_equal(err.text,
			    "the GDB stub's CPU is 'riscv:rv32'; only these are "
			    "supported: x86-64, arm64, riscv64");
	registers = (struct gdb_registers){.next = 0};
	assert_int_equal(scan("<target></target>"), -1);
}

static void damaged_descriptions_are_refused(void **state)
{
	static const char *const files[] = {
		"<reg name=\"x0\"/>",
		"<reg name=\"x0\" bitsize=\"12\"/>",
		"<reg name=\"x0\" bitsize=\"0\"/>",
		"<reg name=\"x0\" bitsize=\"-8\"/>",
		"<reg name=\"x0\" bitsize=\"64000000000000\"/>",
		"<reg name=\"x0\" bitsize=\"64\" regnum=\"3\"/>"
		"<reg name=\"x1\" bitsize=\"64\" regnum=\"2\"/>",
		"<reg name=\"x0\" bitsize=\"64\"",
		"<!-- <reg name=\"x0\" bitsize=\"64\">",
		"<xi:include/>",
		"<xi:include href=\"0123456789012345678901234567890123456789"
		"0123456789012345678901234567890123456789\"/>",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		scan_target(TARGET("aarch64", ""));
		assert_int_equal(scan(files[i]), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_registers_have_numbers_and_offsets),
		cmocka_unit_test(arm_system_registers_are_beyond_a_gap),
		cmocka_unit_test(riscv_control_registers_are_beyond_a_gap),
		cmocka_unit_test(other_cpus_are_refused),
		cmocka_unit_test(damaged_descriptions_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
