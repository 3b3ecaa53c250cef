/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/stack/print.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "symbols/starts.h"

void print_registers(const struct cpu *cpu)
{
	struct register_value values[REGISTERS_MAX];
	size_t count = cpu_registers(cpu, values);

	for (size_t i = 0; i < count; i++)
		printf("%6s %016" PRIx64 "%s", values[i].name, values[i].value,
		       i % 3 == 2 || i + 1 == count ? "\n" : "  ");
}

/* The name of an address. */
struct place_name {
	struct symbol symbol;
	struct kallsyms_function function;
};

/* Finds the name of an address; false if there is none. All addresses of a chain but the
 * first are return addresses (symbols_find()). */
static bool find_name(const struct stack_names *names, const struct chain *chain,
		      uint32_t i, struct place_name *name)
{
	uint64_t address = chain->address[i] - (i > 0);

	if (symbols_find_in(names->symbols, &names->places, address, &name->symbol))
		return true;
	if (!names->kernel || !kallsyms_find(names->kernel, address, &name->function))
		return false;
	name->symbol = (struct symbol){.name = name->function.name,
				       .start = name->function.start,
				       .dso = "kernel"};
	return true;
}

/* Prints an address of a chain, with its name. Returns whether a program or thread starts
 * there. */
static bool print_address(const struct stack_names *names, const struct chain *chain,
			  uint32_t i)
{
	struct place_name name;

	printf("  %016" PRIx64, chain->address[i]);
	if (!find_name(names, chain, i, &name)) {
		putchar('\n');
		return false;
	}
	printf(" %s+0x%" PRIx64 " (%s)\n", name.symbol.name,
	       chain->address[i] - name.symbol.start, name.symbol.dso);
	return symbols_is_start(name.symbol.name);
}

void print_chain(const struct chain *chain, const struct stack_names *names)
{
	bool is_whole = chain->end == CHAIN_WHOLE;

	for (uint32_t i = 0; i < chain->count; i++) {
		const char *mark = chain_mark_name(chain->address[i]);

		if (mark)
			printf("  %16s\n", mark);
		else if (print_address(names, chain, i))
			is_whole |= i + 1 == chain->count;
	}
	if (!is_whole)
		printf("  %s: %s\n",
		       chain_end_is_cut(chain->end) ? "cut short" : "end unknown",
		       chain_end_name(chain->end));
}

/* Functions of Linux and of C libraries in which a thread waits for a lock, by the first
 * words of their names. */
static const struct {
	const char *start, *kind;
} locks[] = {
	{"__mutex_lock", "a mutex"},
	{"mutex_lock", "a mutex"},
	{"__ww_mutex_lock", "a mutex"},
	{"ww_mutex_lock", "a mutex"},
	{"rwsem_down_read", "a semaphore, for reading"},
	{"down_read", "a semaphore, for reading"},
	{"rwsem_down_write", "a semaphore, for writing"},
	{"down_write", "a semaphore, for writing"},
	{"percpu_down_", "a semaphore"},
	{"__percpu_down_", "a semaphore"},
	{"__down", "a semaphore"},
	{"down", "a semaphore"},
	{"__folio_lock", "a page"},
	{"folio_wait_", "a page"},
	{"__lock_page", "a page"},
	{"rt_mutex_", "a mutex"},
	{"__lll_lock_wait", "a mutex"},
	{"lll_mutex_lock", "a mutex"},
	{"pthread_mutex_lock", "a mutex"},
	{"__pthread_mutex_lock", "a mutex"},
	{"___pthread_mutex_lock", "a mutex"},
	{"futex_wait", "a futex"},
	{"__futex_wait", "a futex"},
	{"do_futex", "a futex"},
	{"__x64_sys_futex", "a futex"},
};

/* Functions between a program that makes a system call and the one that waits in it. */
static const char *const entries[] = {"do_syscall_64", "x64_sys_call",
				      "entry_SYSCALL_64"};

static bool is_entry(const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strncmp(name, entries[i], strlen(entries[i])) == 0)
			return true;
	return false;
}

/* Whether the name begins with these words: "down_timeout" with "down", "download" not.
 */
static bool has_words(const char *name, const char *words)
{
	size_t length = strlen(words);

	return strncmp(name, words, length) == 0 &&
	       !(isalnum((unsigned char)words[length - 1]) &&
		 isalnum((unsigned char)name[length]));
}

static const char *lock_of(const char *name)
{
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		if (has_words(name, locks[i].start))
			return locks[i].kind;
	return NULL;
}

/* Prints which lock the chain waits for, if it names one: the function that wants it is
 * the caller of the outermost function of locks. */
static void print_lock(const struct chain *chain, const struct stack_names *names)
{
	const char *kind = NULL;
	struct place_name name;

	for (uint32_t i = 0; i < chain->count; i++) {
		bool is_named = find_name(names, chain, i, &name);
		const char *own = is_named ? lock_of(name.symbol.name) : NULL;

		if (kind && !own && !(is_named && is_entry(name.symbol.name))) {
			printf("  waits for %s%s%s\n", kind, is_named ? " in " : "",
			       is_named ? name.symbol.name : "");
			return;
		}
		kind = own ? own : kind;
	}
}

/* Prints "thread 123 'name' of 'process' [100]: sleeping for 1.234 s". */
static void print_head(const struct threads_seen *seen, const struct thread_seen *one)
{
	static const char *const kinds[] = {
		[THREAD_RUNS] = "running",
		[THREAD_TORN] = "waiting, but never long enough to be read",
		[THREAD_UNREAD] = "its stack can't be read",
	};
	const struct recording_process *process = &one->wait.process;
	char thread[RECORDING_COMM], name[RECORDING_COMM];
	bool has_name = one->kind == THREAD_READ || process->tid == one->thread.tid;

	printf("thread %" PRIu32, one->thread.tid);
	if (has_name) {
		text_clean(thread, process->thread);
		text_clean(name, process->comm);
		printf(" '%s'", thread);
		/* A unikernel has no processes. */
		if (process->pid && process->pid != one->thread.tid)
			printf(" of '%s' [%" PRIu32 "]", name, process->pid);
	}
	printf(": %s", one->kind == THREAD_READ ? wait_state_name(one->wait.state)
						: kinds[one->kind]);
	if (one->kind == THREAD_READ && one->ran && seen->now >= one->ran)
		printf(" for %.3f s", (double)(seen->now - one->ran) / 1e9);
	putchar('\n');
}

void print_threads(const struct threads_seen *seen, const struct stack_names *names)
{
	for (size_t i = 0; i < seen->count; i++) {
		const struct thread_seen *one = &seen->list[i];

		print_head(seen, one);
		if (one->kind != THREAD_READ)
			continue;
		print_chain(&one->chain, names);
		print_lock(&one->chain, names);
	}
}
