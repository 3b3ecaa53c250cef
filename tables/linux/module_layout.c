/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/linux/module_layout.h"

#include "symbols/elf/section.h"
#include "tables/linux/btf.h"

static const char module[] = "module";

/* A member of a struct that is a member of struct module. */
static bool find_inner(const struct btf *btf, const char *outer, const char *type,
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
static bool find_code(struct module_layout *layout, const struct btf *btf)
{
	static const char core[] = "core_layout", type[] = "module_layout";
	static const char pieces[] = "mem", piece[] = "module_memory";

	return (find_inner(btf, core, type, "base", &layout->base) &&
		find_inner(btf, core, type, "text_size", &layout->size)) ||
	       (find_inner(btf, pieces, piece, "base", &layout->base) &&
		find_inner(btf, pieces, piece, "size", &layout->size));
}

static bool find_members(struct module_layout *layout, const struct btf *btf)
{
	static const char arch[] = "arch", type[] = "mod_arch_specific";

	return btf_member(btf, module, "list", &layout->list) &&
	       btf_member(btf, module, "state", &layout->state) &&
	       btf_member(btf, module, "name", &layout->name) && find_code(layout, btf) &&
	       find_inner(btf, arch, type, "num_orcs", &layout->orcs) &&
	       find_inner(btf, arch, type, "orc_unwind_ip", &layout->ips) &&
	       find_inner(btf, arch, type, "orc_unwind", &layout->rows);
}

static bool find_in(struct module_layout *layout, Elf *elf, size_t size)
{
	struct section_bytes types = {0};
	struct btf btf = {0};
	GElf_Shdr header;
	bool found = section_read(elf, size, ".BTF", &header, &types) == 0 &&
		     types.data && btf_open(&btf, types.data, types.size) &&
		     find_members(layout, &btf) && module_layout_is_valid(layout);

	btf_close(&btf);
	section_free(&types);
	return found;
}

bool module_layout_find(struct module_layout *layout, const void *data, size_t size)
{
	bool found;
	Elf *elf;

	*layout = (struct module_layout){0};
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)(uintptr_t)data, size);
	found = elf && find_in(layout, elf, size);
	elf_end(elf);
	return found;
}

bool module_layout_is_valid(const struct module_layout *layout)
{
	return layout->list && layout->list <= MODULE_ALIGN - 16 &&
	       layout->list % 8 == 0 && layout->state < MODULE_OFFSET_MAX &&
	       layout->name < MODULE_OFFSET_MAX && layout->base < MODULE_OFFSET_MAX &&
	       layout->size < MODULE_OFFSET_MAX && layout->orcs < MODULE_OFFSET_MAX &&
	       layout->ips < MODULE_OFFSET_MAX && layout->rows < MODULE_OFFSET_MAX;
}
