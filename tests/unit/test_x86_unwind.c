/* SPDX-License-Identifier: BSD-3-Clause */

/* x86 call chains: no caller left out, no guest believed, no walk without end. */

#include <stdbool.h>

#include "tests/unit/test_x86.h"

#define CODE	  0x401000ull
#define STACK	  0x700000ull /* the lowest page of 64 */
#define STACK_END (STACK + 64 * GUEST_PAGE_SIZE)
#define RETURN(i) (CODE + 0x100 + (i)*8ull)
#define NOP	  0x90

/* A guest with a page of code full of nops, a stack, and a chain to fill. */
struct scene {
	struct guest *guest;
	unsigned int word;
	struct chain chain;
};

static struct scene scene_new(const struct mode *mode)
{
	struct scene scene = {
		.guest = guest_new(mode),
		.word = mode->levels >= 4 ? 8 : 4,
		.chain.address = malloc(CHAIN_MAX * sizeof(uint64_t)),
	};

	assert_non_null(scene.chain.address);
	map_new(scene.guest, CODE);
	memset(guest_byte(scene.guest, CODE), NOP, GUEST_PAGE_SIZE);
	for (uint64_t page = STACK; page < STACK_END; page += GUEST_PAGE_SIZE)
		map_new(scene.guest, page);
	scene.guest->cpu.rip = CODE + 0x10;
	scene.guest->cpu.reg[X86_RSP] = STACK + 0x100;
	return scene;
}

static void scene_free(struct scene *scene)
{
	free(scene->guest);
	free(scene->chain.address);
}

static void poke(struct scene *scene, uint64_t address, uint64_t word)
{
	memcpy(guest_byte(scene->guest, address), &word, scene->word);
}

/* A frame at @address, called by the one at @next. */
static void put_frame(struct scene *scene, uint64_t address, uint64_t next,
		      uint64_t caller)
{
	poke(scene, address, next);
	poke(scene, address + scene->word, caller);
}

/* @count frames, @apart bytes from each other; the outermost has no caller's. */
static void put_frames(struct scene *scene, uint64_t address, unsigned int count,
		       unsigned int apart)
{
	scene->guest->cpu.reg[X86_RBP] = count ? address : 0;
	for (unsigned int i = 0; i < count; i++, address += apart)
		put_frame(scene, address, i + 1 < count ? address + apart : 0, RETURN(i));
}

static void unwind(struct scene *scene)
{
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	x86_unwind(&scene->guest->cpu, &scene->guest->memory, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_int_equal(scene->chain.address[0], scene->guest->cpu.rip);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= X86_UNWIND_PAGES_MAX);
}

/* The chain has the sampled address, and the first @count of put_frames(). */
static void expect_chain(struct scene *scene, unsigned int count, enum chain_end end)
{
	unwind(scene);
	assert_int_equal(scene->chain.end, end);
	assert_int_equal(scene->chain.count, 1 + count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(scene->chain.address[1 + i], RETURN(i));
}

static const struct mode *const modes[] = {&mode_32, &mode_32_pse, &mode_pae,
					   &mode_4_level, &mode_5_level};

static void chains_of_every_length_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (unsigned int count = 0; count < CHAIN_MAX; count++) {
			put_frames(&scene, STACK + 0x200, count, 64);
			expect_chain(&scene, count, CHAIN_WHOLE);
		}
		scene_free(&scene);
	}
}

static void a_chain_of_more_addresses_than_fit_is_too_deep(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);

		for (unsigned int count = CHAIN_MAX; count < CHAIN_MAX + 5; count++) {
			put_frames(&scene, STACK + 0x200, count, 32);
			expect_chain(&scene, CHAIN_MAX - 1, CHAIN_TOO_DEEP);
		}
		scene_free(&scene);
	}
}

static void a_chain_ends_whole_where_there_is_no_return_address(void **state)
{
	struct scene scene = scene_new(&mode_4_level);

	(void)state;
	put_frames(&scene, STACK + 0x200, 10, 64);
	poke(&scene, STACK + 0x200 + 6 * 64 + 8, 0);
	expect_chain(&scene, 6, CHAIN_WHOLE);
	scene_free(&scene);
}

