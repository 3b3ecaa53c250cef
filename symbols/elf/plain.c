/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/plain.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/elf/elf.h"
#include "symbols/elf/unpack.h"
#include "symbols/spec.h"

/* The memory that the parts point into. */
struct plain_parts {
	struct symbols_source source;
	struct symbols_debug debug;
	struct symbols_entries entries;
	struct code code;
	struct plain_symbol *symbols;
};

void plain_free(struct plain *plain)
{
	struct plain_parts *parts = plain->parts;

	if (parts) {
		free(parts->symbols);
		code_free(&parts->code);
		free(parts->entries.list);
		symbols_blocks_free(parts->entries.blocks);
		symbols_debug_free(&parts->debug);
		symbols_source_close(&parts->source);
	}
	free(parts);
	*plain = (struct plain){0};
}

static uint8_t symbol_info(const struct symbols_entry *entry)
{
	uint8_t binding = entry->rank & RANK_GLOBAL  ? STB_GLOBAL
			  : entry->rank & RANK_LOCAL ? STB_LOCAL
						     : STB_WEAK;
	uint8_t type = !entry->name		  ? STT_OBJECT
		       : entry->rank & RANK_TYPED ? STT_FUNC
						  : STT_NOTYPE;

	return ELF64_ST_INFO(binding, type);
}

static int list_symbols(struct plain *plain)
{
	struct plain_parts *parts = plain->parts;
	const struct symbols_entries *entries = &parts->entries;

	parts->symbols = calloc(entries->count + 1, sizeof(*parts->symbols));
	if (!parts->symbols)
		return -1;
	for (size_t i = 0; i < entries->count; i++) {
		const struct symbols_entry *entry = &entries->list[i];

		parts->symbols[i] = (struct plain_symbol){
			.start = entry->start,
			.size = entry->extent == EXTENT_SIZED
					? entry->last - entry->start + 1
					: 0,
			/* Data only ends the function before it. */
			.name = entry->name ? entry->name : "-",
			.length = entry->name ? entry->length : 1,
			.info = symbol_info(entry),
		};
	}
	plain->symbols = parts->symbols;
	plain->symbol_count = entries->count;
	return 0;
}

/* Reads the names, also from other files. */
static void read_names(struct plain *plain, const char *path, const char *debug_directory)
{
	const struct symbols_options options = {.debug_directory = debug_directory};
	struct plain_parts *parts = plain->parts;
	const struct symbols_elf_input input = {
		.data = parts->source.data,
		.size = parts->source.size,
		.path = path,
		.name = symbols_shown_path(path),
		.options = &options,
	};
	struct symbols_file shown = {0};
	struct error why; /* ignored: a file without names is stripped */

	plain->is_stripped = symbols_load_elf(&input, &parts->entries, &shown,
					      &parts->debug, &why) < 0 ||
			     shown.is_stripped;
}

static int read_elf(struct plain *plain, const char *name, struct error *err)
{
	struct plain_parts *parts = plain->parts;
	const struct symbols_source *source = &parts->source;
	struct symbols_file image = {0};
	struct symbols_elf elf;

	if (symbols_elf_read(source->data, source->size, name, NULL, &elf, err) < 0)
		return -1;
	symbols_read_image(source->data, source->size, &image);
	plain->machine = elf.machine;
	plain->image = image.image;
	plain->segment_count = image.segment_count;
	memcpy(plain->segments, image.segments, sizeof(plain->segments));
	if (elf.build_id_size <= sizeof(plain->build_id)) {
		plain->build_id_size = elf.build_id_size;
		plain->build_id_address = elf.build_id_address;
		memcpy(plain->build_id, elf.build_id, elf.build_id_size);
	}
	plain->hypercall_page = elf.hypercall_page;
	code_read(&parts->code, source->data, source->size);
	plain->code = parts->code.list;
	plain->code_count = parts->code.count;
	return 0;
}

int plain_read(struct plain *plain, const char *path, const char *debug_directory,
	       struct error *err)
{
	const char *name = symbols_shown_path(path);
	struct symbols_source *source;

	*plain = (struct plain){.parts = calloc(1, sizeof(*plain->parts))};
	if (!plain->parts)
		return error_set(err, "out of memory");
	source = &plain->parts->source;
	if (symbols_source_open(source, path, name, err) < 0 ||
	    unpack_source(source, name, err) < 0 ||
	    unpack_boot_image(source, name, err) < 0)
		return -1;
	if (source->size < 4 || memcmp(source->data, "\177ELF", 4) != 0)
		return error_set(err, "%s is not an ELF file", name);
	if (read_elf(plain, name, err) < 0)
		return -1;
	read_names(plain, path, debug_directory);
	return list_symbols(plain) < 0 ? error_set(err, "%s: out of memory", name) : 0;
}

/* Size of the header of a note and a name of three characters, bytes */
#define NOTE_START (sizeof(Elf64_Nhdr) + 4)

/* An ELF file in the making: headers, then segments, sections and contents. Without
 * @data, only sizes are added up. */
struct draft {
	uint8_t *data;
	size_t size; /* so far, bytes */
	Elf64_Shdr *section;
	size_t sections;
};

/* Returns the offset of @size more bytes, aligned. */
static size_t draft_extend(struct draft *draft, size_t size)
{
	size_t at = (draft->size + 7) & ~(size_t)7;

	draft->size = at + size;
	return at;
}

