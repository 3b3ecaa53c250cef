/* SPDX-License-Identifier: BSD-3-Clause */

/* Linux' boot images for x86, which contain the kernel as a compressed ELF file. */
#include "symbols/elf/unpack.h"

#include <string.h>

#include "symbols/elf/decompress.h"

/* The header of boot images (Linux, Documentation/arch/x86/boot.rst). */
enum {
	SETUP_SECTS = 0x1f1,
	HEADER_MAGIC = 0x202, /* "HdrS" */
	PROTOCOL = 0x206, /* version, two bytes; the next two fields exist since 0x208 */
	PAYLOAD_OFFSET = 0x248,
	PAYLOAD_LENGTH = 0x24c,
	HEADER_END = 0x250,
	SECTOR = 512,
};

static uint32_t number_at(const uint8_t *at)
{
	return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24;
}

bool is_boot_image(const struct symbols_source *source)
{
	const uint8_t *data = source->data;

	return source->size >= HEADER_END && !memcmp(data + HEADER_MAGIC, "HdrS", 4);
}

int unpack_boot_image(struct symbols_source *source, const char *name, struct error *err)
{
	const uint8_t *data = source->data;
	const struct compression *compression;
	uint64_t start, length;

	if (!is_boot_image(source))
		return 0;
	if ((data[PROTOCOL] | data[PROTOCOL + 1] << 8) < 0x208)
		return error_set(err, "%s is a boot image of a Linux before 2.6.26",
				 name);
	start = ((data[SETUP_SECTS] ?: 4) + 1u) * SECTOR +
		(uint64_t)number_at(data + PAYLOAD_OFFSET);
	length = number_at(data + PAYLOAD_LENGTH);
	if (start > source->size || length > source->size - start || length < 8)
		return error_set(err, "%s is a damaged Linux boot image; copy it again",
				 name);
	compression = compression_find(data + start, length, true);
	if (!compression)
		return error_set(err,
				 "%s: its kernel is not compressed in a known way; "
				 "unpack it first (Linux, scripts/extract-vmlinux)",
				 name);
	/* The kernel's makefile appends the size, except for gzip, which has its own. */
	if (strcmp(compression->name, "gzip") != 0)
		length -= 4;
	return unpack_part(source, compression, data + start, length, name, err);
}
