/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/learning.h"

#include <stdlib.h>

#include "base/clock.h"

/* Limit of map calls while reading the code that captured stacks point to */
#define STACK_MAPS 128

/* Limit of map calls while examining the return addresses of a chain */
#define ENTRIES_MAPS (X86_LEARN_MAX * UNWIND_CODE_PAGES_MAX)

/* How long chains stay settled after a study, ns: what has to be learned by and by goes
 * on at least this often. */
#define STUDY_LASTS (20 * NS_PER_S / 1000)

/* Time for which the names of a kernel are looked for at once, ns */
#define FIND_NS (2 * NS_PER_S)

/* Whether names are looked for in the guest's kernel: not if a file has them, or if the
 * guest is stopped for each page that is read. */
static bool wants_kallsyms(const struct guest *guest, const struct sampling *sampling)
{
	return guest->info.type != GUEST_GDB && !sampling->stack_bytes &&
	       !(sampling->table && program_table_names_linux(sampling->table));
}

int learning_open(struct learning *learning, struct guest *guest,
		  const struct sampling *sampling, struct error *err)
{
	learning->guest = guest;
	settled_open(&learning->settled);
	learning->table.placed.table = sampling->table;
	learning->table.state = sampling->table ? TABLE_PENDING : TABLE_NONE;
	learning->code.examiner = sampling->examiner;
	learning->code.chains_min = sampling->chains_min;
	if (wants_kallsyms(guest, sampling)) {
		learning->kallsyms = kallsyms_search_new();
		if (!learning->kallsyms)
			return error_set(err, "out of memory");
	}
	if (!sampling->stack_bytes)
		return 0;
	learning->filter = stack_filter_new();
	return learning->filter ? 0 : error_set(err, "out of memory");
}

void learning_close(struct learning *learning)
{
	modules_free(learning->modules);
	mapped_free(learning->mapped);
	free(learning->mappings);
	kallsyms_search_free(learning->kallsyms);
	kernel_orc_free(&learning->orc);
	kernel_types_free(&learning->types);
	table_check_free(&learning->table);
	code_search_free(&learning->code);
	stack_filter_free(learning->filter);
}

struct unwind_input learning_input(struct learning *learning,
				   const void *(*page)(void *memory, uint64_t frame))
{
	return (struct unwind_input){
		.memory = {.page = page, .context = learning->guest->memory},
		.notes = &learning->notes,
		.table = learning->table.table,
		.spaces = learning->table.spaces.list,
		.space_count = learning->table.spaces.count,
		.found = code_search_table(&learning->code),
		.found_space = code_search_space(&learning->code),
		.returns = &learning->returns,
		.hypercalls = learning->table.hypercalls,
		.kernel = learning_kernel(learning),
		.modules = learning->modules ? modules_table(learning->modules) : NULL,
		.entries = &learning->entries,
	};
}

/* Returns the memory of the running guest. */
static struct guest_memory running_memory(const struct learning *learning)
{
	return (struct guest_memory){
		.page = learning->guest->ops->map_page,
		.context = learning->guest->memory,
	};
}

/* Returns the registers that the vCPU had at the sample. */
static const struct cpu *cpu_of(const struct learning *learning,
				const struct sample *sample)
{
	return &learning->guest->vcpu[sample->vcpu].cpu;
}

/* Starts to look for the files of processes, where their memory can be read. @layout may
 * be NULL. */
static void use_mappings(struct learning *learning, const struct mapping_layout *layout)
{
	if (layout && !learning->mapped && learning->guest->info.type != GUEST_GDB)
		learning->mapped = mapped_new(layout);
}

/* Starts to look for modules and tasks of the Linux kernel in the table, once it is
 * found. */
static void use_kernel(struct learning *learning)
{
	const struct program_table *program = learning->table.placed.table;
	const struct module_layout *modules = program_table_modules(program);

	if (learning->uses_kernel || !placed_table_linux(&learning->table.placed))
		return;
	learning->uses_kernel = true;
	if (modules && !learning->modules)
		learning->modules = modules_new(modules);
	use_mappings(learning, program_table_mappings(program));
	learning->tasks = (struct tasks){
		.layout = program_table_tasks(program),
		.threads = program_table_threads(program),
		.shift = placed_table_linux_shift(&learning->table.placed),
	};
}

/* Takes over where a unikernel in the table has its threads, once it is found. */
static void use_fibers(struct learning *learning)
{
	const struct placed_table *placed = &learning->table.placed;
	const struct table_origin *origin;
	size_t number;

	if (learning->fibers.count)
		return;
	origin = program_table_fibers(placed->table, &number);
	if (!origin || !placed->is_found[number])
		return;
	learning->fibers = (struct fibers){
		.layouts = origin->fibers,
		.count = origin->fiber_layouts,
		.shift = placed->shift[number],
	};
}

