/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Chains of real code without frame pointers are whole and right at any instruction, with
 * a table from its call frame information, and with one from the code itself.
 *
 * The workload, built by GCC without frame pointers, is executed instruction by
 * instruction. The calls that have not returned are tracked from the stack pointer alone.
 */

#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/unit/unwind/test_x86_process.h"
#include "unwind/stack/stack.h"
#include "tables/cfi/cfi.h"
#include "tables/code/code.h"

/* Instructions between two samples; each place in a loop comes up in time. */
#define PERIOD 3

/* Number of samples for each stack that is also captured, and unwound from the copy. */
#define CAPTURE_PERIOD 8
/* More than the workload's stack has. */
#define CAPTURE_BYTES 32768

/* Instructions without rules in the way of chains. */
#define PLACES_MAX 64

struct tally {
	unsigned long seen, right, deep;
	unsigned int deepest;
	/*
	 * Samples with code that has no rules: _init, .plt, the callers of constructors.
	 * Few places, but some compilers' start files do all their work under one of
	 * them.
	 */
	unsigned long uncovered;
	uint64_t place[PLACES_MAX];
	unsigned int places;
	unsigned long captured, right_later, kept;
};

struct capture {
	struct stack_copy copy;
	struct stack_filter *filter;
	struct stack_replay *replay;
	uint64_t word[STACK_WORDS(CAPTURE_BYTES)];
};

static struct unwind_table *make_table(const char *path, bool by_code)
{
	struct unwind_builder *builder = unwind_builder_new();
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct cfi_summary summary;
	struct error err = {{0}};
	struct unwind_table *table;
	size_t functions, size;
	struct stat about;
	void *data;

	assert_true(file >= 0);
	assert_int_equal(fstat(file, &about), 0);
	size = (size_t)about.st_size;
	data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	if (by_code)
		assert_int_equal(unwind_table_add_elf_code(builder, path, data, size, 0,
							   NULL, &functions, &err),
				 0);
	else
		assert_int_equal(unwind_table_add_cfi(builder, path, data, size, 0,
						      &summary, &err),
				 0);
	table = unwind_builder_finish(builder);
	assert_non_null(table);
	unwind_builder_free(builder);
	munmap(data, size);
	close(file);
	return table;
}

static bool is_right(const struct process *process, const struct chain *chain)
{
	if (chain->count != process->depth + 1 || chain->end != CHAIN_WHOLE)
		return false;
	for (unsigned int i = 0; i < process->depth; i++)
		if (chain->address[chain->count - 1 - i] != process->call[i].caller)
			return false;
	return true;
}

/* The first address of the real chain that has no rule; 0 if all have one. */
static uint64_t find_uncovered(const struct process *process,
			       const struct unwind_table *table, uint64_t address)
{
	if (!unwind_table_find(table, address))
		return address;
	for (unsigned int i = 0; i < process->depth; i++)
		if (!unwind_table_find(table, process->call[i].caller - 1))
			return process->call[i].caller;
	return 0;
}

static void note_uncovered(struct tally *tally, uint64_t address)
{
	tally->uncovered++;
	for (unsigned int i = 0; i < tally->places; i++)
		if (tally->place[i] == address)
			return;
	assert_true(tally->places < PLACES_MAX);
	tally->place[tally->places++] = address;
}

/* Unwinds the captured stack alone, and compares the chain with the calls. */
static void compare_captured(struct process *process, struct capture *capture,
			     const struct cpu *cpu, const struct unwind_input *input,
			     struct tally *tally)
{
	uint64_t kept[STACK_CHAIN_MAX], address[CHAIN_ROOM];
	struct chain stack = {.address = kept}, chain = {.address = address};

	stack_copy(cpu, &input->memory, CAPTURE_BYTES, &capture->copy);
	assert_true(capture->copy.is_taken);
	stack_keep(capture->filter, cpu, &input->memory, &capture->copy, &stack);
	assert_true(stack.is_stack);
	stack_unwind(capture->replay, CPU_X86_64, stack.address, stack.count,
		     input->table, NULL, NULL, &chain);
	tally->captured++;
	tally->kept += stack.count;
	if (is_right(process, &chain))
		tally->right_later++;
	else if (tally->captured - tally->right_later < 10)
		print_message("at %llx: %u calls, but later a chain of %u that ends: "
			      "%s\n",
			      (unsigned long long)cpu->x86.rip, process->depth,
			      chain.count - 1, chain_end_name(chain.end));
}

