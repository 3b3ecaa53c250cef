/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/x86_exit.h"

#include <string.h>

#include "arch/x86/code.h"

/*
 * All paths through the code from an instruction agree on where the return address is,
 * because they end in the same caller. So the first path is sufficient that reaches a
 * return, sets up a frame, leaves one (which shows that there is one), or reaches a call
 * (which only functions with a frame make). Conditional jumps are at first not taken; if
 * that finds nothing, they are.
 */

/* Maximum number of paths still to follow, and of jumps taken. */
#define FORKS_MAX 16
#define JUMPS_MAX 48

/* Cost of an instruction in halfwords of the notes' budget. */
#define STEP_COST 16

/* On a long path, notes are looked up and made once in each block of this many bytes. */
#define BLOCK	   256
#define BLOCKS_MAX 64

/* Where the caller's frame pointer is. */
enum keeper {
	IN_RBP,
	ON_STACK, /* at bp, from before the sampled instruction */
	NOWHERE,  /* not known; rbp contains something else */
};

/* A path through the code, with offsets from the sampled stack pointer. */
struct way {
	uint64_t address;
	int32_t sp, bp;
	enum keeper keeper;
	bool is_sum;	/* NOWHERE: rbp is the stack pointer + bp */
	bool is_pushed; /* the frame pointer was saved at pushed on this path */
	int32_t pushed;
	/* In entries: the base of the offsets, after a change of the stack. */
	enum x86_exit_base base;
	int32_t word;
};

struct search {
	struct reader *reader;
	unsigned int word;
	uint64_t space;
	bool is_entry; /* of interrupts, if it leads to iretq: see x86_leave_entry() */
	struct way way;
	struct way fork[FORKS_MAX];
	unsigned int forks;
	uint64_t jump[JUMPS_MAX];
	unsigned int jumps;
	/* The first instructions of blocks on the path, for notes. */
	struct way block[BLOCKS_MAX];
	unsigned int blocks;
	unsigned int pages; /* number of pages entered */
	bool is_cut;	    /* a page was not available, so the next time may find more */
	struct x86_exit exit, chance;
};

enum progress {
	GOES_ON,
	ENDS,  /* this path finds nothing */
	FOUND, /* search.exit */
};

/* Switches to the page of @address. Fails after UNWIND_CODE_PAGES_MAX changes of the page
 * or missing pages. */
static bool search_enter(struct search *search, uint64_t address)
{
	struct reader *reader = search->reader;
	uint64_t page_address = address & ~(uint64_t)(GUEST_PAGE_SIZE - 1);

	if (reader->page && reader->page_address == page_address)
		return true;
	if (search->pages++ >= UNWIND_CODE_PAGES_MAX)
		return false;
	if (reader_enter_page(reader, address))
		return true;
	search->is_cut |= reader->failure == CHAIN_NO_PAGE;
	return false;
}

/* Reads up to @size bytes at @address, within its page. */
static unsigned int take_bytes(struct search *search, uint64_t address, uint8_t *code,
			       unsigned int size)
{
	unsigned int offset = address % GUEST_PAGE_SIZE;

	if (!search_enter(search, address))
		return 0;
	if (size > GUEST_PAGE_SIZE - offset)
		size = GUEST_PAGE_SIZE - offset;
	memcpy(code, (const char *)search->reader->page + offset, size);
	return size;
}

static struct x86_instruction search_decode(struct search *search, uint64_t address)
{
	uint8_t code[X86_SIZE_MAX];
	unsigned int size = take_bytes(search, address, code, sizeof(code));
	bool is_64 = search->word == 8;
	struct x86_instruction next = x86_decode(code, size, address, is_64);

	if (next.size || !size || size == sizeof(code))
		return next;
	size += take_bytes(search, address + size, code + size,
			   (unsigned int)sizeof(code) - size);
	return x86_decode(code, size, address, is_64);
}

