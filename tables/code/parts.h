/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CODE_PARTS_H
#define UNIPROF_TABLES_CODE_PARTS_H

#include "tables/code/code.h"

/* Parts shared by the analyses of x86-64 and arm64 code; for tables/code/ only. */

/* Longer functions are not analyzed; this bounds the memory to 64 MiB. The longest
 * function seen, an interpreter's, has 120 KiB. */
#define FLOW_SIZE_MAX ((size_t)4 << 20)

/* Compilers align functions to 16 bytes: less between two of them is padding. */
#define PADDING_MAX 15

/* Offsets in a function, as a stack or as a heap, but not as both. Starts zeroed; free
 * the list. */
struct code_queue {
	uint32_t *list;
	size_t count, room;
};

/* Adds to the stack, whose last one is list[count - 1]. False if out of memory. */
bool code_queue_push(struct code_queue *stack, uint32_t offset);
/* Adds to the heap. False if out of memory. */
bool code_queue_push_later(struct code_queue *heap, uint32_t offset);
/* Removes the lowest offset from the heap, which is not empty. */
uint32_t code_queue_pop_lowest(struct code_queue *heap);

/* The bytes of a function within the code, up to the next one at most; 0 if it is to be
 * ignored. */
size_t code_function_size(const struct machine_code *code, size_t number);

/* unwind_table_add_code() for each CPU, but -1 only if out of memory. */
int code_add_x86(struct unwind_builder *builder, const struct machine_code *code);
int code_add_arm64(struct unwind_builder *builder, const struct machine_code *code);

/* Whether an arm64 jump to the address in @reg, behind the instruction @before, is one by
 * a table of offsets: it adds one to the table's address. */
bool code_is_arm64_switch(uint32_t before, uint8_t reg);

/* Whether both rules lead to one caller. */
bool code_is_same_rule(const struct unwind_rule *a, const struct unwind_rule *b);

#endif
