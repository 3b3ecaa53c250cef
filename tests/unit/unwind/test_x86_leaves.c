/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The direct caller of a sampled function is right at any instruction of real code.
 *
 * The workload, built by GCC with frame pointers, is executed instruction by instruction.
 * The calls that have not returned are tracked from the stack pointer alone. Chains are
 * compared with these, in functions without calls (leaves, where GCC omits the frame) and
 * in all others.
 */

#include <gelf.h>

#include "tests/unit/unwind/test_x86_process.h"

/* linux/ptrace.h; glibc before 2.18 lacks it. */
#ifndef PTRACE_O_EXITKILL
#define PTRACE_O_EXITKILL (1 << 20)
#endif

#define FUNCTIONS_MAX 4096

/* The limit for a pause, as in record/sampler.c. */
#define PAUSE_BUDGET 4096
/* Instructions between two samples in the mode with notes. */
#define PERIOD 17

struct function {
	uint64_t start, end;
	bool is_own;  /* of the workload, not of the C library */
	bool is_leaf; /* no instruction is a call */
};

enum kind {
	LEAF,
	FRAMED,
	LIBRARY,
	KINDS,
};

static const char *const kind_names[] = {
	[LEAF] = "leaves",
	[FRAMED] = "other functions",
	[LIBRARY] = "the C library",
};

struct tally {
	uint64_t seen[KINDS], right[KINDS], wrong[KINDS];
	/* Callers of callers, for the functions of the workload. */
	uint64_t seconds, right_seconds;
};

struct program {
	struct process process;
	struct function function[FUNCTIONS_MAX];
	size_t functions;
	struct tally plain, paused;
};

static bool calls_none(const uint8_t *code, uint64_t start, uint64_t end)
{
	for (uint64_t at = start; at < end;) {
		struct x86_instruction next = x86_decode(code + (at - start), end - at,
							 at, true);

		if (next.act == X86_CALL || next.act == X86_CALL_INDIRECT)
			return false;
		at += next.size ? next.size : 1;
	}
	return true;
}

/* The functions of a symbol table, in which local symbols follow the name of their file.
 */
static void read_symbols(struct program *program, Elf *elf, Elf_Scn *section)
{
	Elf_Data *data = elf_getdata(section, NULL);
	bool is_own = false;
	GElf_Shdr header;
	GElf_Sym symbol;

	assert_non_null(gelf_getshdr(section, &header));
	for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
		struct function *to = &program->function[program->functions];
		bool is_function = GELF_ST_TYPE(symbol.st_info) == STT_FUNC;
		bool is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL;
		Elf_Data *code;
		GElf_Shdr text;

		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			is_own = strcmp(name, "workload.c") == 0;
		if (!is_function || !symbol.st_size ||
		    program->functions == FUNCTIONS_MAX)
			continue;
		code = elf_getdata(elf_getscn(elf, symbol.st_shndx), NULL);
		assert_non_null(gelf_getshdr(elf_getscn(elf, symbol.st_shndx), &text));
		to->start = symbol.st_value;
		to->end = symbol.st_value + symbol.st_size;
		to->is_own = is_global ? strncmp(name, "stb", 3) == 0 ||
						 strcmp(name, "main") == 0
				       : is_own;
		to->is_leaf = calls_none((const uint8_t *)code->d_buf +
						 (to->start - text.sh_addr),
					 to->start, to->end);
		program->functions++;
	}
}

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_program(struct program *program, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf *elf;

	assert_true(file >= 0);
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	elf = elf_begin(file, ELF_C_READ, NULL);
	assert_non_null(elf);
	while ((section = elf_nextscn(elf, section))) {
		assert_non_null(gelf_getshdr(section, &header));
		if (header.sh_type == SHT_SYMTAB)
			read_symbols(program, elf, section);
	}
	assert_true(program->functions > 500);
	qsort(program->function, program->functions, sizeof(program->function[0]),
	      compare_functions);
	program->process.code_start = program->function[0].start &
				      ~(uint64_t)(GUEST_PAGE_SIZE - 1);
	program->process.code = calloc(CODE_PAGES, GUEST_PAGE_SIZE);
	assert_non_null(program->process.code);
	elf_end(elf);
	close(file);
}