static struct x86_exit exit_of(const struct way *way, enum x86_exit_kind kind,
			       int32_t caller)
{
	return (struct x86_exit){
		.kind = kind,
		.base = way->base,
		.word = way->word,
		.caller = caller,
		.has_saved = way->keeper == ON_STACK,
		.saved = way->keeper == ON_STACK ? way->bp : 0,
	};
}

static enum progress search_end(struct search *search, enum x86_exit_kind kind,
				int32_t caller)
{
	search->exit = exit_of(&search->way, kind, caller);
	return FOUND;
}

/* Takes a load of rbp from the offset @at. */
static void load_bp(struct way *way, int32_t at)
{
	way->is_sum = false;
	if (way->is_pushed && at == way->pushed) {
		way->keeper = IN_RBP;
	} else if (at >= 0) {
		way->keeper = ON_STACK;
		way->bp = at;
	} else {
		way->keeper = NOWHERE;
	}
}

static void lose_bp(struct way *way)
{
	way->keeper = NOWHERE;
	way->is_sum = false;
}

static void save_bp(struct way *way, int32_t at)
{
	if (way->keeper != IN_RBP)
		return;
	way->is_pushed = true;
	way->pushed = at;
}

/*
 * rbp = rsp + @offset, which sets up a function's frame. The caller's rbp was saved just
 * below the return address, on this path or, if the frame is half complete, before it. A
 * return address pushed on this path is only a copy, made when the stack is aligned.
 */
static enum progress make_frame(struct search *search, int32_t offset)
{
	struct way *way = &search->way;
	int32_t word = (int32_t)search->word;

	if (way->keeper == IN_RBP && way->is_pushed && way->pushed + word >= 0)
		return search_end(search, EXIT_BY_STACK, way->pushed + word);
	if (way->keeper == IN_RBP && !way->is_pushed && offset == 0 && way->sp >= 0) {
		way->keeper = ON_STACK;
		way->bp = way->sp;
		return search_end(search, EXIT_IN_MAKING, way->sp + word);
	}
	way->keeper = NOWHERE;
	way->is_sum = true;
	way->bp = way->sp + offset;
	return GOES_ON;
}

/* rsp is loaded from elsewhere: an entry's handler had a stack of its own. The frame
 * pointer that was loaded before is not from there. */
static enum progress change_stack(struct search *search, enum x86_exit_base base,
				  int32_t word, int32_t offset)
{
	struct way *way = &search->way;

	if (!search->is_entry || way->base != EXIT_FROM_SP || way->keeper != IN_RBP)
		return ENDS;
	way->base = base;
	way->word = word;
	way->sp = offset;
	way->is_pushed = false;
	return GOES_ON;
}

/* rsp = rbp + @offset: if rbp is the frame pointer, there is a frame. */
static enum progress leave_frame(struct search *search, int32_t offset)
{
	struct way *way = &search->way;

	if (search->is_entry && way->keeper == IN_RBP)
		return change_stack(search, EXIT_FROM_FP, 0, offset);
	if (way->keeper == IN_RBP)
		return search_end(search, EXIT_BY_FRAME, 0);
	if (!way->is_sum)
		return ENDS;
	way->sp = way->bp + offset;
	return GOES_ON;
}

static enum progress search_add(struct search *search, const struct x86_instruction *sum)
{
	if (sum->to == X86_RBP)
		return make_frame(search, sum->offset);
	if (sum->to != X86_RSP)
		return GOES_ON;
	if (sum->from == X86_RBP)
		return leave_frame(search, sum->offset);
	if (sum->from != X86_RSP)
		return ENDS;
	search->way.sp += sum->offset;
	return GOES_ON;
}

/* A return address below the sampled stack pointer was pushed on this path: the return is
 * a jump. */
static enum progress take_return(struct search *search)
{
	if (search->way.sp < 0 || search->way.keeper == NOWHERE)
		return ENDS;
	return search_end(search, EXIT_BY_STACK, search->way.sp);
}

/* The end of an interrupt, whose frame is @above bytes above the stack pointer. */
static enum progress take_interrupt(struct search *search, int32_t above)
{
	const struct way *way = &search->way;
	int32_t at = way->sp + above;

