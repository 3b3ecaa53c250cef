/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * ARM guests with arbitrary contents. Build with -fsanitize=fuzzer,address,undefined and
 * run on tests/fuzz/corpus/arm. The input is
 *
 *   a byte for the mode (see set_mode()),
 *   pc, link register, frame pointer, TCR, TTBR0 and TTBR1, of 8 bytes each,
 *   an address to translate, of 8 bytes,
 *   and the guest's memory: words of 8 bytes, each after 2 bytes with its position
 *   (the rest is 0), or, with the highest bit of the mode, consecutive.
 */

#include "tests/fuzz/guest.h"
#include "tests/fuzz/rules.h"
#include "unwind/unwind.h"

static void set_mode(struct arm_cpu *cpu, unsigned int mode)
{
	cpu->cpsr = mode & 15; /* FIQ, IRQ, supervisor and so on in AArch32 */
	cpu->cpsr |= mode & 16 ? ARM_CPSR_AARCH32 : 0;
	cpu->cpsr |= mode & 32 ? ARM_CPSR_THUMB : 0;
	cpu->sctlr = mode & 64 ? ARM_SCTLR_M : 0;
}

static void check_translation(const struct arm_cpu *cpu,
			      const struct guest_memory *memory, uint64_t address)
{
	struct guest *guest = memory->context;
	uint64_t frame = UINT64_MAX, again = UINT64_MAX;
	enum translation translation;

	guest->calls = 0;
	translation = arm_translate(cpu, memory, address, &frame);
	check(guest->calls <= READ_PAGES_MAX - 1);
	check(translation <= NO_PAGE);
	if (translation != TRANSLATED)
		return;
	/* A physical address has 52 bits. */
	check(frame < (uint64_t)1 << (52 - GUEST_PAGE_SHIFT));
	check(arm_translate(cpu, memory, address ^ 1, &again) == TRANSLATED);
	check(frame == again);
}

static void check_chain(const struct arm_cpu *cpu, const struct unwind_input *input)
{
	struct guest *guest = input->memory.context;
	bool is_aarch32 = cpu->cpsr & ARM_CPSR_AARCH32;
	/* Of the exact size, so that a write beyond it is detected. */
	struct chain chain = {.address = malloc(CHAIN_ROOM * sizeof(uint64_t))};

	check(chain.address != NULL);
	guest->calls = 0;
	arm_unwind(cpu, input, &chain);
	check(guest->calls <= (is_aarch32     ? UNWIND_PAGES_MAX
			       : input->table ? ARM64_TABLE_PAGES_MAX
					      : ARM64_UNWIND_PAGES_MAX));
	check(chain.count >= 1 && chain.count <= CHAIN_MAX);
	check(chain.end < CHAIN_ENDS);
	check(chain.address[0] == cpu->pc);
	for (uint32_t i = 1; i < chain.count; i++) {
		check(chain.address[i] != 0);
		check(!is_aarch32 || chain.address[i] <= UINT32_MAX);
	}
	check(!chain.frameless || chain.count >= 2);
	check(chain.end != CHAIN_TOO_DEEP || chain.count == CHAIN_MAX);
	free(chain.address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	struct unwind_input input = {.memory = {.page = guest_page, .context = &guest}};
	struct register_value values[REGISTERS_MAX];
	struct code_notes notes = {.budget = CODE_BUDGET_MAX};
	struct unwind_table *table;
	struct arm_cpu cpu = {0};
	unsigned int mode = (unsigned int)take(&data, &size, 1);
	uint64_t address, link, frame;

	set_mode(&cpu, mode);
	cpu.pc = take(&data, &size, 8);
	link = take(&data, &size, 8);
	frame = take(&data, &size, 8);
	cpu.tcr = take(&data, &size, 8);
	cpu.ttbr0 = take(&data, &size, 8);
	cpu.ttbr1 = take(&data, &size, 8);
	address = take(&data, &size, 8);
	fill_memory(&guest, data, size, mode & 128);
	/* Both are several registers, in different modes. */
	for (unsigned int i = 0; i < ARM_REGISTERS; i++)
		cpu.x[i] = link;
	cpu.x[7] = cpu.x[11] = cpu.x[27] = cpu.x[29] = frame;
	/* A 64-bit kernel running a 32-bit program. */
	cpu.sp_el1 = link & 2;

	check_translation(&cpu, &input.memory, address);
	check_translation(&cpu, &input.memory, cpu.pc);
	check_translation(&cpu, &input.memory, frame);
	check_chain(&cpu, &input);
	input.notes = &notes;
	check_chain(&cpu, &input);
	check_chain(&cpu, &input);
	table = make_table(guest.memory, cpu.pc);
	input.table = table;
	check_chain(&cpu, &input);
	unwind_table_free(table);
	check(arm_registers(&cpu, values) <= REGISTERS_MAX);
	free(guest.page);
	guest.page = NULL;
	return 0;
}
