/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/after_call.h"

#include <string.h>

#include "arch/x86/code.h"

/*
 * Linux patches calls at boot (arch/x86/kernel/alternative.c), so they differ from the
 * file: `call *%rax`, two bytes or, with %r8 and up, three, replaces a call to a thunk,
 * and a direct call replaces one of six or seven bytes through pv_ops.
 */
static bool x86_is_patched(const uint8_t *end, size_t count)
{
	return (count >= 2 && end[-2] == 0xe8) || (count >= 3 && end[-3] == 0xe8) ||
	       (count >= 5 && end[-5] == 0xff && (end[-4] == 0x15 || end[-4] == 0x14));
}

static bool x86_is_after_call(const uint8_t *end, size_t count)
{
	uint64_t target;

	return x86_call_before(end, count, 0, true, &target) ||
	       x86_is_patched(end, count);
}

/* ARM instructions are little-endian in memory, except before ARMv6. */
static uint32_t word(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

/* bl, blr, blraa and its variants (Arm ARM, C4.1.66, "Branches"). */
static bool arm64_is_after_call(const uint8_t *end, size_t count)
{
	uint32_t code;

	if (count < 4)
		return false;
	code = word(end - 4);
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfffffc1f) == 0xd63f0000 ||
	       (code & 0xfefff800) == 0xd63f0800;
}

/* c.jalr; jal and jalr that set ra, or t0 as for GCC's functions that save registers
 * (RISC-V Unprivileged ISA, section 2.5, tables 2.1 and 16.7). */
static bool riscv_is_after_call(const uint8_t *end, size_t count)
{
	uint32_t code;

	/* c.jalr without a register encodes c.ebreak. */
	if (count >= 2 && (end[-2] & 0x7f) == 0x02 && (end[-1] & 0xf0) == 0x90 &&
	    (end[-2] & 0x80 || end[-1] & 0x0f))
		return true;
	if (count < 4)
		return false;
	code = word(end - 4);
	return ((code & 0x7f) == 0x6f || (code & 0x707f) == 0x67) &&
	       ((code >> 7 & 0x1f) == 1 || (code >> 7 & 0x1f) == 5);
}

/* blx with a register; bl and blx (Arm ARM, F3.1, "T32 instruction set encoding"). */
static bool thumb_is_after_call(const uint8_t *end, size_t count)
{
	uint32_t second;

	if (count < 2)
		return false;
	second = end[-2] | end[-1] << 8;
	if ((second & 0xff87) == 0x4780)
		return true;
	return count >= 4 && (second & 0xc000) == 0xc000 &&
	       (word(end - 4) & 0xf800) == 0xf000;
}

/* bl and blx; on older CPUs without blx, bx and loads to pc after mov lr, pc (Arm ARM,
 * F4.1, "A32 instruction set encoding"). */
static bool a32_is_after_call(const uint8_t *end, size_t count)
{
	uint32_t code;

	if (count < 4)
		return false;
	code = word(end - 4);
	if ((code & 0x0f000000) == 0x0b000000 || (code & 0xfe000000) == 0xfa000000 ||
	    (code & 0x0ffffff0) == 0x012fff30)
		return true;
	return count >= 8 && (word(end - 8) & 0x0fffffff) == 0x01a0e00f;
}

static bool arm32_is_after_call(const uint8_t *end, size_t count, uint64_t address)
{
	return thumb_is_after_call(end, count) ||
	       (address % 4 == 0 && a32_is_after_call(end, count));
}

bool cpu_kind_is_after_call(enum cpu_kind kind, const uint8_t *end, size_t count,
			    uint64_t address)
{
	switch (kind) {
	case CPU_X86_64:
	case CPU_X86_32:
		return x86_is_after_call(end, count);
	case CPU_ARM64:
		return arm64_is_after_call(end, count);
	case CPU_ARM32:
		return arm32_is_after_call(end, count, address);
	case CPU_RISCV64:
		return riscv_is_after_call(end, count);
	case CPU_UNKNOWN:
	case CPU_KINDS:
		break;
	}
	return false;
}

/* Go, src/runtime/asm_amd64.s and asm_arm64.s. Functions are aligned to 16 bytes. */
bool is_in_goexit(bool is_arm64, uint64_t address, const uint8_t *end,
		  const uint8_t *next)
{
	static const uint8_t mov_x0_x0[] = {0xe0, 0x03, 0x00, 0xaa};

	if (is_arm64)
		return address % 16 == 4 && (next[3] & 0xfc) == 0x94 &&
		       memcmp(end - 4, mov_x0_x0, sizeof(mov_x0_x0)) == 0;
	return address % 16 == 1 && end[-1] == 0x90 && next[0] == 0xe8;
}
