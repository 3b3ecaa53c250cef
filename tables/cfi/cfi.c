/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/cfi/parts.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/elf/elf.h"
#include "symbols/elf/section.h"

/* .eh_frame and .debug_frame: common entries, and a description of each function that
 * refers to one of them (DWARF, section 6.4.1; LSB Core 5.0, section 10.6.1). */

/* From DWARF's order of registers to that of instructions (arch/arch.h). */
static const uint8_t x86_64_order[] = {0, 2, 1,	 3,  6,	 7,  5,	 4,
				       8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t arm64_order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,
				      10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
				      20, 21, 22, 23, 24, 25, 26, 27, 28};
static const struct cfi_machine machine_x86_64 = {
	.sp = 7, .fp = 6, .others = x86_64_order, .other_count = sizeof(x86_64_order)};
static const struct cfi_machine machine_arm64 = {.sp = 31,
						 .fp = 29,
						 .has_link = true,
						 .others = arm64_order,
						 .other_count = sizeof(arm64_order)};

/* A file being read. */
struct reading {
	struct cfi_section section;
	struct code_range {
		uint64_t start, end;
	} * code; /* executable sections */
	size_t code_count;
	struct cfi_common *common; /* of the section, by offset */
	size_t common_count, common_room;
	struct cfi_function function;
};

/* An entry's header. */
struct entry {
	size_t at;
	struct cursor body; /* after the length */
	bool is_wide;	    /* 64-bit DWARF */
	bool is_cut;	    /* longer than the section: there is no entry */
	size_t id_at;
	uint64_t id; /* 0 or all ones: a common entry; else refers to one */
};

/* Takes the entry at *@at, and moves *@at to the next one; false at the end. */
static bool take_entry(const struct cfi_section *section, size_t *at, struct entry *entry)
{
	struct cursor rest = {section->data + *at, section->data + section->size, false};
	uint64_t length;

	/* Linkers may leave the ends of their inputs' sections, entries of length 0. */
	do {
		entry->at = (size_t)(rest.at - section->data);
		length = cfi_fixed(&rest, 4);
	} while (!length && !rest.failed);
	*entry = (struct entry){.at = entry->at, .is_wide = length == UINT32_MAX};
	if (entry->is_wide)
		length = cfi_fixed(&rest, 8);
	if (rest.failed)
		return false;
	entry->body = cursor_take(&rest, length);
	entry->is_cut = rest.failed;
	if (entry->is_cut)
		return false;
	*at = (size_t)(rest.at - section->data);
	entry->id_at = (size_t)(entry->body.at - section->data);
	/* .eh_frame has an id of 32 bits even with a 64-bit length. */
	entry->id = cfi_fixed(&entry->body, entry->is_wide && !section->is_eh ? 8 : 4);
	return true;
}

static bool is_common(const struct cfi_section *section, const struct entry *entry)
{
	if (section->is_eh)
		return entry->id == 0;
	return entry->id == (entry->is_wide ? UINT64_MAX : UINT32_MAX);
}

/* The augmentation, whose letters tell what its data is (LSB Core 5.0, 10.6.1.1.1). */
static bool take_augmentation(struct cursor *body, const char *letters,
			      struct cfi_common *common)
{
	struct cursor data;
	uint64_t ignored;

