/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "commands/commands.h"
#include "commands/open.h"
#include "commands/stack/print.h"
#include "record/domains/target.h"
#include "record/safety/guard.h"
#include "symbols/symbols.h"

/* How long to wait for another profiler that holds the guest, ns: on a busy host, it may
 * wait for a CPU meanwhile. */
#define HELD_NS NS_PER_S
/* How often to try again to get registers: each try pauses the guest. */
#define REGISTERS_TRIES 5

/* What chains are unwound and named by. */
struct stack_files {
	struct symbols *symbols;
	struct program_table *table; /* NULL: none */
	const char **elf;	     /* specs of the files to make the table of */
	uint32_t *number;	     /* numbers of these files in @symbols; NO_NAMES */
	size_t elfs;
	struct found_files found; /* used if no file is given */
	struct symbols *unnamed;  /* no symbols, for a guest that does not run the found
				     file */
	struct error nameless;	  /* why one of these files has no names; empty: none */
};

#define NO_NAMES UINT32_MAX

/* Returns where an address space of the guest has the files, by the table in use; 0: any
 * space. @list holds the places. */
static struct symbols_guest find_places(const struct stack_files *files,
					const struct learning *learning, uint64_t space,
					struct symbols_place list[TABLE_ORIGINS])
{
	const struct placed_table *placed = learning_table_in(learning, space);
	struct symbols_guest guest = {
		.linux_text = learning_linux(learning),
		.places = list,
	};

	for (size_t i = 0; placed && i < files->elfs; i++)
		if (files->number[i] != NO_NAMES && placed->is_found[i])
			list[guest.place_count++] = (struct symbols_place){
				files->number[i], placed_table_move(placed, i)};
	guest.own_count = space ? guest.place_count : 0;
	return guest;
}

/* Returns the names for the guest; @list holds the places of the files in it. */
static struct stack_names find_names(const struct stack_files *files,
				     const struct target *target,
				     struct symbols_place list[TABLE_ORIGINS])
{
	const struct learning *learning = sampler_learning(target->sampler);
	bool is_unfit = files->found.guests && !learning_table(learning);

	return (struct stack_names){
		.symbols = is_unfit ? files->unnamed : files->symbols,
		.places = find_places(files, learning, 0, list),
		.kernel = learning_kallsyms(learning),
	};
}

/* Looks for the names of the guest's kernel in its memory, from the code that its threads
 * wait in; NULL if there are none, or if a file has them. */
static const struct kallsyms *find_kernel(const struct target *target,
					  const struct threads_seen *seen)
{
	struct learning *learning = sampler_learner(target->sampler);
	const struct kallsyms *found = learning_kallsyms(learning);

	for (size_t i = 0; i < seen->count && i < 4 && !found; i++)
		if (seen->list[i].kind == THREAD_READ)
			found = learning_find_kallsyms(learning, &seen->list[i].wait.cpu,
						       &seen->list[i].chain);
	return found;
}

/* Prints all threads of the guest. */
static int show_threads(const struct target *target, const struct stack_files *files,
			struct error *err)
{
	struct symbols_place list[TABLE_ORIGINS];
	struct stack_names names = find_names(files, target, list);
	struct threads_seen seen;
	int status = threads_look(sampler_learner(target->sampler), &seen, err);

	if (status == 0) {
		names.kernel = find_kernel(target, &seen);
		print_threads(&seen, &names);
		if (!seen.is_full)
			message("stack", "these are not all threads: the guest's lists "
					 "of them always changed, or make no sense");
	}
	threads_seen_free(&seen);
	return status;
}

static void print_round(const struct target *target, const struct round *round,
			const struct stack_files *files)
{
	struct symbols_place list[TABLE_ORIGINS];
	struct stack_names names = find_names(files, target, list);
	const struct learning *learning = sampler_learning(target->sampler);
	const struct guest *guest = target->guest;
	unsigned int sample = 0;
	char exit[EXIT_NAME_SIZE];

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &guest->vcpu[i];

		if (!vcpu->captured) {
			printf("vCPU %u: offline\n", i);
			continue;
		}
		if (vcpu->exit)
			exit_name(vcpu->exit, exit);
		printf("vCPU %u: %s%s%s\n", i, vcpu_state_name(vcpu->state),
		       vcpu->exit ? " " : "", vcpu->exit ? exit : "");
		print_registers(&vcpu->cpu);
		names.places = find_places(files, learning, cpu_space(&vcpu->cpu), list);
		print_chain(&round->sample[sample++].chain, &names);
	}
}

/* Whether a round has the registers of all vCPUs. */
static bool is_complete(const struct guest *guest)
{
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		if (guest->vcpu[i].online && !guest->vcpu[i].captured)
			return false;
	return true;
}

