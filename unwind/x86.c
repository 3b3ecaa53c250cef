/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/table_step.h"
#include "unwind/walk.h"
#include "unwind/x86_exit.h"

static enum translation translate_x86(const void *cpu, const struct guest_memory *memory,
				      struct last_table *last, uint64_t address,
				      uint64_t *frame)
{
	return x86_translate_near(cpu, memory, last, address, frame);
}

/* Maximum distance of code from the start of its function, if a call of that start is the
 * only evidence. */
#define FUNCTION_MAX 65536

/* Whether the word may be the function's return address. If the exit is only possible
 * (EXIT_BY_CHANCE), the call before the word must be to this function. */
static bool is_return(struct walk *walk, const struct x86_exit *exit, uint64_t caller,
		      unsigned int word)
{
	uint64_t target;

	if (!x86_follows_call(&walk->reader, caller, word, &target))
		return false;
	return exit->kind != EXIT_BY_CHANCE ||
	       (target && walk->state.pc - target < FUNCTION_MAX);
}

static bool read_word(struct walk *walk, uint64_t address, unsigned int word,
		      uint64_t *value)
{
	return address % word == 0 && reader_word(&walk->reader, address, word, value);
}

/*
 * The words that the CPU, or Xen, saves of the interrupted code, in the order of their
 * addresses (Intel SDM, volume 3, section 6.14.2; Xen,
 * xen/include/public/arch-x86/xen-x86_64.h, struct iret_context). Xen has the mask of
 * events above the selector.
 */
enum {
	SAVED_RIP,
	SAVED_CS,
	SAVED_FLAGS,
	SAVED_RSP,
	SAVED_SS,
	SAVED_WORDS
};

/* Bits of RFLAGS that are always 0 in 64-bit mode, and the one that is always 1 (Intel
 * SDM, volume 1, section 3.4.3). */
#define FLAGS_CLEAR (~0x3fffffull | 1 << 17 | 1 << 15 | 1 << 5 | 1 << 3)
#define FLAGS_SET   (1 << 1)
#define EVENT_MASK  (0xffull << 32)
#define SELECTOR    0xffffull

/* Whether an interrupt can have saved these words. */
static bool is_saved(const uint64_t *saved)
{
	return saved[SAVED_RIP] && !((saved[SAVED_CS] & ~EVENT_MASK) >> 16) &&
	       saved[SAVED_CS] & SELECTOR & ~3ull &&
	       (saved[SAVED_FLAGS] & (FLAGS_CLEAR | FLAGS_SET)) == FLAGS_SET &&
	       saved[SAVED_RSP] && saved[SAVED_SS] <= SELECTOR;
}

/* A walk with known entries of interrupts. */
struct entry_walk {
	struct walk walk; /* must be first: rules get a pointer to it */
	const struct x86_entries *entries;
	unsigned int interrupts;	/* number of interrupts crossed, or tried */
	struct frame_state interrupted; /* behind CHAIN_INTERRUPT */
};

/*
 * Moves from the entry of an interrupt to the interrupted code, which can be on any
 * stack; the chain gets a mark between the two. STEP_NONE if the way back differs from
 * the one in the code.
 */
static enum step interrupt_rule(struct entry_walk *own, const struct x86_exit *exit)
{
	struct walk *walk = &own->walk;
	struct frame_state *state = &walk->state;
	uint64_t base = exit->base == EXIT_FROM_FP ? state->fp : state->sp;
	uint64_t saved[SAVED_WORDS], fp = state->fp;

	/* Attempts count, too: each reads pages. More are most likely a circle. */
	if (own->interrupts++ == X86_INTERRUPTS_MAX)
		return walk_end(walk, CHAIN_NOT_ASCENDING);
	if (!base || (state->fp_is_lost && exit->base == EXIT_FROM_FP) ||
	    (exit->base == EXIT_FROM_WORD &&
	     !read_word(walk, base + (uint64_t)(int64_t)exit->word, 8, &base)) ||
	    (exit->has_saved &&
	     !read_word(walk, base + (uint64_t)(int64_t)exit->saved, 8, &fp)))
		return STEP_NONE;
	base += (uint64_t)(int64_t)exit->caller;
	for (unsigned int i = 0; i < SAVED_WORDS; i++)
		if (!read_word(walk, base + 8ull * i, 8, &saved[i]))
			return STEP_NONE;
	if (!is_saved(saved))
		return STEP_NONE;
	own->interrupted = (struct frame_state){
		.pc = saved[SAVED_RIP],
		.sp = saved[SAVED_RSP],
		.fp = fp,
		.is_stopped = true,
		.fp_is_lost = state->fp_is_lost && !exit->has_saved,
		.floor = saved[SAVED_RSP],
	};
	*state = (struct frame_state){.pc = CHAIN_INTERRUPT};
	walk->exits = 0;
	return STEP_CALLER;
}

