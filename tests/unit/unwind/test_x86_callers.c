/* SPDX-License-Identifier: BSD-3-Clause */

/* x86 call chains of functions that have no frame, not yet or no longer: their callers
 * are not skipped, and none is made up. */

#include "tests/unit/unwind/test_x86_scene.h"

/* The code at the sampled address, and the place of the return address. */
struct edge {
	uint8_t code[8];
	unsigned int size;
	int slot; /* words above the stack pointer; -1: the function has its frame */
};

static const struct edge edges_64[] = {
	{{0x55, 0x48, 0x89, 0xe5}, 4, 0}, /* push %rbp; mov %rsp,%rbp */
	{{0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5}, 8, 0}, /* endbr64 before it */
	{{0x48, 0x89, 0xe5}, 3, 1},				  /* mov %rsp,%rbp */
	{{0x48, 0x8b, 0xec}, 3, 1},	   /* mov %rsp,%rbp, encoded otherwise */
	{{0xc3}, 1, 0},			   /* ret */
	{{0xc2, 0x08, 0x00}, 3, 0},	   /* ret $8 */
	{{0xf3, 0xc3}, 2, 0},		   /* repz ret */
	{{0x90}, 1, -1},		   /* nop, up to a call */
	{{0x41, 0x55}, 2, -1},		   /* push %r13 */
	{{0x89, 0xe5}, 2, -1},		   /* mov %esp,%ebp */
	{{0x41, 0x89, 0xe5}, 3, -1},	   /* mov %esp,%r13d */
	{{0x48, 0x89, 0xec}, 3, -1},	   /* mov %rbp,%rsp */
	{{0xf3, 0x0f, 0x1e, 0xc8}, 4, -1}, /* rdsspd */
	{{0x5d}, 1, -1},		   /* pop %rbp */
	{{0xc9, 0xc3}, 2, -1},		   /* leave; ret */
};

static const struct edge edges_32[] = {
	{{0x55, 0x89, 0xe5}, 3, 0},			    /* push %ebp; mov %esp,%ebp */
	{{0xf3, 0x0f, 0x1e, 0xfb, 0x55, 0x89, 0xe5}, 7, 0}, /* endbr32 before it */
	{{0x89, 0xe5}, 2, 1},				    /* mov %esp,%ebp */
	{{0x8b, 0xec}, 2, 1},	     /* mov %esp,%ebp, encoded otherwise */
	{{0xc3}, 1, 0},		     /* ret */
	{{0xc2, 0x08, 0x00}, 3, 0},  /* ret $8 */
	{{0x90}, 1, -1},	     /* nop, up to a call */
	{{0x48, 0x89, 0xec}, 3, -1}, /* dec %eax; mov %ebp,%esp */
	{{0x5d}, 1, -1},	     /* pop %ebp */
	{{0xc9, 0xc3}, 2, -1},	     /* leave; ret */
};

/* The sampled instruction at @rip, with its return address on top of the stack. */
static void set_edge(struct scene *scene, const struct edge *edge, uint64_t rip)
{
	uint64_t top = STACK + 0x100;

	scene->guest->cpu.rip = rip;
	for (unsigned int i = 0; i < edge->size; i++)
		*guest_byte(scene->guest, rip + i) = edge->code[i];
	scene->guest->cpu.reg[X86_RSP] = top;
	for (int i = 0; i < 4; i++)
		poke(scene, top + i * scene->word, i == edge->slot ? RETURN(0) : 0x5ec);
}

static void expect_edge(const struct mode *mode, const struct edge *edge)
{
	struct scene scene = scene_new(mode);
	uint64_t frame = STACK + 0x200;

	set_edge(&scene, edge, CODE + 0x50);
	scene.guest->cpu.reg[X86_RBP] = frame;
	if (edge->slot >= 0) {
		/* The frame pointer is still, or again, the caller's, and may be saved.
		 */
		if (edge->slot == 1)
			poke(&scene, STACK + 0x100, frame);
		put_frame(&scene, frame, frame + 64, RETURN(1));
		put_frame(&scene, frame + 64, 0, RETURN(2));
		expect_chain(&scene, 3, CHAIN_UNKNOWN);
		assert_true(scene.chain.frameless);
		scene.guest->cpu.reg[X86_RBP] = 0;
		poke(&scene, STACK + 0x100 + (edge->slot == 0 ? scene.word : 0), 0);
		expect_chain(&scene, 1, CHAIN_UNKNOWN);
	} else {
		put_frame(&scene, frame, frame + 64, RETURN(0));
		put_frame(&scene, frame + 64, 0, RETURN(1));
		expect_chain(&scene, 2, CHAIN_UNKNOWN);
		assert_false(scene.chain.frameless);
	}
	scene_free(&scene);
}

static void callers_are_found_in_prologues_and_epilogues(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(edges_64); i++) {
		expect_edge(&mode_4_level, &edges_64[i]);
		expect_edge(&mode_5_level, &edges_64[i]);
	}
	for (size_t i = 0; i < COUNT_OF(edges_32); i++) {
		expect_edge(&mode_32, &edges_32[i]);
		expect_edge(&mode_32_pse, &edges_32[i]);
		expect_edge(&mode_pae, &edges_32[i]);
	}
}

