/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/x86/parts.h"

#include "arch/x86/code.h"
#include "arch/x86/cpu.h"

/*
 * Sources: Intel SDM, volume 2, chapter 2 for the parts of an instruction and appendix A
 * for the opcode maps; AMD's APM, volume 3, sections 1.2 and A.1 for XOP and 3DNow!.
 */

/* clang-format off */
#define ARITHMETIC(op, to_rm, to_reg)                                            \
	[op] = M, [op + 1] = M | (to_rm), [op + 2] = M, [op + 3] = M | (to_reg), \
	[op + 4] = B, [op + 5] = Z, [op + 6 ... op + 7] = X

static const uint16_t one_byte[256] = {
	ARITHMETIC(0x00, E, R), ARITHMETIC(0x08, E, R), ARITHMETIC(0x10, E, R),
	ARITHMETIC(0x18, E, R), ARITHMETIC(0x20, E, R), ARITHMETIC(0x28, E, R),
	ARITHMETIC(0x30, E, R), ARITHMETIC(0x38, 0, 0), [0x60 ... 0x61] = X,
	[0x62] = M | X, [0x63] = M | R, [0x68] = Z, [0x69] = M | Z | R, [0x6a] = B,
	[0x6b] = M | B | R, [0x70 ... 0x7f] = B, [0x80] = M | B, [0x81] = M | Z | E,
	[0x82] = M | B | X, [0x83] = M | B | E, [0x84 ... 0x86] = M, [0x87] = M | R | E,
	[0x88] = M, [0x89] = M | E, [0x8a] = M, [0x8b] = M | R, [0x8c] = M | E,
	[0x8d] = M | R, [0x8e] = M, [0x8f] = M, [0x9a] = P | X, [0xa0 ... 0xa3] = A,
	[0xa8] = B, [0xa9] = Z, [0xb0 ... 0xb7] = B, [0xb8 ... 0xbf] = V, [0xc0] = M | B,
	[0xc1] = M | B | E, [0xc2] = W, [0xc4 ... 0xc5] = M | X | R, [0xc6] = M | B,
	[0xc7] = M | Z | E, [0xc8] = W | B, [0xca] = W, [0xcd] = B, [0xce] = X,
	[0xd0] = M, [0xd1] = M | E, [0xd2] = M, [0xd3] = M | E, [0xd4 ... 0xd5] = B | X,
	[0xd6] = X, [0xd8 ... 0xdf] = M, [0xe0 ... 0xe7] = B, [0xe8 ... 0xe9] = Z,
	[0xea] = P | X, [0xeb] = B, [0xf6] = M, [0xf7] = M | E, [0xfe] = M,
	[0xff] = M | E,
};

/* After 0x0f; also map 1 of VEX and EVEX. */
static const uint16_t two_bytes[256] = {
	[0x00 ... 0x03] = M, [0x04] = BAD, [0x05 ... 0x09] = 0, [0x0a] = BAD, [0x0b] = 0,
	[0x0c] = BAD, [0x0d] = M, [0x0e] = 0, [0x0f] = M | B, [0x10 ... 0x1f] = M,
	[0x20 ... 0x21] = M | E, [0x22 ... 0x23] = M, [0x24 ... 0x27] = BAD,
	[0x28 ... 0x2b] = M, [0x2c ... 0x2d] = M | R, [0x2e ... 0x2f] = M,
	[0x30 ... 0x35] = 0, [0x36] = BAD, [0x37] = 0, [0x38 ... 0x3f] = BAD,
	[0x40 ... 0x4f] = M | R, [0x50] = M | R, [0x51 ... 0x6f] = M,
	[0x70 ... 0x73] = M | B, [0x74 ... 0x76] = M, [0x77] = 0, [0x78 ... 0x7d] = M,
	[0x7e] = M | E, [0x7f] = M, [0x80 ... 0x8f] = Z, [0x90 ... 0x9f] = M,
	[0xa0 ... 0xa2] = 0, [0xa3] = M, [0xa4] = M | B | E, [0xa5] = M | E,
	[0xa6 ... 0xa7] = M, [0xa8 ... 0xaa] = 0, [0xab] = M | E, [0xac] = M | B | E,
	[0xad] = M | E, [0xae] = M | E, [0xaf] = M | R, [0xb0] = M, [0xb1] = M | E,
	[0xb2] = M | R, [0xb3] = M | E, [0xb4 ... 0xb8] = M | R,
	[0xb9] = M, [0xba] = M | B | E, [0xbb] = M | E, [0xbc ... 0xbf] = M | R,
	[0xc0] = M, [0xc1] = M | R | E, [0xc2] = M | B, [0xc3] = M, [0xc4] = M | B,
	[0xc5] = M | B | R, [0xc6] = M | B, [0xc7] = M | E, [0xc8 ... 0xcf] = 0,
	[0xd0 ... 0xd6] = M, [0xd7] = M | R, [0xd8 ... 0xff] = M,
};
/* clang-format on */

