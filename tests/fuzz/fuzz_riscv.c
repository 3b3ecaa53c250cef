/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * RISC-V guests with arbitrary contents. Build with -fsanitize=fuzzer,address,undefined
 * and run on tests/fuzz/corpus/riscv. The input is
 *
 *   a byte: the privilege mode in its lowest two bits; the highest is for the memory,
 *   pc, ra, the frame pointer, the stack pointer and satp, of 8 bytes each,
 *   an address to translate, of 8 bytes,
 *   and the guest's memory: words of 8 bytes, each after 2 bytes with its position
 *   (the rest is 0), or, with the highest bit of the first byte, consecutive.
 */

#include "arch/riscv/code.h"
#include "tests/fuzz/guest.h"
#include "unwind/unwind.h"

static void check_translation(const struct riscv_cpu *cpu,
			      const struct guest_memory *memory, uint64_t address)
{
	struct guest *guest = memory->context;
	uint64_t frame = UINT64_MAX, again = UINT64_MAX;
	enum translation translation;

	guest->calls = 0;
	translation = riscv_translate(cpu, memory, address, &frame);
	check(guest->calls <= READ_PAGES_MAX - 1);
	check(translation <= NO_PAGE);
	if (translation != TRANSLATED)
		return;
	/* A physical address has 56 bits. */
	check(frame < (uint64_t)1 << (56 - GUEST_PAGE_SHIFT));
	check(riscv_translate(cpu, memory, address ^ 1, &again) == TRANSLATED);
	check(frame == again);
}

static void check_chain(const struct riscv_cpu *cpu, const struct unwind_input *input)
{
	struct guest *guest = input->memory.context;
	/* Of the exact size, so that a write beyond it is detected. */
	struct chain chain = {.address = malloc(CHAIN_ROOM * sizeof(uint64_t))};

	check(chain.address != NULL);
	guest->calls = 0;
	riscv_unwind(cpu, input, &chain);
	check(guest->calls <= RISCV_UNWIND_PAGES_MAX);
	check(chain.count >= 1 && chain.count <= CHAIN_MAX);
	check(chain.end < CHAIN_ENDS);
	check(chain.address[0] == cpu->pc);
	for (uint32_t i = 1; i < chain.count; i++)
		check(chain.address[i] != 0);
	check(!chain.frameless || chain.count >= 2);
	check(chain.end != CHAIN_TOO_DEEP || chain.count == CHAIN_MAX);
	free(chain.address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	struct unwind_input input = {.memory = {.page = guest_page, .context = &guest}};
	unsigned int mode = (unsigned int)take(&data, &size, 1);
	struct riscv_cpu cpu = {.priv = mode & 3};
	struct riscv_instruction instruction;
	uint64_t address;

	cpu.pc = take(&data, &size, 8);
	cpu.x[RISCV_RA] = take(&data, &size, 8);
	cpu.x[RISCV_FP] = take(&data, &size, 8);
	cpu.x[RISCV_SP] = take(&data, &size, 8);
	cpu.satp = take(&data, &size, 8);
	address = take(&data, &size, 8);
	fill_memory(&guest, data, size, mode & 128);

	instruction = riscv_use_of((uint32_t)address);
	check(instruction.size == (riscv_is_long((uint32_t)address) ? 4 : 2));
	check_translation(&cpu, &input.memory, address);
	check_translation(&cpu, &input.memory, cpu.pc);
	check_translation(&cpu, &input.memory, cpu.x[RISCV_FP]);
	check_chain(&cpu, &input);
	free(guest.page);
	guest.page = NULL;
	return 0;
}
