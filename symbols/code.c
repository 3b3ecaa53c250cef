/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/code.h"

#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>

#include "arch/after_call.h"

struct part {
	uint64_t address, offset, size;
};

/* Adds a range of code, as far as it lies within the file. */
static void add_part(struct code *code, const void *data, size_t size,
		     const struct part *part)
{
	if (!part->size || part->offset > size || part->size > size - part->offset ||
	    part->address + (part->size - 1) < part->address)
		return;
	code->list[code->count++] = (struct code_range){
		.address = part->address,
		.size = part->size,
		.bytes = (const uint8_t *)data + part->offset,
	};
}

static void add_sections(struct code *code, Elf *elf, const void *data, size_t size)
{
	GElf_Shdr header;
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &header)) {
		struct part part = {header.sh_addr, header.sh_offset, header.sh_size};

		if (header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_ALLOC) &&
		    (header.sh_flags & SHF_EXECINSTR) &&
		    !(header.sh_flags & SHF_COMPRESSED))
			add_part(code, data, size, &part);
	}
}

static void add_segments(struct code *code, Elf *elf, const void *data, size_t size,
			 size_t count)
{
	GElf_Phdr header;

	for (size_t i = 0; i < count && gelf_getphdr(elf, (int)i, &header); i++) {
		struct part part = {header.p_vaddr, header.p_offset, header.p_filesz};

		if (header.p_type == PT_LOAD && (header.p_flags & PF_X))
			add_part(code, data, size, &part);
	}
}

static int compare_ranges(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

void code_read(struct code *code, const void *data, size_t size)
{
	Elf *elf = elf_memory((char *)(uintptr_t)data, size);
	size_t sections = 0, segments = 0;
	GElf_Ehdr header;

	*code = (struct code){0};
	if (!elf || !gelf_getehdr(elf, &header) || elf_getshdrnum(elf, &sections) ||
	    elf_getphdrnum(elf, &segments))
		goto out;
	code->kind = cpu_kind_of_elf(header.e_machine);
	code->list = calloc(sections + segments + 1, sizeof(*code->list));
	if (!code->list)
		goto out;
	add_sections(code, elf, data, size);
	/* Segments may also contain data, but without sections there is nothing better.
	 */
	if (!sections)
		add_segments(code, elf, data, size, segments);
	qsort(code->list, code->count, sizeof(*code->list), compare_ranges);
out:
	elf_end(elf);
}

void code_free(struct code *code)
{
	free(code->list);
	*code = (struct code){0};
}

/* Returns the last range that starts before @address, if it contains the byte before
 * @address; else NULL. */
static const struct code_range *find_range(const struct code *code, uint64_t address)
{
	size_t from = 0, to = code->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (code->list[middle].address < address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || address - code->list[from - 1].address > code->list[from - 1].size)
		return NULL;
	return &code->list[from - 1];
}

enum symbols_call code_before(const struct code *code, uint64_t address)
{
	uint64_t place = code->kind == CPU_ARM32 ? address & ~(uint64_t)1 : address;
	const struct code_range *range = find_range(code, place);
	size_t count;

	if (!range || code->kind == CPU_UNKNOWN)
		return SYMBOLS_CALL_UNKNOWN;
	count = (size_t)(place - range->address);
	return cpu_kind_is_after_call(code->kind, range->bytes + count, count, place)
		       ? SYMBOLS_CALL_THERE
		       : SYMBOLS_CALL_MISSING;
}
