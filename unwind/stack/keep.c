/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/stack/stack.h"

#include <stdlib.h>
#include <string.h>

#include "arch/after_call.h"
#include "arch/arm/cpu.h"

#define WORD 8

/* A cache of answers about words, by the word and the address space; it is emptied now
 * and then, because the guest's code may change. */
#define NOTES	 8192
#define RENEWALS 1024

/* Limits of the words of 0 that are kept above the uppermost return address, and of their
 * distance from it, in words: one may be the return address of the outermost function. */
#define ZEROS_MAX   16
#define ZEROS_REACH 64

enum code {
	CODE_NONE,	 /* nothing is mapped */
	CODE_SOME,	 /* memory that may be code */
	CODE_AFTER_CALL, /* code behind a call, or where Go pretends one */
};

struct note {
	uint64_t key;
	enum code code;
};

struct stack_filter {
	struct note note[NOTES];
	unsigned int renewals;
};

struct stack_filter *stack_filter_new(void)
{
	return calloc(1, sizeof(struct stack_filter));
}

void stack_filter_free(struct stack_filter *filter)
{
	free(filter);
}

/* Reads the bytes before @address, up to @code + AFTER_CALL_BYTES, and returns their
 * number: the bytes in the page before may be missing. */
static size_t read_before(const struct cpu *cpu, const struct guest_memory *memory,
			  uint64_t address, uint8_t *code)
{
	size_t in_page = address % GUEST_PAGE_SIZE;
	size_t near = in_page < AFTER_CALL_BYTES ? in_page : AFTER_CALL_BYTES;
	size_t far = AFTER_CALL_BYTES - near;

	if (near && !cpu_read(cpu, memory, address - near, code + far, near))
		return 0;
	if (far && cpu_read(cpu, memory, address - AFTER_CALL_BYTES, code, far))
		near = AFTER_CALL_BYTES;
	return near;
}

static enum code code_look(const struct cpu *cpu, const struct guest_memory *memory,
			   uint64_t address)
{
	uint8_t code[AFTER_CALL_BYTES] = {0}, next[4] = {0};
	size_t count = read_before(cpu, memory, address, code);
	const uint8_t *end = code + sizeof(code);

	if (cpu_kind_is_after_call(cpu_kind(cpu), end, count, address))
		return CODE_AFTER_CALL;
	if (!cpu_read(cpu, memory, address, next, 1))
		return CODE_NONE;
	/* The following bytes may be in a page that is missing. */
	cpu_read(cpu, memory, address, next, sizeof(next));
	return is_in_goexit(cpu->family == CPU_FAMILY_ARM, address, end, next)
		       ? CODE_AFTER_CALL
		       : CODE_SOME;
}

/* Whether the guest maps no memory at @address. Otherwise, its page may be read later. */
static bool is_unmapped(const struct cpu *cpu, const struct guest_memory *memory,
			uint64_t address)
{
	uint64_t frame;
	enum translation mapped = cpu_translate(cpu, memory, address, &frame);

	return mapped != TRANSLATED && mapped != NO_PAGE;
}

static enum code code_at(struct stack_filter *filter, const struct cpu *cpu,
			 const struct guest_memory *memory, uint64_t address)
{
	/* Addresses and tables have no bits in common that matter. */
	uint64_t key = address ^ cpu_space(cpu) << 20;
	struct note *note = &filter->note[(key ^ key >> 13) % NOTES];

	if (note->key == key)
		return note->code;
	note->code = code_look(cpu, memory, address);
	note->key = key;
	if (note->code == CODE_NONE && !is_unmapped(cpu, memory, address))
		note->key = 0;
	return note->code;
}

/*
 * Whether the words at @word are what an x86 CPU pushes at an interrupt: address, code
 * selector, flags, stack pointer (Intel SDM, volume 3, section 6.14.2). Of the flags, bit
 * 1 is always set, and bits 3, 5, 15 and all from 22 on never are.
 */
static bool is_interrupted(const uint64_t *word, unsigned int left)
{
	return left >= 4 && word[1] && word[1] < 0x10000 && word[2] & 2 &&
	       !(word[2] & ~(uint64_t)0x3f7fd7);
}