/* Starts to look for modules and tasks by the types in the kernel's own memory. */
static void use_types(struct learning *learning)
{
	const struct linux_layouts *layouts = &learning->types.layouts;

	if (learning->uses_kernel)
		return;
	if (layouts->modules.list && !learning->modules)
		learning->modules = modules_new(&layouts->modules);
	if (layouts->mappings.order)
		use_mappings(learning, &layouts->mappings);
	if (layouts->tasks.per_cpu)
		learning->tasks = (struct tasks){
			.layout = &layouts->tasks,
			.threads = layouts->threads.init ? &layouts->threads : NULL,
		};
}

bool learning_check_table(struct learning *learning, const struct round *round)
{
	const struct guest_memory memory = running_memory(learning);

	if (!table_check_run(&learning->table, learning->guest, &memory, round))
		return false;
	use_kernel(learning);
	use_fibers(learning);
	settled_forget(&learning->settled);
	learning->renewals++;
	return true;
}

static void keep_stacks(struct learning *learning, struct round *round)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);

	if (!round->stack)
		return;
	guest->ops->begin_pages(guest->memory, round->time, STACK_MAPS);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];

		if (round->stack[i].is_taken)
			stack_keep(learning->filter, cpu_of(learning, sample), &memory,
				   &round->stack[i], &sample->chain);
	}
}

static void name_processes(struct learning *learning, struct round *round)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);

	if (!learning->tasks.layout || !round->samples)
		return;
	guest->ops->begin_pages(guest->memory, round->time, TASK_MAPS * round->samples);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];

		tasks_name(&learning->tasks, cpu_of(learning, sample), &memory,
			   sample->vcpu, &sample->process);
	}
}

/* Looks for the files of one process, at most, in the round. */
static void map_processes(struct learning *learning, const struct round *round)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);

	if (!learning->mapped || learning->mappings)
		return;
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];

		if (!mapped_is_due(learning->mapped, &sample->process, &sample->chain,
				   round->time))
			continue;
		guest->ops->begin_pages(guest->memory, round->time, MAPPING_CALLS);
		learning->mappings = mapped_look(learning->mapped, &learning->tasks,
						 cpu_of(learning, sample), &memory,
						 &sample->process, round->time);
		return;
	}
}

/* Names the threads of a unikernel. */
static void name_fibers(struct learning *learning, struct round *round)
{
	struct guest *guest = learning->guest;
	struct thread_view view;

	if (!learning->fibers.count)
		return;
	view = (struct thread_view){.memory = running_memory(learning)};
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];

		guest->ops->begin_pages(guest->memory, round->time,
					FIBERS_MAPS + THREAD_PAGES);
		view.cpu = *cpu_of(learning, sample);
		if (fibers_view_recent(&learning->fibers, round->time, &view))
			fiber_name(&view, sample->vcpu, &sample->process);
	}
}

void learning_complete(struct learning *learning, struct round *round)
{
	/* A unikernel may switch its threads every few microseconds. */
	name_fibers(learning, round);
	keep_stacks(learning, round);
	name_processes(learning, round);
	map_processes(learning, round);
}

/* Looks for the entries of interrupts among the code that the chains lead to. */
static void learn_entries(struct learning *learning, struct round *round)
{
	struct guest *guest = learning->guest;
	const struct unwind_input input = learning_input(learning, guest->ops->map_page);

	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];
		const struct cpu *cpu = cpu_of(learning, sample);

		if (cpu->family != CPU_FAMILY_X86 ||
		    !x86_entries_lack(&learning->entries, &sample->chain))
			continue;
		guest->ops->begin_pages(guest->memory, round->time, ENTRIES_MAPS);
		if (x86_entries_learn(&learning->entries, &cpu->x86, &input,
				      &sample->chain))
			round->found_code = true;
	}
}

bool learning_study_wait(struct learning *learning, const struct cpu *cpu,
			 const struct chain *chain, uint64_t now)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);

	if (!learning->modules || !modules_are_due(learning->modules, chain, now))
		return false;
	guest->ops->begin_pages(guest->memory, now, MODULES_MAPS);
	if (!modules_look(learning->modules, cpu, &memory, chain, now))
		return false;
	learning->renewals++;
	return true;
}

/* Looks for the kernel's modules among the code that the chains lead to. True if there is
 * a new table of modules. */
