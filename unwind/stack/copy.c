/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/stack/stack.h"

#include <string.h>

#include "arch/arm/cpu.h"

#define WORD 8

/* Copies the registers; false if the vCPU is not in 64-bit code. */
static bool take_registers(const struct cpu *cpu, struct stack_copy *copy)
{
	const struct x86_cpu *x86 = &cpu->x86;
	const struct arm_cpu *arm = &cpu->arm;

	switch (cpu_kind(cpu)) {
	case CPU_X86_64:
		copy->pc = x86->rip;
		copy->fp = x86->reg[X86_RBP];
		copy->lr = 0;
		copy->sp = x86->reg[X86_RSP];
		return !x86->is_compat;
	case CPU_ARM64:
		copy->pc = arm->pc;
		copy->fp = arm->x[29];
		copy->lr = arm->x[30];
		copy->sp = arm64_sp(arm);
		return !arm_is_aarch32(arm);
	default:
		return false;
	}
}

/* Copies words from @at on, up to the end of its page or @most in all, and returns their
 * number; 0 if the page is not there. */
static unsigned int copy_page(const struct cpu *cpu, const struct guest_memory *memory,
			      uint64_t at, unsigned int most, struct stack_copy *copy)
{
	unsigned int offset = at % GUEST_PAGE_SIZE;
	unsigned int words = (GUEST_PAGE_SIZE - offset) / WORD;
	uint64_t frame;
	const char *page;

	if (words > most - copy->count)
		words = most - copy->count;
	if (cpu_translate(cpu, memory, at, &frame) != TRANSLATED)
		return 0;
	page = memory->page(memory->context, frame);
	if (!page)
		return 0;
	memcpy(copy->word + copy->count, page + offset, (size_t)words * WORD);
	copy->count += words;
	return words;
}

void stack_copy(const struct cpu *cpu, const struct guest_memory *memory,
		unsigned int bytes, struct stack_copy *copy)
{
	unsigned int most = STACK_WORDS(bytes), words;
	uint64_t at;

	copy->count = 0;
	copy->is_taken = take_registers(cpu, copy);
	if (!copy->is_taken)
		return;
	at = (copy->sp - STACK_RED_ZONE) & ~(uint64_t)(WORD - 1);
	copy->start = at;
	words = copy_page(cpu, memory, at, most, copy);
	/* The guest may never have used the page below that of the stack pointer. */
	if (!words && at / GUEST_PAGE_SIZE != copy->sp / GUEST_PAGE_SIZE) {
		at = copy->sp & ~(uint64_t)(GUEST_PAGE_SIZE - 1);
		copy->start = at;
		words = copy_page(cpu, memory, at, most, copy);
	}
	while (words && copy->count < most) {
		at += (uint64_t)words * WORD;
		words = copy_page(cpu, memory, at, most, copy);
	}
}

void stack_take(const struct cpu *cpu, const struct unwind_stack *stack,
		unsigned int bytes, struct stack_copy *copy)
{
	copy->is_taken = take_registers(cpu, copy);
	copy->count = stack->count < STACK_WORDS(bytes) ? stack->count
							: STACK_WORDS(bytes);
	copy->start = stack->start;
	memcpy(copy->word, stack->word, copy->count * sizeof(*copy->word));
}
