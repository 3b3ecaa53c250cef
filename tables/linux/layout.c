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

const char *const linux_symbols[LINUX_SYMBOLS] = {
	[LINUX_PER_CPU_OFFSET] = "__per_cpu_offset",
	[LINUX_CURRENT_TASK] = "current_task",
	[LINUX_PCPU_HOT] = "pcpu_hot",
	[LINUX_INIT_TASK] = "init_task",
};

/* A section that was read, and its header, which has its address. */
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

static bool find_in_rows(const struct part *rows, const struct part *names,
			 const char *name, uint64_t *address)
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
	return find_in_rows(&exports->rows, &exports->names, name, address) ||
	       find_in_rows(&exports->gpl_rows, &exports->names, name, address);
}

/* From Linux 6.2 to 6.14, the task is in a struct with other variables of the CPU. */
static bool find_current(struct task_layout *layout,
			 const uint64_t symbols[LINUX_SYMBOLS], const struct btf *btf)
{
	uint64_t offset;

	uint32_t size;

	layout->current = symbols[LINUX_CURRENT_TASK];
	/* On arm64, a register has the task (arch/arm64/include/asm/current.h). */
	if (layout->current || btf_size(btf, "cpu_context", &size))
		return true;
	if (!symbols[LINUX_PCPU_HOT] ||
	    !btf_member(btf, "pcpu_hot", "current_task", &offset))
		return false;
	layout->current = symbols[LINUX_PCPU_HOT] + offset;
	return true;
}

static bool find_task_members(struct task_layout *layout, const struct btf *btf)
{
	static const char task[] = "task_struct";

	return btf_member(btf, task, "tgid", &layout->tgid) &&
	       btf_member(btf, task, "comm", &layout->comm) &&
	       btf_member(btf, task, "group_leader", &layout->group_leader) &&
	       btf_member(btf, task, "mm", &layout->mm) &&
	       btf_member(btf, "mm_struct", "pgd", &layout->pgd);
}

/* The symbols that the kernel exports, and the bytes of the lists. */
static bool read_exports(struct exports *exports, Elf *elf, size_t size)
{
	/* One of the lists of symbols may be missing. */
	read_part(&exports->rows, elf, size, "__ksymtab");
	read_part(&exports->gpl_rows, elf, size, "__ksymtab_gpl");
	return read_part(&exports->names, elf, size, "__ksymtab_strings");
}

static void free_exports(struct exports *exports)
{
	section_free(&exports->names.bytes);
	section_free(&exports->gpl_rows.bytes);
	section_free(&exports->rows.bytes);
}

static bool find_tasks(struct task_layout *layout, const uint64_t symbols[LINUX_SYMBOLS],
		       const struct btf *btf)
{
	layout->per_cpu = symbols[LINUX_PER_CPU_OFFSET];
	return find_current(layout, symbols, btf) && find_task_members(layout, btf) &&
	       task_layout_is_valid(layout);
}

static bool find_frame(struct thread_layout *layout, const struct btf *btf)
{
	static const char frame[] = "inactive_task_frame";

	return btf_member(btf, frame, "bx", &layout->bx) &&
	       btf_member(btf, frame, "bp", &layout->bp) &&
	       btf_member(btf, frame, "r12", &layout->r12) &&
	       btf_member(btf, frame, "r13", &layout->r13) &&
	       btf_member(btf, frame, "r14", &layout->r14) &&
	       btf_member(btf, frame, "r15", &layout->r15) &&
	       btf_member(btf, frame, "ret_addr", &layout->return_address);
}

/* Finds what arm64 keeps of a task that does not run
 * (arch/arm64/include/asm/processor.h).
 */
static bool find_context(struct thread_layout *layout, const struct btf *btf)
{
	static const char type[] = "cpu_context";
	uint64_t context;

	if (!btf_member(btf, "task_struct", "thread.cpu_context", &context) ||
	    !btf_member(btf, type, "x19", &layout->bx) ||
	    !btf_member(btf, type, "fp", &layout->bp) ||
	    !btf_member(btf, type, "sp", &layout->sp) ||
	    !btf_member(btf, type, "pc", &layout->return_address))
		return false;
	layout->bx += context;
	layout->bp += context;
	layout->sp += context;
	layout->return_address += context;
	return true;
}