	if (search->word != 8 || way->keeper == NOWHERE ||
	    (way->base == EXIT_FROM_SP && at < 0))
		return ENDS;
	return search_end(search, EXIT_BY_INTERRUPT, at);
}

/* Guests of Xen without their own page tables can also jump to its stub of iret, with a
 * word of flags below the frame: push rcx, r11, rax; mov $23,%eax; syscall (Xen,
 * arch/x86/pv/hypercall.c, hypercall_page_initialise_ring3). */
static bool is_iret_stub(struct search *search, uint64_t address)
{
	static const uint8_t stub[] = {0x51, 0x41, 0x53, 0x50, 0xb8, 23,
				       0,    0,	   0,	 0x0f, 0x05};
	uint8_t code[sizeof(stub)];

	return search->word == 8 && address % GUEST_PAGE_SIZE == 23 * 32 &&
	       take_bytes(search, address, code, sizeof(code)) == sizeof(code) &&
	       memcmp(code, stub, sizeof(code)) == 0;
}

/* An indirect jump: the end of the function, or a switch in it. */
static enum progress take_any_jump(struct search *search)
{
	const struct way *way = &search->way;

	if (search->chance.kind == EXIT_BY_FRAME && way->sp >= 0 &&
	    way->keeper != NOWHERE)
		search->chance = exit_of(way, EXIT_BY_CHANCE, way->sp);
	return ENDS;
}

static enum progress take_leave(struct search *search)
{
	struct way *way = &search->way;
	enum progress progress = leave_frame(search, 0);

	if (progress != GOES_ON)
		return progress;
	load_bp(way, way->sp);
	way->sp += (int32_t)search->word;
	return GOES_ON;
}

/* Whether to examine the target: not twice, nor if there are too many. */
static bool is_new(struct search *search, uint64_t target)
{
	for (unsigned int i = 0; i < search->jumps; i++)
		if (search->jump[i] == target)
			return false;
	if (search->jumps == JUMPS_MAX)
		return false;
	search->jump[search->jumps++] = target;
	return true;
}

static enum progress take_jump(struct search *search, uint64_t target)
{
	if (is_iret_stub(search, target))
		return take_interrupt(search, 8);
	if (!is_new(search, target))
		return ENDS;
	search->way.address = target;
	return GOES_ON;
}

static void fork_way(struct search *search, uint64_t target)
{
	if (search->forks == FORKS_MAX || !is_new(search, target))
		return;
	search->fork[search->forks] = search->way;
	search->fork[search->forks++].address = target;
}

/* Whether a function only reads its return address: mov (%esp),%reg; ret. */
static bool is_look_back(struct search *search, uint64_t address)
{
	struct x86_instruction first = search_decode(search, address);

	return first.act == X86_LOAD && first.offset == 0 &&
	       search_decode(search, address + first.size).act == X86_RETURN;
}

/* 32-bit code calls the next instruction, or a function that reads its return address, to
 * get its own address. */
static enum progress take_call(struct search *search, const struct x86_instruction *call)
{
	if (call->target == search->way.address) {
		search->way.sp -= (int32_t)search->word;
		return GOES_ON;
	}
	if (search->word == 4 && call->act == X86_CALL &&
	    is_look_back(search, call->target))
		return GOES_ON;
	if (search->is_entry)
		return GOES_ON;
	return search_end(search, EXIT_BY_FRAME, 0);
}

static enum progress path_take(struct search *search, const struct x86_instruction *next)
{
	struct way *way = &search->way;

