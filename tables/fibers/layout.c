/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/fibers/layout.h"

#include <gelf.h>
#include <string.h>

#include "symbols/elf/section.h"
#include "tables/fibers/description.h"
#include "tables/fibers/types.h"

/* Maximum number of CPUs whose threads are known */
#define CURRENTS_MAX 64

/* A symbol that descriptions name. */
struct symbol {
	uint64_t address, size;
	unsigned int count; /* of symbols with the name */
};

/* A file, and what is known of it. */
struct source {
	Elf *elf;
	size_t size;
	uint16_t machine;
	Elf_Data *symbols, *names;
	size_t symbol_count;
	struct fiber_types *types; /* NULL: no DWARF */
};

/* Finds the table of all symbols. */
static bool find_symbols(struct source *source)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, names;

	while ((section = elf_nextscn(source->elf, section))) {
		Elf_Scn *other;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB)
			continue;
		other = elf_getscn(source->elf, header.sh_link);
		if (!other || !gelf_getshdr(other, &names) ||
		    !section_is_inside(&header, source->size) ||
		    !section_is_inside(&names, source->size) || !header.sh_entsize)
			return false;
		source->symbols = elf_getdata(section, NULL);
		source->names = elf_getdata(other, NULL);
		source->symbol_count = header.sh_size / header.sh_entsize;
		return source->symbols && source->names && source->names->d_buf;
	}
	return false;
}

/* Finds the variable or function with the name. False if there is none, or several. */
static bool find_symbol(const struct source *source, const char *name,
			struct symbol *found)
{
	size_t length = strlen(name) + 1;

	*found = (struct symbol){0};
	for (size_t i = 0; i < source->symbol_count; i++) {
		GElf_Sym symbol;
		unsigned int type;

		if (!gelf_getsym(source->symbols, (int)i, &symbol) ||
		    symbol.st_name >= source->names->d_size ||
		    length > source->names->d_size - symbol.st_name ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		type = GELF_ST_TYPE(symbol.st_info);
		if ((type != STT_OBJECT && type != STT_FUNC && type != STT_NOTYPE) ||
		    memcmp((const char *)source->names->d_buf + symbol.st_name, name,
			   length) != 0)
			continue;
		found->address = symbol.st_value;
		found->size = symbol.st_size;
		found->count++;
	}
	return found->count == 1 && found->address;
}

/* Sets the number of a row. False if the file lacks it. */
static bool set_row(const struct source *source, const struct description_row *row,
		    struct fiber_layout *layout)
{
	uint64_t number = row->number;
	struct symbol symbol;

	if (row->symbol[0]) {
		if (!find_symbol(source, row->symbol, &symbol))
			return false;
		number = symbol.address;
		if (row->at == offsetof(struct fiber_layout, current))
			layout->currents = symbol.size / 8 < CURRENTS_MAX
						   ? symbol.size / 8
						   : CURRENTS_MAX;
	} else if (row->type[0] && source->types &&
		   !fiber_types_member(source->types, row->type, row->member, &number)) {
		return false;
	}
	memcpy((char *)layout + row->at, &number, sizeof(number));
	return true;
}

static bool has_member(const struct source *source, const struct description_row *row)
{
	uint64_t offset;

	return fiber_types_member(source->types, row->type, row->member, &offset);
}

/* Makes the layout of a file by a description. False if it is not of the file's system
 * and version. */
static bool make_layout(const struct source *source,
			const struct description *description,
			struct fiber_layout *layout)
{
	const uint64_t *frame = source->machine == EM_AARCH64 ? description->frame_arm64
							      : description->frame_x86;

