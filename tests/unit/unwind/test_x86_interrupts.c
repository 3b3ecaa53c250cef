/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Chains of x86-64 that go through the entry of an interrupt into the interrupted code.
 */

#include "tests/unit/unwind/test_x86_scene.h"

/* The handler returns to RETURN(0), in the entry; RETURN(1) is in the caller of the
 * interrupted function, which has a frame. */
#define ENTRY	    RETURN(0)
#define HANDLER	    (STACK + 0x8000)
#define LOWER	    (STACK + 0x2000)
#define HIGHER	    (STACK + 0x20000)
#define INTERRUPTED (CODE + 0x40)
#define CS	    0x8
#define FLAGS	    0x246
#define SS	    0x10

struct irq {
	struct scene scene;
	struct x86_entries entries;
};

/* The end of an entry, and where it then finds what it and the CPU saved: relative to the
 * stack pointer after the call, to rbp, or to a word on the stack. */
struct ending {
	uint8_t code[24];
	unsigned int size;
	int rbp;   /* the saved rbp: word from where the registers are; -1: in rbp */
	int saved; /* the saved rip: word from where the registers are */
	enum {
		HERE,
		AT_RBP,
		AT_WORD
	} where;
};

static const struct ending endings[] = {
	/* pop %rax; pop %rbp; iretq */
	{{0x58, 0x5d, 0x48, 0xcf}, 4, 1, 2, HERE},
	/* pop %rbp; add $8,%rsp; iretq, as after an error code */
	{{0x5d, 0x48, 0x83, 0xc4, 0x08, 0x48, 0xcf}, 7, 0, 2, HERE},
	/* mov 8(%rsp),%rbp; add $24,%rsp; iretq */
	{{0x48, 0x8b, 0x6c, 0x24, 0x08, 0x48, 0x83, 0xc4, 0x18, 0x48, 0xcf},
	 11,
	 1,
	 3,
	 HERE},
	/* pop %rax; pop %rcx; pop %r11; iretq: rbp is kept, and Xen has pushed two */
	{{0x58, 0x59, 0x41, 0x5b, 0x48, 0xcf}, 6, -1, 3, HERE},
	/* call of another function; pop %rbp; iretq */
	{{0xe8, 0x00, 0x10, 0x00, 0x00, 0x5d, 0x48, 0xcf}, 8, 0, 1, HERE},
	/* pop %rsp; pop %rbp; iretq */
	{{0x5c, 0x5d, 0x48, 0xcf}, 4, 0, 1, AT_WORD},
	/* mov (%rsp),%rsp; pop %rbp; iretq */
	{{0x48, 0x8b, 0x24, 0x24, 0x5d, 0x48, 0xcf}, 7, 0, 1, AT_WORD},
	/* mov %rbp,%rsp; pop %rax; pop %rbp; iretq */
	{{0x48, 0x89, 0xec, 0x58, 0x5d, 0x48, 0xcf}, 7, 1, 2, AT_RBP},
	/* jne 1f; pop %rbp; iretq; 1: */
	{{0x75, 0x03, 0x5d, 0x48, 0xcf}, 5, 0, 1, HERE},
};

static struct irq *irq_new(void)
{
	struct irq *irq = calloc(1, sizeof(*irq));

	assert_non_null(irq);
	irq->scene = scene_new(&mode_4_level);
	irq->scene.input.entries = &irq->entries;
	return irq;
}

static void irq_free(struct irq *irq)
{
	scene_free(&irq->scene);
	free(irq);
}

/* Writes the words that the CPU saves, at @at. */
static void save(struct scene *scene, uint64_t at, uint64_t rip, uint64_t rsp)
{
	const uint64_t words[] = {rip, CS, FLAGS, rsp, SS};

	for (size_t i = 0; i < 5; i++)
		poke(scene, at + 8 * i, words[i]);
}

/* A handler on its stack; its entry has @ending, and the interrupted code is on the stack
 * at @stack. */
