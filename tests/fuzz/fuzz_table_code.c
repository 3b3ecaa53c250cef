/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Unwind tables from arbitrary machine code. Build with
 * -fsanitize=fuzzer,address,undefined and run on tests/fuzz/corpus/table_code. The input
 * is an ELF file, or
 *
 *   a byte with the number of functions,
 *   3 bytes for each: its offset in the code, and its kind (enum code_part), and
 *   the code, which is examined as both CPUs'.
 */

#include <stdlib.h>
#include <string.h>

#include "tables/code/code.h"
#include "tables/hypercalls.h"
#include "tests/fuzz/check.h"

#define ADDRESS	      0xffffffff81000000
#define FUNCTIONS_MAX 64

static int compare(const void *left, const void *right)
{
	const struct code_function *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* Rules exist only for the code, and describe possible stacks. */
static void check_table(struct unwind_builder *builder, uint64_t start, size_t size,
			bool is_arm64)
{
	struct unwind_table *table = unwind_builder_finish(builder);

	check(table != NULL);
	check(!unwind_table_find(table, start - 1));
	check(!unwind_table_find(table, start + size));
	for (size_t i = 0; i < size; i++) {
		const struct unwind_rule *rule = unwind_table_find(table, start + i);

		if (!rule)
			continue;
		check(rule->kind == UNWIND_CALLER || rule->kind == UNWIND_OUTERMOST);
		if (rule->kind == UNWIND_OUTERMOST)
			continue;
		if (is_arm64) {
			check(rule->from_fp || rule->cfa >= 0);
			check(rule->caller != UNWIND_LOST);
			check(!rule->from_word && !rule->other && !rule->fp_by_register);
			continue;
		}
		check(rule->caller == -8);
		check(rule->from_word || rule->from_fp || rule->other || rule->cfa >= 8);
		check(!rule->fp_by_register || rule->from_word);
	}
	unwind_table_free(table);
}

/* Functions are found in it, from some of its places on. */
static void check_found(struct machine_code code)
{
	const uint64_t known[] = {ADDRESS, ADDRESS + code.size / 2, ADDRESS - 1};
	struct unwind_builder *builder = unwind_builder_new();
	struct error err;

	check(builder != NULL);
	check(!code_find_functions(&code, known, 3));
	for (size_t i = 0; i < code.count; i++)
		check(code.functions[i].start - ADDRESS < code.size &&
		      (!i || code.functions[i].start > code.functions[i - 1].start));
	check(!unwind_table_add_code(builder, &code, &err));
	check_table(builder, ADDRESS, code.size, code.is_arm64);
	free((void *)(uintptr_t)code.functions);
	unwind_builder_free(builder);
}

/* Instructions are at multiples of 4. */
static void check_arm64(struct machine_code code, struct code_function *functions)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct error err;

	check(builder != NULL);
	for (size_t i = 0; i < code.count; i++)
		functions[i].start &= ~(uint64_t)3;
	check(!unwind_table_add_code(builder, &code, &err));
	check_table(builder, ADDRESS, code.size, true);
	unwind_builder_free(builder);
}

static void check_code(const uint8_t *data, size_t size)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct code_function functions[FUNCTIONS_MAX];
	struct machine_code code = {.address = ADDRESS, .functions = functions};
	size_t count = size ? *data % FUNCTIONS_MAX : 0;
	uint8_t *copy;
	struct error err;

	check(builder != NULL);
	data += size != 0;
	size -= size != 0;
	for (; code.count < count && size >= 3; data += 3, size -= 3)
		functions[code.count++] = (struct code_function){
			.start = ADDRESS + data[0] + 256u * data[1],
			.part = data[2] % 3,
			.size = data[2] / 3,
		};
	qsort(functions, code.count, sizeof(*functions), compare);
	/* Of the exact size, so that reads beyond it are detected. */
	copy = malloc(size + !size);
	check(copy != NULL);
	memcpy(copy, data, size);
	code.bytes = copy;
	code.size = size;
	check(!unwind_table_add_code(builder, &code, &err));
	check_table(builder, ADDRESS, size, false);
	unwind_builder_free(builder);
	check_found(code);
	code.is_arm64 = true;
	check_found(code);
	check_arm64(code, functions);
	free(copy);
}

static void check_elf(const uint8_t *data, size_t size)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;
	struct error err = {{0}};
	size_t functions;

	check(builder != NULL);
	if (unwind_table_add_elf_code(builder, "it", data, size, 0, NULL, &functions,
				      &err))
		check(strncmp(err.text, "it", 2) == 0 || strstr(err.text, "memory"));
	table = unwind_builder_finish(builder);
	check(table != NULL);
	unwind_table_free(table);
	unwind_builder_free(builder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= 4 && memcmp(data, "\177ELF", 4) == 0)
		check_elf(data, size);
	else
		check_code(data, size);
	if (size >= 4096) {
		struct unwind_builder *builder = unwind_builder_new();
		struct error err;

		check(builder != NULL);
		check(!unwind_table_add_hypercalls(builder, data, ADDRESS, &err));
		check_table(builder, ADDRESS, 4096, false);
		unwind_builder_free(builder);
	}
	return 0;
}