static void code_is_read_across_pages(void **state)
{
	static const struct edge *const edges[] = {&edges_64[0], &edges_64[1],
						   &edges_64[4], &edges_64[5]};
	uint64_t last = CODE + GUEST_PAGE_SIZE;

	(void)state;
	for (size_t i = 0; i < COUNT_OF(edges); i++)
		for (unsigned int cut = 0; cut < edges[i]->size; cut++) {
			struct scene scene = scene_new(&mode_4_level);
			struct edge first = *edges[i];

			/* No caller is made up from the bytes at the page's end, nor from
			 * the bytes behind the page in the recorder's memory. */
			first.size -= cut;
			set_edge(&scene, &first, last - first.size);
			memcpy(scene.guest->beyond, edges[i]->code + first.size, cut);
			expect_chain(&scene, cut == 0, CHAIN_UNKNOWN);
			map_new(scene.guest, last);
			set_edge(&scene, edges[i], last - first.size);
			expect_chain(&scene, 1, CHAIN_UNKNOWN);
			scene_free(&scene);
		}
}

static void frames_are_used_if_code_cannot_be_read(void **state)
{
	struct scene scene = scene_new(&mode_4_level);

	(void)state;
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	put_frames(&scene, STACK + 0x200, 10, 64);
	unwind(&scene);
	assert_int_equal(scene.chain.count, 12);
	/* Earlier contents must not be used for an address without code. */
	scene.guest->cpu.rip = 0xdead000;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	scene.guest->cpu.rip = 0x8000000000000000;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	map(scene.guest, 0xdead000, FRAMES, GUEST_PAGE_SHIFT);
	scene.guest->cpu.rip = 0xdead000;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void a_stack_top_without_return_address_adds_no_caller(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	uint64_t *rsp = &scene.guest->cpu.reg[X86_RSP];

	(void)state;
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	put_frames(&scene, STACK + 0x200, 10, 64);
	poke(&scene, STACK + 0x100, 0);
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	*rsp = STACK + 0x101;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	*rsp = STACK_END;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	*rsp = 0x800000000000;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	/* The word does not follow a call: it may be data. */
	*rsp = STACK + 0x100;
	poke(&scene, *rsp, RETURN(0) + 1);
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	/* mov %rsp,%rbp, and the word above the stack pointer wraps around. */
	set_edge(&scene, &edges_64[2], CODE + 0x50);
	*rsp = UINT64_MAX - 7;
	expect_chain(&scene, 10, CHAIN_UNKNOWN);
	scene_free(&scene);
}

static void a_caller_from_the_stacks_top_counts_for_the_depth(void **state)
{
	struct scene scene = scene_new(&mode_4_level);

	(void)state;
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	put_frames(&scene, STACK + 0x200, CHAIN_MAX - 2, 64);
	unwind(&scene);
	assert_int_equal(scene.chain.count, CHAIN_MAX);
	assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene.chain.address[1], RETURN(0));
	assert_int_equal(scene.chain.address[2], RETURN(0));
	assert_int_equal(scene.chain.address[CHAIN_MAX - 1], RETURN(CHAIN_MAX - 3));
	scene_free(&scene);
}

/* PV: Xen's hypercall page saves rcx and r11 below the return address. Its caller is
 * known at each of its instructions, and the caller of that: a compiler that does not see
 * the call may have given it no frame. */
static void the_caller_of_a_hypercall_is_in_the_chain(void **state)
{
	static const uint8_t stub[] = {0x51, 0x41, 0x53, 0xb8, 0x11, 0x00, 0x00,
				       0x00, 0x0f, 0x05, 0x41, 0x5b, 0x59, 0xc3};
	static const uint8_t caller[] = {0xff, 0xd3, 0x5b,
					 0xc3}; /* call *%rbx; pop; ret */
	static const struct {
		unsigned int at, saved; /* words above the return address */
	} places[] = {{0, 0}, {1, 1}, {3, 2}, {8, 2}, {10, 2}, {12, 1}, {13, 0}};
	struct scene scene = scene_new(&mode_4_level);
	uint64_t top = STACK + 0x100, frame = STACK + 0x200,
		 page = CODE + GUEST_PAGE_SIZE;

	(void)state;
	map_new(scene.guest, page);
	memcpy(guest_byte(scene.guest, page), stub, sizeof(stub));
	memcpy(guest_byte(scene.guest, page + 0x100), caller, sizeof(caller));
	put_frame(&scene, frame, 0, RETURN(1));
	scene.guest->cpu.reg[X86_RBP] = frame;
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		uint64_t return_slot = top + places[i].saved * 8;

		poke(&scene, top, 0x202);
		poke(&scene, top + 8, 0x202);
		poke(&scene, return_slot, page + 0x102);
		poke(&scene, return_slot + 8, 12345); /* rbx */
		poke(&scene, return_slot + 16, RETURN(0));
		scene.guest->cpu.rip = page + places[i].at;
		scene.guest->cpu.reg[X86_RSP] = top;
		unwind(&scene);
		assert_int_equal(scene.chain.end, CHAIN_UNKNOWN);
		assert_int_equal(scene.chain.count, 4);
		assert_int_equal(scene.chain.address[1], page + 0x102);
		assert_int_equal(scene.chain.address[2], RETURN(0));
		assert_int_equal(scene.chain.address[3], RETURN(1));
	}
	scene_free(&scene);
}