/* Whether entry_rule() may apply to the state's address. */
static bool may_be_entry(const struct entry_walk *own)
{
	return own->entries->filter >> x86_entry_bit(own->walk.state.pc) & 1;
}

/* Applies the rule for return addresses in entries, and for the interrupted code behind
 * an entry's mark. */
static enum step entry_rule(struct entry_walk *own)
{
	const struct x86_entries *entries = own->entries;
	struct frame_state *state = &own->walk.state;
	uint64_t address = state->pc;

	if (!may_be_entry(own))
		return STEP_NONE;
	if (address == CHAIN_INTERRUPT) {
		*state = own->interrupted;
		return STEP_CALLER;
	}
	for (unsigned int i = 0; i < entries->count; i++)
		if (entries->entry[i].address == address && !state->is_stopped)
			return interrupt_rule(own, &entries->entry[i].exit);
	return STEP_NONE;
}

/* Whether the state's address is in an entry, and no rule for it is known but a guess,
 * which knows of no interrupt. */
static bool is_guessed_entry(const struct entry_walk *own)
{
	const struct frame_state *state = &own->walk.state;
	const struct x86_entries *entries = own->entries;

	if (!own->walk.found || state->is_stopped || !may_be_entry(own))
		return false;
	for (unsigned int i = 0; i < entries->count; i++)
		if (entries->entry[i].address == state->pc)
			return !unwind_is_described(own->walk.reader.input,
						    own->walk.space, state->pc - 1);
	return false;
}

/*
 * The rule for functions that have no frame, at all or at that point: the sampled one or
 * one that was interrupted, and its caller, because a function that calls only Xen's
 * hypercall page may not have one either. The result of the code analysis is checked: a
 * return address must be preceded by a call.
 */
static enum step exit_rule(struct walk *walk, unsigned int word, bool has_entries)
{
	const struct x86_cpu *cpu = walk->reader.cpu;
	const struct frame_state *state = &walk->state;
	struct x86_exit exit = x86_leave(&walk->reader, state->pc, cpu->cr3, word);
	uint64_t at = state->sp + (uint64_t)(int64_t)exit.caller;
	uint64_t saved = state->sp + (uint64_t)(int64_t)exit.saved;
	uint64_t caller, next = state->fp;
	bool was_stopped = state->is_stopped;
	enum step step = STEP_CALLER;

	walk->exits++;
	if (exit.kind == EXIT_BY_FRAME)
		return STEP_NONE;
	if (exit.kind == EXIT_BY_INTERRUPT)
		return has_entries ? interrupt_rule((struct entry_walk *)walk, &exit)
				   : STEP_NONE;
	/* The function has a frame, at the frame pointer. */
	if (exit.has_saved && saved == state->fp && at == saved + word)
		return STEP_NONE;
	if (!read_word(walk, at, word, &caller) ||
	    (exit.has_saved && !read_word(walk, saved, word, &next)) ||
	    (exit.kind == EXIT_IN_MAKING && next != state->fp) ||
	    !is_return(walk, &exit, caller, word))
		return STEP_NONE;
	walk->chain->frameless = true;
	if (exit.has_saved && exit.kind != EXIT_IN_MAKING) {
		step = walk_to_caller(walk, at, next, caller, at + word);
	} else {
		walk->state.pc = caller;
		walk->state.sp = at + word;
		walk->state.is_sampled = walk->state.is_stopped = false;
	}
	if (walk->has_floor)
		walk->state.floor = at + word;
	walk->state.by_code = was_stopped;
	return step;
}

static uint64_t as_it_is(const void *cpu, uint64_t address)
{
	(void)cpu;
	return address;
}

/*
 * Follows frame pointers inside of the last frame's page, where most frames of a chain
 * are: record_rule() with its state in registers, up to the first frame that is not
 * plain. Adds all callers to the chain but the one it stops at.
 */
WALK_INLINE void records_nearby(struct walk *walk, unsigned int word, bool has_entries)
{
	const struct reader_window window = reader_window(&walk->reader);
	const uint64_t end = window.size ? window.size - word : 0;
	const uint64_t filter = has_entries ? ((struct entry_walk *)walk)->entries->filter
					    : 0;
	struct frame_state *state = &walk->state;
	struct chain *chain = walk->chain;
	uint64_t pc = state->pc, fp = state->fp, above = state->sp;
	uint32_t count = chain->count;

	while (count < CHAIN_MAX - 1 &&
	       !(has_entries && filter >> x86_entry_bit(pc) & 1)) {
		uint64_t offset = fp - window.start, next, caller;

		if (offset >= end || offset % word)
			break;
		next = guest_word(window.page, (unsigned int)offset, word);
		caller = guest_word(window.page, (unsigned int)offset + word, word);
		if (!caller || next < fp || next - fp < 2 * word)
			break;
		chain->address[count++] = pc;
		pc = caller;
		above = fp + 2 * word;
		fp = next;
	}
	chain->count = count;
	state->pc = pc;
	state->fp = fp;
	state->sp = above;
	if (has_entries)
		state->floor = above;
}

