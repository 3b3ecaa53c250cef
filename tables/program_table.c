/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/program_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/spec.h"
#include "symbols/symbols.h"
#include "tables/cfi/cfi.h"
#include "tables/code/code.h"
#include "tables/orc.h"

/* Blocks of code with fewer different bytes are padding, or memory that is filled in when
 * the program runs. */
#define DIFFERENT_BYTES 6

/* What a table is made of. */
struct table_wish {
	const char *const *specs; /* of the files */
	size_t count;
	const char *debug_directory;
	bool is_apart; /* program_table_make_apart() */
};

void program_table_free(struct program_table *table)
{
	if (!table)
		return;
	unwind_table_free(table->table);
	for (size_t i = 0; i < table->origins && table->program; i++)
		program_close(&table->program[i]);
	free(table->program);
	free(table->origin);
	free(table);
}

int program_table_lock(const struct program_table *table, struct error *err)
{
	int status = unwind_table_lock(table->table), errnum = errno;
	size_t size;

	if (status == 0)
		return 0;
	unwind_table_memory(table->table, &size);
	return error_mlock(err, errnum, size);
}

void program_table_names(const struct program_table *table, char *to, size_t size)
{
	size_t used = 0;

	*to = 0;
	for (size_t i = 0; i < table->origins && used < size; i++)
		used += (size_t)snprintf(to + used, size - used, "%s%s", i ? ", " : "",
					 table->origin[i].name);
}

/* Finds the Linux kernel among the table's programs; NULL if there is none. */
static const struct table_origin *find_linux(const struct program_table *table)
{
	for (size_t i = 0; i < table->origins; i++)
		if (table->origin[i].linux_text)
			return &table->origin[i];
	return NULL;
}

uint64_t program_table_linux(const struct program_table *table)
{
	const struct table_origin *origin = find_linux(table);

	return origin ? origin->linux_text : 0;
}

bool program_table_names_linux(const struct program_table *table)
{
	const struct table_origin *origin = find_linux(table);

	return origin && table->program &&
	       table->program[origin - table->origin].function_count;
}

const struct task_layout *program_table_tasks(const struct program_table *table)
{
	const struct table_origin *origin = find_linux(table);

	return origin && origin->tasks.per_cpu ? &origin->tasks : NULL;
}

const struct thread_layout *program_table_threads(const struct program_table *table)
{
	const struct table_origin *origin = find_linux(table);

	return origin && origin->threads.init && origin->tasks.per_cpu ? &origin->threads
								       : NULL;
}

const struct mapping_layout *program_table_mappings(const struct program_table *table)
{
	const struct table_origin *origin = find_linux(table);

	return origin && origin->mappings.order && origin->tasks.per_cpu
		       ? &origin->mappings
		       : NULL;
}

const struct table_origin *program_table_fibers(const struct program_table *table,
						size_t *number)
{
	for (size_t i = 0; i < table->origins; i++) {
		*number = i;
		if (table->origin[i].fiber_layouts)
			return &table->origin[i];
	}
	return NULL;
}

const struct module_layout *program_table_modules(const struct program_table *table)
{
	const struct table_origin *origin = find_linux(table);

	return origin && origin->modules.list ? &origin->modules : NULL;
}

static bool is_telling(const uint8_t *bytes)
{
	unsigned int different = 0;

	for (size_t i = 0; i < TABLE_PLACE_SIZE; i++)
		different += memchr(bytes, bytes[i], i) == NULL;
	return different >= DIFFERENT_BYTES;
}

/* Whether the table has rules for the block at @address. Data among code has none. */
static bool has_rules(const struct unwind_table *table, uint64_t address)
{
	return unwind_table_find(table, address) &&
	       unwind_table_find(table, address + TABLE_PLACE_SIZE - 1);
}

/* Adds the first block of code that is distinctive enough, at or after @from and before
 * @to, which are offsets in the concatenated code ranges; one that has rules in @table if
 * that is not NULL. */
static void take_place(struct table_origin *origin, const struct program *program,
		       uint64_t from, uint64_t to, const struct unwind_table *table)
{
	uint64_t passed = 0;

	for (size_t i = 0; i < program->code_count; i++) {
		const struct code_range *code = &program->code[i];
		uint64_t base = code->address + program->offset;
		uint64_t start = from > passed ? from - passed : 0;
		uint64_t end = to - passed < code->size ? to - passed : code->size;

		/* Aligned in the guest's memory, so that no block crosses a page. */
		start += -(base + start) % TABLE_PLACE_SIZE;
		for (; start < end && start + TABLE_PLACE_SIZE <= code->size;
		     start += TABLE_PLACE_SIZE) {
			struct table_place *place = &origin->place[origin->places];

			if (!is_telling(code->bytes + start) ||
			    (table && !has_rules(table, base + start)))
				continue;
			place->address = base + start;
			memcpy(place->bytes, code->bytes + start, TABLE_PLACE_SIZE);
			origin->places++;
			return;
		}
		passed += code->size;
		if (passed >= to)
			return;
	}
}