/* Reads the next @bytes as a signed number. */
static int64_t take(struct x86_parts *parts, unsigned int bytes)
{
	uint64_t value = 0;

	if (parts->at + bytes > parts->limit) {
		parts->is_short = true;
		return 0;
	}
	for (unsigned int i = 0; i < bytes; i++)
		value |= (uint64_t)parts->code[parts->at++] << (8 * i);
	if (bytes == 0 || bytes == 8)
		return (int64_t)value;
	return (int64_t)(value << (64 - 8 * bytes)) >> (64 - 8 * bytes);
}

static uint8_t peek(const struct x86_parts *parts)
{
	return parts->at < parts->limit ? parts->code[parts->at] : 0;
}

static uint8_t take_prefixes(struct x86_parts *parts)
{
	for (;;) {
		uint8_t byte = (uint8_t)take(parts, 1);

		switch (byte) {
		case 0x66:
			parts->has_66 = true;
			break;
		case 0x67:
			parts->has_67 = true;
			break;
		case 0xf2:
			parts->has_f2 = true;
			break;
		case 0xf3:
			parts->has_f3 = true;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0xf0:
			break;
		case 0x64:
		case 0x65:
			parts->has_segment = true;
			break;
		default:
			if (!parts->is_64 || (byte & 0xf0) != 0x40 || parts->is_short)
				return byte;
			parts->wide = byte & 8;
			parts->more_r = (byte & 4) << 1;
			parts->more_x = (byte & 2) << 2;
			parts->more_b = (byte & 1) << 3;
			byte = (uint8_t)take(parts, 1);
			/* A REX before another prefix has no effect; compilers emit none.
			 */
			parts->is_short |= (byte & 0xf0) == 0x40;
			return byte;
		}
		if (parts->is_short)
			return 0;
	}
}

/* Reads the inverted bits in the first payload byte of a vector prefix. */
static void take_vector_bits(struct x86_parts *parts, uint8_t byte, bool has_all)
{
	if (!parts->is_64)
		return;
	parts->more_r = byte & 0x80 ? 0 : 8;
	if (!has_all)
		return;
	parts->more_x = byte & 0x40 ? 0 : 8;
	parts->more_b = byte & 0x20 ? 0 : 8;
}

static void set_vector_map(struct x86_parts *parts, unsigned int map)
{
	parts->is_vex = true;
	parts->map = map <= MAP_0F3A && map != 0 ? (enum x86_map)map : MAP_OTHER;
	parts->opcode = (uint8_t)take(parts, 1);
	if (map == MAP_0F)
		parts->form = two_bytes[parts->opcode] & (M | B | BAD | R | E);
	else
		parts->form = map == MAP_0F3A ? M | B : M;
	/* Branches don't exist as vector instructions; only vzeroupper has no operand. */
	if (map == MAP_0F && parts->opcode != 0x77)
		parts->form |= M;
	/* Masks and conversions to general registers. */
	if (map == MAP_0F &&
	    (parts->opcode == 0x93 ||
	     (parts->is_evex && (parts->opcode == 0x78 || parts->opcode == 0x79) &&
	      (parts->has_f2 || parts->has_f3))))
		parts->form |= R;
}

