/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/linux/layout.h"

#include <string.h>

#include "format/buffer.h"
#include "symbols/elf/section.h"
#include "tables/linux/btf.h"

/*
 * A row of __ksymtab or __ksymtab_gpl: the distances of a symbol, of its name and of its
 * namespace from the fields of the row itself (Linux 5.4 and later,
 * include/linux/export-internal.h).
 */
#define ROW_SIZE 12
#define NAME_AT	 4

/* A section that was read, and its address. */
struct part {
	struct section_bytes bytes;
	GElf_Shdr header;
};

static bool read_part(struct part *part, Elf *elf, size_t size, const char *name)
{
	return section_read(elf, size, name, &part->header, &part->bytes) == 0 &&
	       part->bytes.data;
}

static uint64_t relative(uint64_t address, const uint8_t *distance)
{
	return address + (uint64_t)(int64_t)(int32_t)get_le32(distance);
}

static bool find_in(const struct part *rows, const struct part *names, const char *name,
		    uint64_t *address)
{
	size_t length = strlen(name) + 1;

	for (size_t at = 0; rows->bytes.size - at >= ROW_SIZE; at += ROW_SIZE) {
		const uint8_t *row = rows->bytes.data + at;
		uint64_t place = rows->header.sh_addr + at;
		uint64_t text = relative(place + NAME_AT, row + NAME_AT) -
				names->header.sh_addr;

		if (text > names->bytes.size || length > names->bytes.size - text ||
		    memcmp(names->bytes.data + text, name, length) != 0)
			continue;
		*address = relative(place, row);
		return true;
	}
	return false;
}

/* The symbols that the kernel exports. */
struct exports {
	struct part rows, gpl_rows, names;
};

static bool find_export(const struct exports *exports, const char *name,
			uint64_t *address)
{
	return find_in(&exports->rows, &exports->names, name, address) ||
	       find_in(&exports->gpl_rows, &exports->names, name, address);
}

/* From Linux 6.2 to 6.14, the task is in a struct with other variables of the CPU. */
static bool find_current(struct task_layout *layout, const struct exports *exports,
			 const struct btf *btf)
{
	uint64_t hot, offset;

	if (find_export(exports, "current_task", &layout->current))
		return true;
	if (!find_export(exports, "pcpu_hot", &hot) ||
	    !btf_member(btf, "pcpu_hot", "current_task", &offset))
		return false;
	layout->current = hot + offset;
	return true;
}

static bool find_members(struct task_layout *layout, const struct btf *btf)
{
	static const char task[] = "task_struct";

	return btf_member(btf, task, "tgid", &layout->tgid) &&
	       btf_member(btf, task, "comm", &layout->comm) &&
	       btf_member(btf, task, "group_leader", &layout->group_leader) &&
	       btf_member(btf, task, "mm", &layout->mm) &&
	       btf_member(btf, "mm_struct", "pgd", &layout->pgd);
}

static bool find_all(struct task_layout *layout, Elf *elf, size_t size)
{
	struct exports exports = {0};
	struct part types = {0};
	struct btf btf = {0};
	bool found;

	/* One of the lists of symbols may be missing. */
	read_part(&exports.rows, elf, size, "__ksymtab");
	read_part(&exports.gpl_rows, elf, size, "__ksymtab_gpl");
	found = read_part(&exports.names, elf, size, "__ksymtab_strings") &&
		find_export(&exports, "__per_cpu_offset", &layout->per_cpu) &&
		read_part(&types, elf, size, ".BTF") &&
		btf_open(&btf, types.bytes.data, types.bytes.size) &&
		find_current(layout, &exports, &btf) && find_members(layout, &btf);
	btf_close(&btf);
	section_free(&types.bytes);
	section_free(&exports.names.bytes);
	section_free(&exports.gpl_rows.bytes);
	section_free(&exports.rows.bytes);
	return found && task_layout_is_valid(layout);
}

bool task_layout_find(struct task_layout *layout, const void *data, size_t size)
{
	bool found;
	Elf *elf;

	*layout = (struct task_layout){0};
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)(uintptr_t)data, size);
	found = elf && find_all(layout, elf, size);
	elf_end(elf);
	return found;
}

bool task_layout_is_valid(const struct task_layout *layout)
{
	return layout->per_cpu && layout->tgid < TASK_OFFSET_MAX &&
	       layout->comm < TASK_OFFSET_MAX && layout->group_leader < TASK_OFFSET_MAX &&
	       layout->mm < TASK_OFFSET_MAX && layout->pgd < TASK_OFFSET_MAX;
}
