/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/x86/code.h"

#include "arch/x86/cpu.h"
#include "arch/x86/parts.h"

/* The opcodes are from the Intel SDM, volume 2, appendix A. */

/* Whether operands are as wide as addresses. */
static bool is_whole(const struct x86_parts *parts)
{
	return parts->is_64 ? parts->wide : !parts->has_66;
}

static void set_act(struct x86_instruction *to, enum x86_act act, uint8_t reg,
		    uint8_t from, int64_t offset)
{
	to->act = act;
	to->to = reg;
	to->from = from;
	to->offset = (int32_t)offset;
}

/* set(), of an instruction that overwrites @reg. */
static void overwrite(struct x86_instruction *to, enum x86_act act, uint8_t reg,
		      uint8_t from, int64_t offset)
{
	set_act(to, act, reg, from, offset);
	if (reg < X86_REGISTERS)
		to->writes |= (uint16_t)(1 << reg);
}

static void lose(struct x86_instruction *to, uint8_t reg)
{
	to->writes |= (uint16_t)(1 << reg);
	if (reg == X86_RSP)
		set_act(to, X86_LOSE, reg, X86_NO_REGISTER, 0);
	else if (reg == X86_RBP && to->act == X86_OTHER)
		set_act(to, X86_LOSE, reg, X86_NO_REGISTER, 0);
}

/* The size of a push or pop: a whole word even without REX.W. */
static int word_of(const struct x86_parts *parts)
{
	if (parts->has_66 && !parts->wide)
		return 2;
	return parts->is_64 ? 8 : 4;
}

static void decode_push(const struct x86_parts *parts, uint8_t from,
			struct x86_instruction *to)
{
	int word = word_of(parts);

	set_act(to, X86_PUSH, X86_NO_REGISTER, word == 2 ? X86_NO_REGISTER : from, -word);
}

static void decode_pop(const struct x86_parts *parts, uint8_t reg,
		       struct x86_instruction *to)
{
	int word = word_of(parts);

	if (reg == X86_RSP) {
		if (word == 2)
			lose(to, reg);
		else
			overwrite(to, X86_LOAD, reg, X86_NO_REGISTER, 0);
		return;
	}
	overwrite(to, X86_POP, reg, X86_NO_REGISTER, word);
	if (word == 2)
		to->to = X86_NO_REGISTER;
}

/* to = from + offset, if one of the two is the stack pointer. */
static void decode_add(const struct x86_parts *parts, uint8_t reg, uint8_t from,
		       int64_t offset, struct x86_instruction *to)
{
	if (is_whole(parts) && (reg == X86_RSP || from == X86_RSP))
		overwrite(to, X86_ADD, reg, from, offset);
	else
		lose(to, reg);
}

static void lea(const struct x86_parts *parts, uint64_t next, struct x86_instruction *to)
{
	if (parts->has_rip)
		to->target = next + (uint64_t)parts->displacement;
	if (parts->base == X86_NO_REGISTER || parts->index != X86_NO_REGISTER)
		lose(to, parts->reg);
	else
		decode_add(parts, parts->reg, parts->base, parts->displacement, to);
}

/* mov from memory. */
static void decode_load(const struct x86_parts *parts, bool is_whole_at_base,
			struct x86_instruction *to)
{
	if (is_whole_at_base && parts->base == X86_RSP && parts->reg != X86_RSP)
		overwrite(to, X86_LOAD, parts->reg, X86_NO_REGISTER, parts->displacement);
	else if (is_whole_at_base)
		overwrite(to, X86_LOAD_OTHER, parts->reg, parts->base,
			  parts->displacement);
	else if (parts->reg == X86_RSP || parts->reg == X86_RBP)
		overwrite(to, X86_LOAD_OTHER, parts->reg, X86_NO_REGISTER, 0);
	else
		lose(to, parts->reg);
}

/* mov of a word. */
static void decode_move(const struct x86_parts *parts, bool is_load,
			struct x86_instruction *to)
{
	bool is_whole_at_base = parts->base != X86_NO_REGISTER &&
				parts->index == X86_NO_REGISTER && is_whole(parts);

	if (x86_is_register(parts))
		decode_add(parts, is_load ? parts->reg : parts->rm,
			   is_load ? parts->rm : parts->reg, 0, to);
	else if (is_load)
		decode_load(parts, is_whole_at_base, to);
	else if (is_whole_at_base && parts->base == X86_RSP)
		set_act(to, X86_STORE, X86_NO_REGISTER, parts->reg, parts->displacement);
	else if (is_whole_at_base)
		set_act(to, X86_STORE_OTHER, parts->base, parts->reg,
			parts->displacement);
}

