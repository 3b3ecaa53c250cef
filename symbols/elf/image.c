/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where an ELF file is mapped, for callers that read the file again (ELF gABI, "Program
 * Header").
 */
#include "symbols/elf/elf.h"

#include <gelf.h>
#include <libelf.h>

/* Returns whether the segment is executable and lies within the address space. */
static bool is_code(const GElf_Phdr *header)
{
	return (header->p_flags & PF_X) && header->p_memsz &&
	       header->p_vaddr + (header->p_memsz - 1) >= header->p_vaddr;
}

static void read_segments(Elf *elf, struct symbols_file *file)
{
	bool has_image = false;
	GElf_Phdr header;
	size_t count;

	if (elf_getphdrnum(elf, &count))
		return;
	/* libelf returns NULL for headers beyond the end of the file. */
	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
		if (header.p_type != PT_LOAD)
			continue;
		if (!has_image)
			file->image = header.p_vaddr &
				      -(header.p_align ? header.p_align : 1);
		has_image = true;
		if (!is_code(&header) || file->segment_count == SYMBOLS_SEGMENTS)
			continue;
		file->segments[file->segment_count++] = (struct symbols_segment){
			.address = header.p_vaddr,
			.size = header.p_memsz,
			.offset = header.p_offset,
		};
	}
}

void symbols_read_image(const void *data, size_t size, struct symbols_file *file)
{
	Elf *elf = elf_memory((char *)(uintptr_t)data, size);

	if (elf)
		read_segments(elf, file);
	elf_end(elf);
}