	way->address += next->size;
	switch (next->act) {
	case X86_OTHER:
	case X86_HALT:
	case X86_STORE_OTHER:
		return GOES_ON;
	case X86_PUSH:
		way->sp += next->offset;
		if (next->from == X86_RBP)
			save_bp(way, way->sp);
		return GOES_ON;
	case X86_POP:
		if (next->to == X86_RBP)
			load_bp(way, way->sp);
		way->sp += next->offset;
		return GOES_ON;
	case X86_ADD:
		return search_add(search, next);
	case X86_STORE:
		if (next->from == X86_RBP)
			save_bp(way, way->sp + next->offset);
		return GOES_ON;
	case X86_LOAD:
		if (next->to == X86_RSP)
			return change_stack(search, EXIT_FROM_WORD,
					    way->sp + next->offset, 0);
		if (next->to == X86_RBP)
			load_bp(way, way->sp + next->offset);
		return GOES_ON;
	case X86_LOAD_OTHER:
		if (next->to == X86_RSP && next->from == X86_RSP)
			return change_stack(search, EXIT_FROM_WORD,
					    way->sp + next->offset, 0);
		/* fallthrough */
	case X86_ADD_OTHER:
	case X86_LOSE:
		if (next->to == X86_RBP)
			lose_bp(way);
		return next->to == X86_RSP ? ENDS : GOES_ON;
	case X86_ENTER:
		way->sp -= (int32_t)search->word;
		save_bp(way, way->sp);
		return make_frame(search, 0);
	case X86_LEAVE:
		return take_leave(search);
	case X86_CALL:
	case X86_CALL_INDIRECT:
		return take_call(search, next);
	case X86_JUMP:
		return take_jump(search, next->target);
	case X86_JUMP_IF:
		fork_way(search, next->target);
		return GOES_ON;
	case X86_JUMP_INDIRECT:
		return take_any_jump(search);
	case X86_RETURN:
		return take_return(search);
	case X86_RETURN_FAR:
		return take_interrupt(search, 0);
	case X86_BAD:
	case X86_STOP:
	case X86_LEAVE_KERNEL:
		return ENDS;
	}
	return ENDS;
}

/* The bytes at @address, for notes; 0 if they are not available. */
static uint64_t code_at(struct search *search, uint64_t address)
{
	uint64_t code = 0;

	take_bytes(search, address, (uint8_t *)&code, sizeof(code));
	return code;
}

/* The slot for a note on the code at @address, which starts a block or is sampled. */
static struct exit_note *note_of(const struct search *search, uint64_t address,
				 bool is_block)
{
	struct code_notes *notes = search->reader->input->notes;

	if (!notes || search->is_entry)
		return NULL;
	if (is_block)
		return &notes->block[address / BLOCK % BLOCK_NOTES];
	return &notes->exit[(address ^ address / EXIT_NOTES) % EXIT_NOTES];
}

/* The note on the code at @address, if there is one. */
static const struct exit_note *note_recall(struct search *search, uint64_t address,
					   bool is_block)
{
	const struct exit_note *note = note_of(search, address, is_block);

	if (!note || note->address != address || note->space != search->space)
		return NULL;
	return note->code && note->code == code_at(search, address) ? note : NULL;
}

/* Uses the note on the path's address, if there is one, instead of following the rest. */
static enum progress take_note(struct search *search)
{
	struct way *way = &search->way;
	const struct exit_note *note = note_recall(search, way->address, true);
	int32_t saved;

	if (!note || way->sp < 0)
		return GOES_ON;
	if (note->exit.kind == EXIT_BY_FRAME && way->keeper == IN_RBP)
		return search_end(search, EXIT_BY_FRAME, 0);
	if (note->exit.kind != EXIT_BY_STACK)
		return GOES_ON;
	saved = way->sp + note->exit.saved;
	if (note->exit.has_saved)
		load_bp(way, saved);
	if (way->keeper == NOWHERE)
		return GOES_ON;
	return search_end(search, EXIT_BY_STACK, way->sp + note->exit.caller);
}

/* Notes the exit for an address on the path to it. */
static void note_exit(struct search *search, const struct way *from, bool is_block)
{
	struct exit_note *note = note_of(search, from->address, is_block);
	struct x86_exit exit = search->exit;
	uint64_t code;

	if (!note || search->is_cut)
		return;
	code = code_at(search, from->address);
	exit.caller -= exit.kind == EXIT_BY_FRAME ? 0 : from->sp;
	exit.saved -= exit.has_saved ? from->sp : 0;
	*note = (struct exit_note){search->space, from->address, code, exit};
}