/* Adds a section of sh_size bytes. Returns its contents; NULL without @data. */
static void *draft_section(struct draft *draft, Elf64_Shdr section)
{
	section.sh_offset = draft_extend(draft, section.sh_size);
	if (!draft->data)
		return NULL;
	draft->section[draft->sections++] = section;
	return draft->data + section.sh_offset;
}

static void draft_note(struct draft *draft, const char name[4], uint32_t type,
		       const void *contents, size_t size, uint64_t address)
{
	uint8_t *note = draft_section(
		draft, (Elf64_Shdr){
			       .sh_type = SHT_NOTE,
			       .sh_flags = address ? SHF_ALLOC : 0,
			       .sh_addr = address ? address - NOTE_START : 0,
			       .sh_size = NOTE_START + ((size + 3) & ~(size_t)3),
			       .sh_addralign = 4,
		       });
	const Elf64_Nhdr header = {4, (Elf64_Word)size, type};

	if (!note || !size)
		return;
	memcpy(note, &header, sizeof(header));
	memcpy(note + sizeof(header), name, 4);
	memcpy(note + NOTE_START, contents, size);
}

/* Returns the number of the section with the symbol; SHN_ABS if it is in none. */
static uint16_t section_of(const struct plain *plain, const struct plain_symbol *symbol)
{
	for (size_t i = 0; i < plain->code_count; i++)
		if (symbol->start - plain->code[i].address < plain->code[i].size)
			return (uint16_t)(i + 1);
	return SHN_ABS;
}

static void draft_symbols(struct draft *draft, const struct plain *plain)
{
	size_t names_size = 1, at = 1;
	Elf64_Sym *symbols;
	char *names;

	for (size_t i = 0; i < plain->symbol_count; i++)
		names_size += plain->symbols[i].length + 1u;
	symbols = draft_section(
		draft, (Elf64_Shdr){
			       .sh_type = SHT_SYMTAB,
			       .sh_size = (plain->symbol_count + 1) * sizeof(*symbols),
			       .sh_link = (Elf64_Word)draft->sections + 1,
			       .sh_entsize = sizeof(*symbols),
			       .sh_addralign = 8,
		       });
	names = draft_section(draft,
			      (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_size = names_size});
	for (size_t i = 0; draft->data && i < plain->symbol_count; i++) {
		const struct plain_symbol *symbol = &plain->symbols[i];

		symbols[i + 1] = (Elf64_Sym){
			.st_name = (Elf64_Word)at,
			.st_info = symbol->info,
			.st_shndx = section_of(plain, symbol),
			.st_value = symbol->start,
			.st_size = symbol->size,
		};
		memcpy(names + at, symbol->name, symbol->length);
		at += symbol->length + 1u;
	}
}

/* Adds the segments: the start of the image, and those with code. */
static void put_segments(Elf64_Phdr *segment, const struct plain *plain)
{
	segment[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R,
		.p_vaddr = plain->image,
		.p_align = 1,
	};
	for (size_t i = 0; i < plain->segment_count; i++)
		segment[i + 1] = (Elf64_Phdr){
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = plain->segments[i].offset,
			.p_vaddr = plain->segments[i].address,
			.p_memsz = plain->segments[i].size,
			.p_align = 1,
		};
}

/* Adds all contents; draft->data, if it is not NULL, has room for them, filled with 0. */
static void draft_make(struct draft *draft, const struct plain *plain)
{
	size_t sections = plain->code_count + 5; /* with an empty one and two notes */
	size_t segments = draft_extend(draft, sizeof(Elf64_Ehdr)), table;
	Elf64_Ehdr head = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = plain->machine,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(head),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = (Elf64_Half)(plain->segment_count + 1),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = (Elf64_Half)sections,
	};

	segments = draft_extend(draft, head.e_phnum * sizeof(Elf64_Phdr));
	table = draft_extend(draft, sections * sizeof(Elf64_Shdr));
	head.e_phoff = segments;
	head.e_shoff = table;
	if (draft->data) {
		memcpy(draft->data, &head, sizeof(head));
		put_segments((Elf64_Phdr *)(draft->data + segments), plain);
		draft->section = (Elf64_Shdr *)(draft->data + table);
	}
	draft->sections = 1;
	for (size_t i = 0; i < plain->code_count; i++) {
		const struct code_range *code = &plain->code[i];
		void *to = draft_section(draft,
					 (Elf64_Shdr){
						 .sh_type = SHT_PROGBITS,
						 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
						 .sh_addr = code->address,
						 .sh_size = code->size,
						 .sh_addralign = 1,
					 });

		if (to)
			memcpy(to, code->bytes, code->size);
	}
	draft_note(draft, "GNU", NT_GNU_BUILD_ID, plain->build_id, plain->build_id_size,
		   plain->build_id_address);
	draft_note(draft, "Xen", NOTE_HYPERCALL_PAGE, &plain->hypercall_page,
		   plain->hypercall_page ? sizeof(plain->hypercall_page) : 0, 0);
	draft_symbols(draft, plain);
}

int plain_write(const struct plain *plain, void **data, size_t *size, struct error *err)
{
	struct draft draft = {0};

	draft_make(&draft, plain);
	*size = draft.size;
	*data = draft.data = calloc(1, *size);
	if (!draft.data)
		return error_set(err, "out of memory");
	draft.size = 0;
	draft_make(&draft, plain);
	return 0;
}
