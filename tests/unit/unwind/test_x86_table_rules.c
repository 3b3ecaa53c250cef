/* SPDX-License-Identifier: BSD-3-Clause */

/* x86 call chains by the rules of a table, alone and mixed with frame pointers: no caller
 * skipped, no rule trusted, no endless walk. */

#include "tests/unit/unwind/test_x86_scene.h"
#include "tables/build.h"

#define OTHER  (CODE + 0x900) /* code without rules */
#define KERNEL 0xffffffff81000000

/* A stack with a table. */
struct tabled {
	struct scene scene;
	struct unwind_builder *builder;
	struct unwind_table *table;
};

static struct tabled tabled_new(const struct mode *mode)
{
	struct tabled tabled = {scene_new(mode), unwind_builder_new(), NULL};

	assert_non_null(tabled.builder);
	tabled.scene.guest->cpu.rip = CODE + 0x10;
	tabled.scene.guest->cpu.reg[X86_RSP] = STACK + 0x100;
	tabled.scene.guest->cpu.reg[X86_RBP] = 0x1234567890abcdef;
	return tabled;
}

static void tabled_free(struct tabled *tabled)
{
	unwind_table_free(tabled->table);
	unwind_builder_free(tabled->builder);
	scene_free(&tabled->scene);
}

static void add_rule(struct tabled *tabled, uint64_t start, uint64_t end,
		     struct unwind_rule rule)
{
	assert_int_equal(unwind_builder_add(tabled->builder, start, end, &rule), 0);
}

static struct unwind_rule by_sp(int32_t cfa)
{
	return (struct unwind_rule){
		.kind = UNWIND_CALLER, .cfa = cfa, .caller = -8, .fp = UNWIND_KEPT};
}

static struct unwind_rule by_fp(int32_t cfa, int32_t fp)
{
	return (struct unwind_rule){.kind = UNWIND_CALLER,
				    .from_fp = true,
				    .cfa = cfa,
				    .caller = -8,
				    .fp = fp};
}

static void tabled_unwind(struct tabled *tabled)
{
	struct scene *scene = &tabled->scene;

	unwind_table_free(tabled->table);
	tabled->table = unwind_builder_finish(tabled->builder);
	assert_non_null(tabled->table);
	scene->input.table = tabled->table;
	scene->guest->calls = 0;
	memset(scene->chain.address, 0xaa, CHAIN_MAX * sizeof(uint64_t));
	x86_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_true(scene->chain.end < CHAIN_ENDS);
	assert_true(scene->guest->calls <= X86_TABLE_PAGES_MAX);
}

static void expect(struct tabled *tabled, enum chain_end end, unsigned int count,
		   const uint64_t *callers)
{
	const struct chain *chain = &tabled->scene.chain;

	tabled_unwind(tabled);
	assert_int_equal(chain->count, 1 + count);
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(chain->address[1 + i], callers[i]);
	assert_int_equal(chain->end, end);
}

static void rules_lead_from_caller_to_caller(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {RETURN(0), RETURN(1)};

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80, by_sp(24));
	add_rule(&tabled, RETURN(0) - 1, RETURN(0), by_sp(8));
	add_rule(&tabled, RETURN(1) - 1, RETURN(1),
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	poke(&tabled.scene, STACK + 0x110, RETURN(0));
	poke(&tabled.scene, STACK + 0x118, RETURN(1));
	expect(&tabled, CHAIN_WHOLE, 2, callers);
	assert_false(tabled.scene.chain.frameless);
	tabled_free(&tabled);
}

/* The call may be the last instruction of its function, and the sampled instruction the
 * first one. */