static void compare(struct process *process, struct capture *capture,
		    const struct user_regs_struct *registers,
		    const struct unwind_input *input, struct tally *tally)
{
	uint64_t address[CHAIN_ROOM];
	struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = process_cpu(registers)};
	struct chain chain = {.address = address};
	uint64_t uncovered;

	cpu_unwind(&cpu, input, &chain);
	uncovered = find_uncovered(process, input->table, cpu.x86.rip);
	if (uncovered) {
		note_uncovered(tally, uncovered);
		return;
	}
	tally->seen++;
	tally->deep += process->depth >= 8;
	if (process->depth > tally->deepest)
		tally->deepest = process->depth;
	if (is_right(process, &chain))
		tally->right++;
	else if (tally->seen - tally->right < 10)
		print_message("at %llx: %u calls, but a chain of %u that ends: %s\n",
			      (unsigned long long)registers->rip, process->depth,
			      chain.count - 1, chain_end_name(chain.end));
	if (tally->seen % CAPTURE_PERIOD == 0)
		compare_captured(process, capture, &cpu, input, tally);
}

/* A way to unwind the workload. */
struct way {
	const char *name;
	struct unwind_table *table;
	struct unwind_input input;
	struct tally tally;
};

static void open_way(struct way *way, const char *name, struct process *process,
		     const char *path, bool by_code)
{
	*way = (struct way){.name = name, .table = make_table(path, by_code)};
	way->input = (struct unwind_input){
		.memory = {.page = process_page, .context = process},
		.table = way->table};
}

static void expect_right(const struct way *way)
{
	const struct tally *tally = &way->tally;

	print_message("%s: %lu of %lu chains are right; %lu of 8 calls and more, the "
		      "deepest of %u; %lu through %u places without rules\n",
		      way->name, tally->right, tally->seen, tally->deep, tally->deepest,
		      tally->uncovered, tally->places);
	assert_true(tally->seen > 80000);
	assert_true(tally->deep > 1000);
	assert_int_equal(tally->right, tally->seen);
	print_message("%s: %lu of %lu are right later, from %.1f kept words each\n",
		      way->name, tally->right_later, tally->captured,
		      (double)tally->kept / (double)tally->captured);
	assert_true(tally->captured > 10000);
	assert_int_equal(tally->right_later, tally->captured);
}

static void chains_are_whole_at_any_instruction(void **state)
{
	struct process *process = calloc(1, sizeof(*process));
	struct capture *capture = calloc(1, sizeof(*capture));
	struct user_regs_struct before = {0}, now = {0};
	struct way way[2];
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_non_null(process);
	assert_non_null(capture);
	capture->copy.word = capture->word;
	capture->filter = stack_filter_new();
	capture->replay = stack_replay_new();
	assert_true(capture->filter && capture->replay);
	assert_true(length > 0);
	path[length] = 0;
	snprintf(strrchr(path, '/'), 32, "/workload_table");
	open_way(&way[0], "by call frame information", process, path, false);
	open_way(&way[1], "by code alone", process, path, true);
	process_start(process, path);
	assert_int_equal(ptrace(PTRACE_GETREGS, process->pid, NULL, &now), 0);
	for (;;) {
		before = now;
		process_step(process, &now);
		if (!process->pid)
			break;
		process_keep_calls(process, &before, &now);
		for (unsigned int i = 0; i < 2 && process->steps % PERIOD == 0; i++)
			compare(process, capture, &now, &way[i].input, &way[i].tally);
	}
	for (unsigned int i = 0; i < 2; i++) {
		expect_right(&way[i]);
		unwind_table_free(way[i].table);
	}
	stack_filter_free(capture->filter);
	stack_replay_free(capture->replay);
	free(capture);
	close(process->memory);
	free(process);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chains_are_whole_at_any_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
