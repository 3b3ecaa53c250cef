/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/x86_exit.h"

/* Finds the return addresses of chains that are in entries of interrupts. */

static enum translation translate_x86(const void *cpu, const struct guest_memory *memory,
				      struct last_table *last, uint64_t address,
				      uint64_t *frame)
{
	return x86_translate_near(cpu, memory, last, address, frame);
}

/* Places that are tried. Where all are in use, nothing more is examined. */
#define PROBES 8

/* The place of an address that was examined, or the free one for it; NULL: none. */
static const uint64_t *place_of(const struct x86_entries *entries, uint64_t address)
{
	uint64_t at = address ^ address >> 12;

	for (unsigned int i = 0; i < PROBES; i++) {
		const uint64_t *seen = &entries->seen[(at + i) % X86_SEEN_MAX];

		if (!*seen || *seen == address)
			return seen;
	}
	return NULL;
}

static bool is_new(const struct x86_entries *entries, uint64_t address)
{
	const uint64_t *seen = place_of(entries, address);

	return seen && !*seen && address && !chain_mark_name(address);
}

bool x86_entries_lack(const struct x86_entries *entries, const struct chain *chain)
{
	for (uint32_t i = 1; i < chain->count; i++)
		if (is_new(entries, chain->address[i]))
			return true;
	return false;
}

static void entries_add(struct x86_entries *entries, uint64_t address,
			const struct x86_exit *exit)
{
	struct x86_entry *entry = &entries->entry[entries->count];

	entries->filter |= 1ull << x86_entry_bit(address) |
			   1ull << x86_entry_bit(CHAIN_INTERRUPT);
	entry->address = address;
	entry->exit = *exit;
	entries->count++;
}

/* Whether the code around @address is there. A guest's pages may be there only some time
 * after they were asked for. */
static bool is_there(struct reader *reader, uint64_t address)
{
	return reader_enter(reader, address) && reader_enter(reader, address - 1);
}

bool x86_entries_learn(struct x86_entries *entries, const struct x86_cpu *cpu,
		       const struct unwind_input *input, const struct chain *chain)
{
	struct reader reader = {.translate = translate_x86, .cpu = cpu, .input = input};
	unsigned int examined = 0, before = entries->count;

	if (x86_kind(cpu) != CPU_X86_64 || cpu->is_compat)
		return false;
	for (uint32_t i = 1; i < chain->count; i++) {
		uint64_t address = chain->address[i], target;
		struct x86_exit exit;

		if (entries->count == X86_ENTRIES_MAX)
			return false;
		if (examined == X86_LEARN_MAX)
			return true;
		if (!is_new(entries, address))
			continue;
		examined++;
		if (entries->misses < X86_MISSES_MAX && !is_there(&reader, address)) {
			entries->misses++;
			continue;
		}
		entries->seen[place_of(entries, address) - entries->seen] = address;
		if (!x86_follows_call(&reader, address, 8, &target))
			continue;
		exit = x86_leave_entry(&reader, address);
		if (exit.kind == EXIT_BY_INTERRUPT)
			entries_add(entries, address, &exit);
	}
	return entries->count > before;
}