/* Takes a round; again if another profiler holds the guest paused, or has withdrawn its
 * request for the registers, which both used, or if no vCPU stopped in time. */
static int take_round(const struct target *target, struct round *round, struct error *err)
{
	const struct timespec moment = {0, 2000000};
	uint64_t until = clock_monotonic() + HELD_NS;
	int tries = 0;

	for (;;) {
		bool again;

		if (sampler_round(target->sampler, 1, round, err) < 0)
			return -1;
		again = round->outcome == ROUND_PAUSED || round->outcome == ROUND_LATE ||
			(round->outcome == ROUND_TAKEN && !is_complete(target->guest) &&
			 tries++ < REGISTERS_TRIES);
		if (!again || clock_monotonic() >= until)
			break;
		nanosleep(&moment, NULL);
	}
	if (round->outcome != ROUND_LATE)
		return 0;
	return error_set(err, "no vCPU of it stopped in time: the host is busy, or its "
			      "VMM waits for a device");
}

/* Says why files are not used for unwinding. */
static void print_table_note(const struct target *target)
{
	const struct table_check *check = &sampler_learning(target->sampler)->table;
	const struct program_table *table = check->placed.table;
	const char *name = target->guest->info.name;

	if (check->state == TABLE_REFUSED || check->state == TABLE_PENDING)
		fprintf(stderr, "uniprof stack: '%s' is unwound by frame pointers: %s\n",
			name, table_check_why(check));
	if (check->state != TABLE_USED)
		return;
	for (size_t i = 0; i < table->origins; i++)
		if (!check->placed.is_found[i])
			fprintf(stderr, "uniprof stack: '%s' is unwound without %s: %s\n",
				name, table->origin[i].name, check->miss[i].why.text);
}

/* Says why it is not known where the guest's memory is. */
static void print_memory_note(const struct guest *guest)
{
	struct error line;

	if (guest->ops->explain_memory && !guest->ops->explain_memory(guest, &line))
		fprintf(stderr, "uniprof stack: %s\n", line.text);
}

/* How often, and at what distance in ns, rounds are taken until one shows what is needed.
 */
#define TRIES  20
#define TRY_NS 50000000

/* Whether another round of a guest that runs may show more: it was in a program other
 * than those of the files, or no vCPU could be read. */
static bool may_show_more(const struct sampler *sampler, const struct round *round)
{
	return round->outcome == ROUND_TAKEN &&
	       (!round->samples ||
		sampler_learning(sampler)->table.state == TABLE_PENDING);
}

/* Whether there are files, each with names. */
static bool have_names(const struct stack_files *files)
{
	size_t named = 0;

	while (named < files->elfs && files->number[named] != NO_NAMES)
		named++;
	return files->elfs && named == files->elfs;
}

/* Takes rounds as long as they find more code, of which there is a limited amount, and
 * some more if needed. */
static int take_rounds(const struct target *target, const struct stack_files *files,
		       struct round *round, struct error *err)
{
	const struct timespec moment = {0, TRY_NS};
	bool goes_on;
	int tries = 0;

	do {
		if (take_round(target, round, err) < 0 ||
		    ((round->outcome == ROUND_PAUSED || round->outcome == ROUND_SHUT) &&
		     sampler_look(target->sampler, round, err) < 0))
			return -1;
		goes_on = may_show_more(target->sampler, round) && ++tries < TRIES;
		if (goes_on && !round->found_code)
			nanosleep(&moment, NULL);
	} while (round->found_code || goes_on);
	/* The tables of a kernel lead to more callers, and its names are for any round.
	 */
	if (round->outcome == ROUND_TAKEN &&
	    learning_find_kernel(sampler_learner(target->sampler), round,
				 have_names(files)))
		return take_round(target, round, err);
	return 0;
}

/* Opens the domain, and takes a sample. @table: to unwind by; NULL: none. -1 with nothing
 * held. */
static int sample_domain(struct host *host, const struct guest_info *info,
			 const struct stack_files *files,
			 const struct program_table *table, struct target *target,
			 struct round *round, struct error *err)
{
	/* One chain has to decide whether frame pointers are missing. */
	struct sampling sampling = {.table = table, .chains_min = 1};

	sampling.examiner = table ? NULL : examiner_new();
	if (target_open(target, host, info, NULL, &sampling, err) == 0) {
		if (take_rounds(target, files, round, err) == 0)
			return 0;
		target_close(target);
	}
	examiner_free(sampling.examiner);
	return -1;
}

static void close_target(struct target *target)
{
	struct examiner *examiner = target->sampling.examiner;

	target_close(target);
	examiner_free(examiner);
}