/* The last bits of a vector prefix encode a legacy prefix. */
static void take_vector_prefix(struct x86_parts *parts, uint8_t byte)
{
	parts->has_66 = (byte & 3) == 1;
	parts->has_f3 = (byte & 3) == 2;
	parts->has_f2 = (byte & 3) == 3;
	parts->vvvv = ~byte >> 3 & (parts->is_64 ? 15 : 7);
	parts->wide = false;
}

static void take_vex(struct x86_parts *parts, uint8_t first)
{
	uint8_t byte = (uint8_t)take(parts, 1), map = MAP_0F;

	take_vector_bits(parts, byte, first == 0xc4);
	if (first == 0xc4) {
		map = byte & 31;
		byte = (uint8_t)take(parts, 1);
	}
	take_vector_prefix(parts, byte);
	parts->wide = first == 0xc4 && byte & 0x80;
	if (map == 0 || map > MAP_0F3A)
		parts->form = BAD;
	else
		set_vector_map(parts, map);
}

static void take_evex(struct x86_parts *parts)
{
	uint8_t byte = (uint8_t)take(parts, 1), second = (uint8_t)take(parts, 1);

	take(parts, 1);
	take_vector_bits(parts, byte, true);
	take_vector_prefix(parts, second);
	parts->wide = second & 0x80;
	parts->is_evex = true;
	if ((byte & 7) == 0 || (byte & 7) == 4 || (byte & 7) == 7)
		parts->form = BAD;
	else
		set_vector_map(parts, byte & 7);
}

static void take_xop(struct x86_parts *parts)
{
	uint8_t byte = (uint8_t)take(parts, 1), second = (uint8_t)take(parts, 1);
	unsigned int map = byte & 31;

	take_vector_bits(parts, byte, true);
	take_vector_prefix(parts, second);
	parts->wide = second & 0x80;
	parts->is_vex = true;
	parts->map = MAP_OTHER;
	parts->opcode = (uint8_t)take(parts, 1);
	if (map < 8 || map > 10)
		parts->form = BAD;
	else
		parts->form = map == 8 ? M | B : map == 9 ? M : M | Z;
}

/* Opcodes of maps 0x0f38 and 0x0f3a that write to a general register. */
static uint16_t three_byte_form(const struct x86_parts *parts)
{
	if (parts->map == MAP_0F3A)
		return parts->opcode >= 0x14 && parts->opcode <= 0x17 ? M | B | E : M | B;
	/* movbe and crc32; adcx and adox */
	if ((parts->opcode == 0xf0 || (parts->opcode == 0xf1 && parts->has_f2)) ||
	    (parts->opcode == 0xf6 && (parts->has_66 || parts->has_f3)))
		return M | R;
	return M;
}

static void take_opcode(struct x86_parts *parts)
{
	uint8_t byte = take_prefixes(parts);
	/* In 32-bit code, with a memory operand, these are other instructions. */
	bool may_be_vector = parts->is_64 || peek(parts) >= 0xc0;

	parts->opcode = byte;
	parts->form = one_byte[byte];
	if ((byte == 0xc4 || byte == 0xc5) && may_be_vector) {
		take_vex(parts, byte);
	} else if (byte == 0x62 && may_be_vector) {
		take_evex(parts);
	} else if (byte == 0x8f && (peek(parts) & 31) >= 8) {
		take_xop(parts);
	} else if (byte == 0x0f) {
		parts->map = MAP_0F;
		parts->opcode = (uint8_t)take(parts, 1);
		parts->form = two_bytes[parts->opcode];
		if (parts->opcode == 0x38 || parts->opcode == 0x3a) {
			parts->map = parts->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
			parts->opcode = (uint8_t)take(parts, 1);
			parts->form = three_byte_form(parts);
		}
	}
	if (parts->form & X && parts->is_64 && !parts->is_vex)
		parts->form |= BAD;
}