static void set_scene(struct scene *scene, const struct ending *ending, uint64_t stack)
{
	uint64_t fp = stack + 0x40, regs = HANDLER + 16;

	for (unsigned int i = 0; i < ending->size; i++)
		*guest_byte(scene->guest, ENTRY + i) = ending->code[i];
	scene->guest->cpu.reg[X86_RSP] = HANDLER - 64;
	scene->guest->cpu.reg[X86_RBP] = HANDLER;
	if (ending->where != HERE)
		regs = stack - 0x100;
	put_frame(scene, HANDLER, ending->where == AT_RBP ? regs : fp, ENTRY);
	if (ending->where == AT_WORD)
		poke(scene, HANDLER + 16, regs);
	if (ending->rbp >= 0)
		poke(scene, regs + 8ull * (unsigned int)ending->rbp, fp);
	save(scene, regs + 8ull * (unsigned int)ending->saved, INTERRUPTED, stack);
	put_frame(scene, fp, fp + 0x40, RETURN(1));
	put_frame(scene, fp + 0x40, 0, RETURN(2));
}

static bool learn(struct irq *irq)
{
	return x86_entries_learn(&irq->entries, &irq->scene.guest->cpu, &irq->scene.input,
				 &irq->scene.chain);
}

static void unwind_irq(struct irq *irq)
{
	struct scene *scene = &irq->scene;

	scene->guest->calls = 0;
	x86_unwind(&scene->guest->cpu, &scene->input, &scene->chain);
	assert_true(scene->chain.count >= 1 && scene->chain.count <= CHAIN_MAX);
	assert_true(scene->guest->calls <=
		    X86_UNWIND_PAGES_MAX + X86_INTERRUPTS_PAGES_MAX);
}

static void expect(const struct scene *scene, const uint64_t *callers, uint32_t count)
{
	assert_int_equal(scene->chain.end, CHAIN_UNKNOWN);
	assert_int_equal(scene->chain.count, 1 + count);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(scene->chain.address[1 + i], callers[i]);
}

static void chains_go_on_into_what_was_interrupted(void **state)
{
	static const uint64_t stacks[] = {HANDLER + 0x400, LOWER, HIGHER};
	static const uint64_t callers[] = {ENTRY, CHAIN_INTERRUPT, INTERRUPTED + 1,
					   RETURN(1), RETURN(2)};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(endings); i++)
		for (size_t j = 0; j < COUNT_OF(stacks); j++) {
			struct irq *irq = irq_new();

			set_scene(&irq->scene, &endings[i], stacks[j]);
			unwind_irq(irq);
			assert_false(chain_is_interrupted(&irq->scene.chain));
			assert_true(learn(irq));
			assert_int_equal(irq->entries.count, 1);
			unwind_irq(irq);
			assert_true(chain_is_interrupted(&irq->scene.chain));
			expect(&irq->scene, callers, COUNT_OF(callers));
			/* Nothing is examined twice. */
			assert_false(learn(irq));
			irq_free(irq);
		}
}

/* A function that was interrupted where it has no frame is not skipped, nor its caller.
 */
static void the_interrupted_function_may_have_no_frame(void **state)
{
	static const uint64_t callers[] = {ENTRY,     CHAIN_INTERRUPT, CODE + 0x61,
					   RETURN(3), RETURN(1),       RETURN(2)};
	struct irq *irq = irq_new();

	(void)state;
	set_scene(&irq->scene, &endings[0], HIGHER);
	save(&irq->scene, HANDLER + 32, CODE + 0x60, HIGHER);
	*guest_byte(irq->scene.guest, CODE + 0x60) = 0xc3;
	poke(&irq->scene, HIGHER, RETURN(3));
	unwind_irq(irq);
	assert_true(learn(irq));
	unwind_irq(irq);
	expect(&irq->scene, callers, COUNT_OF(callers));
	irq_free(irq);
}

/* A sample in the entry itself, behind its handler. */
static void the_end_of_an_entry_is_known_by_its_code(void **state)
{
	static const uint64_t callers[] = {CHAIN_INTERRUPT, INTERRUPTED + 1, RETURN(1),
					   RETURN(2)};
	struct irq *irq = irq_new();

	(void)state;
	set_scene(&irq->scene, &endings[0], HIGHER);
	unwind_irq(irq);
	assert_true(learn(irq));
	irq->scene.guest->cpu.rip = ENTRY + 1;
	irq->scene.guest->cpu.reg[X86_RSP] = HANDLER + 24;
	unwind_irq(irq);
	expect(&irq->scene, callers, COUNT_OF(callers));
	irq_free(irq);
}

