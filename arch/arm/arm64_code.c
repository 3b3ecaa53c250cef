/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm64_code.h"

#include <stdbool.h>

/* The encodings are from the Arm ARM (DDI 0487, issue J.a), section C4.1. */

#define LINK_REGISTER 30
#define STACK_POINTER 31 /* as the base of an address */

/* Branches to addresses in registers. Only ret, retaa and retab with x30 return; all
 * others are calls or have an unknown target. */
static enum arm64_use use_of_branch(uint32_t code)
{
	if (code == 0xd65f03c0 || code == 0xd65f0bff || code == 0xd65f0fff)
		return ARM64_LINK_LIVE;
	return ARM64_LINK_DEAD;
}

/* Loads of x30, and stores of x30 to the stack, alone or in a pair. */
static enum arm64_use use_of_access(uint32_t code)
{
	bool is_pair = (code & 0xfe000000) == 0xa8000000;
	bool is_single = (code & 0xff800000) == 0xf9000000 || /* with an offset */
			 (code & 0xffa00000) == 0xf8000000;   /* with writeback */
	bool has_link = (code & 0x1f) == LINK_REGISTER ||
			(is_pair && (code >> 10 & 0x1f) == LINK_REGISTER);

	if (!(is_pair || is_single) || !has_link)
		return ARM64_LINK_NONE;
	if (code & 1 << 22) /* a load */
		return ARM64_LINK_DEAD;
	return (code >> 5 & 0x1f) == STACK_POINTER ? ARM64_LINK_LIVE : ARM64_LINK_NONE;
}

enum arm64_use arm64_use_of(uint32_t code)
{
	if ((code & 0xfc000000) == 0x14000000)
		return ARM64_LINK_JUMP;
	if ((code & 0xfc000000) == 0x94000000) /* bl */
		return ARM64_LINK_DEAD;
	if ((code & 0xfe000000) == 0xd6000000)
		return use_of_branch(code);
	if ((code & 0xff8003ff) == 0x910003fd) /* add x29, sp, #n; mov x29, sp */
		return ARM64_LINK_LIVE;
	if ((code & 0xffe0001f) == 0xd4200000 || !(code >> 16)) /* brk, udf */
		return ARM64_LINK_DEAD;
	return use_of_access(code);
}