/* Takes a sample of the domain, and prints it. */
static int show_domain(struct host *host, const char *name,
		       const struct stack_files *files, bool threads, struct error *err)
{
	struct guest_info info;
	struct target target;
	struct round round;
	int status = -1;

	if (host_find(host, name, &info, err) < 0 ||
	    sample_domain(host, &info, files, files->table, &target, &round, err) < 0)
		return -1;
	/* It does not run what was found, so its code in memory is all there is. */
	if (files->found.guests && !learning_table(sampler_learning(target.sampler))) {
		close_target(&target);
		if (sample_domain(host, &info, files, NULL, &target, &round, err) < 0)
			return -1;
	}
	if (round.outcome == ROUND_GONE) {
		error_set(err, "domain '%s' has ended", name);
	} else if (round.outcome == ROUND_TAKEN && !round.samples &&
		   host->ops->why_outside) {
		error_set(err, "no vCPU of '%s' is in the guest: %s", info.name,
			  host->ops->why_outside);
	} else {
		print_table_note(&target);
		print_memory_note(target.guest);
		status = 0;
		if (threads)
			status = show_threads(&target, files, err);
		else
			print_round(&target, &round, files);
	}
	close_target(&target);
	return status;
}

struct stack_options {
	const char **files; /* room for all of argv */
	size_t file_count;
	const char *table; /* path of a file made by `uniprof table`; NULL: none */
	struct symbols_options symbols;
	const char *gdb;
	bool threads; /* show all threads, not the vCPUs */
	bool no_find; /* don't look for files if none are given */
	bool force;   /* use a newer Xen than known even if its answers do not fit */
};

static int add_file(void *to, const char *argument, struct error *err)
{
	struct stack_options *options = to;

	(void)err;
	options->files[options->file_count++] = argument;
	return 0;
}