/* Makes notes for the path that led to the exit, where rbp was not changed. */
static void note_blocks(struct search *search)
{
	for (unsigned int i = 0; i < search->blocks; i++)
		if (search->block[i].keeper == IN_RBP && !search->block[i].is_pushed)
			note_exit(search, &search->block[i], true);
}

/* Follows the path until something is found, or it ends. */
static enum progress path_follow(struct search *search, unsigned int *steps)
{
	enum progress progress = GOES_ON;

	search->blocks = 0;
	while (progress == GOES_ON) {
		uint64_t block = search->way.address / BLOCK;
		struct x86_instruction next;

		if (!*steps)
			return ENDS;
		--*steps;
		next = search_decode(search, search->way.address);
		progress = path_take(search, &next);
		if (progress != GOES_ON || search->way.address / BLOCK == block)
			continue;
		progress = take_note(search);
		if (progress == GOES_ON && search->blocks < BLOCKS_MAX)
			search->block[search->blocks++] = search->way;
	}
	return progress;
}

/* Sets search.exit; @steps: the number of instructions, of which the rest is left. */
static void exit_find(struct search *search, const struct way *start, unsigned int *steps)
{
	search->forks = search->jumps = 0;
	search->exit = search->chance = (struct x86_exit){.kind = EXIT_BY_FRAME};
	search->way = *start;
	while (path_follow(search, steps) == ENDS) {
		search->exit = search->chance;
		search->blocks = 0;
		if (!search->forks || !*steps)
			break;
		search->way = search->fork[--search->forks];
	}
}

struct x86_exit x86_leave(struct reader *reader, uint64_t address, uint64_t space,
			  unsigned int word)
{
	const struct code_notes *notes = reader->input->notes;
	unsigned int steps = (notes ? notes->budget : CODE_BUDGET_MAX) / STEP_COST;
	struct search search;
	const struct exit_note *note;
	struct way start = {.address = address};

	/* Sets only used members: the search is large, and usually a note is found. */
	search.reader = reader;
	search.word = word;
	search.space = space;
	search.is_entry = false;
	search.pages = 0;
	search.is_cut = false;
	note = note_recall(&search, address, false);
	if (note)
		return note->exit;
	exit_find(&search, &start, &steps);
	if (steps) {
		note_blocks(&search);
		note_exit(&search, &start, false);
	}
	return search.exit;
}

struct x86_exit x86_leave_entry(struct reader *reader, uint64_t address)
{
	unsigned int steps = CODE_BUDGET_MAX / STEP_COST;
	const struct way start = {.address = address};
	struct search search = {.reader = reader, .word = 8, .is_entry = true};

	exit_find(&search, &start, &steps);
	return search.exit;
}

/* Copies code that is within one page. */
static bool code_copy(struct reader *reader, uint64_t address, uint8_t *code,
		      unsigned int size)
{
	if (!reader_enter(reader, address))
		return false;
	memcpy(code, (const char *)reader->page + address % GUEST_PAGE_SIZE, size);
	return true;
}

bool x86_follows_call(struct reader *reader, uint64_t address, unsigned int word,
		      uint64_t *target)
{
	uint8_t code[X86_CALL_SIZE_MAX];
	uint64_t start = address - sizeof(code);
	unsigned int offset = address % GUEST_PAGE_SIZE, first = 0;

	*target = 0;
	if (address < sizeof(code))
		return false;
	if (offset < sizeof(code))
		first = (unsigned int)sizeof(code) - offset;
	if (offset &&
	    !code_copy(reader, start + first, code + first, sizeof(code) - first))
		return false;
	/* The previous page may be missing: then use only this page's bytes. */
	if (first && code_copy(reader, start, code, first))
		first = 0;
	return x86_call_before(code + sizeof(code), sizeof(code) - first, address,
			       word == 8, target);
}
