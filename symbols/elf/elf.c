/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/elf.h"

#include <gelf.h>
#include <libelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/section.h"

/* The properties of a section that its symbols depend on. */
struct section {
	uint64_t first, last; /* first and last address */
	bool empty;
	bool executable;
};

struct elf_file {
	Elf *elf;
	GElf_Ehdr header;
	size_t size; /* size of the file, bytes */
	const char *path;
	struct section *sections; /* sections by number */
	size_t section_count;
	Elf_Scn *symtab, *dynsym; /* NULL: none */
	struct symbols_elf *shown;
};

static int damaged(const struct elf_file *file, struct error *err)
{
	return error_set(err, "%s is a damaged ELF file (%s); copy it again", file->path,
			 elf_errmsg(-1));
}

static int cut_short(const struct elf_file *file, struct error *err)
{
	return error_set(err, "%s is a damaged ELF file (truncated); copy it again",
			 file->path);
}

/* Rejects files that are not linked: they have no final addresses (ELF gABI, "ELF
 * Header", e_type). */
static int check_type(const struct elf_file *file, struct error *err)
{
	switch (file->header.e_type) {
	case ET_EXEC:
	case ET_DYN:
		return 0;
	case ET_REL:
		return error_set(err,
				 "%s is a relocatable file (.o, .ko), which has no final "
				 "addresses; use the linked file, or /proc/kallsyms for "
				 "kernel modules",
				 file->path);
	case ET_CORE:
		return error_set(err,
				 "%s is a core file, which has no function symbols; use "
				 "the program that it came from",
				 file->path);
	}
	return error_set(err, "%s is an ELF file of type %u, not a program or library",
			 file->path, file->header.e_type);
}

static int read_header(struct elf_file *file, struct error *err)
{
	size_t header_size;

	if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
		return damaged(file, err);
	if (check_type(file, err))
		return -1;
	/* Getting the section count reads the first section header. */
	header_size = gelf_fsize(file->elf, ELF_T_SHDR, 1, EV_CURRENT);
	if (file->header.e_shoff && (file->header.e_shoff > file->size ||
				     file->size - file->header.e_shoff < header_size))
		return cut_short(file, err);
	if (file->header.e_shoff && file->header.e_shentsize != header_size)
		return error_set(err,
				 "%s is a damaged ELF file (section headers of %u bytes)",
				 file->path, file->header.e_shentsize);
	if (elf_getshdrnum(file->elf, &file->section_count))
		return damaged(file, err);
	/* If section headers are beyond the end of the file, libelf reports none. */
	if ((file->header.e_shoff && !file->section_count) ||
	    file->section_count > (file->size - file->header.e_shoff) / header_size)
		return cut_short(file, err);
	return 0;
}

/* Returns the section's bytes in the file; NULL if they are incomplete or compressed. */
static const void *raw_bytes(const struct elf_file *file, Elf_Scn *scn,
			     const GElf_Shdr *header)
{
	Elf_Data *data;

	if (!section_is_inside(header, file->size) || (header->sh_flags & SHF_COMPRESSED))
		return NULL;
	data = elf_rawdata(scn, NULL);
	return data && data->d_size >= header->sh_size ? data->d_buf : NULL;
}

/* Stores the build-id (NT_GNU_BUILD_ID; GNU ld manual, "--build-id"). @address is that of
 * the note's contents in memory; 0: not loaded. */
static void take_build_id(struct symbols_elf *shown, const void *bytes, size_t size,
			  uint64_t address)
{
	if (shown->build_id_size || size < 2 || size > BUILD_ID_MAX)
		return;
	shown->build_id_size = size;
	memcpy(shown->build_id, bytes, size);
	shown->build_id_address = address;
}

static bool is_note(const GElf_Nhdr *note, const char *name, GElf_Word type,
		    const char *wanted)
{
	return note->n_type == type && note->n_namesz == strlen(wanted) + 1 &&
	       memcmp(name, wanted, note->n_namesz) == 0;
}

static void read_notes(const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *header)
{
	struct symbols_elf *shown = file->shown;
	Elf_Data *data = section_is_inside(header, file->size) ? elf_getdata(scn, NULL)
							       : NULL;
	size_t at = 0, name, content;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &content)) > 0) {
		const char *bytes = data->d_buf;
		bool is_loaded = header->sh_flags & SHF_ALLOC;

		if (is_note(&note, bytes + name, NT_GNU_BUILD_ID, "GNU"))
			take_build_id(shown, bytes + content, note.n_descsz,
				      is_loaded ? header->sh_addr + content : 0);
		/* The note has the address of a 64-bit x86 program: little-endian. */
		if (is_note(&note, bytes + name, NOTE_HYPERCALL_PAGE, "Xen") &&
		    note.n_descsz == sizeof(shown->hypercall_page))
			memcpy(&shown->hypercall_page, bytes + content,
			       sizeof(shown->hypercall_page));
	}
}

/*
 * Reads .gnu_debuglink: a file name, padded with NULs to a multiple of 4 bytes, then a
 * CRC-32 in the file's byte order (GDB manual, "Separate Debug Files"). Names with a '/'
 * are rejected, because they could refer to any directory.
 */