/* add, or, adc, sbb, and, sub, xor and cmp with a constant. */
static void compute(const struct x86_parts *parts, struct x86_instruction *to)
{
	unsigned int operation = parts->modrm >> 3 & 7;
	int64_t offset = operation ? -parts->immediate : parts->immediate;

	if (!x86_is_register(parts) || operation == 7)
		return;
	if (!is_whole(parts) || (operation != 0 && operation != 5))
		lose(to, parts->rm);
	else if (parts->rm == X86_RSP)
		decode_add(parts, X86_RSP, X86_RSP, offset, to);
	else
		overwrite(to, X86_ADD_OTHER, parts->rm, parts->rm, offset);
}

/* inc, dec, call, jmp and push. */
static void group_ff(const struct x86_parts *parts, uint64_t next,
		     struct x86_instruction *to)
{
	unsigned int operation = parts->modrm >> 3 & 7;

	switch (operation) {
	case 0:
	case 1:
		if (x86_is_register(parts) && parts->rm == X86_RSP)
			decode_add(parts, X86_RSP, X86_RSP, operation ? -1 : 1, to);
		else if (x86_is_register(parts))
			lose(to, parts->rm);
		break;
	case 2:
	case 3:
		to->act = X86_CALL_INDIRECT;
		break;
	case 4:
	case 5:
		to->act = X86_JUMP_INDIRECT;
		break;
	case 6:
		decode_push(parts, x86_is_register(parts) ? parts->rm : X86_NO_REGISTER,
			    to);
		break;
	default:
		to->act = X86_BAD;
	}
	if ((operation == 2 || operation == 4) && parts->has_rip)
		to->target = next + (uint64_t)parts->displacement;
}

/* Instructions of 32-bit code only: one-byte inc and dec, segments, all registers. */
static void act_32(const struct x86_parts *parts, struct x86_instruction *to)
{
	int word = word_of(parts);

	switch (parts->opcode) {
	case 0x06:
	case 0x0e:
	case 0x16:
	case 0x1e:
		decode_push(parts, X86_NO_REGISTER, to);
		break;
	case 0x07:
	case 0x17:
	case 0x1f:
		decode_pop(parts, X86_NO_REGISTER, to);
		break;
	case 0x44:
	case 0x4c:
		decode_add(parts, X86_RSP, X86_RSP, parts->opcode == 0x44 ? 1 : -1, to);
		break;
	case 0x40 ... 0x43:
	case 0x45 ... 0x4b:
	case 0x4d ... 0x4f:
		lose(to, parts->opcode & 7);
		break;
	case 0x60:
		set_act(to, X86_PUSH, X86_NO_REGISTER, X86_NO_REGISTER, -8 * word);
		break;
	case 0x61: /* popa: ebp is the third, above edi and esi */
		set_act(to, X86_POP, X86_NO_REGISTER, X86_NO_REGISTER, 8 * word);
		break;
	case 0x9a:
		to->act = X86_CALL_INDIRECT;
		break;
	case 0xea:
		to->act = X86_JUMP_INDIRECT;
		break;
	}
}

/* enter: its second operand is the level of nested functions, which compilers leave 0. */
static void decode_enter(const struct x86_parts *parts, struct x86_instruction *to)
{
	const uint8_t *end = parts->code + parts->at;
	int size = end[-3] | end[-2] << 8;

	to->writes |= 1 << X86_RSP | 1 << X86_RBP;
	if (end[-1] || parts->has_66)
		lose(to, X86_RSP);
	else
		set_act(to, X86_ENTER, X86_NO_REGISTER, X86_NO_REGISTER, -size);
}

static void act_one(const struct x86_parts *parts, uint64_t next,
		    struct x86_instruction *to)
{
	uint8_t low = (parts->opcode & 7) | parts->more_b;

