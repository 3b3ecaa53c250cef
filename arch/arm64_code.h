/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM64_CODE_H
#define UNIPROF_ARCH_ARM64_CODE_H

#include <stdint.h>

/* What an instruction implies about the link register before it. */
enum arm64_use {
	ARM64_LINK_NONE,
	ARM64_LINK_JUMP, /* nothing: the code goes on elsewhere */
	ARM64_LINK_LIVE, /* it holds the return address */
	ARM64_LINK_DEAD, /* it is no longer needed, or its contents are not known */
};

/* Classifies one A64 instruction. */
enum arm64_use arm64_use_of(uint32_t code);

#endif
