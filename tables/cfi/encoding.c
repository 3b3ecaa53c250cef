/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/cfi/parts.h"

#include <string.h>

/* Encodings of addresses (LSB Core 5.0, section 10.5.1). */
enum {
	ENCODING_FORMAT = 0x0f,
	ENCODING_BASE = 0x70,
	ENCODING_PC_RELATIVE = 0x10,
	ENCODING_INDIRECT = 0x80,
};

uint64_t cfi_fixed(struct cursor *cursor, unsigned int size)
{
	struct cursor taken = cursor_take(cursor, size);
	uint64_t number = 0;

	if (!taken.failed)
		memcpy(&number, taken.at, size);
	return number;
}

int64_t cfi_signed(struct cursor *cursor)
{
	uint64_t number = 0;

	for (unsigned int shift = 0; cursor->at != cursor->end; shift += 7) {
		uint8_t byte = *cursor->at++;

		if (shift < 64)
			number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (shift + 7 < 64 && (byte & 0x40))
			number |= ~(uint64_t)0 << (shift + 7);
		return (int64_t)number;
	}
	cursor->failed = true;
	return 0;
}

bool cfi_number(struct cursor *cursor, uint8_t encoding, uint64_t *number)
{
	switch (encoding & ENCODING_FORMAT) {
	case 0x0: /* of an address */
	case 0x4:
	case 0xc:
		*number = cfi_fixed(cursor, 8);
		break;
	case 0x1:
		*number = cursor_varint(cursor);
		break;
	case 0x2:
		*number = cfi_fixed(cursor, 2);
		break;
	case 0x3:
		*number = cfi_fixed(cursor, 4);
		break;
	case 0x9:
		*number = (uint64_t)cfi_signed(cursor);
		break;
	case 0xa:
		*number = (uint64_t)(int64_t)(int16_t)cfi_fixed(cursor, 2);
		break;
	case 0xb:
		*number = (uint64_t)(int64_t)(int32_t)cfi_fixed(cursor, 4);
		break;
	default:
		return false;
	}
	return !cursor->failed;
}

bool cfi_address(const struct cfi_section *section, struct cursor *cursor,
		 uint8_t encoding, uint64_t *address)
{
	uint64_t place = section->address + (uint64_t)(cursor->at - section->data);
	uint8_t base = encoding & ENCODING_BASE;

	if ((encoding & ENCODING_INDIRECT) || (base && base != ENCODING_PC_RELATIVE) ||
	    !cfi_number(cursor, encoding, address))
		return false;
	*address += base ? place : 0;
	return true;
}
