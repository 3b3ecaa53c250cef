/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/guest.h"

#include <elf.h>
#include <stddef.h>

#include "base/array.h"
#include "base/compat.h"

/* The properties of each type of guest, by number. A new type needs a line here. */
static const struct type_facts {
	const char *name;
	enum hypercall_page hypercalls;
} type_facts[] = {
	[GUEST_UNKNOWN] = {"unknown", HYPERCALLS_HVM},
	[GUEST_PV] = {"PV", HYPERCALLS_PV},
	[GUEST_PVH] = {"PVH", HYPERCALLS_HVM},
	[GUEST_HVM] = {"HVM", HYPERCALLS_HVM},
	[GUEST_KVM] = {"KVM", HYPERCALLS_NONE},
	[GUEST_GDB] = {"GDB stub", HYPERCALLS_HVM},
};

static const struct type_facts *type_facts_of(uint64_t type)
{
	size_t types = sizeof(type_facts) / sizeof(*type_facts);

	return &type_facts[type < types ? type : GUEST_UNKNOWN];
}

const char *guest_type_name(unsigned int type)
{
	return type_facts_of(type)->name;
}

enum hypercall_page guest_type_hypercalls(uint64_t type)
{
	return type_facts_of(type)->hypercalls;
}

/* The properties of each kind of CPU, by number. A new kind needs a line here. */
struct cpu_facts {
	const char *name;    /* NULL: unused number */
	const char *machine; /* machine in `uname -m` */
	uint16_t elf;	     /* e_machine of its ELF files */
	uint8_t word;	     /* size of an address, bytes */
	uint8_t family;	     /* enum cpu_family */
	bool has_tables;     /* as cpu_kind_has_tables() */
};

static const struct cpu_facts cpu_facts[CPU_KINDS] = {
	[CPU_X86_64] = {"x86-64", "x86_64", EM_X86_64, 8, CPU_FAMILY_X86, true},
	[CPU_X86_32] = {"x86-32", "i686", EM_386, 4, CPU_FAMILY_X86, false},
	[CPU_ARM64] = {"arm64", "aarch64", EM_AARCH64, 8, CPU_FAMILY_ARM, true},
	[CPU_ARM32] = {"arm32", "armv7l", EM_ARM, 4, CPU_FAMILY_ARM, false},
	[CPU_RISCV64] = {"riscv64", "riscv64", EM_RISCV, 8, CPU_FAMILY_RISCV, false},
};

/* Returns the properties of a kind; NULL if it is not known. */
static const struct cpu_facts *cpu_facts_of(uint64_t kind)
{
	return kind < CPU_KINDS && cpu_facts[kind].name ? &cpu_facts[kind] : NULL;
}

const char *cpu_kind_name(unsigned int kind)
{
	const struct cpu_facts *facts = cpu_facts_of(kind);

	return facts ? facts->name : "unknown";
}

const char *cpu_kind_machine(uint64_t kind)
{
	const struct cpu_facts *facts = cpu_facts_of(kind);

	return facts ? facts->machine : "";
}

unsigned int cpu_kind_word(uint64_t kind)
{
	const struct cpu_facts *facts = cpu_facts_of(kind);

	return facts ? facts->word : 8;
}

bool cpu_kind_has_tables(uint64_t kind)
{
	const struct cpu_facts *facts = cpu_facts_of(kind);

	return facts && facts->has_tables;
}

enum cpu_kind cpu_kind_of_elf(unsigned int machine)
{
	for (unsigned int kind = 0; kind < CPU_KINDS; kind++)
		if (cpu_facts_of(kind) && cpu_facts[kind].elf == machine)
			return (enum cpu_kind)kind;
	return CPU_UNKNOWN;
}

bool cpu_kinds_are_related(uint64_t kind, uint64_t other)
{
	const struct cpu_facts *one = cpu_facts_of(kind), *two = cpu_facts_of(other);

	return one && two && one->family == two->family;
}

const char *vcpu_state_name(unsigned int state)
{
	static const char *const names[] = {
		[VCPU_RUNNING] = "running",
		[VCPU_RUNNABLE] = "runnable",
		[VCPU_BLOCKED] = "blocked",
	};

	return ARRAY_NAME(names, state);
}
