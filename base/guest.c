/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/guest.h"

#include "base/array.h"

const char *guest_type_name(unsigned int type)
{
	static const char *const names[] = {
		[GUEST_PV] = "PV",   [GUEST_PVH] = "PVH",      [GUEST_HVM] = "HVM",
		[GUEST_KVM] = "KVM", [GUEST_GDB] = "GDB stub",
	};

	return ARRAY_NAME(names, type);
}

const char *cpu_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[CPU_X86_64] = "x86-64", [CPU_X86_32] = "x86-32",   [CPU_ARM64] = "arm64",
		[CPU_ARM32] = "arm32",	 [CPU_RISCV64] = "riscv64",
	};

	return ARRAY_NAME(names, kind);
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