static void read_debuglink(const struct elf_file *file, Elf_Scn *scn,
			   const GElf_Shdr *header)
{
	const char *bytes = raw_bytes(file, scn, header);
	size_t length, at;
	const uint8_t *crc;

	if (!bytes)
		return;
	length = strnlen(bytes, header->sh_size);
	at = (length + 4) & ~(size_t)3;
	if (!length || length > NAME_MAX || memchr(bytes, '/', length) ||
	    at + 4 > header->sh_size)
		return;
	crc = (const uint8_t *)bytes + at;
	file->shown->debuglink = bytes;
	file->shown->debuglink_crc = file->header.e_ident[EI_DATA] == ELFDATA2MSB
					     ? (uint32_t)crc[0] << 24 | crc[1] << 16 |
						       crc[2] << 8 | crc[3]
					     : (uint32_t)crc[3] << 24 | crc[2] << 16 |
						       crc[1] << 8 | crc[0];
}

/* Reads the sections that are identified by their names. */
static void read_by_name(const struct elf_file *file, Elf_Scn *scn,
			 const GElf_Shdr *header, size_t names)
{
	const char *name = elf_strptr(file->elf, names, header->sh_name);

	if (!name || header->sh_type == SHT_NOBITS)
		return;
	if (!strcmp(name, ".gnu_debuglink"))
		read_debuglink(file, scn, header);
	else if (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info"))
		file->shown->has_lines = true;
	else if (!strcmp(name, ".gnu_debugdata") &&
		 section_is_inside(header, file->size)) {
		file->shown->debugdata = raw_bytes(file, scn, header);
		file->shown->debugdata_size = header->sh_size;
	}
}

static int read_sections(struct elf_file *file, struct error *err)
{
	size_t names;
	bool has_names = section_find_names(file->elf, file->size, &names);

	file->sections = calloc(file->section_count + 1, sizeof(*file->sections));
	if (!file->sections)
		return error_set(err, "%s: out of memory", file->path);
	for (size_t i = 1; i < file->section_count; i++) {
		Elf_Scn *scn = elf_getscn(file->elf, i);
		struct section *section = &file->sections[i];
		GElf_Shdr header;

		if (!scn || !gelf_getshdr(scn, &header))
			return damaged(file, err);
		section->first = header.sh_addr;
		section->last = header.sh_addr + header.sh_size - 1;
		section->empty = header.sh_size == 0;
		if (section->last < section->first)
			section->last = UINT64_MAX;
		section->executable = (header.sh_flags & SHF_ALLOC) &&
				      (header.sh_flags & SHF_EXECINSTR);
		if (header.sh_type == SHT_SYMTAB && !file->symtab)
			file->symtab = scn;
		if (header.sh_type == SHT_DYNSYM && !file->dynsym)
			file->dynsym = scn;
		if (header.sh_type == SHT_NOTE)
			read_notes(file, scn, &header);
		if (has_names)
			read_by_name(file, scn, &header, names);
	}
	return 0;
}

/* Copies the string table of @symbols: entries point into the copy after the file is
 * closed. The copy always ends with a NUL. NULL with @err set on error. */
static const char *read_strings(const struct elf_file *file, const GElf_Shdr *symbols,
				struct symbols_entries *entries, size_t *size,
				struct error *err)
{
	Elf_Scn *scn = elf_getscn(file->elf, symbols->sh_link);
	GElf_Shdr header;
	Elf_Data *data;
	char *copy;

	*size = 0;
	if (!scn || !gelf_getshdr(scn, &header)) {
		damaged(file, err);
		return NULL;
	}
	if (header.sh_type != SHT_STRTAB || (header.sh_flags & SHF_COMPRESSED)) {
		error_set(err, "%s is a damaged ELF file (symbols without names)",
			  file->path);
		return NULL;
	}
	if (!section_is_inside(&header, file->size)) {
		cut_short(file, err);
		return NULL;
	}
	data = elf_rawdata(scn, NULL);
	if (!data) {
		damaged(file, err);
		return NULL;
	}
	if (data->d_buf)
		*size = data->d_size;
	copy = symbols_block_new(&entries->blocks, *size + 1);
	if (!copy) {
		error_set(err, "%s: out of memory", file->path);
		return NULL;
	}
	if (*size)
		memcpy(copy, data->d_buf, *size);
	copy[*size] = '\0';
	return copy;
}

static uint8_t symbol_rank(const GElf_Sym *symbol)
{
	unsigned char type = GELF_ST_TYPE(symbol->st_info);
	uint8_t rank = type == STT_NOTYPE ? 0 : RANK_TYPED;

	switch (GELF_ST_BIND(symbol->st_info)) {
	case STB_LOCAL:
		return rank + RANK_LOCAL;
	case STB_WEAK:
		return rank + RANK_WEAK;
	}
	return rank + RANK_GLOBAL;
}

/*
 * Returns the symbol's section; NULL for absolute symbols, and for symbols whose section
 * number is in a separate table (SHN_XINDEX), which occur only in files with more than
 * 65,000 sections.
 */
static const struct section *section_of(const struct elf_file *file,
					const GElf_Sym *symbol)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE ||
	    symbol->st_shndx >= file->section_count)
		return NULL;
	return &file->sections[symbol->st_shndx];
}

