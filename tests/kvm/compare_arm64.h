/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_KVM_COMPARE_ARM64_H
#define UNIPROF_TESTS_KVM_COMPARE_ARM64_H

#include <stdint.h>

/* What a VMM knows of its vCPU: all that uniprof reads. */
struct told {
	uint64_t x[31], sp, pc, pstate, sp_el1;
	uint64_t sctlr, tcr, ttbr0, ttbr1;
};

#endif