	common->has_data = letters[0] == 'z';
	if (!common->has_data)
		return !letters[0];
	data = cursor_take(body, cursor_varint(body));
	for (letters++; *letters; letters++) {
		uint8_t encoding;

		switch (*letters) {
		case 'R':
			common->encoding = (uint8_t)cfi_fixed(&data, 1);
			break;
		case 'L': /* how functions refer to their exception tables */
			cfi_fixed(&data, 1);
			break;
		case 'P': /* the function that handles exceptions */
			encoding = (uint8_t)cfi_fixed(&data, 1);
			if (encoding != CFI_OMITTED &&
			    !cfi_number(&data, encoding, &ignored))
				return false;
			break;
		case 'S':
			common->is_signal = true;
			break;
		case 'B': /* AArch64: the other key signs return addresses */
		case 'G': /* AArch64: tagged stack memory */
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

static bool take_common(const struct cfi_section *section, const struct entry *entry,
			struct cfi_common *common)
{
	struct cursor body = entry->body;
	uint8_t version = (uint8_t)cfi_fixed(&body, 1);
	const char *letters = (const char *)body.at;
	const uint8_t *end = memchr(body.at, 0, (size_t)(body.end - body.at));

	*common = (struct cfi_common){.at = entry->at};
	if ((version != 1 && version != 3 && version != 4) || !end)
		return false;
	body.at = end + 1;
	/* The sizes of an address and of a segment's number. */
	if (version == 4 && cfi_fixed(&body, 2) != 8)
		return false;
	common->code_factor = cursor_varint(&body);
	common->data_factor = cfi_signed(&body);
	common->caller = version == 1 ? cfi_fixed(&body, 1) : cursor_varint(&body);
	if (body.failed || !take_augmentation(&body, letters, common) || body.failed)
		return false;
	return cfi_run_common(section, common, body);
}

/* Lists the common entries, before any function is read: in .debug_frame, they may be
 * after the functions that refer to them. -1 if out of memory. */
static int list_common(struct reading *reading)
{
	const struct cfi_section *section = &reading->section;
	struct entry entry;

	reading->common_count = 0;
	for (size_t at = 0; take_entry(section, &at, &entry);) {
		struct cfi_common common;

		if (!is_common(section, &entry))
			continue;
		if (!take_common(section, &entry, &common)) {
			reading->function.summary->damaged++;
			continue;
		}
		if (reading->common_count == reading->common_room) {
			size_t room = reading->common_room * 2 + 16;

			if (!array_grow(&reading->common, room, sizeof(common)))
				return -1;
			reading->common_room = room;
		}
		reading->common[reading->common_count++] = common;
	}
	reading->function.summary->damaged += entry.is_cut;
	return 0;
}

static const struct cfi_common *find_common(const struct reading *reading, size_t at)
{
	size_t from = 0, to = reading->common_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (reading->common[middle].at < at)
			from = middle + 1;
		else
			to = middle;
	}
	if (from == reading->common_count || reading->common[from].at != at)
		return NULL;
	return &reading->common[from];
}

static bool is_code(const struct reading *reading, uint64_t start, uint64_t end)
{
	size_t from = 0, to = reading->code_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (reading->code[middle].start <= start)
			from = middle + 1;
		else
			to = middle;
	}
	return from && end <= reading->code[from - 1].end;
}

static enum cfi_result read_function(struct reading *reading, const struct entry *entry)
{
	const struct cfi_section *section = &reading->section;
	struct cfi_function *function = &reading->function;
	struct cursor body = entry->body;
	/* .eh_frame: the distance back from here; .debug_frame: an offset */
	size_t at = section->is_eh ? entry->id_at - (size_t)entry->id : (size_t)entry->id;
	const struct cfi_common *common = find_common(reading, at);
	uint64_t start, size;