static const struct function *function_of(const struct program *program, uint64_t address)
{
	size_t low = 0, high = program->functions;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (program->function[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || address >= program->function[low - 1].end)
		return NULL;
	return &program->function[low - 1];
}

static void compare(struct program *program, const struct user_regs_struct *registers,
		    const struct unwind_input *input, const struct function *function,
		    struct tally *tally)
{
	enum kind kind = !function->is_own ? LIBRARY : function->is_leaf ? LEAF : FRAMED;
	const struct call *call = &program->process.call[program->process.depth - 1];
	const struct function *caller = function_of(program, call->caller - 1);
	uint64_t address[CHAIN_ROOM];
	struct x86_cpu cpu = process_cpu(registers);
	struct chain chain = {.address = address};

	x86_unwind(&cpu, input, &chain);
	tally->seen[kind]++;
	if (chain.count > 1 && address[1] == call->caller) {
		tally->right[kind]++;
		if (kind == LIBRARY || !caller || !caller->is_own ||
		    program->process.depth < 2)
			return;
		tally->seconds++;
		tally->right_seconds += chain.count > 2 && address[2] == call[-1].caller;
		return;
	}
	/* Not the caller's caller, as if the caller were skipped, but a wrong address. */
	if (chain.count > 1 && function_of(program, address[1]) == NULL)
		tally->wrong[kind]++;
}

/* A sample as the sampler takes it: paused, with the current notes and budget; then once
 * more, like the rehearsal of the next one. */
static void sample_program(struct program *program,
			   const struct user_regs_struct *registers,
			   struct code_notes *notes, const struct function *function)
{
	struct unwind_input input = {
		.memory = {.page = process_page, .context = &program->process},
		.notes = notes,
	};
	struct x86_cpu cpu = process_cpu(registers);
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};

	notes->budget = PAUSE_BUDGET;
	compare(program, registers, &input, function, &program->paused);
	code_notes_renew(notes);
	x86_unwind(&cpu, &input, &chain);
}

static void say(const char *what, const struct tally *tally)
{
	for (int kind = 0; kind < KINDS; kind++)
		print_message(
			"%s, %s: %.3f %% of %lu have the right caller, %lu an address "
			"that is none\n",
			what, kind_names[kind],
			100.0 * (double)tally->right[kind] / (double)tally->seen[kind],
			(unsigned long)tally->seen[kind],
			(unsigned long)tally->wrong[kind]);
	print_message("%s, callers' callers: %.3f %% of %lu are right\n", what,
		      100.0 * (double)tally->right_seconds / (double)tally->seconds,
		      (unsigned long)tally->seconds);
	assert_true(tally->right_seconds * 1000 >= tally->seconds * 995);
}

/* If the caller is missing, no other address is in its place. */
static void expect_right(const struct tally *tally, enum kind kind, uint64_t at_least)
{
	assert_true(tally->seen[kind] >= at_least);
	assert_true(tally->right[kind] * 1000 >= tally->seen[kind] * 995);
	assert_int_equal(tally->wrong[kind], 0);
}

static void callers_are_correct_at_every_instruction(void **state)
{
	struct program *program = calloc(1, sizeof(*program));
	struct code_notes *notes = calloc(1, sizeof(*notes));
	struct unwind_input input = {
		.memory = {.page = process_page, .context = &program->process}};
	struct user_regs_struct before = {0}, now = {0};
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_non_null(program);
	assert_non_null(notes);
	assert_true(length > 0);
	path[length] = 0;
	snprintf(strrchr(path, '/'), 32, "/workload");
	read_program(program, path);
	process_start(&program->process, path);
	assert_int_equal(ptrace(PTRACE_GETREGS, program->process.pid, NULL, &now), 0);
	for (;;) {
		const struct function *function;

		before = now;
		process_step(&program->process, &now);
		if (!program->process.pid)
			break;
		process_keep_calls(&program->process, &before, &now);
		function = function_of(program, now.rip);
		if (!function || !program->process.depth)
			continue;
		if (function->is_own || program->process.steps % 8 == 0)
			compare(program, &now, &input, function, &program->plain);
		if (program->process.steps % PERIOD == 0)
			sample_program(program, &now, notes, function);
	}
	say("by the code", &program->plain);
	say("in pauses", &program->paused);
	expect_right(&program->plain, LEAF, 30000);
	expect_right(&program->paused, LEAF, 2000);
	expect_right(&program->plain, FRAMED, 100000);
	expect_right(&program->paused, FRAMED, 5000);
	close(program->process.memory);
	free(program->process.code);
	free(program);
	free(notes);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_correct_at_every_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
