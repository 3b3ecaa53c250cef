/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/starts.h"

#include <string.h>

#include "arch/start.h"

/* Number of rounds after which notes are dropped, because the guest's code may change */
#define RENEWAL 1024

/* Limit of map calls in a round: the code of 16 return addresses in two pages each, with
 * their page tables */
#define START_MAPS (16 * 2 * READ_PAGES_MAX)

/* The code around a return address, which is that of byte[START_BEFORE]. */
struct window {
	uint8_t byte[START_BEFORE + START_BEHIND];
	size_t from, to; /* the bytes that could be read */
};

/* Reads the code; the pages before and behind that of the address may be missing. */
static bool window_read(struct window *window, const struct cpu *cpu,
			const struct guest_memory *memory, uint64_t address)
{
	size_t in_page = address % GUEST_PAGE_SIZE, left = GUEST_PAGE_SIZE - in_page;
	size_t before = in_page < START_BEFORE ? in_page : START_BEFORE;
	size_t behind = left < START_BEHIND ? left : START_BEHIND;

	window->from = START_BEFORE - before;
	window->to = START_BEFORE + behind;
	if (!cpu_read(cpu, memory, address - before, window->byte + window->from,
		      before + behind))
		return false;
	if (before < START_BEFORE &&
	    cpu_read(cpu, memory, address - START_BEFORE, window->byte, window->from))
		window->from = 0;
	if (behind < START_BEHIND &&
	    cpu_read(cpu, memory, address + behind, window->byte + window->to,
		     START_BEHIND - behind))
		window->to = sizeof(window->byte);
	return true;
}

/* Examines the code of a return address unless that was done; false if it could not be
 * read. */
static bool note_fill(struct start_note *note, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t address)
{
	uint64_t space = cpu_space(cpu);
	struct window window;

	if (note->is_known && note->address == address && note->space == space)
		return true;
	if (!window_read(&window, cpu, memory, address))
		return false;
	*note = (struct start_note){
		.space = space,
		.address = address,
		.is_known = true,
		.is_start = code_is_start(
			cpu_kind(cpu) == CPU_ARM64, window.byte + window.from,
			window.to - window.from, START_BEFORE - window.from, address),
	};
	return true;
}

static bool is_start(struct starts *starts, const struct cpu *cpu,
		     const struct guest_memory *memory, uint64_t address)
{
	struct start_note *note = &starts->note[(address ^ address >> 8) % START_NOTES];
	enum cpu_kind kind = cpu_kind(cpu);

	return (kind == CPU_X86_64 || kind == CPU_ARM64) &&
	       note_fill(note, cpu, memory, address) && note->is_start;
}

/* Whether the chain's last address is a return address with no further frame. */
static bool chain_is_candidate(const struct chain *chain)
{
	return chain->end == CHAIN_UNKNOWN && !chain->is_stack && chain->count > 1 &&
	       !chain_mark_name(chain->address[chain->count - 1]) &&
	       chain->address[chain->count - 2] != CHAIN_INTERRUPT;
}

void starts_prove(struct starts *starts, const struct guest *guest,
		  const struct guest_memory *memory, struct round *round)
{
	if (++starts->rounds % RENEWAL == 0)
		memset(starts->note, 0, sizeof(starts->note));
	guest->ops->begin_pages(guest->memory, round->time, START_MAPS);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];
		struct chain *chain = &sample->chain;

		if (chain_is_candidate(chain) &&
		    is_start(starts, &guest->vcpu[sample->vcpu].cpu, memory,
			     chain->address[chain->count - 1]))
			chain->end = CHAIN_WHOLE;
	}
}