static void frames_at_any_place_in_their_pages_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);
		unsigned int word = scene.word;

		/* From across a page's end to the middle of a page. */
		for (uint64_t offset = word; offset < 2048; offset += word * 37)
			for (unsigned int apart = 16; apart <= 4096; apart *= 2) {
				put_frames(&scene, STACK + GUEST_PAGE_SIZE - offset, 60,
					   apart);
				expect_chain(&scene, 60, CHAIN_WHOLE);
			}
		/* Each frame across a page's end, the pages in no order. */
		for (unsigned int page = 0; page < 64; page += 2) {
			uint64_t low = STACK + page * GUEST_PAGE_SIZE;
			uint64_t high = low + GUEST_PAGE_SIZE;
			uint64_t frame = guest_byte(scene.guest, low) -
					 scene.guest->page[0];

			map(scene.guest, low,
			    (uint64_t)(guest_byte(scene.guest, high) -
				       scene.guest->page[0]) >>
				    GUEST_PAGE_SHIFT,
			    GUEST_PAGE_SHIFT);
			map(scene.guest, high, frame >> GUEST_PAGE_SHIFT,
			    GUEST_PAGE_SHIFT);
		}
		put_frames(&scene, STACK + GUEST_PAGE_SIZE - word, 63, GUEST_PAGE_SIZE);
		expect_chain(&scene, 63, CHAIN_WHOLE);
		scene_free(&scene);
	}
}

static void a_stack_on_a_large_page_is_read(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	struct guest *guest = scene.guest;
	uint64_t frames[] = {STACK + 0x40000000 + 0x3ff8, STACK + 0x40000000 + 0x5010};

	(void)state;
	/* 2 MiB of memory from frame 512 on, STACK's offset in it: frame 768. */
	map(guest, STACK + 0x40000000, 512, 21);
	memcpy(guest->page[768 + 3] + 0xff8, &frames[1], 8);
	memcpy(guest->page[768 + 4], &(uint64_t){RETURN(0)}, 8);
	memcpy(guest->page[768 + 5] + 0x18, &(uint64_t){RETURN(1)}, 8);
	guest->cpu.reg[X86_RBP] = frames[0];
	expect_chain(&scene, 2, CHAIN_WHOLE);
	scene_free(&scene);
}

static void a_remapped_stack_is_followed(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	uint64_t page = STACK + GUEST_PAGE_SIZE;

	(void)state;
	put_frames(&scene, page, 3, 0x40);
	expect_chain(&scene, 3, CHAIN_WHOLE);
	map_new(scene.guest, page);
	put_frames(&scene, page, 5, 0x80);
	expect_chain(&scene, 5, CHAIN_WHOLE);
	/* Another process: the same addresses by other tables. */
	scene.guest->cpu.cr3 = scene.guest->next++ << GUEST_PAGE_SHIFT;
	map_new(scene.guest, page);
	put_frames(&scene, page, 1, 0x40);
	expect_chain(&scene, 1, CHAIN_WHOLE);
	scene_free(&scene);
}

static void frames_that_do_not_lie_further_up_end_the_chain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		for (unsigned int back = 0; back < 5; back++) {
			struct scene scene = scene_new(modes[i]);
			uint64_t last = STACK + 0x200 + 9 * 64;

			/* To itself, to those before it, and to where there are none. */
			put_frames(&scene, STACK + 0x200, 20, 64);
			poke(&scene, last, last - back * 64);
			expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
			poke(&scene, last, scene.word);
			expect_chain(&scene, 10, CHAIN_NOT_ASCENDING);
			scene_free(&scene);
		}
	}
}

static void an_unaligned_frame_ends_the_chain(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct scene scene = scene_new(modes[i]);
		uint64_t last = STACK + 0x200 + 3 * 64;

		put_frames(&scene, STACK + 0x200, 10, 64);
		for (unsigned int off = 1; off < scene.word; off++) {
			poke(&scene, last, last + 64 + off);
			expect_chain(&scene, 4, CHAIN_UNALIGNED);
		}
		/* The frame pointer is just a register when it is the first. */
		scene.guest->cpu.reg[X86_RBP] = STACK + 1;
		expect_chain(&scene, 0, CHAIN_UNALIGNED);
		scene_free(&scene);
	}
}

static void a_frame_that_can_not_be_read_says_why(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	struct guest *guest = scene.guest;
	uint64_t frame = STACK + 0x200, last = frame + 4 * 64;

	(void)state;
	put_frames(&scene, frame, 10, 64);
	poke(&scene, last, STACK_END);
	expect_chain(&scene, 5, CHAIN_NOT_PRESENT);
	poke(&scene, last, 0x800000000000);
	expect_chain(&scene, 5, CHAIN_NOT_CANONICAL);
	/* The return address lies where the address space ends. */
	map_new(guest, 0x7ffffffff000);
	poke(&scene, last, 0x7ffffffffff8);
	expect_chain(&scene, 5, CHAIN_NOT_CANONICAL);
	/* A frame whose memory Xen does not give. */
	map(guest, STACK_END, FRAMES, GUEST_PAGE_SHIFT);
	poke(&scene, last, STACK_END);
	expect_chain(&scene, 5, CHAIN_NO_PAGE);
	/* And one whose return address alone is there. */
	poke(&scene, last, STACK_END - 8);
	expect_chain(&scene, 5, CHAIN_NO_PAGE);
	guest->missing[guest->cpu.cr3 >> GUEST_PAGE_SHIFT] = true;
	expect_chain(&scene, 0, CHAIN_NO_PAGE);
	scene_free(&scene);
}