/* The saved words must be ones that a CPU can have saved. */
static void other_words_are_not_taken_for_an_interrupt(void **state)
{
	static const struct {
		unsigned int word;
		uint64_t value;
	} wrong[] = {
		{0, 0},
		{1, 0},
		{1, 0x10008},
		{1, 0xffffffff80000000},
		{2, FLAGS & ~2ull},
		{2, FLAGS | 1 << 15},
		{2, FLAGS | 1ull << 40},
		{3, 0},
		{4, 0x10000},
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		struct irq *irq = irq_new();

		set_scene(&irq->scene, &endings[0], HANDLER + 0x400);
		unwind_irq(irq);
		assert_true(learn(irq));
		poke(&irq->scene, HANDLER + 32 + 8 * wrong[i].word, wrong[i].value);
		unwind_irq(irq);
		assert_false(chain_is_interrupted(&irq->scene.chain));
		/* As before: the interrupted function is skipped. */
		assert_int_equal(irq->scene.chain.count, 4);
		assert_int_equal(irq->scene.chain.address[2], RETURN(1));
		irq_free(irq);
	}
}

/* Xen saves the mask of events beside the selector. */
static void frames_of_xen_are_known(void **state)
{
	struct irq *irq = irq_new();

	(void)state;
	set_scene(&irq->scene, &endings[3], HIGHER);
	poke(&irq->scene, HANDLER + 16 + 32, 0x10000e030);
	poke(&irq->scene, HANDLER + 16 + 56, 0xe02b);
	unwind_irq(irq);
	assert_true(learn(irq));
	unwind_irq(irq);
	assert_int_equal(irq->scene.chain.count, 6);
	irq_free(irq);
}

static void functions_are_not_entries(void **state)
{
	struct irq *irq = irq_new();

	(void)state;
	put_frames(&irq->scene, STACK + 0x200, 40, 64);
	for (unsigned int i = 0; i < 40; i++) {
		*guest_byte(irq->scene.guest, RETURN(i)) = 0xc9;
		*guest_byte(irq->scene.guest, RETURN(i) + 1) = 0xc3;
	}
	unwind_irq(irq);
	/* There are more to examine. */
	assert_true(learn(irq));
	assert_true(learn(irq));
	assert_false(learn(irq));
	assert_int_equal(irq->entries.count, 0);
	expect_chain(&irq->scene, 40, CHAIN_UNKNOWN);
	irq_free(irq);
}

/* An interrupt that seems to have interrupted its own handler, again and again. */
static void circles_end(void **state)
{
	struct irq *irq = irq_new();
	unsigned int marks = 0;

	(void)state;
	set_scene(&irq->scene, &endings[0], HIGHER);
	unwind_irq(irq);
	assert_true(learn(irq));
	poke(&irq->scene, HANDLER + 24, HANDLER);
	save(&irq->scene, HANDLER + 32, INTERRUPTED, HANDLER - 64);
	unwind_irq(irq);
	for (uint32_t i = 0; i < irq->scene.chain.count; i++)
		marks += irq->scene.chain.address[i] == CHAIN_INTERRUPT;
	assert_int_equal(marks, X86_INTERRUPTS_MAX);
	assert_int_equal(irq->scene.chain.end, CHAIN_NOT_ASCENDING);
	irq_free(irq);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_go_on_into_what_was_interrupted),
		cmocka_unit_test(the_interrupted_function_may_have_no_frame),
		cmocka_unit_test(the_end_of_an_entry_is_known_by_its_code),
		cmocka_unit_test(other_words_are_not_taken_for_an_interrupt),
		cmocka_unit_test(frames_of_xen_are_known),
		cmocka_unit_test(functions_are_not_entries),
		cmocka_unit_test(circles_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