/* Returns a word of the stack as an address. */
static uint64_t address_of(const struct cpu *cpu, const struct stack_copy *copy,
			   unsigned int i)
{
	return cpu->family == CPU_FAMILY_ARM ? arm64_strip(&cpu->arm, copy->word[i])
					     : copy->word[i];
}

/* The form in which a word is kept. */
enum use {
	USE_NONE,
	USE_STACK,
	USE_CODE,
};

static enum use use_of(struct stack_filter *filter, const struct cpu *cpu,
		       const struct guest_memory *memory, const struct stack_copy *copy,
		       unsigned int i)
{
	uint64_t word = address_of(cpu, copy, i);
	enum code code;

	if (word < GUEST_PAGE_SIZE || stack_word_value(word) != word)
		return USE_NONE;
	if (word - copy->start < (uint64_t)copy->count * WORD)
		return word % WORD == 0 ? USE_STACK : USE_NONE;
	code = code_at(filter, cpu, memory, word);
	if (code == CODE_AFTER_CALL)
		return USE_CODE;
	return code == CODE_SOME && cpu->family == CPU_FAMILY_X86 &&
			       is_interrupted(copy->word + i, copy->count - i)
		       ? USE_CODE
		       : USE_NONE;
}

/* Finds the words above the uppermost one that is kept as code, from the stack pointer
 * on: returns the number of the first of them. */
static unsigned int find_top(struct stack_filter *filter, const struct cpu *cpu,
			     const struct guest_memory *memory,
			     const struct stack_copy *copy)
{
	unsigned int least = (unsigned int)((copy->sp - copy->start) / WORD);
	unsigned int top = copy->count;

	while (top > least && use_of(filter, cpu, memory, copy, top - 1) != USE_CODE)
		top--;
	return top;
}

/* Appends words to a chain, from the lowest address on. */
struct list {
	const struct cpu *cpu;
	const struct stack_copy *copy;
	struct chain *chain;
	unsigned int last; /* number of the uppermost word so far */
};

/* Appends a word, and gives the word before it its distance. */
static void list_append(struct list *list, unsigned int i)
{
	struct chain *chain = list->chain;
	uint64_t *to = &chain->address[chain->count];

	if (chain->count > STACK_REGISTERS)
		to[-1] = stack_word(to[-1], i - list->last);
	*to = address_of(list->cpu, list->copy, i);
	chain->count++;
	list->last = i;
}

void stack_keep(struct stack_filter *filter, const struct cpu *cpu,
		const struct guest_memory *memory, const struct stack_copy *copy,
		struct chain *chain)
{
	struct list list = {.cpu = cpu, .copy = copy, .chain = chain};
	unsigned int top = find_top(filter, cpu, memory, copy), zeros = 0;

	if (++filter->renewals % RENEWALS == 0)
		memset(filter->note, 0, sizeof(filter->note));
	chain->address[STACK_PC] = copy->pc;
	chain->address[STACK_FP] = copy->fp;
	chain->address[STACK_LR] = copy->lr;
	chain->address[STACK_SP] = copy->sp;
	chain->count = STACK_REGISTERS;
	chain->end = CHAIN_WHOLE;
	chain->frameless = false;
	chain->is_stack = true;
	/* Room for two words and the address. */
	for (unsigned int i = 0; i < copy->count && chain->count < STACK_CHAIN_MAX - 2;
	     i++) {
		enum use use = use_of(filter, cpu, memory, copy, i);

		if (i >= top && i - top < ZEROS_REACH && !copy->word[i] &&
		    zeros++ < ZEROS_MAX)
			use = USE_STACK;
		if (use == USE_NONE)
			continue;
		/* The frame pointer of the outermost function with one is 0. */
		if (use == USE_CODE && i && !copy->word[i - 1])
			list_append(&list, i - 1);
		list_append(&list, i);
	}
	if (chain->count > STACK_REGISTERS)
		chain->address[chain->count++] = copy->start + (uint64_t)list.last * WORD;
}