	switch (parts->opcode) {
	case 0x05:
	case 0x2d:
		if (is_whole(parts))
			overwrite(to, X86_ADD_OTHER, 0, 0,
				  parts->opcode == 0x2d ? -parts->immediate
							: parts->immediate);
		else
			lose(to, 0);
		break;
	case 0x50 ... 0x57:
		decode_push(parts, low, to);
		break;
	case 0x58 ... 0x5f:
		decode_pop(parts, low, to);
		break;
	case 0x68:
	case 0x6a:
	case 0x9c:
		decode_push(parts, X86_NO_REGISTER, to);
		break;
	case 0x8f:
		decode_pop(parts, x86_is_register(parts) ? parts->rm : X86_NO_REGISTER,
			   to);
		break;
	case 0x9d:
		decode_pop(parts, X86_NO_REGISTER, to);
		break;
	case 0x81:
	case 0x83:
		compute(parts, to);
		break;
	case 0x89:
	case 0x8b:
		decode_move(parts, parts->opcode == 0x8b, to);
		break;
	case 0x8d:
		lea(parts, next, to);
		break;
	case 0x90 ... 0x97:
		if (low) {
			lose(to, low);
			lose(to, 0);
		}
		break;
	case 0xb8 ... 0xbf:
		lose(to, low);
		break;
	case 0xc7: /* mov; xbegin, which jumps if it fails */
		if (parts->modrm == 0xf8)
			to->act = X86_JUMP_IF;
		else if (x86_is_register(parts))
			lose(to, parts->rm);
		break;
	case 0xc8:
		decode_enter(parts, to);
		break;
	case 0xc9:
		to->act = X86_LEAVE;
		break;
	case 0xc2:
	case 0xc3:
		set_act(to, X86_RETURN, X86_NO_REGISTER, X86_NO_REGISTER,
			parts->immediate);
		break;
	case 0xca:
	case 0xcb:
	case 0xcf:
		to->act = X86_RETURN_FAR;
		break;
	case 0xf4:
		to->act = X86_HALT;
		break;
	case 0xcc:
		to->act = X86_STOP;
		break;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		to->act = X86_JUMP_IF;
		break;
	case 0xe8:
		to->act = X86_CALL;
		break;
	case 0xe9:
	case 0xeb:
		to->act = X86_JUMP;
		break;
	case 0xf7: /* test, mul and div write to neither; not and neg do */
		if (x86_is_register(parts) && (parts->modrm >> 3 & 6) == 2)
			lose(to, parts->rm);
		break;
	case 0xff:
		group_ff(parts, next, to);
		break;
	default:
		if (!parts->is_64)
			act_32(parts, to);
		if (parts->form & R)
			lose(to, parts->reg);
		if (parts->form & E && x86_is_register(parts))
			lose(to, parts->rm);
	}
}

static void act_two(const struct x86_parts *parts, struct x86_instruction *to)
{
	unsigned int group = parts->modrm >> 3 & 7;
	bool writes_rm = parts->form & E && x86_is_register(parts);
	bool writes_reg = parts->form & R;

	switch (parts->opcode) {
	case 0x07:
	case 0x34:
	case 0x35:
		to->act = X86_LEAVE_KERNEL;
		return;
	case 0x0b:
	case 0xb9:
	case 0xff:
		to->act = X86_STOP;
		return;
	case 0x80 ... 0x8f:
		to->act = X86_JUMP_IF;
		return;
	case 0xa0:
	case 0xa8:
		decode_push(parts, X86_NO_REGISTER, to);
		return;
	case 0xa1:
	case 0xa9:
		decode_pop(parts, X86_NO_REGISTER, to);
		return;
	case 0xc8 ... 0xcf:
		lose(to, (parts->opcode & 7) | parts->more_b);
		return;
	case 0x1e: /* rdssp */
		writes_rm = parts->has_f3 && x86_is_register(parts) && group == 1;
		break;
	case 0x2c:
	case 0x2d: /* without these prefixes, to an MMX register */
		writes_reg &= parts->has_f2 || parts->has_f3;
		break;
	case 0x7e: /* with this prefix, to an SSE register */
		writes_rm &= !parts->has_f3;
		break;
	case 0xae: /* rdfsbase, rdgsbase */
		writes_rm &= parts->has_f3 && group < 2;
		break;
	case 0xba: /* bt is the only one that does not write */
		writes_rm &= group > 4;
		break;
	case 0xc7: /* rdrand, rdseed, rdpid */
		writes_rm &= group >= 6;
		break;
	}
	if (writes_rm)
		lose(to, parts->rm);
	if (writes_reg)
		lose(to, parts->reg);
}

/* Vector instructions that write to general registers (BMI, conversions). */
static void act_vector(const struct x86_parts *parts, struct x86_instruction *to)
{
	if (parts->map == MAP_0F) {
		/* The others are in two_bytes, or don't exist with a vector prefix. */
		if (parts->opcode == 0x2c || parts->opcode == 0x2d ||
		    parts->opcode == 0x50 || parts->opcode == 0x7e ||
		    parts->opcode == 0xc5 || parts->opcode == 0xd7)
			act_two(parts, to);
		else if (parts->form & R && (parts->opcode == 0x93 || parts->is_evex) &&
			 (parts->opcode == 0x93 || parts->opcode == 0x78 ||
			  parts->opcode == 0x79))
			lose(to, parts->reg);
		return;
	}
	if (parts->is_evex)
		return;
	if (parts->map == MAP_0F38 && parts->opcode >= 0xf2 && parts->opcode <= 0xf7) {
		if (parts->opcode == 0xf3 || parts->opcode == 0xf6)
			lose(to, parts->vvvv);
		if (parts->opcode != 0xf3)
			lose(to, parts->reg);
	}
	if (parts->map == MAP_0F3A && parts->opcode == 0xf0) /* rorx */
		lose(to, parts->reg);
	if (parts->map == MAP_0F3A && parts->opcode >= 0x14 && parts->opcode <= 0x17 &&
	    x86_is_register(parts))
		lose(to, parts->rm);
}