static uint64_t code_size(const struct program *program)
{
	uint64_t size = 0;

	for (size_t i = 0; i < program->code_count; i++)
		size += program->code[i].size;
	return size;
}

/* Returns the address of the program's first byte of code. */
static uint64_t code_low(const struct program *program)
{
	return program->code[0].address + program->offset;
}

/* Returns the address behind the program's code. */
static uint64_t code_high(const struct program *program)
{
	uint64_t high = 0;

	for (size_t i = 0; i < program->code_count; i++) {
		const struct code_range *code = &program->code[i];

		if (code->address + code->size > high)
			high = code->address + code->size;
	}
	return high + program->offset;
}

/* Takes places that are spread over all of the program's code, but not the data among it,
 * such as page tables, which may change while the program runs. */
static void take_places(struct table_origin *origin, const struct program *program,
			const struct unwind_table *table)
{
	uint64_t step = code_size(program) / TABLE_PLACES + 1;

	for (uint64_t i = 0; i < TABLE_PLACES; i++)
		take_place(origin, program, i * step, (i + 1) * step, table);
	if (origin->places >= TABLE_PLACES_ENOUGH)
		return;
	/* Too little of the code has rules. */
	origin->places = 0;
	for (uint64_t i = 0; i < TABLE_PLACES; i++)
		take_place(origin, program, i * step, (i + 1) * step, NULL);
}

static void origin_describe(struct table_origin *origin, const struct program *program,
			    uint64_t home)
{
	*origin = (struct table_origin){
		.build_id_size = program->build_id_size,
		.low = code_low(program),
		.high = code_high(program),
		.home = home,
	};
	snprintf(origin->name, sizeof(origin->name), "%s", program->name);
	memcpy(origin->build_id, program->build_id, sizeof(origin->build_id));
	if (program->build_id_address)
		origin->build_id_address = program->build_id_address + program->offset;
	if (program->hypercall_page)
		origin->hypercall_page = program->hypercall_page + program->offset;
}

/* Rejects programs for other CPUs, and files without code: they have nothing to compare
 * and nothing to unwind. */
static int check_program(const struct program *program, enum cpu_kind *cpu,
			 struct error *err)
{
	enum cpu_kind kind = cpu_kind_of_elf(program->machine);

	if (kind == CPU_X86_32)
		return error_set(err,
				 "%s: unwind tables are for x86-64 and arm64 only; if it "
				 "has 64-bit code in a 32-bit file, for its boot loader, "
				 "use the 64-bit file that it was made from",
				 program->path);
	if (!cpu_kind_has_tables(kind))
		return error_set(err, "%s: unwind tables are for x86-64 and arm64 only",
				 program->path);
	if (*cpu != CPU_UNKNOWN && *cpu != kind)
		return error_set(err, "%s is for %s, but the file before it for %s",
				 program->path, cpu_kind_name(kind), cpu_kind_name(*cpu));
	*cpu = kind;
	if (!program->code_count)
		return error_set(err,
				 "%s contains no code (a debug file?); use the program",
				 program->path);
	return 0;
}

static int no_rules(const struct program *program, const struct error *why,
		    struct error *err)
{
	if (!program->debug_missing)
		return error_set(err, "%s, and its code can't be used: %s", why[0].text,
				 why[1].text);
	return error_set(err, "%s, and its debug file %s is missing", why[0].text,
			 program->debug_missing);
}

/*
 * Adds a program's rules. A Linux kernel's are only those of its own tables (ORC). Other
 * programs' are from the call frame information in the file and in its debug file,
 * because linkers leave .eh_frame in the file, and strip moves .debug_frame to the debug
 * file. Functions that have no call frame information get rules from their code.
 */