static void callers_are_looked_up_at_their_calls(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {RETURN(0)};

	(void)state;
	add_rule(&tabled, CODE + 0x0f, CODE + 0x10, by_sp(80));
	add_rule(&tabled, CODE + 0x10, CODE + 0x11, by_sp(8));
	add_rule(&tabled, RETURN(0) - 5, RETURN(0),
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	add_rule(&tabled, RETURN(0), RETURN(0) + 1, by_sp(8));
	poke(&tabled.scene, STACK + 0x100, RETURN(0));
	expect(&tabled, CHAIN_WHOLE, 1, callers);
	tabled_free(&tabled);
}

/* Rules, then two frames, of which the first saved a frame pointer that its caller uses
 * for something else, then a rule and a frame again. */
static void chains_mix_rules_and_frames(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {OTHER, RETURN(1), OTHER + 8, OTHER + 16};

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80, by_sp(24));
	add_rule(&tabled, RETURN(1) - 1, RETURN(1),
		 (struct unwind_rule){UNWIND_CALLER, .cfa = 32, .caller = -8, .fp = -16});
	poke(&tabled.scene, STACK + 0x110, OTHER);
	tabled.scene.guest->cpu.reg[X86_RBP] = STACK + 0x140;
	put_frame(&tabled.scene, STACK + 0x140, 7, RETURN(1));
	/* Its caller's stack is at 0x150. */
	put_frame(&tabled.scene, STACK + 0x160, STACK + 0x180, OTHER + 8);
	put_frame(&tabled.scene, STACK + 0x180, 0, OTHER + 16);
	expect(&tabled, CHAIN_UNKNOWN, 4, callers);
	tabled_free(&tabled);
}

static void without_a_rule_frames_are_above_the_stack_pointer(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {OTHER};

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80, by_sp(24));
	poke(&tabled.scene, STACK + 0x110, OTHER);
	put_frame(&tabled.scene, STACK + 0x80, STACK + 0x180, OTHER + 8);
	tabled.scene.guest->cpu.reg[X86_RBP] = STACK + 0x80;
	expect(&tabled, CHAIN_NOT_ASCENDING, 1, callers);
	tabled_free(&tabled);
}

static void a_lost_frame_pointer_is_not_used(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {RETURN(0), RETURN(1)};
	struct unwind_rule loses = by_sp(24);

	(void)state;
	loses.fp = UNWIND_LOST;
	add_rule(&tabled, CODE, CODE + 0x80, loses);
	add_rule(&tabled, RETURN(0) - 1, RETURN(0), by_sp(8));
	tabled.scene.guest->cpu.reg[X86_RBP] = STACK + 0x140;
	put_frame(&tabled.scene, STACK + 0x140, 0, OTHER);
	poke(&tabled.scene, STACK + 0x110, RETURN(0));
	poke(&tabled.scene, STACK + 0x118, RETURN(1));
	/* Neither by a record nor by a rule; but it may be found again. */
	expect(&tabled, CHAIN_NOT_ASCENDING, 2, callers);
	add_rule(&tabled, RETURN(1) - 1, RETURN(1), by_fp(16, UNWIND_KEPT));
	expect(&tabled, CHAIN_NOT_ASCENDING, 2, callers);
	tabled_free(&tabled);
}

/* As after `lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp;
 * push %r10`, by GCC. */
static void realigned_stacks_are_followed(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {RETURN(0), RETURN(1)};

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80,
		 (struct unwind_rule){.kind = UNWIND_CALLER,
				      .from_fp = true,
				      .from_word = true,
				      .fp_by_register = true,
				      .word = -8,
				      .caller = -8});
	add_rule(&tabled, RETURN(0) - 1, RETURN(0), by_fp(16, -16));
	add_rule(&tabled, RETURN(1) - 1, RETURN(1),
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	tabled.scene.guest->cpu.reg[X86_RBP] = STACK + 0x120;
	poke(&tabled.scene, STACK + 0x118, STACK + 0x158);
	poke(&tabled.scene, STACK + 0x120, STACK + 0x180);
	poke(&tabled.scene, STACK + 0x150, RETURN(0));
	put_frame(&tabled.scene, STACK + 0x180, 0, RETURN(1));
	expect(&tabled, CHAIN_WHOLE, 2, callers);
	tabled_free(&tabled);
}

/* As in OpenSSL, after `mov %rsp,%rax; push %rbx`: only in the sampled function. */
static void other_registers_are_used_in_the_sampled_function(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {RETURN(0)};
	struct unwind_rule rule = by_sp(8);

	(void)state;
	rule.other = 1;
	add_rule(&tabled, CODE, CODE + GUEST_PAGE_SIZE, rule);
	tabled.scene.guest->cpu.reg[0] = STACK + 0x120;
	tabled.scene.guest->cpu.reg[X86_RBP] = 0;
	poke(&tabled.scene, STACK + 0x120, RETURN(0));
	poke(&tabled.scene, STACK + 0x128, RETURN(1));
	expect(&tabled, CHAIN_UNKNOWN, 1, callers);
	rule.other = X86_REGISTERS + 1;
	unwind_builder_free(tabled.builder);
	tabled.builder = unwind_builder_new();
	add_rule(&tabled, CODE, CODE + GUEST_PAGE_SIZE, rule);
	expect(&tabled, CHAIN_UNKNOWN, 0, NULL);
	tabled_free(&tabled);
}