enum {
	RAX = 1 << 0,
	RCX = 1 << 1,
	RDX = 1 << 2,
	RBX = 1 << 3,
	RSI = 1 << 6,
	RDI = 1 << 7,
	R11 = 1 << 11,
};

/* Registers that an instruction overwrites without having them as operands. */
static uint16_t implied_one(const struct x86_parts *parts)
{
	unsigned int group = parts->modrm >> 3 & 7;

	switch (parts->opcode) {
	case 0x6c ... 0x6f: /* ins, outs */
	case 0xa4 ... 0xa7: /* movs, cmps */
		return RCX | RSI | RDI;
	case 0xaa ... 0xaf: /* stos, lods, scas */
		return RAX | RCX | RSI | RDI;
	case 0x0d:
	case 0x15:
	case 0x1d:
	case 0x25:
	case 0x35:
	case 0x98:
	case 0xa1:
	case 0xe5:
	case 0xed:
		return RAX;
	case 0x99:
		return RDX;
	case 0xdf: /* fnstsw %ax */
		return parts->modrm == 0xe0 ? RAX : 0;
	case 0xe0 ... 0xe2: /* loop */
		return RCX;
	case 0xf6:
	case 0xf7: /* mul, div */
		return group >= 4 ? RAX | RDX : 0;
	}
	return 0;
}

static uint16_t implied_two(const struct x86_parts *parts)
{
	switch (parts->opcode) {
	case 0x05: /* syscall, with a result */
		return RAX | RCX | R11;
	case 0x01: /* among others: xgetbv, rdtscp, calls of the hypervisor */
	case 0x31 ... 0x33:
	case 0xa2:
		return RAX | RBX | RCX | RDX;
	case 0xb1:
		return RAX;
	case 0xc7:
		return x86_is_register(parts) ? 0 : RAX | RDX;
	}
	return 0;
}

struct x86_instruction x86_decode(const uint8_t *code, size_t size, uint64_t address,
				  bool is_64)
{
	struct x86_instruction to = {
		.to = X86_NO_REGISTER,
		.from = X86_NO_REGISTER,
	};
	struct x86_parts parts;
	uint64_t next;

	x86_take_parts(&parts, code, size, is_64);
	if (parts.is_short || parts.form & BAD)
		return to;
	to.size = (uint8_t)parts.at;
	to.act = X86_OTHER;
	next = address + parts.at;
	if (parts.is_vex)
		act_vector(&parts, &to);
	else if (parts.map == MAP_ONE)
		act_one(&parts, next, &to);
	else if (parts.map == MAP_0F)
		act_two(&parts, &to);
	else if (parts.form & E ? x86_is_register(&parts) : parts.form & R)
		lose(&to, parts.form & E ? parts.rm : parts.reg);
	if (to.act == X86_CALL || to.act == X86_JUMP || to.act == X86_JUMP_IF)
		to.target = next + (uint64_t)parts.immediate;
	if (!is_64)
		to.target &= UINT32_MAX;
	if (parts.map == MAP_ONE && !parts.is_vex)
		to.writes |= implied_one(&parts);
	else if (parts.map == MAP_0F && !parts.is_vex)
		to.writes |= implied_two(&parts);
	if (to.act == X86_BAD)
		to.size = 0;
	return to;
}

bool x86_call_before(const uint8_t *end, size_t count, uint64_t address, bool is_64,
		     uint64_t *target)
{
	*target = 0;
	for (size_t size = count < X86_CALL_SIZE_MAX ? count : X86_CALL_SIZE_MAX;
	     size >= 2; size--) {
		const uint8_t *code = end - size;
		struct x86_instruction call;

		if (*code != 0xe8 && *code != 0xff)
			continue;
		call = x86_decode(code, size, address - size, is_64);
		if (call.size != size)
			continue;
		if (call.act == X86_CALL)
			*target = call.target;
		if (call.act == X86_CALL || call.act == X86_CALL_INDIRECT)
			return true;
	}
	return false;
}
