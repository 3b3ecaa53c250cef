/* SPDX-License-Identifier: BSD-3-Clause */

/* Tables made from x86-64 machine code: the rule at each kind of instruction. */

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/x86/cpu.h"
#include "base/compat.h"
#include "symbols/program.h"
#include "symbols/source.h"
#include "tables/code/code.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define KEPT		UNWIND_KEPT
#define LOST		UNWIND_LOST

/* Assembles code between code_NAME and code_NAME_end. */
#define CODE(name, text)                                                           \
	asm(".pushsection .text; .globl code_" #name "; code_" #name ":\n" text    \
	    "\n.globl code_" #name "_end; code_" #name "_end: .popsection\n");     \
	extern const uint8_t code_##name[], code_##name##_end[];                   \
	static struct unwind_table *table_of_##name(void) __attribute__((unused)); \
	static struct unwind_table *table_of_##name(void)                          \
	{                                                                          \
		return make_table(code_##name, code_##name##_end, NULL, 0);        \
	}

/* An instruction, or the start of a further function, in code. */
#define MARK(name) #name ": .globl " #name "\n"

/* Of the code as one function, or as several that start at these addresses. */
static struct unwind_table *make_table(const uint8_t *start, const uint8_t *end,
				       const uint8_t *const *functions, size_t count)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct code_function list[8] = {{.start = (uint64_t)start}};
	struct machine_code code = {
		.bytes = start,
		.size = (size_t)(end - start),
		.address = (uint64_t)start,
		.functions = list,
		.count = count ? count : 1,
	};
	struct unwind_table *table;
	struct error err;

	assert_non_null(builder);
	for (size_t i = 0; i < count; i++)
		list[i].start = (uint64_t)functions[i];
	assert_int_equal(unwind_table_add_code(builder, &code, &err), 0);
	table = unwind_builder_finish(builder);
	assert_non_null(table);
	unwind_builder_free(builder);
	return table;
}

static void expect(const struct unwind_table *table, const uint8_t *at,
		   struct unwind_rule wanted)
{
	const struct unwind_rule *rule = unwind_table_find(table, (uint64_t)at);

	assert_non_null(rule);
	wanted.kind = UNWIND_CALLER;
	wanted.caller = -8;
	assert_int_equal(rule->kind, wanted.kind);
	assert_int_equal(rule->from_fp, wanted.from_fp);
	assert_int_equal(rule->from_word, wanted.from_word);
	assert_int_equal(rule->fp_by_register, wanted.fp_by_register);
	assert_int_equal(rule->word, wanted.word);
	assert_int_equal(rule->cfa, wanted.cfa);
	assert_int_equal(rule->caller, wanted.caller);
	assert_int_equal(rule->fp, wanted.fp);
	assert_int_equal(rule->other, wanted.other);
}

static void expect_sp(const struct unwind_table *table, const uint8_t *at, int32_t cfa,
		      int32_t fp)
{
	expect(table, at, (struct unwind_rule){.cfa = cfa, .fp = fp});
}

static void expect_none(const struct unwind_table *table, const uint8_t *at)
{
	assert_null(unwind_table_find(table, (uint64_t)at));
}

/* clang-format off */
CODE(plain,
     "endbr64\n"
     "push %rbp\n"
     MARK(plain_pushed)
     "mov %rdi,%rbp\n"
     "sub $24,%rsp\n"
     MARK(plain_call) "call *%rax\n"
     "push %rcx\n"
     MARK(plain_argument) "call *%rax\n"
     "pop %rcx\n"
     "add $24,%rsp\n"
     "pop %rbp\n"
     MARK(plain_end) "ret\n")
extern const uint8_t plain_pushed[], plain_call[], plain_argument[], plain_end[];
/* clang-format on */

static void follows_pushes_and_pops(void **state)
{
	struct unwind_table *table = table_of_plain();

	(void)state;
	expect_sp(table, code_plain, 8, KEPT);
	expect_sp(table, plain_pushed, 16, -16);
	expect_sp(table, plain_call, 40, -16);
	expect_sp(table, plain_argument, 48, -16);
	expect_sp(table, plain_end, 8, KEPT);
	expect_none(table, code_plain_end);
	unwind_table_free(table);
}

/* clang-format off */
CODE(alloca,
     "push %rbp\n"
     "mov %rsp,%rbp\n"
     "push %rbx\n"
     "sub %rdi,%rsp\n"
     MARK(alloca_call) "call *%rax\n"
     "mov -8(%rbp),%rbx\n"
     "leave\n"
     MARK(alloca_end) "ret\n")
extern const uint8_t alloca_call[], alloca_end[];

CODE(bare_alloca,
     "sub %rdi,%rsp\n"
     MARK(bare_alloca_call) "call *%rax\n"
     "ret\n")
extern const uint8_t bare_alloca_call[];

CODE(enter, "enter $32,$0\n" MARK(enter_call) "call *%rax\nleave\n" MARK(enter_end) "ret\n")
extern const uint8_t enter_call[], enter_end[];
/* clang-format on */

static void frames_need_no_known_stack_pointer(void **state)
{
	struct unwind_rule frame = {.from_fp = true, .cfa = 16, .fp = -16};
	struct unwind_table *table = table_of_alloca();

	(void)state;
	expect(table, alloca_call, frame);
	expect_sp(table, alloca_end, 8, KEPT);
	unwind_table_free(table);

	table = table_of_enter();
	expect(table, enter_call, frame);
	expect_sp(table, enter_end, 8, KEPT);
	unwind_table_free(table);

	table = table_of_bare_alloca();
	expect_sp(table, code_bare_alloca, 8, KEPT);
	expect_none(table, bare_alloca_call);
	unwind_table_free(table);
}

/* clang-format off */
/* As GCC aligns the stack of a function with arguments on it. */
CODE(aligned,
     "lea 8(%rsp),%r10\n"
     "and $-32,%rsp\n"
     MARK(aligned_lost) "push -8(%r10)\n"
     "push %rbp\n"
     "mov %rsp,%rbp\n"
     "push %r10\n"
     "sub $40,%rsp\n"
     MARK(aligned_call) "call *%rax\n"
     "mov -8(%rbp),%r10\n"
     "leave\n"
     "lea -8(%r10),%rsp\n"
     MARK(aligned_end) "ret\n")
extern const uint8_t aligned_lost[], aligned_call[], aligned_end[];

/* As OpenSSL's assembly. */
CODE(crypto,
     "mov %rsp,%rax\n"
     "push %rbx\n"
     "push %rbp\n"
     "sub $40,%rsp\n"
     "and $-64,%rsp\n"
     "mov %rax,32(%rsp)\n"
     MARK(crypto_body) "xor %ebp,%ebp\n"
     "push %rcx\n"
     MARK(crypto_pushed) "pop %rcx\n"
     "mov 32(%rsp),%rsi\n"
     "mov -16(%rsi),%rbp\n"
     "mov -8(%rsi),%rbx\n"
     "lea (%rsi),%rsp\n"
     MARK(crypto_end) "ret\n")
extern const uint8_t crypto_body[], crypto_pushed[], crypto_end[];

/* The copy is overwritten before it is stored. */
CODE(no_copy,
     "mov %rsp,%rax\n"
     "and $-64,%rsp\n"
     "mul %rdi\n"
     "mov %rax,32(%rsp)\n"
     MARK(no_copy_body) "ret\n")
extern const uint8_t no_copy_body[];
/* clang-format on */

static void aligned_stacks_lead_back_by_a_word(void **state)
{
	struct unwind_table *table = table_of_aligned();

	(void)state;
	expect_sp(table, code_aligned, 8, KEPT);
	/* In r10, which is known only in the sampled function. */
	expect(table, aligned_lost, (struct unwind_rule){.other = 11, .fp = KEPT});
	expect(table, aligned_call,
	       (struct unwind_rule){.from_fp = true,
				    .from_word = true,
				    .fp_by_register = true,
				    .word = -8});
	expect_sp(table, aligned_end, 8, KEPT);
	unwind_table_free(table);

	table = table_of_crypto();
	expect(table, crypto_body,
	       (struct unwind_rule){.from_word = true, .word = 32, .cfa = 8, .fp = -24});
	expect(table, crypto_pushed,
	       (struct unwind_rule){.from_word = true, .word = 40, .cfa = 8, .fp = -24});
	expect_sp(table, crypto_end, 8, KEPT);
	unwind_table_free(table);

	table = table_of_no_copy();
	expect_none(table, no_copy_body);
	unwind_table_free(table);
}

/* clang-format off */
/* A large frame whose pages are touched, as by GCC and LLVM. */
CODE(probes,
     "push %rbp\n"
     "mov %rsp,%r11\n"
     "sub $0x5000,%r11\n"
     "1: sub $0x1000,%rsp\n"
     MARK(probes_loop) "movq $0,(%rsp)\n"
     "cmp %r11,%rsp\n"
     "jne 1b\n"
     "sub $0x10,%rsp\n"
     MARK(probes_call) "call *%rax\n"
     "add $0x5010,%rsp\n"
     "pop %rbp\n"
     MARK(probes_end) "ret\n")
extern const uint8_t probes_loop[], probes_call[], probes_end[];

CODE(probestack,
     "push %rbp\n"
     "mov $0x10d8,%eax\n"
     "call probestack\n"
     "sub %rax,%rsp\n"
     MARK(probestack_call) "call *%rax\n"
     "add $0x10d8,%rsp\n"
     "pop %rbp\n"
     "ret\n"
     "probestack: ret\n")
extern const uint8_t probestack_call[];
/* clang-format on */

static void large_frames_are_known_after_their_probes(void **state)
{
	struct unwind_table *table = table_of_probes();

	(void)state;
	/* The stack pointer differs each time; r11 does not. */
	expect(table, probes_loop,
	       (struct unwind_rule){.other = 12, .cfa = 0x5010, .fp = -16});
	expect_sp(table, probes_call, 0x5020, -16);
	expect_sp(table, probes_end, 8, KEPT);
	unwind_table_free(table);

	table = table_of_probestack();
	expect_sp(table, probestack_call, 0x10e8, -16);
	unwind_table_free(table);
}

/* clang-format off */
CODE(cold,
     MARK(cold_part) "mov %rdi,%rsi\n"
     MARK(cold_call) "call *%rax\n"
     "jmp cold_back\n"
     MARK(cold_hot) "push %rbx\n"
     "sub $16,%rsp\n"
     "test %edi,%edi\n"
     "jne cold_part\n"
     MARK(cold_back) "add $16,%rsp\n"
     "pop %rbx\n"
     "ret\n")
extern const uint8_t cold_part[], cold_call[], cold_hot[], cold_back[];

/* The stack pointer is not known, but the frame pointer is. */
CODE(cold_frame,
     MARK(cold_frame_part) "call *%rax\n"
     "jmp cold_frame_back\n"
     MARK(cold_frame_hot) "push %rbp\n"
     "mov %rsp,%rbp\n"
     "and $-64,%rsp\n"
     "test %edi,%edi\n"
     "jne cold_frame_part\n"
     MARK(cold_frame_back) "leave\n"
     "ret\n")
extern const uint8_t cold_frame_part[], cold_frame_hot[], cold_frame_back[];

CODE(tail,
     "sub $8,%rsp\n"
     "add $8,%rsp\n"
     "jmp tail_next\n"
     MARK(tail_next) "ret\n")
extern const uint8_t tail_next[];
/* clang-format on */

static void parts_moved_away_have_the_stack_of_their_function(void **state)
{
	const uint8_t *const both[] = {cold_part, cold_hot};
	const uint8_t *const frame[] = {cold_frame_part, cold_frame_hot};
	const uint8_t *const tail[] = {code_tail, tail_next};
	struct unwind_table *table = make_table(code_cold, code_cold_end, both,
						COUNT_OF(both));

	(void)state;
	expect_sp(table, cold_part, 32, KEPT);
	expect_sp(table, cold_call, 32, KEPT);
	expect_sp(table, cold_hot, 8, KEPT);
	expect_sp(table, cold_back, 32, KEPT);
	unwind_table_free(table);

	table = make_table(code_cold_frame, code_cold_frame_end, frame, COUNT_OF(frame));
	expect(table, cold_frame_part,
	       (struct unwind_rule){.from_fp = true, .cfa = 16, .fp = -16});
	unwind_table_free(table);

	table = make_table(code_tail, code_tail_end, tail, COUNT_OF(tail));
	expect_sp(table, tail_next, 8, KEPT);
	unwind_table_free(table);
}

/* clang-format off */
/* Only calls that do not return lead to the second half of the function. */
CODE(dies,
     "test %edi,%edi\n"
     "je 1f\n"
     "sub $24,%rsp\n"
     MARK(dies_call) "call dies_never\n"
     "1: " MARK(dies_after) "call *%rax\n"
     "ret\n"
     MARK(dies_never) "1: call dies_abort\n"
     "ud2\n"
     MARK(dies_abort) "ud2\n"
     MARK(dies_start) "xor %ebp,%ebp\n"
     "pop %rsi\n"
     "and $-16,%rsp\n"
     MARK(dies_main) "call dies_never\n"
     "hlt\n"
     MARK(dies_not_start) "xor %ebp,%ebp\n"
     "ret\n"
     MARK(dies_new_stack) "lea 64(%rdi),%rsp\n"
     MARK(dies_on_it) "push $0\n"
     "call dies_never\n"
     "nop; nop; nop; nop\n")
extern const uint8_t dies_call[], dies_after[], dies_never[], dies_abort[], dies_start[],
	dies_main[], dies_not_start[], dies_new_stack[], dies_on_it[];
/* clang-format on */

static void calls_that_never_return_end_a_path(void **state)
{
	const uint8_t *const all[] = {code_dies,  dies_never,	  dies_abort,
				      dies_start, dies_not_start, dies_new_stack};
	struct unwind_table *table = make_table(code_dies, code_dies_end, all,
						COUNT_OF(all));
	const struct unwind_rule *rule;

	(void)state;
	expect_sp(table, dies_call, 32, KEPT);
	expect_sp(table, dies_after, 8, KEPT);
	/* The start of a program. */
	rule = unwind_table_find(table, (uint64_t)dies_main);
	assert_non_null(rule);
	assert_int_equal(rule->kind, UNWIND_OUTERMOST);
	expect_sp(table, dies_not_start, 8, KEPT);
	rule = unwind_table_find(table, (uint64_t)dies_on_it);
	assert_non_null(rule);
	assert_int_equal(rule->kind, UNWIND_OUTERMOST);
	unwind_table_free(table);
}

/* clang-format off */
CODE(cases,
     "add %rdx,%rax\n"
     "jmp *%rax\n"
     MARK(cases_first) "push %rbx\n"
     "lea 1f(%rip),%rcx\n"
     "jmp *(%rcx,%rdi,8)\n"
     "int3\n"
     MARK(cases_inner) "1: call *%rcx\n"
     "pop %rbx\n"
     "ret\n")
extern const uint8_t cases_first[], cases_inner[];

CODE(pad,
     "push %rbp\n"
     "sub $16,%rsp\n"
     "call *%rcx\n"
     "call *%rcx\n"
     "push %rdx\n"
     "push %rdx\n"
     "call *%rcx\n"
     "add $32,%rsp\n"
     "pop %rbp\n"
     "jmp *%rax\n"
     MARK(pad_landing) "mov %rax,%rdi\n"
     "call *%rcx\n"
     "ud2\n")
extern const uint8_t pad_landing[];
/* clang-format on */

static void code_that_no_jump_reaches_has_a_likely_state(void **state)
{
	struct unwind_table *table = table_of_cases();

	(void)state;
	expect_sp(table, cases_first, 8, KEPT);
	expect_sp(table, cases_inner, 16, KEPT);
	unwind_table_free(table);

	/* Not that of the tail call, nor with the arguments of the last call. */
	table = table_of_pad();
	expect_sp(table, pad_landing, 32, -16);
	unwind_table_free(table);
}

/* clang-format off */
CODE(interrupt,
     "push %rax\n"
     "jmp interrupt_common\n"
     MARK(interrupt_common) "call *%rcx\n"
     "add $8,%rsp\n"
     "iretq\n"
     /* A jump to the next instruction, with a frame of its own. */
     MARK(interrupt_none) "push %rax\n"
     "push %rdx\n"
     "lretq\n"
     MARK(interrupt_after) "ret\n")
extern const uint8_t interrupt_common[], interrupt_none[], interrupt_after[];
/* clang-format on */

static void handlers_of_interrupts_have_no_rules(void **state)
{
	const uint8_t *const all[] = {code_interrupt, interrupt_common, interrupt_none};
	struct unwind_table *table = make_table(code_interrupt, code_interrupt_end, all,
						COUNT_OF(all));

	(void)state;
	expect_none(table, code_interrupt);
	expect_none(table, interrupt_common);
	expect_sp(table, interrupt_none, 8, KEPT);
	expect_sp(table, interrupt_after, 8, KEPT);
	unwind_table_free(table);
}

/* clang-format off */
CODE(resume,
     "push %rbx; call resume_program; ud2\n"
     MARK(resume_program) "mov 8(%rdi),%rbx; mov 24(%rdi),%rbp\n"
     MARK(resume_rest) "mov 64(%rdi),%rcx; mov 80(%rdi),%rsp\n"
     MARK(resume_stack) "mov 88(%rdi),%rdi; sysretq\n"
     /* An entry, which nothing calls */
     MARK(resume_entry) "push %rcx\n"
     "call *%rax\n"
     "pop %rcx\n"
     "sysretq\n")
extern const uint8_t resume_program[], resume_rest[], resume_stack[], resume_entry[];
/* clang-format on */

/* As in Nanos: a function is called that returns to the program instead. */
static void a_function_that_resumes_a_program_has_a_caller(void **state)
{
	const uint8_t *const all[] = {code_resume, resume_program, resume_entry};
	struct unwind_table *table = make_table(code_resume, code_resume_end, all,
						COUNT_OF(all));
	const struct unwind_rule *rule;

	(void)state;
	expect_sp(table, resume_program, 8, KEPT);
	expect_sp(table, resume_rest, 8, LOST);
	/* The kernel's stack is left. */
	rule = unwind_table_find(table, (uint64_t)resume_stack);
	assert_true(rule && rule->kind == UNWIND_CALLED_SYSTEM);
	assert_true(rule->other == 1 + X86_RCX && rule->word == KEPT);
	expect_none(table, resume_entry);
	unwind_table_free(table);
}

/* Filled by Xen at run time; the file contains something else. */
asm(".pushsection .text; .balign 4096; .globl hypercall_page\n"
    "hypercall_page: .skip 4096,0x90; .popsection\n");
extern const uint8_t hypercall_page[], __executable_start[];

static int load(const void *data, size_t size, struct unwind_table **table,
		struct error *err)
{
	struct unwind_builder *builder = unwind_builder_new();
	size_t functions = 0;
	int status = unwind_table_add_elf_code(builder, "it", data, size, 0x1000, NULL,
					       &functions, err);

	assert_int_equal(functions > 100, !status);
	*table = unwind_builder_finish(builder);
	unwind_builder_free(builder);
	return status;
}

static void files_have_functions_by_their_symbols(void **state)
{
	struct symbols_source source;
	struct unwind_table *table;
	struct program program;
	struct error err;
	char *copy;

	(void)state;
	assert_int_equal(symbols_source_open(&source, "/proc/self/exe", "it", &err), 0);
	assert_int_equal(load(source.data, source.size, &table, &err), 0);
	expect_sp(table, plain_call - (uint64_t)__executable_start + 0x1000, 40, -16);
	expect_none(table, hypercall_page - (uint64_t)__executable_start + 0x1000);
	expect_none(table, hypercall_page - (uint64_t)__executable_start + 0x1fff);
	assert_int_equal(program_open(&program, "/proc/self/exe", NULL, &err), 0);
	assert_int_equal(program.hypercall_page,
			 hypercall_page - (uint64_t)__executable_start);
	program_close(&program);
	unwind_table_free(table);

	copy = malloc(source.size);
	assert_non_null(copy);
	memcpy(copy, source.data, source.size);
	((Elf64_Ehdr *)copy)->e_machine = EM_RISCV;
	assert_int_equal(load(copy, source.size, &table, &err), -1);
	assert_string_equal(err.text, "it: its code is not for x86-64 or arm64");
	assert_int_equal(unwind_table_rows(table), 0);
	unwind_table_free(table);
	assert_int_equal(load(copy, 100, &table, &err), -1);
	assert_non_null(strstr(err.text, "damaged"));
	unwind_table_free(table);
	free(copy);
	symbols_source_close(&source);
}

/* Each instruction has a state of its own, and all are entered from each other. */
static void hostile_code_takes_bounded_time(void **state)
{
	size_t size = (size_t)5 << 20;
	uint8_t *code = malloc(size);
	struct unwind_table *table;

	(void)state;
	assert_non_null(code);
	/* push %rax; jne back, to the middle of pushes */
	for (size_t i = 0; i + 2 < size; i += 3)
		memcpy(code + i, (const uint8_t[]){0x50, 0x75, 0x80}, 3);
	table = make_table(code, code + (4 << 20), NULL, 0);
	unwind_table_free(table);
	/* Too long to be a function. */
	memset(code, 0x50, size);
	table = make_table(code, code + size, NULL, 0);
	assert_int_equal(unwind_table_rows(table), 0);
	unwind_table_free(table);
	free(code);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_pushes_and_pops),
		cmocka_unit_test(frames_need_no_known_stack_pointer),
		cmocka_unit_test(aligned_stacks_lead_back_by_a_word),
		cmocka_unit_test(large_frames_are_known_after_their_probes),
		cmocka_unit_test(parts_moved_away_have_the_stack_of_their_function),
		cmocka_unit_test(calls_that_never_return_end_a_path),
		cmocka_unit_test(code_that_no_jump_reaches_has_a_likely_state),
		cmocka_unit_test(handlers_of_interrupts_have_no_rules),
		cmocka_unit_test(a_function_that_resumes_a_program_has_a_caller),
		cmocka_unit_test(files_have_functions_by_their_symbols),
		cmocka_unit_test(hostile_code_takes_bounded_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