/* Registers pushed by an interrupt: rip, cs, rflags, rsp, ss. The interrupted code is on
 * another stack, at the first instruction of its function. */
static void interrupted_code_is_followed_from_its_instruction(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {CODE + 0x200, RETURN(0)};

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80,
		 (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
				      .cfa = 16,
				      .word = 24,
				      .caller = 0,
				      .fp = -8});
	add_rule(&tabled, CODE + 0x1f0, CODE + 0x200, by_sp(800));
	add_rule(&tabled, CODE + 0x200, CODE + 0x210, by_sp(8));
	add_rule(&tabled, RETURN(0) - 1, RETURN(0),
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	tabled.scene.guest->cpu.reg[X86_RSP] = STACK + 0x4000;
	poke(&tabled.scene, STACK + 0x4010, CODE + 0x200);
	poke(&tabled.scene, STACK + 0x4028, STACK + 0x80);
	poke(&tabled.scene, STACK + 0x80, RETURN(0));
	expect(&tabled, CHAIN_WHOLE, 2, callers);
	tabled_free(&tabled);
}

/* A kernel's table says where it saved the registers of a program, whose words are of 4
 * bytes if its stack is below 4 GiB. */
static void interrupted_32_bit_programs_have_callers(void **state)
{
	static const uint32_t words[][2] = {{STACK + 0xb4, RETURN(0)}, {0, RETURN(1)}};
	struct tabled tabled = tabled_new(&mode_4_level);
	struct guest *guest = tabled.scene.guest;
	const uint64_t callers[] = {OTHER, RETURN(0), RETURN(1)};

	(void)state;
	add_rule(&tabled, KERNEL, KERNEL + 0x80,
		 (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
				      .cfa = 0,
				      .word = 152,
				      .caller = 128,
				      .fp = 32});
	guest->cpu.rip = KERNEL + 0x10;
	guest->cpu.reg[X86_RSP] = STACK + 0x4000;
	poke(&tabled.scene, STACK + 0x4020, STACK + 0xa4);
	poke(&tabled.scene, STACK + 0x4080, OTHER);
	poke(&tabled.scene, STACK + 0x4098, STACK + 0x84);
	put_bytes(guest, STACK + 0xa4, words[0], sizeof(words[0]));
	put_bytes(guest, STACK + 0xb4, words[1], sizeof(words[1]));
	expect(&tabled, CHAIN_UNKNOWN, 3, callers);
	tabled_free(&tabled);
}

/* The program's address is in rcx, and its stack pointer in place, on the stack, or
 * nowhere: then a function without a frame has no caller. */
static void system_calls_are_followed_before_the_kernel_has_a_stack(void **state)
{
	static const uint8_t leaf[] = {0x0f, 0x05, 0xc3}; /* syscall; ret */
	static const int32_t words[] = {UNWIND_KEPT, 8, UNWIND_LOST};
	const uint64_t callers[] = {OTHER + 2, RETURN(0), RETURN(1)};
	const uint64_t without_leaf[] = {OTHER + 2, RETURN(1)};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		struct tabled tabled = tabled_new(&mode_4_level);
		struct x86_cpu *cpu = &tabled.scene.guest->cpu;

		add_rule(&tabled, CODE, CODE + 0x80,
			 (struct unwind_rule){.kind = UNWIND_CALLED_SYSTEM,
					      .other = 2,
					      .word = words[i]});
		memcpy(guest_byte(tabled.scene.guest, OTHER), leaf, sizeof(leaf));
		cpu->reg[1] = OTHER + 2;
		cpu->reg[X86_RSP] = words[i] == UNWIND_KEPT ? STACK + 0x80
							    : STACK + 0x4000;
		cpu->reg[X86_RBP] = STACK + 0xa0;
		poke(&tabled.scene, STACK + 0x4008, STACK + 0x80);
		poke(&tabled.scene, STACK + 0x80, RETURN(0));
		put_frame(&tabled.scene, STACK + 0xa0, 0, RETURN(1));
		if (words[i] == UNWIND_LOST)
			expect(&tabled, CHAIN_UNKNOWN, 2, without_leaf);
		else
			expect(&tabled, CHAIN_UNKNOWN, 3, callers);
		tabled_free(&tabled);
	}
}

