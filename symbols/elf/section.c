/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/section.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/elf/unpack.h"

bool section_is_inside(const GElf_Shdr *header, size_t size)
{
	return header->sh_type != SHT_NOBITS && header->sh_offset <= size &&
	       header->sh_size <= size - header->sh_offset;
}

bool section_find_names(Elf *elf, size_t size, size_t *names)
{
	GElf_Shdr header;
	Elf_Scn *scn;

	return !elf_getshdrstrndx(elf, names) && (scn = elf_getscn(elf, *names)) &&
	       gelf_getshdr(scn, &header) && header.sh_type == SHT_STRTAB &&
	       !(header.sh_flags & SHF_COMPRESSED) && section_is_inside(&header, size);
}

static Elf_Scn *find_section(Elf *elf, size_t size, const char *name, GElf_Shdr *header)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (!section_find_names(elf, size, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, header)) {
		const char *own = elf_strptr(elf, names, header->sh_name);

		if (own && strcmp(own, name) == 0)
			return scn;
	}
	return NULL;
}

/* The header of compressed contents is in the file's own class and byte order. */
static int section_unpack(Elf_Scn *scn, const Elf_Data *packed, int class,
			  struct section_bytes *bytes)
{
	size_t skip = class == ELFCLASS64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	GElf_Chdr header;

	if (!gelf_getchdr(scn, &header) || packed->d_size < skip)
		return -1;
	bytes->unpacked = unpack_section(header.ch_type,
					 (const uint8_t *)packed->d_buf + skip,
					 packed->d_size - skip, header.ch_size);
	if (!bytes->unpacked)
		return -1;
	bytes->data = bytes->unpacked;
	bytes->size = header.ch_size;
	return 0;
}

int section_read(Elf *elf, size_t size, const char *name, GElf_Shdr *header,
		 struct section_bytes *bytes)
{
	Elf_Scn *scn = find_section(elf, size, name, header);
	Elf_Data *data;

	*bytes = (struct section_bytes){0};
	if (!scn || header->sh_type == SHT_NOBITS || !header->sh_size)
		return 0;
	data = section_is_inside(header, size) ? elf_rawdata(scn, NULL) : NULL;
	if (!data || data->d_size < header->sh_size)
		return -1;
	if (header->sh_flags & SHF_COMPRESSED)
		return section_unpack(scn, data, gelf_getclass(elf), bytes);
	bytes->data = data->d_buf;
	bytes->size = header->sh_size;
	return 0;
}

void section_free(struct section_bytes *bytes)
{
	free(bytes->unpacked);
	*bytes = (struct section_bytes){0};
}