	*layout = (struct fiber_layout){
		.sched_list = FIBER_NONE,
		.sched_next = FIBER_NONE,
		.current = FIBER_NONE,
		.wakeup = FIBER_NONE,
		.runtime = FIBER_NONE,
	};
	memcpy(layout->frame, frame, sizeof(layout->frame));
	if (source->types &&
	    ((description->needs.type[0] && !has_member(source, &description->needs)) ||
	     (description->lacks.type[0] && has_member(source, &description->lacks))))
		return false;
	for (size_t i = 0; i < description->rows; i++)
		if (!set_row(source, &description->row[i], layout))
			return false;
	return fiber_layout_is_valid(layout);
}

/* Whether the file's DWARF has the system's threads: files can have DWARF of a part of
 * their code only. */
static bool are_types_known(const struct source *source,
			    const struct description *description)
{
	return source->types && description->needs.type[0] &&
	       fiber_types_have(source->types, description->needs.type);
}

static size_t find_layouts(struct source *source,
			   struct fiber_layout layouts[FIBER_LAYOUTS])
{
	struct description_text text = descriptions();
	struct description description;
	struct error ignored;
	size_t count = 0;

	while (count < FIBER_LAYOUTS &&
	       description_read(&text, &description, &ignored) == 1) {
		struct source by;
		struct symbol symbol;

		/* Looking for structs takes longest. */
		if (!description.rows || !description.row[0].symbol[0] ||
		    !find_symbol(source, description.row[0].symbol, &symbol))
			continue;
		if (!source->types)
			source->types = fiber_types_open(source->elf);
		by = *source;
		if (!are_types_known(source, &description))
			by.types = NULL;
		if (!make_layout(&by, &description, &layouts[count]))
			continue;
		count++;
		if (by.types)
			break;
	}
	return count;
}

size_t fiber_layouts_find(struct fiber_layout layouts[FIBER_LAYOUTS],
			  const struct fiber_file *file)
{
	struct source source = {.size = file->size};
	GElf_Ehdr header;
	size_t count = 0;

	elf_version(EV_CURRENT);
	source.elf = elf_memory((char *)(uintptr_t)file->data, file->size);
	if (source.elf && gelf_getehdr(source.elf, &header) &&
	    gelf_getclass(source.elf) == ELFCLASS64 &&
	    (header.e_machine == EM_X86_64 || header.e_machine == EM_AARCH64) &&
	    find_symbols(&source)) {
		source.machine = header.e_machine;
		count = find_layouts(&source, layouts);
		fiber_types_close(source.types);
	}
	elf_end(source.elf);
	return count;
}

static bool is_offset(uint64_t number)
{
	return number < FIBER_OFFSET_MAX;
}

static bool is_offset_or_none(uint64_t number)
{
	return is_offset(number) || number == FIBER_NONE;
}

/* Whether the frame says where the thread goes on; other numbers are no registers. */
static bool is_frame(const uint64_t frame[FIBER_FRAME])
{
	bool has_return = false, is_over = false;

	for (size_t i = 0; i < FIBER_FRAME; i++) {
		uint64_t number = frame[i];

		if (number > FIBER_RETURN_ARM64 + 1 && number != FIBER_SKIP)
			return false;
		/* Only zeros follow the first one. */
		if (is_over && number)
			return false;
		is_over = !number;
		has_return |= number == FIBER_RETURN_X86 + 1 ||
			      number == FIBER_RETURN_ARM64 + 1;
	}
	return has_return;
}

bool fiber_layout_is_valid(const struct fiber_layout *layout)
{
	bool has_current = layout->current != FIBER_NONE;
	uint64_t size = layout->stack_size;

	return layout->list && layout->switch_code && layout->currents <= CURRENTS_MAX &&
	       /* What both take together would be too much to read at once. */
	       (has_current || layout->sched_list == FIBER_NONE) &&
	       (has_current ? layout->currents > 0
			    : size >= 4096 && size <= 1u << 24 && !(size & (size - 1))) &&
	       is_offset_or_none(layout->sched_list) &&
	       is_offset_or_none(layout->sched_next) && is_offset(layout->link) &&
	       is_offset(layout->name) && is_offset(layout->flags) &&
	       is_offset(layout->sp) && is_offset(layout->ip) &&
	       is_offset(layout->stack) && is_offset_or_none(layout->wakeup) &&
	       is_offset_or_none(layout->runtime) && layout->runnable <= UINT32_MAX &&
	       layout->exited <= UINT32_MAX && is_frame(layout->frame);
}