/* Code without a rule and without a frame, as a system call's in a C library. */
static void interrupted_leaves_have_callers(void **state)
{
	static const uint8_t leaf[] = {0x0f, 0x05, 0xc3}; /* syscall; ret */
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {OTHER + 2, RETURN(0), RETURN(1)};

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80,
		 (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
				      .cfa = 0,
				      .word = 152,
				      .caller = 128,
				      .fp = 32});
	memcpy(guest_byte(tabled.scene.guest, OTHER), leaf, sizeof(leaf));
	tabled.scene.guest->cpu.reg[X86_RSP] = STACK + 0x4000;
	poke(&tabled.scene, STACK + 0x4000 + 128, OTHER + 2);
	poke(&tabled.scene, STACK + 0x4000 + 152, STACK + 0x80);
	poke(&tabled.scene, STACK + 0x4000 + 32, STACK + 0xa0);
	poke(&tabled.scene, STACK + 0x80, RETURN(0));
	put_frame(&tabled.scene, STACK + 0xa0, 0, RETURN(1));
	expect(&tabled, CHAIN_UNKNOWN, 3, callers);
	tabled_free(&tabled);
}

/* Linux' handlers of interrupts have a stack of their own, with the interrupted one's
 * pointer at its top. A frame pointer leads to no other stack. */