static int add_rules(struct unwind_builder *builder, const struct program *program,
		     const char *debug_directory, bool *is_linux, struct error *err)
{
	const struct program_file *elf = &program->elf, *debug = &program->debug;
	struct error why[2] = {{""}, {""}}, ignored;
	struct cfi_summary summary;
	size_t functions, rows;
	bool any;

	if (unwind_table_add_orc(builder, program->path, elf->data, elf->size,
				 program->offset, program->hypercall_page, &rows, err))
		return -1;
	*is_linux = rows != 0;
	if (rows)
		return 0;
	any = unwind_table_add_cfi(builder, program->path, elf->data, elf->size,
				   program->offset, &summary, &why[0]) == 0;
	if (debug->data)
		any |= unwind_table_add_cfi(builder, program->path, debug->data,
					    debug->size, program->offset, &summary,
					    &ignored) == 0;
	any |= unwind_table_add_elf_code(builder, program->path, elf->data, elf->size,
					 program->offset, debug_directory, &functions,
					 &why[1]) == 0;
	return any ? 0 : no_rules(program, why, err);
}

static void coverage_measure(const struct unwind_table *table,
			     const struct program *program,
			     struct table_coverage *coverage)
{
	for (size_t i = 0; i < program->function_count; i++) {
		uint64_t start = program->functions[i].start + program->offset;

		coverage->functions++;
		coverage->functions_covered += unwind_table_find(table, start) != NULL;
	}
	for (size_t i = 0; i < program->code_count; i++) {
		uint64_t start = program->code[i].address + program->offset;

		coverage->text += program->code[i].size;
		for (uint64_t at = 0; at < program->code[i].size; at++)
			coverage->text_covered += unwind_table_find(table, start + at) !=
						  NULL;
	}
}

/* Sets the kernel's address and layouts. Without the layouts of tasks, modules,
 * threads and mappings, processes have no names, chains end in modules, waits are not
 * known, and neither are processes' files. */
static void describe_linux(struct table_origin *origin, const struct program *program)
{
	struct task_layout *tasks = &origin->tasks;
	struct linux_layouts layouts;

	origin->linux_text = program->code[0].address + program->offset;
	linux_layouts_find(&layouts, program->elf.data, program->elf.size);
	origin->tasks = layouts.tasks;
	origin->modules = layouts.modules;
	origin->threads = layouts.threads;
	origin->mappings = layouts.mappings;
	if (origin->threads.init)
		origin->threads.init += program->offset;
	if (tasks->per_cpu)
		tasks->per_cpu += program->offset;
	if (tasks->current >= LINUX_START)
		tasks->current += program->offset;
}

/* Sets where a unikernel has its threads. */
static void describe_fibers(struct table_origin *origin, const struct program *program)
{
	const struct program_file *file = program->debug.data ? &program->debug
							      : &program->elf;
	const struct fiber_file fibers = {file->data, file->size};

	origin->fiber_layouts = fiber_layouts_find(origin->fibers, &fibers);
	for (size_t i = 0; i < origin->fiber_layouts; i++) {
		struct fiber_layout *layout = &origin->fibers[i];

		layout->list += program->offset;
		layout->switch_code += program->offset;
		if (layout->current != FIBER_NONE)
			layout->current += program->offset;
	}
}

/* Distance between the homes of programs, and what must lie between two programs, so that
 * no segment of a table has rules of both; bytes */
#define HOME_DISTANCE ((uint64_t)1 << 40)
#define HOME_GAP      ((uint64_t)64 << 10)

/* Whether code of a program would be near code of the other one, which is in the table,
 * if the table had the program @home higher. */
static bool is_near(const struct program *other, const struct program *program,
		    uint64_t home)
{
	for (size_t i = 0; i < other->code_count; i++) {
		uint64_t low = other->code[i].address + other->offset - HOME_GAP;
		uint64_t size = other->code[i].size + 2 * HOME_GAP;

		for (size_t j = 0; j < program->code_count; j++) {
			const struct code_range *code = &program->code[j];
			uint64_t start = code->address + program->offset + home;

			if (start - low < size || low - start < code->size)
				return true;
		}
	}
	return false;
}

/* Returns how much higher the table must have the last one of @count programs, so that it
 * is not near another one. */
static uint64_t find_home(const struct program *programs, size_t count)
{
	const struct program *program = &programs[count - 1];
	uint64_t home = 0;

	for (size_t i = 0; i + 1 < count;) {
		if (!is_near(&programs[i], program, home)) {
			i++;
			continue;
		}
		home += HOME_DISTANCE;
		i = 0;
	}
	return home;
}