static bool learn_modules(struct learning *learning, struct round *round)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);
	bool is_renewed = false;

	for (unsigned int i = 0; learning->modules && i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];

		if (!modules_are_due(learning->modules, &sample->chain, round->time))
			continue;
		guest->ops->begin_pages(guest->memory, round->time, MODULES_MAPS);
		is_renewed |= modules_look(learning->modules, cpu_of(learning, sample),
					   &memory, &sample->chain, round->time);
	}
	round->found_code |= is_renewed;
	return is_renewed;
}

/* Looks for what else the kernel's names lead to, unless a file has it: its types and,
 * unless only frame pointers are asked for, its tables. */
static void use_names(struct learning *learning, const struct kallsyms *kallsyms)
{
	if (learning->uses_kernel)
		return;
	kernel_types_find(&learning->types, kallsyms);
	if (learning->code.examiner)
		kernel_orc_find(&learning->orc, kallsyms);
}

static bool are_names_due(const struct learning *learning, uint64_t now)
{
	return learning->kallsyms && kallsyms_are_due(learning->kallsyms, now);
}

/* Goes on to look for the names of the guest's kernel, from an address of its @code. */
static void read_names(struct learning *learning, const struct cpu *cpu, uint64_t code,
		       uint64_t now)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);

	guest->ops->begin_pages(guest->memory, now, KALLSYMS_MAPS);
	kallsyms_look(learning->kallsyms, cpu, &memory, code, now);
	if (kallsyms_get(learning->kallsyms))
		use_names(learning, kallsyms_get(learning->kallsyms));
}

/* Whether there is something left to read in the guest's kernel: its tables, and then its
 * types. */
static bool is_kernel_due(const struct learning *learning, uint64_t now)
{
	return kernel_copy_is_due(learning->orc.copy.size ? &learning->orc.copy
							  : &learning->types.copy,
				  now);
}

/* Goes on to read the tables or the types of the guest's kernel, which is due. True if
 * the tables are complete. */
static bool read_kernel(struct learning *learning, const struct cpu *cpu, uint64_t now)
{
	struct guest *guest = learning->guest;
	const struct guest_memory memory = running_memory(learning);

	guest->ops->begin_pages(guest->memory, now, KERNEL_COPY_MAPS);
	if (learning->orc.copy.size)
		return kernel_orc_look(&learning->orc, cpu, &memory, now);
	if (kernel_types_look(&learning->types, cpu, &memory, now))
		use_types(learning);
	return false;
}

/* Looks for a Linux kernel in the round's samples. False if its memory can't be read for
 * sure now. */
static bool see_kernel(struct learning *learning, const struct round *round)
{
	bool is_mapped = false;

	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];
		const struct cpu *cpu = cpu_of(learning, sample);

		kernel_seen_note(&learning->kernel, cpu, &sample->chain);
		is_mapped |= kernel_seen_maps(&learning->kernel, cpu);
	}
	return is_mapped;
}

/* Goes on to read the names, the tables and the types of the guest's kernel. True if
 * there is a new table. */
static bool learn_kernel(struct learning *learning, const struct round *round)
{
	const struct kernel_seen *seen = &learning->kernel;
	uint64_t now = round->time;

	if (!are_names_due(learning, now) && !is_kernel_due(learning, now))
		return false;
	if (!see_kernel(learning, round))
		return false;
	if (are_names_due(learning, now))
		read_names(learning, &seen->cpu, seen->code, now);
	return is_kernel_due(learning, now) && read_kernel(learning, &seen->cpu, now);
}

struct kallsyms *learning_take_kallsyms(struct learning *learning)
{
	return learning->kallsyms ? kallsyms_take(learning->kallsyms) : NULL;
}

struct process_mappings *learning_take_mappings(struct learning *learning)
{
	struct process_mappings *mappings = learning->mappings;

	learning->mappings = NULL;
	return mappings;
}

void learning_forget_mappings(struct learning *learning)
{
	if (learning->mapped)
		mapped_forget(learning->mapped);
}

const struct kallsyms *learning_kallsyms(const struct learning *learning)
{
	return learning->kallsyms ? kallsyms_get(learning->kallsyms) : NULL;
}

const struct kallsyms *learning_find_kallsyms(struct learning *learning,
					      const struct cpu *cpu,
					      const struct chain *chain)
{
	uint64_t code = kernel_code(chain), now = clock_monotonic(),
		 until = now + FIND_NS;

	while (code && now < until && are_names_due(learning, UINT64_MAX) &&
	       !kallsyms_were_sought(learning->kallsyms)) {
		read_names(learning, cpu, code, now);
		now = clock_monotonic();
	}
	return learning_kallsyms(learning);
}

/* Reads the kernel's tables and types at once, from the same code. True if there is a new
 * table. */