/* Of the addresses that one of the lowest tables maps, bytes: a page in the next such
 * part costs most. */
#define PART ((uint64_t)2 << 20)

/*
 * At @code, which is near a part's beginning, a jump to the next part, and so on, at last
 * add $0xff0,%rsp; pop %rbp; ret: so two words are read of the stack, in two pages.
 * Before it there is a call, across the page's end.
 */
static void put_far_leaf(struct guest *guest, uint64_t code)
{
	static const uint8_t jump[] = {0xe9, 0xfb, 0xff, 0x1f, 0x00},
			     exit[] = {0x48, 0x81, 0xc4, 0xf0, 0x0f,
				       0x00, 0x00, 0x5d, 0xc3};

	map_new(guest, code - 8);
	for (unsigned int i = 1; i <= UNWIND_CODE_PAGES_MAX; i++, code += PART) {
		bool is_last = i == UNWIND_CODE_PAGES_MAX;

		map_new(guest, code);
		memcpy(guest_byte(guest, code), is_last ? exit : jump,
		       is_last ? sizeof(exit) : sizeof(jump));
		if (i == 1)
			*guest_byte(guest, code - 5) = 0xe8;
	}
}

/* Number of frames, each in two pages, that are followed. */
#define WORST_FRAMES (CHAIN_MAX + UNWIND_DEEP_PAGES / 2 + 1)

/* Frames across the boundaries of parts, with 5 table levels: no chain costs more. */
static void the_worst_chain_costs_a_bounded_number_of_pages(void **state)
{
	struct scene scene = scene_new(&mode_5_level);
	struct guest *guest = scene.guest;
	struct code_notes *notes = calloc(1, sizeof(*notes));
	uint64_t base = 0x100000000, shared = guest->next++, code = 0x20000003, table = 0;
	uint64_t top = STACK + GUEST_PAGE_SIZE - 8;

	(void)state;
	assert_non_null(notes);
	/* The pages of all return addresses can share one frame, and its table. */
	for (unsigned int i = 0; i < WORST_FRAMES; i++) {
		uint64_t part = base + (2 * i + 1) * PART;
		uint8_t *entry = entry_of(guest, part, guest->mode->levels - 2);

		map_new(guest, part - GUEST_PAGE_SIZE);
		if (table)
			set_entry(guest, entry, table);
		else
			map(guest, part, shared, GUEST_PAGE_SHIFT);
		table = get_entry(guest, entry);
	}
	for (unsigned int i = 0; i < WORST_FRAMES; i++) {
		uint64_t frame = base + (2 * i + 1) * PART - 8;

		put_frame(&scene, frame, frame + 2 * PART, 0x1234);
	}
	/* The first two functions have no frames; the words of each are in two pages. */
	for (unsigned int i = 0; i <= X86_EXITS_MAX; i++)
		put_far_leaf(guest, code + i * 16 * PART);
	for (unsigned int i = 1; i <= X86_EXITS_MAX; i++, top += GUEST_PAGE_SIZE) {
		poke(&scene, top, base + PART - 8);
		poke(&scene, top + 8, code + i * 16 * PART);
	}
	guest->cpu.rip = code;
	guest->cpu.reg[X86_RSP] = STACK + 8;
	guest->cpu.reg[X86_RBP] = 12345;
	for (unsigned int round = 0; round < 3; round++) {
		unwind(&scene);
		assert_int_equal(scene.chain.count, CHAIN_MAX);
		assert_int_equal(scene.chain.end, CHAIN_TOO_DEEP);
		assert_true(scene.chain.frameless);
		/* The stack's two words that a function without a frame needs are
		 * mapped by one table. */
		assert_true(round > 0 || guest->calls >= X86_UNWIND_PAGES_MAX - 4 * 6 -
								 X86_EXITS_MAX * 4);
		code_notes_renew(notes);
		scene.input.notes = notes;
	}
	free(notes);
	scene_free(&scene);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_found_in_prologues_and_epilogues),
		cmocka_unit_test(code_is_read_across_pages),
		cmocka_unit_test(frames_are_used_if_code_cannot_be_read),
		cmocka_unit_test(a_stack_top_without_return_address_adds_no_caller),
		cmocka_unit_test(a_caller_from_the_stacks_top_counts_for_the_depth),
		cmocka_unit_test(the_caller_of_a_hypercall_is_in_the_chain),
		cmocka_unit_test(the_worst_chain_costs_a_bounded_number_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