static bool find_threads(struct thread_layout *layout,
			 const uint64_t symbols[LINUX_SYMBOLS], const struct btf *btf)
{
	static const char task[] = "task_struct";

	layout->init = symbols[LINUX_INIT_TASK];
	return btf_member(btf, task, "tasks", &layout->tasks) &&
	       btf_member(btf, task, "thread_node", &layout->thread_node) &&
	       btf_member(btf, task, "signal", &layout->signal) &&
	       btf_member(btf, "signal_struct", "thread_head", &layout->thread_head) &&
	       btf_member(btf, task, "pid", &layout->pid) &&
	       btf_member(btf, task, "flags", &layout->flags) &&
	       /* until Linux 5.13: state */
	       (btf_member(btf, task, "__state", &layout->state) ||
		btf_member(btf, task, "state", &layout->state)) &&
	       btf_member(btf, task, "exit_state", &layout->exit_state) &&
	       btf_member(btf, task, "on_cpu", &layout->on_cpu) &&
	       btf_member(btf, task, "nvcsw", &layout->switches) &&
	       btf_member(btf, task, "nivcsw", &layout->preemptions) &&
	       btf_member(btf, task, "se.exec_start", &layout->ran) &&
	       ((btf_member(btf, task, "thread.sp", &layout->sp) &&
		 find_frame(layout, btf)) ||
		find_context(layout, btf)) &&
	       thread_layout_is_valid(layout);
}

static const char module[] = "module";

/* A member of a struct that is a member of struct module. */
static bool find_module_member(const struct btf *btf, const char *outer, const char *type,
			       const char *member, uint64_t *offset)
{
	uint64_t inner;

	if (!btf_member(btf, module, outer, offset) ||
	    !btf_member(btf, type, member, &inner))
		return false;
	*offset += inner;
	return true;
}

/* Until Linux 6.3, code and data are in one piece; since then, there is an array of
 * pieces, of which the first one has the code (MOD_TEXT). */
static bool find_module_code(struct module_layout *layout, const struct btf *btf)
{
	static const char core[] = "core_layout", type[] = "module_layout";
	static const char pieces[] = "mem", piece[] = "module_memory";

	return (find_module_member(btf, core, type, "base", &layout->base) &&
		find_module_member(btf, core, type, "text_size", &layout->size)) ||
	       (find_module_member(btf, pieces, piece, "base", &layout->base) &&
		find_module_member(btf, pieces, piece, "size", &layout->size));
}

static bool find_modules(struct module_layout *layout, const struct btf *btf)
{
	static const char arch[] = "arch", type[] = "mod_arch_specific";

	return btf_member(btf, module, "list", &layout->list) &&
	       btf_member(btf, module, "state", &layout->state) &&
	       btf_member(btf, module, "name", &layout->name) &&
	       find_module_code(layout, btf) &&
	       find_module_member(btf, arch, type, "num_orcs", &layout->orcs) &&
	       find_module_member(btf, arch, type, "orc_unwind_ip", &layout->ips) &&
	       find_module_member(btf, arch, type, "orc_unwind", &layout->rows) &&
	       module_layout_is_valid(layout);
}

static const char area[] = "vm_area_struct";

/* Finds the nodes of the tree of mappings, or how mappings are in a list. */
static bool find_mapping_order(struct mapping_layout *layout, const struct btf *btf)
{
	static const char range[] = "maple_range_64", wide[] = "maple_arange_64";

	if (btf_member(btf, "mm_struct", "mm_mt.ma_root", &layout->root)) {
		layout->order = MAPPINGS_IN_TREE;
		return btf_member(btf, range, "pivot", &layout->pivot) &&
		       btf_member(btf, range, "slot", &layout->slot) &&
		       btf_member(btf, wide, "pivot", &layout->wide_pivot) &&
		       btf_member(btf, wide, "slot", &layout->wide_slot);
	}
	layout->order = MAPPINGS_IN_LIST;
	return btf_member(btf, "mm_struct", "mmap", &layout->root) &&
	       btf_member(btf, area, "vm_next", &layout->next);
}

static bool find_mounts(struct mapping_layout *layout, const struct btf *btf)
{
	static const char mount[] = "mount";

	return btf_member(btf, "file", "f_path.mnt", &layout->mnt) &&
	       btf_member(btf, mount, "mnt", &layout->vfsmount) &&
	       btf_member(btf, mount, "mnt_parent", &layout->mount_parent) &&
	       btf_member(btf, mount, "mnt_mountpoint", &layout->mountpoint) &&
	       btf_member(btf, "vfsmount", "mnt_root", &layout->mount_root);
}

