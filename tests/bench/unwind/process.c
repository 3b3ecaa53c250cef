/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Unwinds a running process by a table of its files' call frame information or, with
 * -c, of their code, and compares the chains with libdwfl's:
 * process [-c] [-s [-w FILE]] PID [SAMPLES]. The process's stack stands for a guest's.
 * With -s, the stack is captured first and unwound from the copy; -w writes the
 * captured stacks to a recording, for reports. Prints the chains that differ, the number
 * of equal chains, and with -s the sizes and the speed of unwinding.
 */

#include <elfutils/libdwfl.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "format/writer.h"
#include "tables/cfi/cfi.h"
#include "tables/code/code.h"
#include "tests/unit/unwind/test_x86_process.h"
#include "unwind/stack/stack.h"

struct rules {
	struct unwind_builder *builder;
	bool by_code;
};

/* Captured stacks; without @filter, none. */
struct capture {
	struct stack_filter *filter;
	struct stack_replay *replay;
	struct stack_copy copy;
	struct code_notes notes;
	uint64_t word[STACK_WORDS(STACK_BYTES_MAX)];
	uint64_t stacks, words, frames, ns;
	struct writer *writer;
};

/* So many samples are written at a time, as at 99 Hz. */
#define FLUSH 100

/* So often is each stack unwound, to measure how long that takes. */
#define REPEAT 100

struct truth {
	uint64_t address[CHAIN_ROOM];
	unsigned int count;
	bool is_whole;
};

static int add_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		      void *context)
{
	const struct rules *rules = context;
	struct cfi_summary summary;
	struct error err;
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t size = 0, functions;
	const char *data = elf ? elf_rawfile(elf, &size) : NULL;
	int status;

	(void)user;
	(void)base;
	if (!data)
		return DWARF_CB_OK;
	status = rules->by_code
			 ? unwind_table_add_elf_code(rules->builder, name, data, size,
						     bias, NULL, &functions, &err)
			 : unwind_table_add_cfi(rules->builder, name, data, size, bias,
						&summary, &err);
	if (status)
		printf("%s\n", err.text);
	return DWARF_CB_OK;
}

static int add_frame(Dwfl_Frame *frame, void *context)
{
	struct truth *truth = context;
	Dwarf_Addr pc;

	if (!dwfl_frame_pc(frame, &pc, NULL))
		return DWARF_CB_ABORT;
	if (truth->count == CHAIN_MAX)
		return DWARF_CB_ABORT;
	truth->address[truth->count++] = pc;
	return DWARF_CB_OK;
}

static bool is_same(const struct chain *chain, const struct truth *truth)
{
	return chain->count == truth->count &&
	       memcmp(chain->address, truth->address, truth->count * 8) == 0;
}

static void stop(struct process *process, struct user_regs_struct *registers)
{
	int status;

	if (ptrace(PTRACE_INTERRUPT, process->pid, NULL, NULL) ||
	    waitpid(process->pid, &status, 0) != process->pid || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_GETREGS, process->pid, NULL, registers)) {
		printf("the process is gone\n");
		exit(1);
	}
}

static void write_sample(struct capture *capture, const struct chain *stack)
{
	const struct sample sample = {.time = capture->stacks * 10000000,
				      .state = VCPU_RUNNING,
				      .weight = 1,
				      .chain = *stack};
	struct error err;

	if (writer_sample(capture->writer, &sample, &err) < 0 ||
	    (capture->stacks % FLUSH == 0 && writer_flush(capture->writer, &err) < 0))
		printf("%s\n", err.text);
}

/* @path: NULL if only the size matters. */
static struct writer *open_writer(const char *path)
{
	const struct recording_info info = {.version = RECORDING_VERSION};
	const struct recording_domain domain = {
		.type = GUEST_KVM, .cpu = CPU_X86_64, .word = 8, .vcpus = 1};
	struct error err = {"cannot write the file"};
	int fd = path ? creat(path, 0666) : memfd_create("stacks", MFD_CLOEXEC);
	struct writer *writer = fd < 0 ? NULL : writer_new(fd, &info, &domain, 1, &err);

	if (!writer) {
		printf("%s\n", err.text);
		exit(1);
	}
	return writer;
}

static void unwind_captured(struct capture *capture, const struct cpu *cpu,
			    const struct unwind_input *input, struct chain *chain)
{
	uint64_t kept[STACK_CHAIN_MAX], start;
	struct chain stack = {.address = kept};

	stack_copy(cpu, &input->memory, STACK_BYTES_MAX, &capture->copy);
	stack_keep(capture->filter, cpu, &input->memory, &capture->copy, &stack);
	start = clock_monotonic();
	for (int i = 0; i < REPEAT; i++)
		stack_unwind(capture->replay, CPU_X86_64, kept, stack.count, input->table,
			     NULL, &capture->notes, chain);
	capture->ns += clock_monotonic() - start;
	capture->frames += REPEAT * chain->count;
	capture->stacks++;
	capture->words += stack.count;
	write_sample(capture, &stack);
}

