/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/cfi/parts.h"

/*
 * Expressions of call frame information. Compilers and assembly code use few kinds:
 *
 *   register + n                        (as an address of a saved register)
 *   *(register + n) + m                 functions that realign their stack
 *   sp + 8 + ((pc & 15) >= 11) * 8      entries of procedure linkage tables
 *
 * Others give VALUE_UNKNOWN.
 */

/* Operations (DWARF, section 7.7.1). */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_GE = 0x2a,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

#define STACK_MAX 8

struct stack {
	struct cfi_value value[STACK_MAX];
	unsigned int count;
	bool failed;
};

static void stack_push(struct stack *stack, struct cfi_value value)
{
	if (stack->count == STACK_MAX)
		stack->failed = true;
	else
		stack->value[stack->count++] = value;
}

static struct cfi_value stack_pop(struct stack *stack)
{
	if (stack->count)
		return stack->value[--stack->count];
	stack->failed = true;
	return (struct cfi_value){0};
}

static void push_number(struct stack *stack, uint64_t number)
{
	stack_push(stack,
		   (struct cfi_value){.kind = VALUE_NUMBER, .offset = (int64_t)number});
}

static void push_register(struct stack *stack, uint64_t reg, int64_t offset)
{
	stack_push(stack, (struct cfi_value){
				  .kind = VALUE_REGISTER, .reg = reg, .offset = offset});
}

static int64_t sum(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct cfi_value value_add(struct cfi_value a, struct cfi_value b)
{
	if (a.kind == VALUE_NUMBER || a.kind == VALUE_IS_LATE) {
		struct cfi_value other = a;

		a = b;
		b = other;
	}
	if (b.kind == VALUE_NUMBER && a.kind >= VALUE_NUMBER && a.kind <= VALUE_CFA) {
		a.offset = sum(a.offset, b.offset);
		return a;
	}
	if (b.kind == VALUE_IS_LATE && a.kind == VALUE_REGISTER)
		return (struct cfi_value){
			.kind = VALUE_PLT,
			.reg = a.reg,
			.offset = a.offset,
			.extra = b.offset,
			.test = b.test,
			.mask = b.mask,
			.limit = b.limit,
		};
	return (struct cfi_value){0};
}

static struct cfi_value multiply(struct cfi_value a, struct cfi_value b)
{
	if (b.kind != VALUE_NUMBER || (a.kind != VALUE_NUMBER && a.kind != VALUE_IS_LATE))
		return (struct cfi_value){0};
	a.offset = (int64_t)((uint64_t)a.offset * (uint64_t)b.offset);
	return a;
}

static struct cfi_value dereference(struct cfi_value a)
{
	if (a.kind != VALUE_REGISTER)
		return (struct cfi_value){0};
	return (struct cfi_value){.kind = VALUE_WORD, .reg = a.reg, .word = a.offset};
}

static struct cfi_value mask(struct cfi_value a, struct cfi_value b)
{
	if (a.kind != VALUE_REGISTER || a.offset || b.kind != VALUE_NUMBER)
		return (struct cfi_value){0};
	return (struct cfi_value){
		.kind = VALUE_MASKED, .test = a.reg, .mask = (uint64_t)b.offset};
}

static struct cfi_value compare(struct cfi_value a, struct cfi_value b)
{
	if (a.kind != VALUE_MASKED || b.kind != VALUE_NUMBER)
		return (struct cfi_value){0};
	a.kind = VALUE_IS_LATE;
	a.limit = (uint64_t)b.offset;
	a.offset = 1;
	return a;
}

static struct cfi_value shift(struct cfi_value a, struct cfi_value b)
{
	if (b.kind != VALUE_NUMBER || (uint64_t)b.offset > 31)
		return (struct cfi_value){0};
	b.offset = (int64_t)1 << b.offset;
	return multiply(a, b);
}

static void compute(struct stack *stack, uint8_t op)
{
	struct cfi_value b = stack_pop(stack), a = stack_pop(stack);

	switch (op) {
	case OP_AND:
		stack_push(stack, mask(a, b));
		break;
	case OP_MINUS:
		b.offset = (int64_t)(0 - (uint64_t)b.offset);
		stack_push(stack, b.kind == VALUE_NUMBER ? value_add(a, b)
							 : (struct cfi_value){0});
		break;
	case OP_MUL:
		stack_push(stack, multiply(a, b));
		break;
	case OP_PLUS:
		stack_push(stack, value_add(a, b));
		break;
	case OP_SHL:
		stack_push(stack, shift(a, b));
		break;
	case OP_GE:
		stack_push(stack, compare(a, b));
		break;
	}
}

/* Whether the operation pushes a constant. */
static bool push_constant(struct stack *stack, uint8_t op, struct cursor *code)
{
	unsigned int size;
	uint64_t number;

	if (op == OP_CONSTU) {
		push_number(stack, cursor_varint(code));
	} else if (op == OP_CONSTS) {
		push_number(stack, (uint64_t)cfi_signed(code));
	} else if (op >= OP_LIT0 && op <= OP_LIT31) {
		push_number(stack, op - OP_LIT0);
	} else if (op >= OP_CONST1U && op <= OP_CONST8S) {
		size = 1u << (op - OP_CONST1U) / 2;
		number = cfi_fixed(code, size);
		if ((op - OP_CONST1U) % 2) /* with a sign */
			number = (uint64_t)((int64_t)(number << (64 - 8 * size)) >>
					    (64 - 8 * size));
		push_number(stack, number);
	} else {
		return false;
	}
	return true;
}

/* False if the operation is not supported. */
static bool operate(struct stack *stack, uint8_t op, struct cursor *code)
{
	uint64_t reg;

	if (push_constant(stack, op, code))
		return true;
	if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(stack, op - OP_BREG0, cfi_signed(code));
		return true;
	}
	switch (op) {
	case OP_BREGX:
		reg = cursor_varint(code);
		push_register(stack, reg, cfi_signed(code));
		return true;
	case OP_DEREF:
		stack_push(stack, dereference(stack_pop(stack)));
		return true;
	case OP_PLUS_UCONST:
		push_number(stack, cursor_varint(code));
		compute(stack, OP_PLUS);
		return true;
	case OP_AND:
	case OP_MINUS:
	case OP_MUL:
	case OP_PLUS:
	case OP_SHL:
	case OP_GE:
		compute(stack, op);
		return true;
	case OP_NOP:
		return true;
	}
	return false;
}

struct cfi_value cfi_evaluate(struct cursor code, bool has_cfa)
{
	struct stack stack = {.count = 0};

	if (has_cfa)
		stack_push(&stack, (struct cfi_value){.kind = VALUE_CFA});
	while (code.at != code.end) {
		uint8_t op = *code.at++;

		if (!operate(&stack, op, &code) || stack.failed || code.failed)
			return (struct cfi_value){0};
	}
	return stack.count ? stack_pop(&stack) : (struct cfi_value){0};
}
