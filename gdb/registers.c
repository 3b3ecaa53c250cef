/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* QEMU's names of the needed registers; names of ARM's system registers may have an
 * ending. */
#define X86_OTHERS   X86_REGISTERS
#define ARM_OTHERS   ARM_REGISTERS
#define RISCV_OTHERS RISCV_REGISTERS

static const char *const x86_names[] = {
	"rax", "rcx",	 "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8",  "r9",	 "r10", "r11", "r12", "r13", "r14", "r15",
	"rip", "eflags", "cs",	"ss",  "cr0", "cr3", "cr4", "efer",
};

static const char *const arm_names[] = {
	"x0",  "x1",   "x2",	"x3",	   "x4",	"x5",	     "x6",  "x7",
	"x8",  "x9",   "x10",	"x11",	   "x12",	"x13",	     "x14", "x15",
	"x16", "x17",  "x18",	"x19",	   "x20",	"x21",	     "x22", "x23",
	"x24", "x25",  "x26",	"x27",	   "x28",	"x29",	     "x30", "sp",
	"pc",  "cpsr", "SCTLR", "TCR_EL1", "TTBR0_EL1", "TTBR1_EL1",
};

static const char *const riscv_names[] = {
	"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2", "fp", "s1",	  "a0",	  "a1",
	"a2",	"a3", "a4",  "a5",  "a6", "a7", "s2", "s3", "s4", "s5",	  "s6",	  "s7",
	"s8",	"s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc", "satp", "priv",
};

#define COUNT(names) (sizeof(names) / sizeof(*(names)))
_Static_assert(COUNT(arm_names) == GDB_REGISTERS, "the longest list");

/* GDB's names of the architectures. */
static bool is_x86(const struct gdb_registers *registers)
{
	return strcmp(registers->architecture, "i386:x86-64") == 0;
}

static bool is_arm(const struct gdb_registers *registers)
{
	return strcmp(registers->architecture, "aarch64") == 0;
}

static bool is_riscv(const struct gdb_registers *registers)
{
	return strcmp(registers->architecture, "riscv:rv64") == 0;
}

static const char *const *names_of(const struct gdb_registers *registers, size_t *count)
{
	if (is_x86(registers)) {
		*count = COUNT(x86_names);
		return x86_names;
	}
	if (is_arm(registers)) {
		*count = COUNT(arm_names);
		return arm_names;
	}
	*count = is_riscv(registers) ? COUNT(riscv_names) : 0;
	return riscv_names;
}

/* Copies the value of an attribute of a tag, which ends at @end. False if there is none,
 * or it has no room. */
static bool copy_attribute(const char *tag, const char *end, const char *name, char *to,
			   size_t size)
{
	size_t length = strlen(name);

	for (const char *at = tag; at + length + 2 < end; at++) {
		char quote = at[length + 1];
		const char *value = at + length + 2, *stop;

		if (strncmp(at, name, length) != 0 || at[length] != '=' ||
		    !strchr(" \t\r\n", at[-1]) || (quote != '"' && quote != '\''))
			continue;
		stop = memchr(value, quote, (size_t)(end - value));
		if (!stop || (size_t)(stop - value) >= size)
			return false;
		memcpy(to, value, (size_t)(stop - value));
		to[stop - value] = 0;
		return true;
	}
	return false;
}

static bool number_of(const char *tag, const char *end, const char *name,
		      uint32_t *number)
{
	char text[12], *rest;
	unsigned long value;

	if (!copy_attribute(tag, end, name, text, sizeof(text)))
		return false;
	value = strtoul(text, &rest, 10);
	if (!*text || *rest || value > UINT16_MAX)
		return false;
	*number = (uint32_t)value;
	return true;
}

static bool is_name(const char *name, const char *wanted)
{
	size_t length = strlen(wanted);

	return strncmp(name, wanted, length) == 0 &&
	       (!name[length] || strcmp(name + length, "_EL1") == 0);
}

/* Adds a register. They are in the order of their numbers, in 'g' too. */
static bool add_register(struct gdb_registers *registers, const char *tag,
			 const char *end)
{
	uint32_t bits, number = registers->next;
	const char *const *names;
	char name[32];
	size_t count;

	if (!number_of(tag, end, "bitsize", &bits) || !bits || bits % 8)
		return false;
	number_of(tag, end, "regnum", &number);
	if (number < registers->next || registers->offset > UINT16_MAX)
		return false;
	/* After a gap, no offset is known. */
	if (number > registers->next)
		registers->offset = UINT16_MAX;
	names = names_of(registers, &count);
	if (!copy_attribute(tag, end, "name", name, sizeof(name)))
		count = 0;
	for (size_t i = 0; i < count; i++)
		if (is_name(name, names[i]) && bits <= 64)
			registers->at[i] = (struct gdb_register){true, number, bits / 8,
								 registers->offset};
	registers->next = number + 1;
	if (registers->offset != UINT16_MAX)
		registers->offset += bits / 8;
	return true;
}

