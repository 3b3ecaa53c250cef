/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/returns.h"

#include "arch/after_call.h"
#include "arch/flow.h"
#include "arch/x86/code.h"

/* Maximum number of addresses to examine in a round, and limit of map calls for them: two
 * pages of code each, and the page tables */
#define LEARN_MAX  32
#define LEARN_MAPS (2 * LEARN_MAX)

/* Maximum distance of code from the start of its function */
#define FUNCTION_MAX 65536

/* The code around an address. */
struct around {
	uint8_t before[AFTER_CALL_BYTES], behind[4];
	size_t count; /* bytes before it that could be read */
};

/* Reads the code; the page before it may be missing. False if there is none. */
static bool around_read(struct around *around, const struct cpu *cpu,
			const struct guest_memory *memory, uint64_t address)
{
	const size_t most = sizeof(around->before);
	size_t in_page = (address - 1) % GUEST_PAGE_SIZE + 1;
	size_t near = in_page < most ? in_page : most;

	*around = (struct around){.count = near};
	if (!cpu_read(cpu, memory, address - near, around->before + most - near, near))
		return false;
	if (near < most &&
	    cpu_read(cpu, memory, address - most, around->before, most - near))
		around->count = most;
	cpu_read(cpu, memory, address, around->behind, sizeof(around->behind));
	return true;
}

/* Whether the code is behind a call, or in a place that a thread pretends to be called
 * from. *@target: where the call leads, or 0. */
static bool around_is_return(const struct around *around, bool is_arm64, uint64_t address,
			     uint64_t *target)
{
	const uint8_t *end = around->before + sizeof(around->before);
	size_t count = around->count;

	if (!is_arm64 && count > X86_CALL_SIZE_MAX)
		count = X86_CALL_SIZE_MAX;
	*target = 0;
	return flow_call_before(is_arm64, end, count, address, target) ||
	       is_in_goexit(is_arm64, address, end, around->behind);
}

/* Notes what the code around @address says, unless its page can't be read. */
static void return_examine(struct return_notes *notes, const struct cpu *cpu,
			   const struct guest_memory *memory, uint64_t address)
{
	struct return_note note = {.key = return_key(address, cpu_space(cpu)),
				   .kind = RETURN_BAD};
	bool is_arm64 = cpu_kind(cpu) == CPU_ARM64;
	struct around around;
	uint64_t frame;
	enum translation mapped = cpu_translate(cpu, memory, address - 1, &frame);

	if (mapped == NO_PAGE)
		return;
	if (mapped == TRANSLATED) {
		if (!around_read(&around, cpu, memory, address))
			return;
		if (cpu_is_executable(cpu, memory, address - 1) &&
		    around_is_return(&around, is_arm64, address, &note.target))
			note.kind = RETURN_GOOD;
	}
	notes->note[return_place(note.key)] = note;
}

/* Whether chain->address[@i] is to be a return address: neither a mark nor interrupted.
 */
static bool chain_has_return(const struct chain *chain, uint32_t i)
{
	return !chain_mark_name(chain->address[i]) &&
	       chain->address[i - 1] != CHAIN_INTERRUPT;
}

/* Examines the chain's addresses, @left at most. */
static void learn_chain(struct return_notes *notes, const struct cpu *cpu,
			const struct unwind_input *input, struct chain *chain,
			unsigned int *left)
{
	uint64_t space = cpu_space(cpu);

	for (uint32_t i = 1; i < chain->count; i++) {
		uint64_t address = chain->address[i], key = return_key(address, space);
		enum return_kind kind = return_kind_of(notes, key);

		if (!chain_has_return(chain, i) ||
		    unwind_is_described(input, space, chain->address[i - 1] - (i > 1)))
			continue;
		if (kind == RETURN_UNKNOWN && *left) {
			--*left;
			return_examine(notes, cpu, &input->memory, address);
			kind = return_kind_of(notes, key);
		}
		if (kind != RETURN_BAD)
			continue;
		guess_is_wrong(notes, return_key(chain->address[i - 1], space));
		chain->count = i;
		chain->end = CHAIN_NOT_CALLED;
	}
}

void returns_learn(struct return_notes *notes, const struct guest *guest,
		   const struct unwind_input *input, struct round *round)
{
	unsigned int left = LEARN_MAX;

	guest->ops->begin_pages(guest->memory, round->time, LEARN_MAPS);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];
		const struct cpu *cpu = &guest->vcpu[sample->vcpu].cpu;
		enum cpu_kind kind = cpu_kind(cpu);

		if ((kind == CPU_X86_64 || kind == CPU_ARM64) && !sample->chain.is_stack)
			learn_chain(notes, cpu, input, &sample->chain, &left);
	}
}

bool returns_doubt(const struct return_notes *notes, uint64_t space,
		   const struct chain *chain, uint32_t i)
{
	uint64_t key = return_key(chain->address[i], space),
		 callee = chain->address[i - 1];
	const struct return_note *note = &notes->note[return_place(key)];

	return chain_has_return(chain, i) && note->key == key && note->target &&
	       callee - note->target > FUNCTION_MAX;
}
