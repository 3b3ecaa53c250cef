/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm32_instruction.h"
#include "unwind/arm32.h"
#include "unwind/walk.h"

/* Finds a function's frame and return address by analyzing its AArch32 code. */

static bool code_decode(struct reader *reader, uint32_t address, bool is_thumb,
			struct instruction *instruction)
{
	uint64_t code, second = 0;

	if (!is_thumb) {
		if (address % 4 || !reader_word(reader, address, 4, &code))
			return false;
		*instruction = a32_decode((uint32_t)code, address);
		return true;
	}
	if (!reader_word(reader, address, 2, &code))
		return false;
	if (t32_is_wide((uint32_t)code) && !reader_word(reader, address + 2, 2, &second))
		return false;
	*instruction = t32_decode((uint32_t)code, (uint32_t)second, address);
	return true;
}

/* The byte offset of @reg in consecutive words, one for each register in @list. */
static uint32_t place_of(uint32_t list, unsigned int reg)
{
	return 4 * (uint32_t)__builtin_popcount(list & ((1u << reg) - 1));
}

/* The code being followed. */
struct path {
	struct reader *reader;
	uint32_t address, sp, fp;
	bool is_thumb;
	unsigned int jumps;
	enum {
		LINK_KEPT,   /* the link register is unchanged */
		LINK_LOADED, /* the link register was loaded from link */
		LINK_LOST,
	} state;
	uint32_t link;
	struct arm32_exit exit;
};

/* The return address is in the link register. */
static void end_at_link(struct path *path)
{
	if (path->state == LINK_KEPT)
		path->exit.kind = EXIT_LINK;
	if (path->state == LINK_LOADED)
		path->exit.kind = EXIT_STACK;
	path->exit.caller = path->link;
}

/* A load of lr together with the frame pointer, or in a pop, loads the return address;
 * any other may be a different use of lr in a function without a frame. */
static bool take_load(struct path *path, const struct instruction *load)
{
	static const unsigned int frame_pointers[] = {FP_ARM, FP_THUMB};
	unsigned int own = frame_pointers[path->is_thumb];
	uint32_t base = path->sp + load->offset;

	for (unsigned int i = 0; i < 2; i++)
		if (HAS(load->list, frame_pointers[i])) {
			path->exit.has_saved[i] = true;
			path->exit.saved[i] = base +
					      place_of(load->list, frame_pointers[i]);
		}
	path->sp += load->move;
	if (HAS(load->list, PC) || HAS(load->list, LR)) {
		path->state = LINK_LOADED;
		path->link = base + place_of(load->list, HAS(load->list, PC) ? PC : LR);
	}
	if (HAS(load->list, PC) ||
	    (HAS(load->list, LR) && (load->move || HAS(load->list, own)))) {
		end_at_link(path);
		return false;
	}
	return !HAS(load->list, SP);
}

/* Whether a store is one of a function's first instructions: it saves lr, and doesn't
 * store lr after another use. */
static bool saves_link(const struct path *path, const struct instruction *store)
{
	return HAS(store->list, LR) &&
	       (store->move || HAS(store->list, path->is_thumb ? FP_THUMB : FP_ARM));
}

/* The instruction before path->address sets the frame pointer. By then, Thumb code may
 * have saved lr and overwritten it. */
static void take_frame(struct path *path, const struct instruction *set)
{
	unsigned int budget = 2 * ARM32_START_MAX;
	uint32_t fp = path->sp + set->offset;
	struct arm32_frame frame;

	if (!path->is_thumb) {
		end_at_link(path);
		return;
	}
	if (arm32_find_frame(path->reader, path->address, true, &budget, &frame) !=
		    SEARCH_FOUND ||
	    frame.made != path->address)
		return;
	if (frame.is_leaf) {
		end_at_link(path);
		return;
	}
	path->exit.kind = EXIT_STACK;
	path->exit.caller = fp + frame.caller;
	path->exit.has_saved[1] = true;
	path->exit.saved[1] = fp + frame.next;
}