	if (!common || !cfi_address(section, &body, common->encoding, &start) ||
	    !cfi_number(&body, common->encoding, &size))
		return CFI_DAMAGED;
	if (common->has_data)
		cursor_take(&body, cursor_varint(&body));
	if (body.failed)
		return CFI_DAMAGED;
	if (start + size < start || !size || !is_code(reading, start, start + size))
		return CFI_DONE;
	function->common = common;
	function->start = start;
	function->end = start + size;
	function->summary->functions++;
	return cfi_run(function, body);
}

/* Reads all entries. -1 if out of memory, or over the limits of tables. */
static int read_entries(struct reading *reading)
{
	struct entry entry;

	if (list_common(reading))
		return -1;
	for (size_t at = 0; take_entry(&reading->section, &at, &entry);) {
		if (is_common(&reading->section, &entry))
			continue;
		switch (read_function(reading, &entry)) {
		case CFI_DONE:
			break;
		case CFI_DAMAGED:
			reading->function.summary->damaged++;
			break;
		case CFI_FULL:
			return -1;
		}
	}
	return 0;
}

static int compare_code(const void *left, const void *right)
{
	const struct code_range *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Sorts the sections and joins sections that touch or overlap. */
static void join_code(struct reading *reading)
{
	struct code_range *code = reading->code;
	size_t joined = 0;

	qsort(code, reading->code_count, sizeof(*code), compare_code);
	for (size_t i = 0; i < reading->code_count; i++) {
		if (!joined || code[i].start > code[joined - 1].end)
			code[joined++] = code[i];
		else if (code[i].end > code[joined - 1].end)
			code[joined - 1].end = code[i].end;
	}
	reading->code_count = joined;
}

/* Lists the executable sections; debug files have their headers, too. */
static bool list_code(struct reading *reading, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr header;
	size_t count;

	if (elf_getshdrnum(elf, &count))
		return false;
	reading->code = calloc(count + 1, sizeof(*reading->code));
	if (!reading->code)
		return false;
	while ((scn = elf_nextscn(elf, scn)) && gelf_getshdr(scn, &header)) {
		if (!(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_addr + header.sh_size < header.sh_addr)
			continue;
		reading->code[reading->code_count++] = (struct code_range){
			header.sh_addr, header.sh_addr + header.sh_size};
	}
	join_code(reading);
	return true;
}

static int read_section(struct reading *reading, Elf *elf, const char *path,
			const char *name, size_t size, struct error *err)
{
	struct section_bytes bytes;
	GElf_Shdr header;
	int status = 0;

	if (section_read(elf, size, name, &header, &bytes))
		return error_set(err, "%s: cannot read its section %s; copy it again",
				 path, name);
	if (bytes.data) {
		reading->section.data = bytes.data;
		reading->section.size = bytes.size;
		reading->section.address = header.sh_addr;
		reading->section.is_eh = strcmp(name, ".eh_frame") == 0;
		status = read_entries(reading);
	}
	section_free(&bytes);
	if (status)
		error_set(err, "%s: too much call frame information", path);
	return status;
}

static const struct cfi_machine *machine_of(unsigned int machine)
{
	switch (machine) {
	case EM_X86_64:
		return &machine_x86_64;
	case EM_AARCH64:
		return &machine_arm64;
	}
	return NULL;
}

/* Checks that the file can have rules, before it is read. */
static int check_file(struct reading *reading, Elf *elf, const char *path,
		      const struct symbols_elf *about, struct error *err)
{
	const char *identity = elf_getident(elf, NULL);

	reading->section.machine = machine_of(about->machine);
	if (!reading->section.machine || !identity || identity[EI_CLASS] != ELFCLASS64 ||
	    identity[EI_DATA] != ELFDATA2LSB)
		return error_set(err, "%s is not for x86-64 or little-endian AArch64",
				 path);
	if (!list_code(reading, elf))
		return error_set(err, "%s: out of memory", path);
	return 0;
}

int unwind_table_add_cfi(struct unwind_builder *builder, const char *path,
			 const void *data, size_t size, uint64_t offset,
			 struct cfi_summary *summary, struct error *err)
{
	struct reading reading = {
		.function = {.offset = offset, .builder = builder, .summary = summary}};
	struct symbols_elf about;
	Elf *elf;
	int status = -1;

	*summary = (struct cfi_summary){0};
	reading.function.section = &reading.section;
	if (symbols_elf_read(data, size, path, NULL, &about, err))
		return -1;
	elf = elf_memory((char *)(uintptr_t)data, size);
	if (!elf)
		return error_set(err, "%s: out of memory", path);
	if (check_file(&reading, elf, path, &about, err) ||
	    read_section(&reading, elf, path, ".eh_frame", size, err) ||
	    read_section(&reading, elf, path, ".debug_frame", size, err))
		goto out;
	if (!summary->functions) {
		error_set(err, "%s has no call frame information", path);
		goto out;
	}
	status = 0;
out:
	elf_end(elf);
	free(reading.code);
	free(reading.common);
	return status;
}
