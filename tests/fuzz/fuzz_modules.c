/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Linux guests with arbitrary modules. The first 16 frames, of 4 KiB, are mapped to the
 * addresses of modules again and again. The input is
 *
 *   an address in the chain, of 2 bytes, from MODULES_START on,
 *   and the guest's memory: words of 8 bytes, each after 2 bytes with its position
 *   (the rest is 0).
 *
 * Two rounds look at it; before the second one, a word is changed.
 */

#include "record/linux/module_list.h"
#include "record/linux/modules.h"
#include "tests/fuzz/guest.h"

static const struct module_layout layout = {.list = 8,
					    .state = 0,
					    .name = 24,
					    .base = 32,
					    .size = 40,
					    .orcs = 44,
					    .ips = 48,
					    .rows = 56};

/* The page tables are made up here, in front of the input's memory: all entries of each
 * table lead to the same next one, and those of the last to the frames in turn. */
static const void *page(void *context, uint64_t frame)
{
	static uint64_t table[GUEST_PAGE_SIZE / 8];
	const uint64_t tables = 0x1000; /* the frame of the first one */

	if (frame < tables || frame > tables + 3)
		return guest_page(context, frame);
	for (uint64_t i = 0; i < GUEST_PAGE_SIZE / 8; i++)
		table[i] = (frame == tables + 3 ? i % FRAMES : frame + 1)
				   << GUEST_PAGE_SHIFT |
			   1;
	return table;
}

static void look(struct modules *modules, const struct cpu *cpu,
		 const struct guest_memory *memory, uint64_t address)
{
	uint64_t addresses[] = {address, address + 0x1000};
	const struct chain chain = {.address = addresses, .count = 2};
	const struct unwind_table *table;

	for (unsigned int i = 0; i < 2; i++)
		modules_look(modules, cpu, memory, &chain, i);
	table = modules_table(modules);
	if (!table)
		return;
	check(!unwind_table_find(table, MODULES_START - 1));
	check(!unwind_table_find(table, MODULES_END));
	unwind_table_find(table, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	const struct guest_memory memory = {.page = page, .context = &guest};
	const struct cpu cpu = {.family = CPU_FAMILY_X86,
				.x86 = {.cr0 = X86_CR0_PE | X86_CR0_PG,
					.cr3 = 0x1000 << GUEST_PAGE_SHIFT,
					.cr4 = X86_CR4_PAE,
					.efer = X86_EFER_LMA}};
	struct modules *modules = modules_new(&layout);
	uint64_t address = MODULES_START + take(&data, &size, 2);

	check(modules != NULL);
	fill_memory(&guest, data, size, false);
	look(modules, &cpu, &memory, address);
	memset(guest.memory + address % MEMORY / 8 * 8, 0, 8);
	look(modules, &cpu, &memory, address + 0x10000);
	modules_free(modules);
	free(guest.page);
	guest.page = NULL;
	return 0;
}