static bool find_kernel(struct learning *learning, const struct cpu *cpu,
			const struct chain *chain)
{
	bool is_new = false;

	if (!learning_find_kallsyms(learning, cpu, chain))
		return false;
	while (is_kernel_due(learning, UINT64_MAX))
		is_new |= read_kernel(learning, cpu, clock_monotonic());
	return is_new;
}

/* Whether a file of the table describes the code. */
static bool is_in_file(struct learning *learning, const struct cpu *cpu,
		       const struct chain *chain)
{
	const struct unwind_input input = learning_input(learning, NULL);
	const struct unwind_table *table = unwind_table_in(&input, cpu_space(cpu));

	return table && unwind_table_find(table, chain->address[0]);
}

bool learning_find_kernel(struct learning *learning, const struct round *round,
			  bool has_names)
{
	bool is_new = false;

	for (unsigned int i = 0; i < round->samples && !is_new; i++) {
		const struct chain *chain = &round->sample[i].chain;
		const struct cpu *cpu = cpu_of(learning, &round->sample[i]);

		if (!has_names || !is_in_file(learning, cpu, chain))
			is_new = find_kernel(learning, cpu, chain);
	}
	return is_new;
}

/* Whether a round so soon after a study has only chains that are settled. */
static bool is_settled(struct learning *learning, struct round *round)
{
	bool is_soon = round->time - learning->studied < STUDY_LASTS;
	unsigned int settled = 0;

	for (unsigned int i = 0; i < round->samples; i++)
		settled += settled_apply(&learning->settled, &round->sample[i]);
	return is_soon && settled == round->samples;
}

/* Settles the chains that were studied, if the study has learned nothing new. */
static void settle(struct learning *learning, const struct unwind_input *input,
		   const struct round *round, bool is_renewed)
{
	learning->studied = round->time;
	if (is_renewed || round->found_code || table_check_is_open(&learning->table)) {
		settled_forget(&learning->settled);
		return;
	}
	for (unsigned int i = 0; i < round->samples; i++)
		if (!code_search_is_astray(&learning->code, &round->sample[i], input))
			settled_add(&learning->settled, &round->sample[i]);
}

static bool study(struct learning *learning, const struct unwind_input *input,
		  struct round *round)
{
	bool is_renewed;

	returns_learn(&learning->returns, learning->guest, input, round);
	code_search_check(&learning->code, input, round);
	starts_prove(&learning->starts, learning->guest, &input->memory, round);
	/* Until its fate is known, the table may describe the code. */
	is_renewed = !table_check_is_open(&learning->table) &&
		     code_search_run(&learning->code, learning->guest, input, round);
	/* A new table has other guesses than the last one, or than frame pointers. */
	if (is_renewed)
		guesses_forgive(&learning->returns);
	learn_entries(learning, round);
	is_renewed |= learn_modules(learning, round);
	if (learn_kernel(learning, round)) {
		guesses_forgive(&learning->returns);
		is_renewed = true;
	}
	return is_renewed;
}

bool learning_study(struct learning *learning, struct round *round)
{
	const struct unwind_input input = learning_input(learning,
							 learning->guest->ops->map_page);
	bool is_renewed;

	if (is_settled(learning, round)) {
		code_search_count(&learning->code, round->samples);
		return false;
	}
	is_renewed = study(learning, &input, round);
	settle(learning, &input, round, is_renewed);
	learning->renewals += is_renewed;
	return is_renewed;
}

const struct unwind_table *learning_kernel(const struct learning *learning)
{
	return learning->orc.table;
}

const struct placed_table *learning_table(const struct learning *learning)
{
	return learning->table.table ? &learning->table.placed : NULL;
}

size_t learning_rivals(const struct learning *learning, struct rival_space *list,
		       size_t most)
{
	const struct table_check *check = &learning->table;

	return check->table ? spaces_rivals(&check->spaces, &check->placed, list, most)
			    : 0;
}

const struct placed_table *learning_table_in(const struct learning *learning,
					     uint64_t space)
{
	const struct placed_table *placed = learning_table(learning);
	const struct placed_table *here = spaces_placed(&learning->table.spaces, space);

	return placed && here ? here : placed;
}

uint64_t learning_programs(const struct learning *learning, uint64_t space)
{
	return spaces_programs(&learning->table.spaces, space);
}

size_t learning_files(const struct learning *learning)
{
	const struct placed_table *placed = learning_table(learning);
	size_t count = 0;

	for (size_t i = 0; placed && i < placed->table->origins; i++)
		count += placed->is_found[i];
	return count;
}

uint64_t learning_linux(const struct learning *learning)
{
	const struct table_check *check = &learning->table;

	return check->state == TABLE_USED ? placed_table_linux(&check->placed) : 0;
}