static const struct command_option known[] = {
	{"symbols", 's', "FILE[@OFFSET]",
	 "symbol file for the guest: ELF, nm output, System.map, /proc/kallsyms or a "
	 "perf map; OFFSET is added to its addresses; can be repeated. ELF files and "
	 "vmlinuz are also used to unwind code without frame pointers",
	 .set = add_file},
	{"table", 0, "FILE",
	 "unwind by a table made by uniprof table, instead of by the symbol files",
	 .set = option_set_text, .offset = offsetof(struct stack_options, table)},
	{"threads", 0, NULL,
	 "show all threads of a guest with Linux, Unikraft or Mini-OS instead, with what "
	 "they wait for",
	 .set = option_set_true, .offset = offsetof(struct stack_options, threads)},
	{"no-find", 0, NULL, NO_FIND_HELP, .set = option_set_true,
	 .offset = offsetof(struct stack_options, no_find)},
	{"demangle", 0, NULL, NULL, .value = DEMANGLE_FULL,
	 .offset = offsetof(struct stack_options, symbols.demangle)},
	{"no-demangle", 0, NULL,
	 "show C++, Rust and OCaml names as they are in the symbol file",
	 .value = DEMANGLE_NOT,
	 .offset = offsetof(struct stack_options, symbols.demangle)},
	{"gdb", 0, "ADDRESS", GDB_HELP, .set = open_set_gdb,
	 .offset = offsetof(struct stack_options, gdb)},
	{"force", 0, NULL, FORCE_HELP, .set = option_set_true,
	 .offset = offsetof(struct stack_options, force)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", known, 0},
	{0},
};

static void stack_files_close(struct stack_files *files)
{
	if (!files->found.guests)
		program_table_free(files->table);
	found_files_free(&files->found);
	symbols_free(files->symbols);
	symbols_free(files->unnamed);
	free(files->elf);
	free(files->number);
}

static bool is_unwound_by(const struct symbols_file *file)
{
	return strcmp(file->kind, "ELF") == 0 &&
	       cpu_kind_has_tables(cpu_kind_of_elf(file->machine));
}

/* Loads the names of a file, and lists it if a table can be made of it: a file without
 * names, such as vmlinuz, may be good for that. -1 if it has no names and no other use.
 */
static int load_names(struct stack_files *files, const struct stack_options *options,
		      const char *spec)
{
	bool has_names = symbols_add(files->symbols, spec, &files->nameless) == 0;
	const struct symbols_file *list;
	uint32_t number = NO_NAMES;

	if (!has_names && options->table)
		return -1;
	if (has_names) {
		number = (uint32_t)symbols_files(files->symbols, &list) - 1;
		if (options->table || !is_unwound_by(&list[number]))
			return 0;
	}
	files->number[files->elfs] = number;
	files->elf[files->elfs++] = spec;
	return 0;
}

/* Makes the table of the files, or reads the one that was given. Without the files'
 * table, the reason is printed, and -1 is returned only if a file has no other use. */
static int load_table(struct stack_files *files, const struct stack_options *options,
		      struct error *err)
{
	struct error why;

	if (options->table) {
		files->table = program_table_read(options->table, err);
		return files->table ? program_table_lock(files->table, err) : -1;
	}
	if (!files->elfs)
		return 0;
	files->table = program_table_make_apart(files->elf, files->elfs,
						options->symbols.debug_directory, &why);
	if (files->table && program_table_lock(files->table, &why) == 0)
		return 0;
	program_table_free(files->table);
	files->table = NULL;
	if (files->nameless.text[0]) {
		*err = files->nameless;
		return -1;
	}
	message("stack", "%s; unwinding without it", why.text);
	return 0;
}

/* Opens the files. stack_files_close() must follow, even on failure, which is -1. */
static int stack_files_open(struct stack_files *files,
			    const struct stack_options *options, struct error *err)
{
	*files = (struct stack_files){
		.symbols = symbols_new(&options->symbols),
		.unnamed = symbols_new(&options->symbols),
		.elf = calloc(options->file_count + 1, sizeof(*files->elf)),
		.number = calloc(options->file_count + 1, sizeof(*files->number)),
		.found = {0},
		.nameless = {""},
	};
	if (!files->symbols || !files->unnamed || !files->elf || !files->number)
		return error_set(err, "out of memory");
	for (size_t i = 0; i < options->file_count; i++) {
		if (load_names(files, options, options->files[i]) < 0) {
			*err = files->nameless;
			return -1;
		}
	}
	return load_table(files, options, err);
}

/* Looks for the file of the guest, and takes its table and its names. */
static void find_file(struct stack_files *files, char *domain)
{
	const struct find_wish wish = {.domain = &domain, .domains = 1};
	const struct found_file *found;
	struct error ignored;

	find_files(&files->found, &wish);
	found = files->found.file;
	if (!files->found.guests || program_table_lock(found->table, &ignored) < 0) {
		found_files_free(&files->found);
		return;
	}
	files->table = found->table;
	files->number[0] = NO_NAMES;
	files->elfs = 1;
	if (found->names &&
	    symbols_add_contents(files->symbols, found->path, found->names,
				 found->names_size, &ignored) == 0)
		files->number[0] = 0;
}

static void print_notice(const char *line)
{
	message("stack", "%s", line);
}

/* Returns the exit code. */
static int stack_run(const struct stack_options *options, char *domain)
{
	struct stack_files files;
	struct error err;
	bool is_loaded = stack_files_open(&files, options, &err) == 0;
	const struct open_wish wish = {
		.gdb = options->gdb,
		.guest = domain,
		.force = options->force,
	};
	struct host *host = NULL;
	struct guard *guard = NULL;
	int status = EXIT_DONE;

	if (is_loaded && !options->no_find && !options->file_count && !options->table &&
	    !options->gdb)
		find_file(&files, domain);
	if (is_loaded)
		host = open_host("stack", &wish, &err);
	if (host)
		guard = guard_start(host, print_notice, &err);
	if (!guard ||
	    (host->ops->start_helper && host->ops->start_helper(host, NULL, &err) < 0) ||
	    show_domain(host, domain, &files, options->threads, &err) < 0) {
		fprintf(stderr, "uniprof stack: %s\n", err.text);
		status = EXIT_FAILED;
	}
	guard_stop(guard);
	host_close(host);
	stack_files_close(&files);
	return status;
}

static int stack_command(const struct command *command, int argc, char **argv)
{
	struct stack_options options = {
		.files = calloc((size_t)argc, sizeof(*options.files)),
		.symbols = {.demangle = DEMANGLE_FULL,
			    .debug_directory = DEBUG_DIRECTORY},
	};
	char **arguments, *domain;
	int status;

	if (!options.files) {
		fprintf(stderr, "uniprof stack: out of memory\n");
		return EXIT_FAILED;
	}
	status = command_parse(command, argc, argv, &options, &arguments);
	if (status == COMMAND_GO_ON) {
		domain = options.gdb ? (char *)options.gdb : *arguments;
		if (options.gdb && options.threads)
			status = usage_error(command->name,
					     "--threads reads a guest's memory while it "
					     "runs, which --gdb can't");
		else if (options.gdb && *arguments)
			status = usage_error(command->name,
					     "unexpected argument '%s' with --gdb",
					     *arguments);
		else
			status = domain ? stack_run(&options, domain)
					: usage_error(command->name, "no domain given");
	}
	free(options.files);
	return status;
}

const struct command command_stack = {
	.name = "stack",
	.arguments = "[DOMAIN]",
	.most = 1,
	.summary = "show a domain's registers and stacks once",
	.about = "Shows the registers and the call stack of each vCPU of a running Xen "
		 "domain or KVM guest, given by name or id, taken in pauses of some "
		 "microseconds. A "
		 "domain that is paused or has crashed is shown as it is.",
	.groups = groups,
	.run = stack_command,
};