/* Opens the files, and adds their rules and descriptions. */
static int take_programs(struct program_table *table, struct program *programs,
			 const struct table_wish *wish, struct unwind_builder *builder,
			 struct error *err)
{
	for (size_t i = 0; i < table->origins; i++) {
		struct program *program = &programs[i];
		uint64_t home;
		bool is_linux;

		if (program_open(program, wish->specs[i], wish->debug_directory, err) <
			    0 ||
		    check_program(program, &table->cpu, err) < 0)
			return -1;
		home = wish->is_apart ? find_home(programs, i + 1) : 0;
		program->offset += home;
		if (add_rules(builder, program, wish->debug_directory, &is_linux, err) <
		    0)
			return -1;
		origin_describe(&table->origin[i], program, home);
		if (is_linux)
			describe_linux(&table->origin[i], program);
		else
			describe_fibers(&table->origin[i], program);
	}
	table->table = unwind_builder_finish(builder);
	if (!table->table)
		return error_set(err, "out of memory");
	for (size_t i = 0; i < table->origins; i++) {
		take_places(&table->origin[i], &programs[i], table->table);
		if (!table->origin[i].places && !table->origin[i].build_id_address)
			return error_set(err,
					 "%s has too little code to recognize it in a "
					 "guest",
					 programs[i].path);
	}
	return 0;
}

static struct program_table *table_make(const struct table_wish *wish,
					struct table_coverage *coverage,
					struct error *err)
{
	size_t count = wish->count;
	struct program_table *table = calloc(1, sizeof(*table));
	struct program *programs = calloc(count, sizeof(*programs));
	struct unwind_builder *builder = unwind_builder_new();
	int status = -1;

	if (table)
		table->origin = calloc(count, sizeof(*table->origin));
	if (!table || !table->origin || !programs || !builder) {
		error_set(err, "out of memory");
		goto out;
	}
	if (count > TABLE_ORIGINS) {
		error_set(err, "more than %u files for one table", TABLE_ORIGINS);
		goto out;
	}
	table->origins = count;
	status = take_programs(table, programs, wish, builder, err);
	for (size_t i = 0; i < count && coverage && status == 0; i++)
		coverage_measure(table->table, &programs[i], coverage);
	for (size_t i = 0; i < count && status == 0; i++) {
		/* A kernel's links are unknown, because it patches its code. */
		if (table->origin[i].linux_text)
			program_close(&programs[i]);
		else
			status = program_keep_code(&programs[i], err);
	}
	table->program = programs;
	programs = NULL;
out:
	free(programs);
	unwind_builder_free(builder);
	if (status == 0)
		return table;
	program_table_free(table);
	return NULL;
}

struct program_table *program_table_make(const char *const *specs, size_t count,
					 const char *debug_directory,
					 struct table_coverage *coverage,
					 struct error *err)
{
	const struct table_wish wish = {specs, count, debug_directory, false};

	return table_make(&wish, coverage, err);
}

struct program_table *program_table_make_apart(const char *const *specs, size_t count,
					       const char *debug_directory,
					       struct error *err)
{
	const struct table_wish wish = {specs, count, debug_directory, true};

	return table_make(&wish, NULL, err);
}

enum cpu_kind program_table_cpu(const char *spec, const char *debug_directory)
{
	enum cpu_kind cpu = CPU_UNKNOWN;
	struct program program = {0};
	struct error ignored;

	if (program_open(&program, spec, debug_directory, &ignored) < 0 ||
	    check_program(&program, &cpu, &ignored) < 0)
		cpu = CPU_UNKNOWN;
	program_close(&program);
	return cpu;
}

int program_table_add_code(struct program_table *table, struct program *program,
			   struct error *err)
{
	struct table_origin *origin = table->origin;
	enum cpu_kind cpu = CPU_UNKNOWN;

	if (check_program(program, &cpu, err) < 0)
		return -1;
	if (table->origins != 1 || table->program || table->cpu != cpu)
		return error_set(err, "%s is not the table's program", program->path);
	table->program = malloc(sizeof(*table->program));
	if (!table->program)
		return error_set(err, "out of memory");
	origin->low = code_low(program);
	origin->high = code_high(program);
	table->program[0] = *program;
	*program = (struct program){0};
	if (origin->linux_text)
		program_close(table->program);
	else if (program_keep_code(table->program, err) < 0)
		return -1;
	return 0;
}

bool program_table_is_possible(const char *spec, struct error *why)
{
	char *copy = strdup(spec);
	const char *domain, *comm, *const specs[] = {copy};
	struct program_table *table = NULL;
	uint64_t space;

	if (!copy)
		error_set(why, "out of memory");
	else if (symbols_spec_cut(copy, &domain, &comm, &space, why) < 0)
		; /* @why is set */
	else if (space || comm)
		error_set(why, "%s is for one process", symbols_shown_path(spec));
	else
		table = program_table_make(specs, 1, DEBUG_DIRECTORY, NULL, why);
	program_table_free(table);
	free(copy);
	return table;
}