static void a_32_bit_frame_beyond_4_gib_is_no_address(void **state)
{
	struct scene scene = scene_new(&mode_pae);

	(void)state;
	scene.guest->cpu.reg[X86_RBP] = 0x100000000 | STACK;
	expect_chain(&scene, 0, CHAIN_NOT_CANONICAL);
	/* The return address would lie at 4 GiB. */
	map_new(scene.guest, 0xfffff000);
	scene.guest->cpu.reg[X86_RBP] = 0xfffffffc;
	expect_chain(&scene, 0, CHAIN_NOT_CANONICAL);
	scene_free(&scene);
}

/* What stands at the sampled address, and where the return address is then. */
struct edge {
	uint8_t code[4];
	unsigned int size;
	int slot; /* words above the stack pointer; -1: not told by the code */
};

static const struct edge edges_64[] = {
	{{0x55}, 1, 0},			   /* push %rbp */
	{{0xf3, 0x0f, 0x1e, 0xfa}, 4, 0},  /* endbr64 */
	{{0x48, 0x89, 0xe5}, 3, 1},	   /* mov %rsp,%rbp */
	{{0x48, 0x8b, 0xec}, 3, 1},	   /* the same, encoded otherwise */
	{{0xc3}, 1, 0},			   /* ret */
	{{0xc2, 0x08, 0x00}, 3, 0},	   /* ret $8 */
	{{0x90}, 1, -1},		   /* nop */
	{{0x41, 0x55}, 2, -1},		   /* push %r13 */
	{{0x89, 0xe5}, 2, -1},		   /* mov %esp,%ebp */
	{{0x41, 0x89, 0xe5}, 3, -1},	   /* mov %esp,%r13d */
	{{0x48, 0x89, 0xec}, 3, -1},	   /* mov %rbp,%rsp */
	{{0x48, 0x55}, 2, -1},		   /* needless prefix: who writes that? */
	{{0xf3, 0x0f, 0x1e, 0xc8}, 4, -1}, /* rdsspd */
	{{0x5d}, 1, -1},		   /* pop %rbp: the frame is still there */
	{{0xc9}, 1, -1},		   /* leave: so it is */
};

static const struct edge edges_32[] = {
	{{0x55}, 1, 0},			  /* push %ebp */
	{{0xf3, 0x0f, 0x1e, 0xfb}, 4, 0}, /* endbr32 */
	{{0x89, 0xe5}, 2, 1},		  /* mov %esp,%ebp */
	{{0x8b, 0xec}, 2, 1},		  /* the same, encoded otherwise */
	{{0xc3}, 1, 0},			  /* ret */
	{{0xc2, 0x08, 0x00}, 3, 0},	  /* ret $8 */
	{{0x90}, 1, -1},		  /* nop */
	{{0x48, 0x89, 0xe5}, 3, -1},	  /* dec %eax */
	{{0x5d}, 1, -1},		  /* pop %ebp */
	{{0xc9}, 1, -1},		  /* leave */
};

/* The sampled instruction at @rip, its function's caller on the stack's top. */
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
		/* The frame pointer is still, or again, the caller's. */
		put_frame(&scene, frame, frame + 64, RETURN(1));
		put_frame(&scene, frame + 64, 0, RETURN(2));
		expect_chain(&scene, 3, CHAIN_WHOLE);
		scene.guest->cpu.reg[X86_RBP] = 0;
		expect_chain(&scene, 1, CHAIN_WHOLE);
	} else {
		put_frame(&scene, frame, frame + 64, RETURN(0));
		put_frame(&scene, frame + 64, 0, RETURN(1));
		expect_chain(&scene, 2, CHAIN_WHOLE);
	}
	scene_free(&scene);
}

static void a_functions_first_and_last_instructions_leave_out_no_caller(void **state)
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

