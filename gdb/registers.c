/* SPDX-License-Identifier: BSD-3-Clause */
#include "gdb/registers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* QEMU's names of the needed registers, in the order of each set function below; names of
 * ARM's system registers may have an ending. */
static const char *const x86_names[GDB_REGISTERS] = {
	"rax", "rcx",	 "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8",  "r9",	 "r10", "r11", "r12", "r13", "r14", "r15",
	"rip", "eflags", "cs",	"ss",  "cr0", "cr3", "cr4", "efer",
};

static const char *const arm_names[GDB_REGISTERS] = {
	"x0",  "x1",   "x2",	"x3",	   "x4",	"x5",	     "x6",  "x7",
	"x8",  "x9",   "x10",	"x11",	   "x12",	"x13",	     "x14", "x15",
	"x16", "x17",  "x18",	"x19",	   "x20",	"x21",	     "x22", "x23",
	"x24", "x25",  "x26",	"x27",	   "x28",	"x29",	     "x30", "sp",
	"pc",  "cpsr", "SCTLR", "TCR_EL1", "TTBR0_EL1", "TTBR1_EL1",
};

static const char *const riscv_names[GDB_REGISTERS] = {
	"zero", "ra", "sp",  "gp",  "tp", "t0", "t1", "t2", "fp", "s1",	  "a0",	  "a1",
	"a2",	"a3", "a4",  "a5",  "a6", "a7", "s2", "s3", "s4", "s5",	  "s6",	  "s7",
	"s8",	"s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc", "satp", "priv",
};

static void set_x86(const uint64_t *value, struct cpu *cpu)
{
	const uint64_t *other = value + X86_REGISTERS;
	struct x86_cpu *x86 = &cpu->x86;

	memcpy(x86->reg, value, sizeof(x86->reg));
	x86->rip = other[0];
	x86->rflags = other[1];
	x86->cs = other[2];
	x86->ss = other[3];
	x86->cr0 = other[4];
	x86->cr3 = other[5];
	x86->cr4 = other[6];
	x86->efer = other[7];
}

static void set_arm(const uint64_t *value, struct cpu *cpu)
{
	const uint64_t *other = value + ARM_REGISTERS;

	cpu->arm = (struct arm_cpu){
		/* The stub shows only the stack pointer in use. */
		.sp_el0 = other[0], .sp_el1 = other[0], .pc = other[1],
		.cpsr = other[2],   .sctlr = other[3],	.tcr = other[4],
		.ttbr0 = other[5],  .ttbr1 = other[6],
	};
	memcpy(cpu->arm.x, value, sizeof(cpu->arm.x));
}

static void set_riscv(const uint64_t *value, struct cpu *cpu)
{
	const uint64_t *other = value + RISCV_REGISTERS;
	struct riscv_cpu *riscv = &cpu->riscv;

	memcpy(riscv->x, value, sizeof(riscv->x));
	riscv->pc = other[0];
	riscv->satp = other[1];
	riscv->priv = other[2];
}

/* The supported CPUs. A new one needs a line here. */
static const struct gdb_cpu {
	const char *architecture; /* GDB's name of the CPU */
	const char *name;	  /* name in messages */
	enum cpu_family family;
	/* Names of the needed registers; NULL after fewer than GDB_REGISTERS. */
	const char *const *names;
	/* Sets the family's registers from the values of the needed ones. */
	void (*set)(const uint64_t *value, struct cpu *cpu);
} gdb_cpus[] = {
	{"i386:x86-64", "x86-64", CPU_FAMILY_X86, x86_names, set_x86},
	{"aarch64", "arm64", CPU_FAMILY_ARM, arm_names, set_arm},
	{"riscv:rv64", "riscv64", CPU_FAMILY_RISCV, riscv_names, set_riscv},
};

#define GDB_CPUS (sizeof(gdb_cpus) / sizeof(*gdb_cpus))

/* Returns the CPU that the description names; NULL if it is not supported. */
static const struct gdb_cpu *cpu_of(const struct gdb_registers *registers)
{
	for (size_t i = 0; i < GDB_CPUS; i++)
		if (strcmp(registers->architecture, gdb_cpus[i].architecture) == 0)
			return &gdb_cpus[i];
	return NULL;
}

static unsigned int count_names(const struct gdb_cpu *cpu)
{
	unsigned int count = 0;

	while (count < GDB_REGISTERS && cpu->names[count])
		count++;
	return count;
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
	const struct gdb_cpu *cpu = cpu_of(registers);
	unsigned int count = cpu ? count_names(cpu) : 0;
	char name[32];

	if (!number_of(tag, end, "bitsize", &bits) || !bits || bits % 8)
		return false;
	number_of(tag, end, "regnum", &number);
	if (number < registers->next || registers->offset > UINT16_MAX)
		return false;
	/* After a gap, no offset is known. */
	if (number > registers->next)
		registers->offset = UINT16_MAX;
	if (!copy_attribute(tag, end, "name", name, sizeof(name)))
		count = 0;
	for (unsigned int i = 0; i < count; i++)
		if (is_name(name, cpu->names[i]) && bits <= 64)
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

/* Sets the error to the description's CPU and the supported ones. */
static int refuse_cpu(const struct gdb_registers *registers, struct error *err)
{
	char names[64] = "";
	size_t used = 0;

	for (size_t i = 0; i < GDB_CPUS && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 i ? ", " : "", gdb_cpus[i].name);
	return error_set(err, "the GDB stub's CPU is '%s'; only these are supported: %s",
			 registers->architecture, names);
}

int gdb_registers_scan(struct gdb_registers *registers, const char *xml,
		       struct error *err)
{
	bool is_good = true;

	for (const char *tag = xml; is_good && (tag = strchr(tag, '<'));) {
		bool is_comment = strncmp(++tag, "!--", 3) == 0;
		const char *end = is_comment ? strstr(tag, "-->") : strchr(tag, '>');

		is_good = end && (is_comment || scan_tag(registers, tag, end));
		tag = end;
	}
	if (!is_good)
		return error_set(err, "the GDB stub describes its registers in a way "
				      "that is not known");
	return cpu_of(registers) ? 0 : refuse_cpu(registers, err);
}

int gdb_registers_check(const struct gdb_registers *registers, struct error *err)
{
	const struct gdb_cpu *cpu = cpu_of(registers);
	unsigned int count = count_names(cpu);

	for (unsigned int i = 0; i < count; i++)
		if (!registers->at[i].is_known)
			return error_set(err,
					 "the GDB stub does not show the register %s",
					 cpu->names[i]);
	return (int)count;
}

void gdb_registers_cpu(const struct gdb_registers *registers, const uint64_t *value,
		       struct cpu *cpu)
{
	const struct gdb_cpu *known = cpu_of(registers);

	cpu->family = known->family;
	known->set(value, cpu);
}
