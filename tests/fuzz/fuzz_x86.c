/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Guests of any content. Build with -fsanitize=fuzzer,address,undefined and run
 * on tests/fuzz/corpus/x86. The input is
 *
 *   a byte for the mode (see set_mode()),
 *   rip, rsp, rbp and cr3, of 8 bytes each,
 *   an address to translate, of 8 bytes,
 *   and the guest's memory: words of 8 bytes, each after 2 bytes that say where
 *   it goes (all else is 0), or, with the mode's highest bit, all in a row.
 *
 * A guest has few frames. Those with a number beyond are these again, or missing.
 */

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"

#define FRAMES 16
#define MEMORY (FRAMES * GUEST_PAGE_SIZE)
#define TABLES 5 /* page() calls of a translation */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct guest {
	uint8_t memory[MEMORY];
	void *page; /* the last that was given */
	unsigned int calls;
};

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

/* Gives a page that is taken away at the next call, so that a read of an earlier
 * one, or beyond one, is seen. */
static const void *guest_page(void *context, uint64_t frame)
{
	struct guest *guest = context;

	guest->calls++;
	free(guest->page);
	guest->page = NULL;
	if (frame & FRAMES)
		return NULL;
	guest->page = aligned_alloc(GUEST_PAGE_SIZE, GUEST_PAGE_SIZE);
	check(guest->page != NULL);
	memcpy(guest->page, guest->memory + frame % FRAMES * GUEST_PAGE_SIZE,
	       GUEST_PAGE_SIZE);
	return guest->page;
}

static uint64_t take(const uint8_t **data, size_t *size, size_t bytes)
{
	uint64_t number = 0;

	if (bytes > *size)
		bytes = *size;
	memcpy(&number, *data, bytes);
	*data += bytes;
	*size -= bytes;
	return number;
}

static void set_mode(struct x86_cpu *cpu, unsigned int mode)
{
	cpu->cr0 = mode & 1 ? X86_CR0_PG : 0;
	cpu->cr4 = (mode & 2 ? X86_CR4_PAE : 0) | (mode & 4 ? X86_CR4_PSE : 0) |
		   (mode & 8 ? X86_CR4_LA57 : 0);
	cpu->efer = mode & 16 ? X86_EFER_LMA : 0;
}

static void fill_memory(struct guest *guest, const uint8_t *data, size_t size,
			bool in_row)
{
	memset(guest->memory, 0, MEMORY);
	if (in_row) {
		memcpy(guest->memory, data, size < MEMORY ? size : MEMORY);
		return;
	}
	while (size) {
		uint64_t at = take(&data, &size, 2) * 8 % MEMORY;
		uint64_t word = take(&data, &size, 8);

		memcpy(guest->memory + at, &word, sizeof(word));
	}
}

static void check_translation(const struct x86_cpu *cpu,
			      const struct guest_memory *memory, uint64_t address)
{
	struct guest *guest = memory->context;
	uint64_t frame = UINT64_MAX, again = UINT64_MAX;
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
}

static void check_chain(const struct x86_cpu *cpu, const struct guest_memory *memory)
{
	struct guest *guest = memory->context;
	/* Of the exact size, so that a write beyond it is seen. */
	struct chain chain = {.address = malloc(CHAIN_MAX * sizeof(uint64_t))};

	check(chain.address != NULL);
	guest->calls = 0;
	x86_unwind(cpu, memory, &chain);
	check(guest->calls <= X86_UNWIND_PAGES_MAX);
	check(chain.count >= 1 && chain.count <= CHAIN_MAX);
	check(chain.end < CHAIN_ENDS);
	check(chain.address[0] == cpu->rip);
	for (uint32_t i = 1; i < chain.count; i++)
		check(chain.address[i] != 0);
	check(chain.end != CHAIN_TOO_DEEP || chain.count == CHAIN_MAX);
	free(chain.address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	struct guest_memory memory = {.page = guest_page, .context = &guest};
	struct x86_cpu cpu = {0};
	unsigned int mode = (unsigned int)take(&data, &size, 1);
	uint64_t address;

	set_mode(&cpu, mode);
	cpu.rip = take(&data, &size, 8);
	cpu.reg[X86_RSP] = take(&data, &size, 8);
	cpu.reg[X86_RBP] = take(&data, &size, 8);
	cpu.cr3 = take(&data, &size, 8);
	address = take(&data, &size, 8);
	fill_memory(&guest, data, size, mode & 128);

	check_translation(&cpu, &memory, address);
	check_translation(&cpu, &memory, cpu.rip);
	check_translation(&cpu, &memory, cpu.reg[X86_RBP]);
	check_chain(&cpu, &memory);
	free(guest.page);
	guest.page = NULL;
	return 0;
}