static bool is_tag(const char *tag, const char *name)
{
	size_t length = strlen(name);

	return strncmp(tag, name, length) == 0 && strchr(" \t\r\n/>", tag[length]);
}

/* Scans a tag from behind its '<' to its '>': whether it is supported. */
static bool scan_tag(struct gdb_registers *registers, const char *tag, const char *end)
{
	char *architecture = registers->architecture;

	if (is_tag(tag, "architecture"))
		snprintf(architecture, sizeof(registers->architecture), "%.*s",
			 (int)strcspn(end + 1, "<"), end + 1);
	else if (is_tag(tag, "xi:include"))
		return registers->files < GDB_FILES &&
		       copy_attribute(tag, end, "href",
				      registers->file[registers->files++], GDB_FILE_NAME);
	else if (is_tag(tag, "reg"))
		return add_register(registers, tag, end);
	return true;
}

int gdb_registers_scan(struct gdb_registers *registers, const char *xml,
		       struct error *err)
{
	bool is_good = true;
	size_t count;

	for (const char *tag = xml; is_good && (tag = strchr(tag, '<'));) {
		bool is_comment = strncmp(++tag, "!--", 3) == 0;
		const char *end = is_comment ? strstr(tag, "-->") : strchr(tag, '>');

		is_good = end && (is_comment || scan_tag(registers, tag, end));
		tag = end;
	}
	if (!is_good)
		return error_set(err, "the GDB stub describes its registers in a way "
				      "that is not known");
	names_of(registers, &count);
	if (!count)
		return error_set(err,
				 "the GDB stub's CPU is '%s': only x86-64, arm64 and "
				 "riscv64 are supported",
				 registers->architecture);
	return 0;
}

int gdb_registers_check(const struct gdb_registers *registers, struct error *err)
{
	size_t count;
	const char *const *names = names_of(registers, &count);

	for (size_t i = 0; i < count; i++)
		if (!registers->at[i].is_known)
			return error_set(err,
					 "the GDB stub does not show the register %s",
					 names[i]);
	return (int)count;
}

static void set_x86(const uint64_t *value, struct x86_cpu *cpu)
{
	const uint64_t *other = value + X86_OTHERS;

	memcpy(cpu->reg, value, sizeof(cpu->reg));
	cpu->rip = other[0];
	cpu->rflags = other[1];
	cpu->cs = other[2];
	cpu->ss = other[3];
	cpu->cr0 = other[4];
	cpu->cr3 = other[5];
	cpu->cr4 = other[6];
	cpu->efer = other[7];
}

static void set_arm(const uint64_t *value, struct arm_cpu *cpu)
{
	const uint64_t *other = value + ARM_OTHERS;

	*cpu = (struct arm_cpu){
		/* The stub shows only the stack pointer in use. */
		.sp_el0 = other[0], .sp_el1 = other[0], .pc = other[1],
		.cpsr = other[2],   .sctlr = other[3],	.tcr = other[4],
		.ttbr0 = other[5],  .ttbr1 = other[6],
	};
	memcpy(cpu->x, value, sizeof(cpu->x));
}

static void set_riscv(const uint64_t *value, struct riscv_cpu *cpu)
{
	const uint64_t *other = value + RISCV_OTHERS;

	memcpy(cpu->x, value, sizeof(cpu->x));
	cpu->pc = other[0];
	cpu->satp = other[1];
	cpu->priv = other[2];
}

void gdb_registers_cpu(const struct gdb_registers *registers, const uint64_t *value,
		       struct cpu *cpu)
{
	if (is_x86(registers)) {
		cpu->family = CPU_FAMILY_X86;
		set_x86(value, &cpu->x86);
	} else if (is_arm(registers)) {
		cpu->family = CPU_FAMILY_ARM;
		set_arm(value, &cpu->arm);
	} else {
		cpu->family = CPU_FAMILY_RISCV;
		set_riscv(value, &cpu->riscv);
	}
}