/* Follows short forward jumps, which clang generates without optimization: the examined
 * code stays shorter than a page. */
static bool take_jump(struct path *path, uint32_t target)
{
	bool is_short = target - path->address <= 8;

	if (!is_short && path->jumps++ == CODE_JUMPS)
		return false;
	path->address = target;
	return true;
}

/* Follows one instruction; false at the end of the path. */
static bool path_take(struct path *path, const struct instruction *next)
{
	path->address += next->size;
	switch (next->act) {
	case ACT_NONE:
		return true;
	case ACT_JUMP:
		return take_jump(path, next->target);
	case ACT_STORE:
		if (saves_link(path, next)) {
			end_at_link(path);
			return false;
		}
		path->sp += next->move;
		return true;
	case ACT_LOAD:
		return take_load(path, next);
	case ACT_MOVE_SP:
		path->sp += next->offset;
		return true;
	case ACT_MOVE_FP:
		path->fp += next->offset;
		return true;
	case ACT_SP_FROM_FP:
		path->sp = path->fp + next->offset;
		return true;
	case ACT_LOSE_LINK:
		path->state = LINK_LOST;
		return true;
	case ACT_SET_FP:
		take_frame(path, next);
		return false;
	case ACT_RETURN:
		end_at_link(path);
		return false;
	case ACT_LOST:
		return false;
	}
	return false;
}

/*
 * All paths through the code from here must agree on where the return address is. So only
 * one path is followed, which doesn't take conditional branches, until it uses the return
 * address or reaches a call. If it returns to the link register, stores it, or sets up a
 * frame before loading the register, the return address is in the register.
 */
struct arm32_exit arm32_leave(struct reader *reader, uint32_t address, bool is_thumb,
			      uint32_t sp, uint32_t fp)
{
	struct path path = {.reader = reader,
			    .address = address,
			    .sp = sp,
			    .fp = fp,
			    .is_thumb = is_thumb};
	struct instruction next;

	for (unsigned int step = 0; step < CODE_STEPS; step++) {
		if (step && path.address == address) /* a loop */
			break;
		if (!code_decode(reader, path.address, is_thumb, &next) ||
		    !path_take(&path, &next))
			break;
	}
	return path.exit;
}

struct window {
	uint32_t address;
	unsigned int count;
	uint16_t code[ARM32_START_MAX];
};

/* Whether a function that saves r7 can start with @code: push, or strd or str [sp, #-n]!,
 * which GCC uses for some CPUs. */
static bool is_start(uint64_t code)
{
	return (code & 0xfe80) == 0xb480 || code == 0xe92d || code == 0xe96d ||
	       code == 0xf84d;
}

/* The effect of a function's first instructions. */
struct start {
	uint32_t sp, fp, next, caller; /* offsets from the initial stack pointer */
	bool has_fp, has_next, has_caller;
};

static void take_store(const struct instruction *store, struct start *start)
{
	uint32_t base = start->sp + store->offset;

	if (HAS(store->list, FP_THUMB)) {
		start->has_next = true;
		start->next = base + place_of(store->list, FP_THUMB);
	}
	if (HAS(store->list, LR)) {
		start->has_caller = true;
		start->caller = base + place_of(store->list, LR);
	}
	start->sp += store->move;
}

/* Follows one of the first instructions; false at their end. */
static bool take_first(const struct instruction *first, struct start *start)
{
	switch (first->act) {
	case ACT_NONE:
	case ACT_LOSE_LINK:
		return true;
	case ACT_STORE:
		take_store(first, start);
		return true;
	case ACT_MOVE_SP:
		start->sp += first->offset;
		return true;
	case ACT_SET_FP:
		start->has_fp = true;
		start->fp = start->sp + first->offset;
		return true;
	default:
		return false;
	}
}

/*
 * Follows instructions that may be a function's first ones. Second halves of instructions
 * and constants within the code can look like them. Constants are rejected because they
 * contain halfwords of 0, unlike code, or result in impossible frames, with r7 above the
 * saved registers.
 */
