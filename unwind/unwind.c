/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/unwind.h"

#include <string.h>

/* Number of renewals after which notes on x86 code are dropped. */
#define RENEWALS_MAX 1024

void code_notes_renew(struct code_notes *notes)
{
	notes->budget = CODE_BUDGET_MAX;
	memset(notes->note, 0, sizeof(notes->note));
	if (++notes->renewals % RENEWALS_MAX == 0) {
		memset(notes->exit, 0, sizeof(notes->exit));
		memset(notes->block, 0, sizeof(notes->block));
	}
}

void cpu_unwind(const struct cpu *cpu, const struct unwind_input *input,
		struct chain *chain)
{
	switch (cpu->family) {
	case CPU_FAMILY_RISCV:
		riscv_unwind(&cpu->riscv, input, chain);
		break;
	case CPU_FAMILY_ARM:
		arm_unwind(&cpu->arm, input, chain);
		break;
	case CPU_FAMILY_X86:
		x86_unwind(&cpu->x86, input, chain);
		break;
	}
}