static void code_is_read_to_its_pages_end_and_no_further(void **state)
{
	static const struct edge *const edges[] = {&edges_64[0], &edges_64[1],
						   &edges_64[2], &edges_64[4]};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(edges); i++) {
		struct scene scene = scene_new(&mode_4_level);
		uint64_t last = CODE + GUEST_PAGE_SIZE;

		/* It ends where the page does: seen, with nothing behind it. */
		set_edge(&scene, edges[i], last - edges[i]->size);
		expect_chain(&scene, 1, CHAIN_WHOLE);
		/* It goes on in the next page: not seen, and nothing made up. */
		for (unsigned int cut = 1; cut < edges[i]->size; cut++) {
			map_new(scene.guest, last);
			set_edge(&scene, edges[i], last - cut);
			memcpy(scene.guest->beyond, edges[i]->code + cut,
			       edges[i]->size - cut);
			expect_chain(&scene, 0, CHAIN_WHOLE);
		}
		scene_free(&scene);
	}
}

static void without_the_code_the_frames_tell(void **state)
{
	struct scene scene = scene_new(&mode_4_level);

	(void)state;
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	put_frames(&scene, STACK + 0x200, 10, 64);
	unwind(&scene);
	assert_int_equal(scene.chain.count, 12);
	/* What was read there before must not count for an address without code. */
	scene.guest->cpu.rip = 0xdead000;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	scene.guest->cpu.rip = 0x8000000000000000;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	map(scene.guest, 0xdead000, FRAMES, GUEST_PAGE_SHIFT);
	scene.guest->cpu.rip = 0xdead000;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	scene_free(&scene);
}

static void a_stack_top_that_holds_no_caller_adds_none(void **state)
{
	struct scene scene = scene_new(&mode_4_level);
	uint64_t *rsp = &scene.guest->cpu.reg[X86_RSP];

	(void)state;
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	put_frames(&scene, STACK + 0x200, 10, 64);
	poke(&scene, STACK + 0x100, 0);
	expect_chain(&scene, 10, CHAIN_WHOLE);
	*rsp = STACK + 0x101;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	*rsp = STACK_END;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	*rsp = 0x800000000000;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	/* mov %rsp,%rbp, and the word above the stack pointer wraps around. */
	set_edge(&scene, &edges_64[2], CODE + 0x50);
	*rsp = UINT64_MAX - 7;
	expect_chain(&scene, 10, CHAIN_WHOLE);
	scene_free(&scene);
}

static void a_caller_from_the_stacks_top_counts_for_the_depth(void **state)
{
	struct scene scene = scene_new(&mode_4_level);

	(void)state;
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	put_frames(&scene, STACK + 0x200, CHAIN_MAX, 64);
	unwind(&scene);
	assert_int_equal(scene.chain.count, CHAIN_MAX);
	assert_int_equal(scene.chain.end, CHAIN_TOO_DEEP);
	assert_int_equal(scene.chain.address[1], RETURN(0));
	assert_int_equal(scene.chain.address[2], RETURN(0));
	assert_int_equal(scene.chain.address[CHAIN_MAX - 1], RETURN(CHAIN_MAX - 3));
	scene_free(&scene);
}

static void without_paging_a_chain_is_read_too(void **state)
{
	struct scene scene = {
		.guest = guest_new(NULL),
		.word = 4,
		.chain.address = malloc(CHAIN_MAX * sizeof(uint64_t)),
	};
	uint32_t words[] = {0x3010, (uint32_t)RETURN(0), 0, 0, 0, (uint32_t)RETURN(1)};

	(void)state;
	assert_non_null(scene.chain.address);
	memcpy(scene.guest->page[3], words, sizeof(words));
	scene.guest->cpu.rip = 0x2000;
	scene.guest->cpu.reg[X86_RBP] = 0x3000;
	expect_chain(&scene, 2, CHAIN_WHOLE);
	assert_int_equal(scene.guest->calls, 2);
	scene_free(&scene);
}

/* Frames across page ends, in tables of 5 levels: no chain costs more. */
static void the_worst_chain_costs_a_bounded_number_of_pages(void **state)
{
	struct scene scene = scene_new(&mode_5_level);
	struct guest *guest = scene.guest;
	uint64_t base = 0x10000000, shared = guest->next++;

	(void)state;
	/* The return addresses' pages can all be the same memory. */
	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		map_new(guest, base + 2 * i * GUEST_PAGE_SIZE);
		map(guest, base + (2 * i + 1) * GUEST_PAGE_SIZE, shared,
		    GUEST_PAGE_SHIFT);
	}
	for (unsigned int i = 0; i < CHAIN_MAX; i++) {
		uint64_t frame = base + i * 2 * GUEST_PAGE_SIZE + GUEST_PAGE_SIZE - 8;

		put_frame(&scene, frame, frame + 2 * GUEST_PAGE_SIZE, 0x1234);
	}
	set_edge(&scene, &edges_64[0], CODE + 0x50);
	guest->cpu.reg[X86_RBP] = base + GUEST_PAGE_SIZE - 8;
	unwind(&scene);
	assert_int_equal(scene.chain.count, CHAIN_MAX);
	assert_int_equal(scene.chain.end, CHAIN_TOO_DEEP);
	assert_true(guest->calls >= X86_UNWIND_PAGES_MAX - 2 * 6);
	scene_free(&scene);
}