/* Skips a memory operand of 16-bit addressing, which is never of interest. */
static void take_memory_16(struct x86_parts *parts)
{
	unsigned int mod = parts->modrm >> 6;

	take(parts, mod == 1 ? 1 : mod == 2 || (parts->modrm & 7) == 6 ? 2 : 0);
}

static void take_memory(struct x86_parts *parts)
{
	unsigned int mod = parts->modrm >> 6, size = mod == 1 ? 1 : mod == 2 ? 4 : 0;

	if (parts->has_67 && !parts->is_64) {
		take_memory_16(parts);
		return;
	}
	parts->base = parts->rm;
	if ((parts->modrm & 7) == 4) {
		uint8_t sib = (uint8_t)take(parts, 1);

		parts->base = (sib & 7) | parts->more_b;
		parts->index = (sib >> 3 & 7) | parts->more_x;
		if (parts->index == X86_RSP)
			parts->index = X86_NO_REGISTER;
		if ((sib & 7) == 5 && mod == 0) {
			parts->base = X86_NO_REGISTER;
			size = 4;
		}
	} else if ((parts->modrm & 7) == 5 && mod == 0) {
		parts->base = X86_NO_REGISTER;
		parts->has_rip = parts->is_64;
		size = 4;
	}
	parts->displacement = take(parts, size);
	if (parts->has_67 || parts->has_segment)
		parts->base = X86_NO_REGISTER;
}

static void take_modrm(struct x86_parts *parts)
{
	bool is_control = parts->map == MAP_0F && parts->opcode >= 0x20 &&
			  parts->opcode <= 0x23 && !parts->is_vex;

	parts->modrm = (uint8_t)take(parts, 1);
	/* Moves from and to control registers have only register operands. */
	if (is_control)
		parts->modrm |= 0xc0;
	parts->reg = (parts->modrm >> 3 & 7) | parts->more_r;
	parts->rm = (parts->modrm & 7) | parts->more_b;
	if (!x86_is_register(parts))
		take_memory(parts);
	/* test, the only one of its group with an immediate */
	if (parts->map == MAP_ONE && !parts->is_vex && (parts->opcode & 0xfe) == 0xf6 &&
	    !(parts->modrm & 0x30))
		parts->form |= parts->opcode & 1 ? Z : B;
	/* extrq and insertq */
	if (parts->map == MAP_0F && !parts->is_vex && parts->opcode == 0x78 &&
	    (parts->has_66 || parts->has_f2))
		parts->form |= W;
}

static void take_immediates(struct x86_parts *parts)
{
	bool is_branch = (parts->map == MAP_ONE && (parts->opcode & 0xfe) == 0xe8) ||
			 parts->map == MAP_0F;
	unsigned int word = parts->has_66 && !parts->wide ? 2 : 4;

	/* Intel's processors ignore 0x66 here; AMD's don't. */
	if ((is_branch && parts->is_64) || parts->is_vex)
		word = 4;
	if (parts->form & A)
		take(parts, parts->is_64 ? parts->has_67 ? 4 : 8 : parts->has_67 ? 2 : 4);
	if (parts->form & P)
		take(parts, word + 2);
	if (parts->form & W)
		parts->immediate = (uint16_t)take(parts, 2);
	if (parts->form & B)
		parts->immediate = take(parts, 1);
	if (parts->form & Z)
		parts->immediate = take(parts, word);
	if (parts->form & V)
		parts->immediate = take(parts, parts->wide ? 8 : word);
}

void x86_take_parts(struct x86_parts *parts, const uint8_t *code, size_t size, bool is_64)
{
	*parts = (struct x86_parts){
		.code = code,
		.limit = size < X86_SIZE_MAX ? (unsigned int)size : X86_SIZE_MAX,
		.is_64 = is_64,
		.base = X86_NO_REGISTER,
		.index = X86_NO_REGISTER,
	};
	take_opcode(parts);
	if (parts->is_short || parts->form & BAD)
		return;
	if (parts->form & M)
		take_modrm(parts);
	take_immediates(parts);
}
