/* SPDX-License-Identifier: BSD-3-Clause */

/* What `uniprof stack --threads` prints: of a chain that names a lock, who wants it. */

#include "tests/unit/files.h"

#include "commands/stack/print.h"

/* Functions, 256 bytes each, from 0x1000 on. */
static const char *const functions[] = {
	"schedule",	    "rwsem_down_read_slowpath",
	"down_read",	    "__mutex_lock_slowpath",
	"mutex_lock",	    "ext4_file_write_iter",
	"vfs_write",	    "futex_wait",
	"__x64_sys_futex",  "do_syscall_64",
	"entry_SYSCALL_64", "pthread_mutex_lock",
	"log_request",	    "wait_for_event",
	"do_page_fault",    "download",
};

#define COUNT (sizeof(functions) / sizeof(functions[0]))

/* Returns an address in the function. */
static uint64_t in(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strcmp(functions[i], name) == 0)
			return 0x1010 + 0x100 * i;
	return 0x9000; /* without a name */
}

static struct symbols *load_names(void)
{
	const struct symbols_options options = {.debug_directory = ""};
	struct symbols *symbols = symbols_new(&options);
	FILE *list = fopen("names.sym", "we");
	struct error err;

	assert_non_null(list);
	for (size_t i = 0; i < COUNT; i++)
		fprintf(list, "%zx T %s\n", 0x1000 + 0x100 * i, functions[i]);
	fprintf(list, "%zx D data\n", 0x1000 + 0x100 * COUNT);
	fclose(list);
	assert_non_null(symbols);
	assert_int_equal(symbols_add(symbols, "names.sym", &err), 0);
	return symbols;
}

/* Returns what is printed of a thread with this chain, innermost first. */
static const char *printed(const char *const chain[8])
{
	static char text[4096];
	struct symbols *symbols = load_names();
	const struct stack_names names = {.symbols = symbols};
	uint64_t address[8];
	struct thread_seen thread = {
		.kind = THREAD_READ,
		.thread = {.tid = 12},
		.wait =
			{
				.state = WAIT_UNINTERRUPTIBLE,
				.process = {.pid = 10,
					    .tid = 12,
					    .comm = "shop",
					    .thread = "worker"},
			},
		.chain = {.address = address, .end = CHAIN_WHOLE},
		.ran = 1000000000,
	};
	const struct threads_seen seen = {.list = &thread, .count = 1, .now = 3500000000};
	int saved = dup(STDOUT_FILENO);
	FILE *file;

	while (thread.chain.count < 8 && chain[thread.chain.count]) {
		address[thread.chain.count] = in(chain[thread.chain.count]);
		thread.chain.count++;
	}
	fflush(stdout);
	assert_non_null(freopen("printed", "we", stdout));
	print_threads(&seen, &names);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	symbols_free(symbols);
	file = fopen("printed", "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

static void threads_have_name_state_and_time(void **state)
{
	static const char *const chain[8] = {"schedule", "wait_for_event"};

	(void)state;
	assert_string_equal(printed(chain),
			    "thread 12 'worker' of 'shop' [10]: uninterruptible for "
			    "2.500 s\n"
			    "  0000000000001010 schedule+0x10 (names.sym)\n"
			    "  0000000000001d10 wait_for_event+0x10 (names.sym)\n");
}

static void the_function_above_wants_the_lock(void **state)
{
	static const struct {
		const char *chain[8], *lock;
	} cases[] = {
		{{"schedule", "__mutex_lock_slowpath", "mutex_lock",
		  "ext4_file_write_iter", "vfs_write"},
		 "a mutex in ext4_file_write_iter"},
		{{"schedule", "rwsem_down_read_slowpath", "down_read", "do_page_fault"},
		 "a semaphore, for reading in do_page_fault"},
		{{"schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64",
		  "entry_SYSCALL_64", "pthread_mutex_lock", "log_request"},
		 "a mutex in log_request"},
		{{"schedule", "futex_wait", "__x64_sys_futex", "do_syscall_64",
		  "entry_SYSCALL_64", "wait_for_event"},
		 "a futex in wait_for_event"},
		{{"schedule", "mutex_lock", "nothing"}, "a mutex\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[80];

		snprintf(line, sizeof(line), "  waits for %s", cases[i].lock);
		assert_non_null(strstr(printed(cases[i].chain), line));
	}
}

static void other_waits_name_no_lock(void **state)
{
	static const char *const chain[8] = {"schedule", "download", "vfs_write"};
	static const char *const only_lock[8] = {"schedule", "mutex_lock"};

	(void)state;
	assert_null(strstr(printed(chain), "waits for"));
	/* Who wants it is not known. */
	assert_null(strstr(printed(only_lock), "waits for"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(threads_have_name_state_and_time,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(the_function_above_wants_the_lock,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(other_waits_name_no_lock, enter_directory,
						leave_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