static bool find_mappings(struct mapping_layout *layout, const struct btf *btf)
{
	return find_mapping_order(layout, btf) &&
	       btf_member(btf, area, "vm_start", &layout->start) &&
	       btf_member(btf, area, "vm_end", &layout->end) &&
	       btf_member(btf, area, "vm_flags", &layout->flags) &&
	       btf_member(btf, area, "vm_pgoff", &layout->pgoff) &&
	       btf_member(btf, area, "vm_file", &layout->file) &&
	       btf_member(btf, "file", "f_path.dentry", &layout->dentry) &&
	       btf_member(btf, "dentry", "d_parent", &layout->parent) &&
	       btf_member(btf, "dentry", "d_name.name", &layout->name) &&
	       find_mounts(layout, btf) && mapping_layout_is_valid(layout);
}

void linux_layouts_make(struct linux_layouts *layouts, const void *types, size_t size,
			const uint64_t symbols[LINUX_SYMBOLS])
{
	struct btf btf;

	*layouts = (struct linux_layouts){0};
	if (!btf_open(&btf, types, size))
		return;
	if (!find_tasks(&layouts->tasks, symbols, &btf))
		layouts->tasks = (struct task_layout){0};
	if (!find_modules(&layouts->modules, &btf))
		layouts->modules = (struct module_layout){0};
	if (!find_threads(&layouts->threads, symbols, &btf))
		layouts->threads = (struct thread_layout){0};
	if (!find_mappings(&layouts->mappings, &btf))
		layouts->mappings = (struct mapping_layout){0};
	btf_close(&btf);
}

static void find_layouts(struct linux_layouts *layouts, Elf *elf, size_t size)
{
	uint64_t symbols[LINUX_SYMBOLS] = {0};
	struct exports exports = {0};
	struct part types = {0};

	if (read_part(&types, elf, size, ".BTF")) {
		bool any = read_exports(&exports, elf, size);

		for (int i = 0; i < LINUX_SYMBOLS && any; i++)
			find_export(&exports, linux_symbols[i], &symbols[i]);
		linux_layouts_make(layouts, types.bytes.data, types.bytes.size, symbols);
	}
	free_exports(&exports);
	section_free(&types.bytes);
}

void linux_layouts_find(struct linux_layouts *layouts, const void *data, size_t size)
{
	Elf *elf;

	*layouts = (struct linux_layouts){0};
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)(uintptr_t)data, size);
	if (elf)
		find_layouts(layouts, elf, size);
	elf_end(elf);
}

bool task_layout_is_valid(const struct task_layout *layout)
{
	return layout->per_cpu && layout->tgid < TASK_OFFSET_MAX &&
	       layout->comm < TASK_OFFSET_MAX && layout->group_leader < TASK_OFFSET_MAX &&
	       layout->mm < TASK_OFFSET_MAX && layout->pgd < TASK_OFFSET_MAX;
}

bool module_layout_is_valid(const struct module_layout *layout)
{
	return layout->list && layout->list <= MODULE_ALIGN - 16 &&
	       layout->list % 8 == 0 && layout->state < MODULE_OFFSET_MAX &&
	       layout->name < MODULE_OFFSET_MAX && layout->base < MODULE_OFFSET_MAX &&
	       layout->size < MODULE_OFFSET_MAX && layout->orcs < MODULE_OFFSET_MAX &&
	       layout->ips < MODULE_OFFSET_MAX && layout->rows < MODULE_OFFSET_MAX;
}

/* Whether all of these offsets are below the limit. */
static bool are_offsets(const uint64_t *offset, size_t count, uint64_t limit)
{
	for (size_t i = 0; i < count; i++)
		if (offset[i] >= limit)
			return false;
	return true;
}

bool thread_layout_is_valid(const struct thread_layout *layout)
{
	size_t count = (sizeof(*layout) - offsetof(struct thread_layout, tasks)) /
		       sizeof(uint64_t);

	return are_offsets(&layout->tasks, count, TASK_OFFSET_MAX) && layout->init;
}

bool mapping_layout_is_valid(const struct mapping_layout *layout)
{
	size_t count = (sizeof(*layout) - offsetof(struct mapping_layout, root)) /
		       sizeof(uint64_t);

	return are_offsets(&layout->root, count, MAPPING_OFFSET_MAX) &&
	       (layout->order == MAPPINGS_IN_LIST ||
		(layout->order == MAPPINGS_IN_TREE && layout->pivot < layout->slot &&
		 layout->wide_pivot < layout->wide_slot &&
		 layout->slot < MAPPING_NODE_SIZE &&
		 layout->wide_slot < MAPPING_NODE_SIZE));
}
