/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Guests with arbitrary contents. Build with -fsanitize=fuzzer,address,undefined and run
 * on tests/fuzz/corpus/x86. The input is
 *
 *   a byte for the mode (see set_mode()),
 *   rip, rsp, rbp and cr3, of 8 bytes each,
 *   an address to translate, of 8 bytes,
 *   and the guest's memory: words of 8 bytes, each after 2 bytes with its position
 *   (the rest is 0), or, with the highest bit of the mode, consecutive.
 */

#include "arch/x86/code.h"
#include "tests/fuzz/guest.h"
#include "tests/fuzz/rules.h"
#include "unwind/unwind.h"

#define TABLES 5 /* page() calls of a translation */

static void set_mode(struct x86_cpu *cpu, unsigned int mode)
{
	cpu->cr0 = (mode & 1 ? X86_CR0_PG : 0) | (mode & 32 ? 0 : X86_CR0_PE);
	cpu->is_compat = mode & 64;
	cpu->cr4 = (mode & 2 ? X86_CR4_PAE : 0) | (mode & 4 ? X86_CR4_PSE : 0) |
		   (mode & 8 ? X86_CR4_LA57 : 0);
	cpu->efer = mode & 16 ? X86_EFER_LMA : 0;
}

static void check_translation(const struct x86_cpu *cpu,
			      const struct guest_memory *memory, uint64_t address)
{
	struct guest *guest = memory->context;
	uint64_t frame = UINT64_MAX, again = UINT64_MAX, near = UINT64_MAX;
	struct last_table last = {0};
	enum translation translation;

	guest->calls = 0;
	translation = x86_translate(cpu, memory, address, &frame);
	check(guest->calls <= TABLES);
	check(translation <= NO_PAGE);
	if (translation != TRANSLATED)
		return;
	/* A physical address has 52 bits. */
	check(frame < (uint64_t)1 << (52 - GUEST_PAGE_SHIFT));
	check(x86_translate(cpu, memory, address ^ 1, &again) == TRANSLATED);
	check(frame == again);
	check(x86_translate_near(cpu, memory, &last, address ^ GUEST_PAGE_SIZE, &near) <=
	      NO_PAGE);
	check(x86_translate_near(cpu, memory, &last, address, &near) == TRANSLATED);
	check(frame == near);
}

/* @entries learn from the chain if they are the input's. */
static void check_chain(const struct x86_cpu *cpu, const struct unwind_input *input,
			struct x86_entries *entries)
{
	struct guest *guest = input->memory.context;
	/* Of the exact size, so that a write beyond it is detected. */
	struct chain chain = {.address = malloc(CHAIN_ROOM * sizeof(uint64_t))};

	check(chain.address != NULL);
	guest->calls = 0;
	x86_unwind(cpu, input, &chain);
	check(guest->calls <=
	      (input->table ? X86_TABLE_PAGES_MAX : X86_UNWIND_PAGES_MAX) +
		      (input->entries ? X86_INTERRUPTS_PAGES_MAX : 0));
	check(chain.count >= 1 && chain.count <= CHAIN_MAX);
	check(chain.end < CHAIN_ENDS);
	check(chain.address[0] == cpu->rip || chain.end == CHAIN_REAL_MODE);
	for (uint32_t i = 1; i < chain.count; i++)
		check(chain.address[i] != 0);
	check(!chain.frameless || chain.count >= 2);
	check(chain.end != CHAIN_TOO_DEEP || chain.count == CHAIN_MAX);
	if (input->entries == entries)
		x86_entries_learn(entries, cpu, input, &chain);
	free(chain.address);
}

/* An instruction is no longer than the available bytes, and the bytes after it do not
 * matter. */
static void check_decoding(const uint8_t *data, size_t size, bool is_64)
{
	for (size_t at = 0; at < size; at++) {
		size_t left = size - at < X86_SIZE_MAX ? size - at : X86_SIZE_MAX;
		struct x86_instruction whole = x86_decode(data + at, size - at, at,
							  is_64);
		uint8_t *alone = malloc(left);
		struct x86_instruction again;

		check(alone != NULL);
		memcpy(alone, data + at, left);
		check(whole.size <= left);
		check((whole.size == 0) == (whole.act == X86_BAD));
		check(whole.act <= X86_HALT);
		again = x86_decode(alone, whole.size ? whole.size : left, at, is_64);
		check(again.act == whole.act && again.size == whole.size &&
		      again.to == whole.to && again.from == whole.from &&
		      again.writes == whole.writes && again.offset == whole.offset &&
		      again.target == whole.target);
		free(alone);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	static struct code_notes notes;
	static struct x86_entries entries;
	struct unwind_input input = {.memory = {.page = guest_page, .context = &guest}};
	struct x86_cpu cpu = {0};
	struct unwind_table *table;
	unsigned int mode = (unsigned int)take(&data, &size, 1);
	uint64_t address;

	set_mode(&cpu, mode);
	cpu.rip = take(&data, &size, 8);
	cpu.reg[X86_RSP] = take(&data, &size, 8);
	cpu.reg[X86_RBP] = take(&data, &size, 8);
	cpu.cr3 = take(&data, &size, 8);
	cpu.kernel_cr3 = mode & 64 ? cpu.cr3 : 0; /* a PV guest */
	address = take(&data, &size, 8);
	check_decoding(data, size < 256 ? size : 256, mode & 16);
	fill_memory(&guest, data, size, mode & 128);

	check_translation(&cpu, &input.memory, address);
	check_translation(&cpu, &input.memory, cpu.rip);
	check_translation(&cpu, &input.memory, cpu.reg[X86_RBP]);
	check_chain(&cpu, &input, &entries);
	/* With notes, and with a small remaining budget. */
	memset(&notes, 0, sizeof(notes));
	code_notes_renew(&notes);
	input.notes = &notes;
	check_chain(&cpu, &input, &entries);
	notes.budget = 256;
	check_chain(&cpu, &input, &entries);
	table = make_table(guest.memory, cpu.rip);
	input.table = table;
	check_chain(&cpu, &input, &entries);
	unwind_table_free(table);
	input.table = NULL;
	/* The second one has what the first one has learned. */
	memset(&entries, 0, sizeof(entries));
	input.entries = &entries;
	check_chain(&cpu, &input, &entries);
	check_chain(&cpu, &input, &entries);
	free(guest.page);
	guest.page = NULL;
	return 0;
}