static bool take_start(const struct window *window, bool sampled,
		       struct arm32_frame *frame)
{
	struct start start = {0};
	struct instruction now;

	for (unsigned int i = 0; i < window->count; i += now.size / 2) {
		bool is_last = i + 1 == window->count;
		uint16_t first = window->code[i];

		if (!first || (is_last && t32_is_wide(first)))
			break;
		now = t32_decode(first, is_last ? 0 : window->code[i + 1],
				 window->address + 2 * i);
		if (!take_first(&now, &start))
			break;
		if (now.act == ACT_SET_FP)
			frame->made = window->address + 2 * i + now.size;
		if (start.has_fp && start.has_next && start.has_caller)
			break;
	}
	frame->next = start.next - start.fp;
	frame->caller = start.caller - start.fp;
	frame->is_leaf = !start.has_caller;
	return start.has_fp && start.has_next && frame->next <= INT32_MAX &&
	       (start.has_caller ? frame->caller <= INT32_MAX : sampled);
}

/* Copies the code from @address, in the reader's page, to @end; @above is the start of
 * the next page. */
static void window_read(struct reader *reader, uint32_t address, uint32_t end,
			const uint16_t *above, struct window *window)
{
	uint32_t offset = address % GUEST_PAGE_SIZE, count = (end - address) / 2;

	window->address = address;
	window->count = count < ARM32_START_MAX ? count : ARM32_START_MAX;
	for (unsigned int i = 0; i < window->count; i++, offset += 2)
		window->code[i] = offset < GUEST_PAGE_SIZE
					  ? (uint16_t)guest_word(reader->page, offset, 2)
					  : above[(offset - GUEST_PAGE_SIZE) / 2];
}

enum arm32_search arm32_find_frame(struct reader *reader, uint32_t address, bool sampled,
				   unsigned int *budget, struct arm32_frame *frame)
{
	uint16_t above[ARM32_START_MAX] = {0};
	struct arm32_frame found;
	struct window window;
	uint32_t at = address;

	while (reader_enter(reader, at - 2)) {
		do {
			if (!*budget)
				return SEARCH_STOPPED;
			--*budget;
			at -= 2;
			if (!is_start(guest_word(reader->page, at % GUEST_PAGE_SIZE, 2)))
				continue;
			window_read(reader, at, address, above, &window);
			if (take_start(&window, sampled, &found)) {
				*frame = found;
				return SEARCH_FOUND;
			}
			*budget -= window.count < *budget ? window.count : *budget;
		} while (at % GUEST_PAGE_SIZE);
		for (unsigned int i = 0; i < ARM32_START_MAX; i++)
			above[i] = (uint16_t)guest_word(reader->page, 2 * i, 2);
	}
	return reader->failure == CHAIN_NO_PAGE ? SEARCH_UNREADABLE : SEARCH_NONE;
}

static bool is_after_thumb_call(struct reader *reader, uint32_t address)
{
	uint64_t first, second;

	if (!reader_word(reader, address - 2, 2, &second))
		return false;
	if ((second & 0xff87) == 0x4780) /* blx */
		return true;
	/* bl. If its halves are in two pages, the second half is enough. */
	if ((second & 0xc000) != 0xc000)
		return false;
	if ((address - 2) % GUEST_PAGE_SIZE == 0)
		return true;
	return reader_word(reader, address - 4, 2, &first) && (first & 0xf800) == 0xf000;
}

bool arm32_is_after_call(struct reader *reader, uint32_t address)
{
	uint64_t code;

	if (address < 4)
		return false;
	if (address & 1)
		return is_after_thumb_call(reader, address - 1);
	if (address % 4 || !reader_word(reader, address - 4, 4, &code))
		return false;
	/* bl and blx; blx with a register; on CPUs without blx, bx or a load to pc after
	 * mov lr, pc */
	return (code & 0x0f000000) == 0x0b000000 || (code & 0xfe000000) == 0xfa000000 ||
	       (code & 0x0fffffd0) == 0x012fff10 || (code & 0x0c10f000) == 0x0410f000;
}