static void process_sample(struct process *process, Dwfl *dwfl,
			   const struct unwind_input *input, struct capture *capture,
			   struct truth *truth, unsigned int counts[3])
{
	struct user_regs_struct registers;
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};
	struct cpu cpu = {.family = CPU_FAMILY_X86};

	stop(process, &registers);
	truth->count = 0;
	truth->is_whole = dwfl_getthread_frames(dwfl, process->pid, add_frame, truth) ==
			  0;
	cpu.x86 = process_cpu(&registers);
	if (capture->filter)
		unwind_captured(capture, &cpu, input, &chain);
	else
		cpu_unwind(&cpu, input, &chain);
	counts[0]++;
	if (truth->is_whole || truth->count == CHAIN_MAX) {
		counts[1]++;
		counts[2] += is_same(&chain, truth);
	}
	if (!is_same(&chain, truth)) {
		unsigned int i = 0;

		while (i < chain.count && i < truth->count &&
		       address[i] == truth->address[i])
			i++;
		printf("at %llx: %u addresses, libdwfl %u (%s); %u are the same, after "
		       "%llx; ends: %s\n",
		       registers.rip, chain.count, truth->count,
		       truth->is_whole ? "whole" : dwfl_errmsg(-1), i,
		       (unsigned long long)address[i ? i - 1 : 0],
		       chain_end_name(chain.end));
	}
	ptrace(PTRACE_CONT, process->pid, NULL, NULL);
}

static Dwfl *open_process(pid_t pid)
{
	static char *no_path;
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.debuginfo_path = &no_path,
	};
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl || dwfl_linux_proc_report(dwfl, pid) ||
	    dwfl_report_end(dwfl, NULL, NULL) ||
	    dwfl_linux_proc_attach(dwfl, pid, true)) {
		printf("cannot open process %d: %s\n", (int)pid, dwfl_errmsg(-1));
		exit(1);
	}
	return dwfl;
}

int main(int count, char **arguments)
{
	struct rules rules = {.builder = unwind_builder_new()};
	static struct capture capture;
	unsigned int samples = 1000;
	static struct process process;
	static struct truth truth;
	struct unwind_table *table;
	struct unwind_input input = {
		.memory = {.page = process_page, .context = &process}};
	struct user_regs_struct registers;
	unsigned int counts[3] = {0};
	struct recording_end end = {.reason = END_TIME};
	const char *file = NULL;
	struct error err;
	char path[64];
	Dwfl *dwfl;

	for (; count > 1 && arguments[1][0] == '-'; count--, arguments++) {
		rules.by_code |= !strcmp(arguments[1], "-c");
		if (!strcmp(arguments[1], "-s"))
			capture.filter = stack_filter_new();
		if (!strcmp(arguments[1], "-w") && count > 2) {
			file = arguments[2];
			count--;
			arguments++;
		}
	}
	if (count < 2)
		return 2;
	capture.replay = stack_replay_new();
	capture.copy.word = capture.word;
	capture.writer = open_writer(file);
	if (count > 2)
		samples = (unsigned int)atoi(arguments[2]);
	process.pid = atoi(arguments[1]);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)process.pid);
	process.memory = open(path, O_RDONLY | O_CLOEXEC);
	if (process.memory < 0 || ptrace(PTRACE_SEIZE, process.pid, NULL, NULL)) {
		perror(arguments[1]);
		return 1;
	}
	stop(&process, &registers);
	dwfl = open_process(process.pid);
	dwfl_getmodules(dwfl, add_module, &rules, 0);
	table = unwind_builder_finish(rules.builder);
	input.table = table;
	ptrace(PTRACE_CONT, process.pid, NULL, NULL);
	for (unsigned int i = 0; i < samples; i++) {
		usleep(1000 + (unsigned int)rand() % 1000);
		process_sample(&process, dwfl, &input, &capture, &truth, counts);
	}
	end.monotonic = (capture.stacks + 1) * 10000000;
	if (writer_end(capture.writer, &end, &err) < 0)
		printf("%s\n", err.text);
	if (capture.stacks)
		printf("%.1f bytes a sample, %.0f words kept of each; %.1f frames, %.1f "
		       "million a second\n",
		       (double)writer_bytes(capture.writer) / (double)capture.stacks,
		       (double)capture.words / (double)capture.stacks,
		       (double)capture.frames / (double)capture.stacks / REPEAT,
		       1e3 * (double)capture.frames / (double)capture.ns);
	printf("%u samples, %u whole by libdwfl, %u of them the same\n", counts[0],
	       counts[1], counts[2]);
	unwind_builder_free(rules.builder);
	unwind_table_free(table);
	return 0;
}