static void an_entry_of_ones_at_any_level_leads_nowhere(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(modes); i++)
		for (unsigned int level = 0; level < modes[i]->levels; level++) {
			struct scene scene = scene_new(modes[i]);
			uint64_t last = STACK + 0x200 + 9 * 64;
			uint64_t away = 3ull << modes[i]->shift[0];

			put_frames(&scene, STACK + 0x200, 10, 64);
			poke(&scene, last, away);
			set_entry(scene.guest, entry_of(scene.guest, away, level),
				  UINT64_MAX);
			expect_chain(&scene, 10, CHAIN_NO_PAGE);
			scene_free(&scene);
		}
}

static void guests_of_random_bits_are_survived(void **state)
{
	unsigned int ends[CHAIN_ENDS] = {0}, deep = 0;
	uint64_t seed = 16;

	(void)state;
	for (unsigned int round = 0; round < 1000; round++) {
		const struct mode *mode = modes[round % COUNT_OF(modes)];
		struct scene scene = scene_new(mode);
		struct guest *guest = scene.guest;

		/* Words that are often frames or code, and sometimes anything. */
		for (uint64_t at = STACK; at < STACK_END; at += scene.word) {
			uint64_t word = random_next(&seed), kind = word >> 60;

			if (kind < 13)
				word = at + scene.word * (word % 64);
			else if (kind < 14)
				word = 0;
			else if (kind < 15)
				word = STACK + word % 0x41000;
			poke(&scene, at, word);
		}
		for (uint64_t at = 0; at < GUEST_PAGE_SIZE; at++)
			*guest_byte(guest, CODE + at) = (uint8_t)random_next(&seed);
		if (round % 3 == 0)
			guest->missing[random_next(&seed) % 70] = true;
		for (unsigned int i = 0; i < 50; i++) {
			guest->cpu.rip = CODE + random_next(&seed) % GUEST_PAGE_SIZE;
			guest->cpu.reg[X86_RSP] = STACK + random_next(&seed) % 0x41000;
			guest->cpu.reg[X86_RBP] = STACK + random_next(&seed) % 0x4000;
			guest->cpu.reg[X86_RBP] &= ~(uint64_t)(i % 2 ? 0 : 7);
			unwind(&scene);
			ends[scene.chain.end]++;
			deep += scene.chain.count > 10;
		}
		scene_free(&scene);
	}
	assert_true(deep > 1000);
	for (unsigned int end = 0; end < CHAIN_ENDS; end++)
		if (end != CHAIN_TOO_DEEP && end != CHAIN_NOT_READY)
			assert_true(ends[end] > 0);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_of_every_length_are_whole),
		cmocka_unit_test(a_chain_of_more_addresses_than_fit_is_too_deep),
		cmocka_unit_test(a_chain_ends_whole_where_there_is_no_return_address),
		cmocka_unit_test(frames_at_any_place_in_their_pages_are_read),
		cmocka_unit_test(a_stack_on_a_large_page_is_read),
		cmocka_unit_test(a_remapped_stack_is_followed),
		cmocka_unit_test(frames_that_do_not_lie_further_up_end_the_chain),
		cmocka_unit_test(an_unaligned_frame_ends_the_chain),
		cmocka_unit_test(a_frame_that_can_not_be_read_says_why),
		cmocka_unit_test(a_32_bit_frame_beyond_4_gib_is_no_address),
		cmocka_unit_test(
			a_functions_first_and_last_instructions_leave_out_no_caller),
		cmocka_unit_test(code_is_read_to_its_pages_end_and_no_further),
		cmocka_unit_test(without_the_code_the_frames_tell),
		cmocka_unit_test(a_stack_top_that_holds_no_caller_adds_none),
		cmocka_unit_test(a_caller_from_the_stacks_top_counts_for_the_depth),
		cmocka_unit_test(without_paging_a_chain_is_read_too),
		cmocka_unit_test(the_worst_chain_costs_a_bounded_number_of_pages),
		cmocka_unit_test(an_entry_of_ones_at_any_level_leads_nowhere),
		cmocka_unit_test(guests_of_random_bits_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
