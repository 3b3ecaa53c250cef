/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Chains of a running process by a table of its files' call frame information or, with
 * -c, of their code, compared with those of libdwfl: process [-c] PID [SAMPLES]. Its
 * stack is the guest's here. Prints which chains differ, and how many do not.
 */

#include <elfutils/libdwfl.h>

#include "tests/unit/unwind/test_x86_process.h"
#include "unwind/table/cfi.h"
#include "unwind/table/code.h"

struct rules {
	struct unwind_builder *builder;
	bool by_code;
};

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

static void sample(struct process *process, Dwfl *dwfl, const struct guest_memory *memory,
		   struct truth *truth, unsigned int counts[3])
{
	struct user_regs_struct registers;
	uint64_t address[CHAIN_ROOM];
	struct chain chain = {.address = address};
	struct x86_cpu cpu;

	stop(process, &registers);
	truth->count = 0;
	truth->is_whole = dwfl_getthread_frames(dwfl, process->pid, add_frame, truth) ==
			  0;
	cpu = process_cpu(&registers);
	x86_unwind(&cpu, memory, &chain);
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
	struct rules rules = {.builder = unwind_builder_new(),
			      .by_code = count > 1 && !strcmp(arguments[1], "-c")};
	unsigned int samples = 1000;
	static struct process process;
	static struct truth truth;
	struct unwind_table *table;
	struct guest_memory memory = {.page = process_page, .context = &process};
	struct user_regs_struct registers;
	unsigned int counts[3] = {0};
	char path[64];
	Dwfl *dwfl;

	count -= rules.by_code;
	arguments += rules.by_code;
	if (count < 2)
		return 2;
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
	memory.table = table;
	ptrace(PTRACE_CONT, process.pid, NULL, NULL);
	for (unsigned int i = 0; i < samples; i++) {
		usleep(1000 + (unsigned int)rand() % 1000);
		sample(&process, dwfl, &memory, &truth, counts);
	}
	printf("%u samples, %u whole by libdwfl, %u of them the same\n", counts[0],
	       counts[1], counts[2]);
	unwind_builder_free(rules.builder);
	unwind_table_free(table);
	return 0;
}