/* Follows frame pointers as long as no other rule applies, as in most chains to the end:
 * adds all callers to the chain but the one it stops at. */
WALK_INLINE enum step records(struct walk *walk, unsigned int word, bool has_entries)
{
	struct chain *chain = walk->chain;
	enum step taken = record_rule(walk, word, 0, true, as_it_is);

	while (taken == STEP_CALLER && !walk->has_rules) {
		records_nearby(walk, word, has_entries);
		if (chain->count >= CHAIN_MAX - 1 ||
		    (has_entries && may_be_entry((struct entry_walk *)walk)))
			break;
		chain->address[chain->count++] = walk->state.pc;
		taken = record_rule(walk, word, 0, true, as_it_is);
	}
	return taken;
}

/* The start of the kernel's half of the addresses, and the end of 32-bit code's. */
#define KERNEL_START ((uint64_t)1 << 63)
#define NARROW_END   ((uint64_t)1 << 32)

/*
 * Notes whether the code at @address has stopped a 32-bit program: one whose stack is
 * where 32-bit addresses reach. A 64-bit program's stack is at the end of the lower half
 * (Linux, Documentation/x86/x86_64/mm.rst).
 */
static inline void find_narrow(struct frame_state *state, uint64_t address)
{
	if (address < KERNEL_START || state->pc >= NARROW_END || state->sp >= NARROW_END)
		return;
	state->is_narrow = true;
	state->fp %= NARROW_END;
}

static enum step step_32(struct walk *walk);

/* @has_entries: the walk is an entry_walk. */
WALK_INLINE enum step x86_step(struct walk *walk, unsigned int word, bool has_entries)
{
	uint64_t address = walk->state.pc;
	enum step taken = STEP_NONE;

	if (word == 8 && walk->state.is_narrow)
		return step_32(walk);
	if (has_entries && is_guessed_entry((struct entry_walk *)walk))
		taken = entry_rule((struct entry_walk *)walk);
	if (word == 8 && taken == STEP_NONE)
		taken = table_rule(walk, as_it_is);
	if (word == 8 && taken == STEP_CALLER && walk->state.is_stopped)
		find_narrow(&walk->state, address);
	if (has_entries && taken == STEP_NONE)
		taken = entry_rule((struct entry_walk *)walk);
	if (taken == STEP_NONE && (walk->state.is_stopped || walk->state.by_code) &&
	    walk->exits < X86_EXITS_MAX)
		taken = exit_rule(walk, word, has_entries);
	return taken == STEP_NONE ? records(walk, word, has_entries) : taken;
}

static enum step step_64(struct walk *walk)
{
	return x86_step(walk, 8, false);
}

static enum step step_32(struct walk *walk)
{
	return x86_step(walk, 4, false);
}

static enum step step_entries(struct walk *walk)
{
	return x86_step(walk, 8, true);
}

/* Not inlined: most guests are never seen in a handler. */
static __attribute__((noinline)) void walk_entries(const struct walk *start,
						   const struct x86_entries *entries)
{
	struct entry_walk own = {.walk = *start, .entries = entries};
	struct chain *chain = start->chain;

	own.walk.has_floor = true;
	walk_follow(&own.walk, step_entries);
	/* See CHAIN_INTERRUPT. */
	for (uint32_t i = 1; i < chain->count; i++)
		if (chain->address[i - 1] == CHAIN_INTERRUPT)
			chain->address[i]++;
}

void x86_unwind(const struct x86_cpu *cpu, const struct unwind_input *input,
		struct chain *chain)
{
	struct walk walk = {
		.reader = {.translate = translate_x86, .cpu = cpu, .input = input},
		.chain = chain,
		.state = {.pc = cpu->rip,
			  .sp = cpu->reg[X86_RSP],
			  .fp = cpu->reg[X86_RBP],
			  .is_sampled = true,
			  .is_stopped = true},
	};

	chain->count = 0;
	chain->end = CHAIN_UNKNOWN;
	chain->frameless = chain->is_stack = false;
	chain->address[chain->count++] = cpu->rip;
	if (x86_is_real(cpu)) {
		chain->address[0] = (cpu->cs << 4) + cpu->rip;
		chain->end = CHAIN_REAL_MODE;
		return;
	}
	if (x86_kind(cpu) != CPU_X86_64 || cpu->is_compat) {
		walk_follow(&walk, step_32);
		return;
	}
	walk_use_table(&walk, cpu->reg, X86_REGISTERS, x86_space(cpu));
	if (input->entries && input->entries->count)
		walk_entries(&walk, input->entries);
	else
		walk_follow(&walk, step_64);
}
