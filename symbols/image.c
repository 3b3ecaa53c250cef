/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What else of an ELF file is of use to those that read it again: where it is
 * mapped (ELF gABI, "Program Header"), and which build it is (the note that GNU ld
 * makes of --build-id; its type is in elf.h).
 */
#include "symbols/table.h"

#include <gelf.h>
#include <libelf.h>
#include <string.h>

/* Whether it can be run, and lies within the address space. */
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
	/* Headers that are not all in the file are libelf's to find. */
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

static bool find_build_id(Elf_Data *notes, struct symbols_file *file)
{
	size_t at = 0, next, name, content;
	GElf_Nhdr note;

	while ((next = gelf_getnote(notes, at, &note, &name, &content)) > 0) {
		const char *bytes = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(bytes + name, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= SYMBOLS_BUILD_ID) {
			memcpy(file->build_id, bytes + content, note.n_descsz);
			file->build_id_size = note.n_descsz;
			return true;
		}
		at = next;
	}
	return false;
}

static void read_build_id(Elf *elf, size_t size, struct symbols_file *file)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr header;
		Elf_Data *notes;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE ||
		    (header.sh_flags & SHF_COMPRESSED) || header.sh_offset > size ||
		    header.sh_size > size - header.sh_offset)
			continue;
		notes = elf_getdata(scn, NULL);
		if (notes && notes->d_buf && find_build_id(notes, file))
			return;
	}
}

void symbols_read_image(Elf *elf, size_t size, struct symbols_file *file)
{
	read_segments(elf, file);
	read_build_id(elf, size, file);
}
