/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Captured stacks with arbitrary contents, as a recording can have them. Build with
 * -fsanitize=fuzzer,address,undefined and run on tests/fuzz/corpus/stack. The input is
 *
 *   a byte for the kind of CPU, and whether there is a table,
 *   the bytes that the table is made of (tests/fuzz/rules.h),
 *   and the chain: words of 8 bytes.
 */

#include "tests/fuzz/check.h"
#include "tests/fuzz/rules.h"
#include "unwind/stack/stack.h"

static void check_chain(const struct chain *chain, const uint64_t *captured,
			uint32_t count)
{
	check(chain->count == 0 || chain->address[0] == captured[STACK_PC]);
	check(chain->count <= CHAIN_MAX && (chain->count || !count));
	check(chain->end < CHAIN_ENDS && chain->end != CHAIN_NO_PAGE);
	check(!chain->is_stack);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct stack_replay *replay;
	static struct code_notes notes;
	uint8_t rules[RULES_BYTES] = {0};
	uint64_t *captured, address[CHAIN_ROOM], again[CHAIN_ROOM];
	struct chain chain = {.address = address}, second = {.address = again};
	struct unwind_table *table = NULL;
	uint32_t count;
	uint8_t mode;

	if (size < 1 + sizeof(rules))
		return 0;
	if (!replay)
		replay = stack_replay_new();
	check(replay != NULL);
	mode = data[0];
	memcpy(rules, data + 1, sizeof(rules));
	data += 1 + sizeof(rules);
	size -= 1 + sizeof(rules);
	count = (uint32_t)(size / 8 < STACK_CHAIN_MAX ? size / 8 : STACK_CHAIN_MAX);
	/* Of the exact size, so that a read beyond it is detected. */
	captured = malloc(count ? count * sizeof(*captured) : 1);
	check(captured != NULL);
	memcpy(captured, data, count * sizeof(*captured));
	if (mode & 4 && count)
		table = make_table(rules, captured[STACK_PC]);
	code_notes_renew(&notes);
	stack_unwind(replay, (enum cpu_kind)(mode & 3) + 1, captured, count, table, NULL,
		     mode & 8 ? &notes : NULL, &chain);
	check_chain(&chain, captured, count);
	/* Nothing of the stack is left. */
	stack_unwind(replay, (enum cpu_kind)(mode & 3) + 1, captured, count, table, NULL,
		     NULL, &second);
	check(chain.count == second.count && chain.end == second.end);
	check(memcmp(address, again, chain.count * sizeof(*address)) == 0);
	unwind_table_free(table);
	free(captured);
	return 0;
}