static void a_saved_stack_pointer_leads_to_any_stack(void **state)
{
	struct unwind_rule rule = by_sp(16);
	const uint64_t callers[] = {RETURN(0)};

	(void)state;
	rule.from_word = true;
	for (int by_fp = 0; by_fp < 2; by_fp++) {
		struct tabled tabled = tabled_new(&mode_4_level);

		rule.from_fp = by_fp;
		add_rule(&tabled, CODE, CODE + 0x80, rule);
		add_rule(&tabled, RETURN(0) - 1, RETURN(0),
			 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
		tabled.scene.guest->cpu.reg[X86_RSP] = STACK + 0x4000;
		tabled.scene.guest->cpu.reg[X86_RBP] = STACK + 0x4000;
		poke(&tabled.scene, STACK + 0x4000, STACK + 0x80);
		poke(&tabled.scene, STACK + 0x88, RETURN(0));
		if (by_fp)
			expect(&tabled, CHAIN_NOT_ASCENDING, 0, NULL);
		else
			expect(&tabled, CHAIN_WHOLE, 1, callers);
		tabled_free(&tabled);
	}
}

/* An interrupt at the return from a hypercall, or in a module. Their rules may be found
 * after the chain was noted without them. */
static void interrupted_hypercalls_and_modules_have_callers(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	struct code_notes *notes = calloc(1, sizeof(*notes));
	struct unwind_builder *builder = unwind_builder_new();
	const uint64_t page = OTHER + 8, callers[] = {page, RETURN(0)};
	const struct unwind_rule rule = by_sp(24);
	struct unwind_table *hypercalls;

	(void)state;
	assert_non_null(notes);
	code_notes_renew(notes);
	tabled.scene.input.notes = notes;
	add_rule(&tabled, CODE, CODE + 0x80,
		 (struct unwind_rule){
			 .kind = UNWIND_INTERRUPTED, .word = 8, .fp = UNWIND_KEPT});
	add_rule(&tabled, RETURN(0) - 1, RETURN(0),
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	poke(&tabled.scene, STACK + 0x100, page);
	poke(&tabled.scene, STACK + 0x108, STACK + 0x140);
	poke(&tabled.scene, STACK + 0x150, RETURN(0));
	expect(&tabled, CHAIN_UNALIGNED, 1, callers);

	assert_int_equal(unwind_builder_add(builder, page, page + 1, &rule), 0);
	hypercalls = unwind_builder_finish(builder);
	tabled.scene.input.hypercalls = hypercalls;
	expect(&tabled, CHAIN_WHOLE, 2, callers);
	/* A module's table has rules, too. */
	tabled.scene.input.hypercalls = NULL;
	expect(&tabled, CHAIN_UNALIGNED, 1, callers);
	tabled.scene.input.modules = hypercalls;
	expect(&tabled, CHAIN_WHOLE, 2, callers);
	unwind_builder_free(builder);
	unwind_table_free(hypercalls);
	free(notes);
	tabled_free(&tabled);
}

/* Notes about a table are not used for the next one, even at the same address. */
static void notes_of_another_table_are_not_used(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	struct code_notes *notes = calloc(1, sizeof(*notes));
	const uint64_t callers[] = {RETURN(0), RETURN(1)};

	(void)state;
	assert_non_null(notes);
	code_notes_renew(notes);
	tabled.scene.input.notes = notes;
	poke(&tabled.scene, STACK + 0x100, RETURN(0));
	poke(&tabled.scene, STACK + 0x108, RETURN(1));
	poke(&tabled.scene, STACK + 0x110, 0);
	add_rule(&tabled, CODE, CODE + 0x80, by_sp(8));
	add_rule(&tabled, RETURN(0) - 1, RETURN(0), by_sp(8));
	add_rule(&tabled, RETURN(1) - 1, RETURN(1), by_sp(8));
	for (int i = 0; i < 3; i++)
		expect(&tabled, CHAIN_WHOLE, 2, callers);
	unwind_builder_free(tabled.builder);
	tabled.builder = unwind_builder_new();
	add_rule(&tabled, CODE, CODE + 0x80, by_sp(8));
	add_rule(&tabled, RETURN(0) - 1, RETURN(0),
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	for (int i = 0; i < 3; i++)
		expect(&tabled, CHAIN_WHOLE, 1, callers);
	tabled_free(&tabled);
	free(notes);
}

static void a_return_address_of_0_ends_the_chain(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x80, by_sp(24));
	expect(&tabled, CHAIN_WHOLE, 0, NULL);
	tabled_free(&tabled);
}

static void wrong_rules_end_the_chain(void **state)
{
	const struct {
		struct unwind_rule rule;
		enum chain_end end;
	} cases[] = {
		{by_sp(0), CHAIN_NOT_ASCENDING},
		{by_sp(-8), CHAIN_NOT_ASCENDING},
		{by_sp(INT32_MIN), CHAIN_NOT_PRESENT},
		{by_sp(12), CHAIN_UNALIGNED},
		{by_sp(65 * 4096), CHAIN_NOT_PRESENT},
		{by_fp(16, -16), CHAIN_UNALIGNED}, /* rbp is no address */
		{{UNWIND_CALLER, .from_word = true, .word = 4}, CHAIN_UNALIGNED},
		{{UNWIND_CALLER, .from_word = true, .word = 1 << 30}, CHAIN_NOT_PRESENT},
		{{UNWIND_CALLER, .from_word = true, .word = 0}, CHAIN_NOT_PRESENT},
		{{UNWIND_INTERRUPTED, .caller = 0, .word = 3}, CHAIN_UNALIGNED},
		/* The return address is in a register that x86 does not have. */
		{{UNWIND_CALLER, .cfa = 8, .caller = UNWIND_KEPT}, CHAIN_WHOLE},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct tabled tabled = tabled_new(&mode_4_level);

		add_rule(&tabled, CODE, CODE + 0x80, cases[i].rule);
		poke(&tabled.scene, STACK + 0x100, 8);
		expect(&tabled, cases[i].end, 0, NULL);
		tabled_free(&tabled);
	}
}

/* The caller itself is known. */
static void an_unreadable_frame_pointer_ends_the_chain_later(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);
	const uint64_t callers[] = {RETURN(0)};
	struct unwind_rule rule = by_sp(24);

	(void)state;
	rule.fp = 1 << 30;
	add_rule(&tabled, CODE, CODE + 0x80, rule);
	poke(&tabled.scene, STACK + 0x110, RETURN(0));
	expect(&tabled, CHAIN_NOT_PRESENT, 1, callers);
	tabled_free(&tabled);
}

static void the_table_is_not_used_for_32_bit_code(void **state)
{
	struct tabled tabled = tabled_new(&mode_32);

	(void)state;
	add_rule(&tabled, CODE, CODE + GUEST_PAGE_SIZE,
		 (struct unwind_rule){.kind = UNWIND_OUTERMOST});
	put_frames(&tabled.scene, STACK + 0x200, 3, 32);
	tabled_unwind(&tabled);
	assert_int_equal(tabled.scene.chain.count, 1 + 3);
	/* Frames still have to ascend. */
	poke(&tabled.scene, STACK + 0x220, STACK + 0x200);
	tabled_unwind(&tabled);
	assert_int_equal(tabled.scene.chain.count, 1 + 2);
	assert_int_equal(tabled.scene.chain.end, CHAIN_NOT_ASCENDING);
	tabled_free(&tabled);
}

static void endless_recursion_ends_at_the_limit(void **state)
{
	struct tabled tabled = tabled_new(&mode_4_level);

	(void)state;
	add_rule(&tabled, CODE, CODE + 0x1000, by_sp(8));
	tabled.scene.guest->cpu.reg[X86_RBP] = 0;
	for (uint64_t i = 0; i < CHAIN_STEPS; i++)
		poke(&tabled.scene, STACK + 0x100 + 8 * i, RETURN(0));
	tabled_unwind(&tabled);
	assert_int_equal(tabled.scene.chain.count, CHAIN_MAX);
	assert_int_equal(tabled.scene.chain.end, CHAIN_TOO_DEEP);
	/* An interrupt that stopped itself. */
	tabled_free(&tabled);
	tabled = tabled_new(&mode_4_level);
	add_rule(&tabled, CODE, CODE + 0x1000,
		 (struct unwind_rule){.kind = UNWIND_INTERRUPTED, .word = 8});
	poke(&tabled.scene, STACK + 0x100, CODE);
	poke(&tabled.scene, STACK + 0x108, STACK + 0x100);
	tabled_unwind(&tabled);
	assert_int_equal(tabled.scene.chain.count, CHAIN_MAX);
	assert_int_equal(tabled.scene.chain.end, CHAIN_TOO_DEEP);
	tabled_free(&tabled);
}

/* The words of each frame are in three pages that have no table in common but the upper
 * ones, with 5 table levels: no chain costs more, but for the code of functions without
 * rules. */
static void the_worst_chain_costs_a_bounded_number_of_pages(void **state)
{
	struct tabled tabled = tabled_new(&mode_5_level);
	struct guest *guest = tabled.scene.guest;
	uint64_t base = 0x10000000, part = 2 << 20;
	unsigned int walks = CHAIN_MAX - 1;

	(void)state;
	/* The interrupted code's stack pointer and address, and the frame pointer. */
	add_rule(&tabled, CODE, CODE + 0x1000,
		 (struct unwind_rule){.kind = UNWIND_INTERRUPTED,
				      .word = 0,
				      .caller = (int32_t)part,
				      .fp = (int32_t)(2 * part)});
	for (unsigned int i = 0; i < 3; i++)
		map_new(guest, base + i * part);
	poke(&tabled.scene, base, base);
	poke(&tabled.scene, base + part, RETURN(0));
	guest->cpu.reg[X86_RSP] = base;
	tabled_unwind(&tabled);
	assert_int_equal(tabled.scene.chain.count, CHAIN_MAX);
	assert_int_equal(tabled.scene.chain.end, CHAIN_TOO_DEEP);
	/* The 43 last frames are in UNWIND_DEEP_PAGES, and one more. */
	assert_int_equal(guest->calls, (3 * walks + 3 * 43) * READ_PAGES_MAX);
	tabled_free(&tabled);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_lead_from_caller_to_caller),
		cmocka_unit_test(callers_are_looked_up_at_their_calls),
		cmocka_unit_test(chains_mix_rules_and_frames),
		cmocka_unit_test(without_a_rule_frames_are_above_the_stack_pointer),
		cmocka_unit_test(a_lost_frame_pointer_is_not_used),
		cmocka_unit_test(realigned_stacks_are_followed),
		cmocka_unit_test(other_registers_are_used_in_the_sampled_function),
		cmocka_unit_test(interrupted_code_is_followed_from_its_instruction),
		cmocka_unit_test(interrupted_32_bit_programs_have_callers),
		cmocka_unit_test(system_calls_are_followed_before_the_kernel_has_a_stack),
		cmocka_unit_test(interrupted_leaves_have_callers),
		cmocka_unit_test(a_saved_stack_pointer_leads_to_any_stack),
		cmocka_unit_test(interrupted_hypercalls_and_modules_have_callers),
		cmocka_unit_test(notes_of_another_table_are_not_used),
		cmocka_unit_test(a_return_address_of_0_ends_the_chain),
		cmocka_unit_test(wrong_rules_end_the_chain),
		cmocka_unit_test(an_unreadable_frame_pointer_ends_the_chain_later),
		cmocka_unit_test(the_table_is_not_used_for_32_bit_code),
		cmocka_unit_test(endless_recursion_ends_at_the_limit),
		cmocka_unit_test(the_worst_chain_costs_a_bounded_number_of_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