/* Fills in the symbol's addresses, rank and extent. False if it is not a function and
 * does not end one. */
static bool make_entry(const struct elf_file *file, const GElf_Sym *symbol,
		       struct symbols_entry *entry)
{
	const struct section *section = section_of(file, symbol);
	unsigned char type = GELF_ST_TYPE(symbol->st_info);
	bool typed = type == STT_FUNC || type == STT_GNU_IFUNC;
	bool is_within;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_COMMON)
		return false;
	if (!typed && !(section && section->executable))
		return false;
	if (!typed && type != STT_NOTYPE && type != STT_OBJECT)
		return false;

	entry->start = symbol->st_value;
	/* Thumb functions have bit 0 set (ELF for the Arm Architecture, st_value). */
	if (file->header.e_machine == EM_ARM && typed)
		entry->start &= ~(uint64_t)1;
	is_within = section && !section->empty && entry->start >= section->first &&
		    entry->start <= section->last;
	entry->rank = symbol_rank(symbol);
	if (symbol->st_size) {
		entry->extent = EXTENT_SIZED;
		entry->last = entry->start + symbol->st_size - 1;
		if (entry->last < entry->start)
			entry->last = UINT64_MAX;
		if (is_within && entry->last > section->last)
			entry->last = section->last;
		return true;
	}
	/* A symbol outside its section marks the section's end, such as _etext. */
	if (!is_within)
		return false;
	entry->extent = EXTENT_LIMITED;
	entry->last = section->last;
	return true;
}

/* Returns whether a symbol of code is the name of a function. */
static bool is_function_name(unsigned char type, const char *name, size_t length)
{
	if (type == STT_NOTYPE && symbols_is_module_bound(name, length))
		return false;
	return type != STT_OBJECT && length <= SYMBOLS_NAME_MAX;
}

static int read_table(const struct elf_file *file, Elf_Scn *scn,
		      struct symbols_entries *entries, size_t *functions,
		      struct error *err)
{
	size_t strings_size, count;
	GElf_Shdr header;
	const char *strings;
	Elf_Data *data;

	if (!gelf_getshdr(scn, &header))
		return damaged(file, err);
	/* Separate debug files keep the header of .dynsym, but not its contents. */
	if (header.sh_type == SHT_NOBITS || (header.sh_flags & SHF_COMPRESSED))
		return 0;
	if (!section_is_inside(&header, file->size))
		return cut_short(file, err);
	strings = read_strings(file, &header, entries, &strings_size, err);
	if (!strings)
		return -1;
	data = elf_getdata(scn, NULL);
	if (!data)
		return damaged(file, err);
	count = data->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	if (!data->d_buf)
		count = 0;
	for (size_t i = 1; i < count; i++) {
		struct symbols_entry entry = {0};
		unsigned char type;
		const char *name;
		GElf_Sym symbol;
		size_t length;

		if (!gelf_getsym(data, (int)i, &symbol))
			return damaged(file, err);
		if (symbol.st_name >= strings_size || !make_entry(file, &symbol, &entry))
			continue;
		type = GELF_ST_TYPE(symbol.st_info);
		name = strings + symbol.st_name;
		length = strnlen(name, SYMBOLS_NAME_MAX + 1);
		if (!length ||
		    (type == STT_NOTYPE && symbols_is_local_label(name, length)))
			continue;
		if (is_function_name(type, name, length)) {
			entry.name = name;
			entry.length = (uint16_t)length;
			++*functions;
		}
		if (symbols_entries_add(entries, &entry, file->path, err))
			return -1;
	}
	return 0;
}

void symbols_build_id_text(const struct symbols_elf *elf, char *to)
{
	for (size_t i = 0; i < elf->build_id_size; i++)
		sprintf(to + 2 * i, "%02x", elf->build_id[i]);
	to[2 * elf->build_id_size] = '\0';
}

int symbols_elf_read(const void *data, size_t size, const char *path,
		     struct symbols_entries *entries, struct symbols_elf *elf,
		     struct error *err)
{
	struct elf_file file = {.size = size, .path = path, .shown = elf};
	int status = -1;

	*elf = (struct symbols_elf){0};
	elf_version(EV_CURRENT);
	file.elf = elf_memory((char *)(uintptr_t)data, size);
	if (!file.elf) {
		damaged(&file, err);
		goto out;
	}
	if (read_header(&file, err) || read_sections(&file, err))
		goto out;
	elf->machine = file.header.e_machine;
	if (file.symtab && entries &&
	    read_table(&file, file.symtab, entries, &elf->functions, err))
		goto out;
	/* .symtab contains everything in .dynsym, unless it was stripped or reduced. */
	if (file.dynsym && entries &&
	    read_table(&file, file.dynsym, entries, &elf->exported, err))
		goto out;
	if (entries)
		symbols_entries_drop_labels(entries);
	status = 0;
out:
	free(file.sections);
	elf_end(file.elf);
	return status;
}
