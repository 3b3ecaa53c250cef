/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/top/screen/terminal.h"

/* Opens both ends of a new terminal. */
static void terminal_open(int *master, int *slave)
{
	*master = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(*master >= 0);
	assert_int_equal(grantpt(*master), 0);
	assert_int_equal(unlockpt(*master), 0);
	*slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
	assert_true(*slave >= 0);
}

static void use_null(void)
{
	volatile char *page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				   0);

	page[0] = 1;
}

static volatile int depth;

static int recurse(volatile char *caller)
{
	volatile char frame[4096];

	frame[0] = (char)(caller[0] + 1);
	return ++depth < 0 ? 0 : recurse(frame) + frame[0];
}

static void use_up_stack(void)
{
	volatile char first = 0;

	recurse(&first);
}

/* Sets another mode in a process whose terminal this is, and crashes. */
static void crash(int slave, void (*fault)(void))
{
	const struct rlimit none = {0, 0};
	static struct terminal terminal;
	struct termios raw;

	setrlimit(RLIMIT_CORE, &none);
	/* Not cmocka's handlers, which go on. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	dup2(slave, STDOUT_FILENO);
	terminal_guard(&terminal);
	terminal_leave_by(&terminal, "left$<5*/>$");
	terminal_leave_by(&terminal, "$<end");
	raw = terminal.mode;
	cfmakeraw(&raw);
	tcsetattr(STDOUT_FILENO, TCSANOW, &raw);
	fault();
	_exit(0);
}

static void check_crash(void (*fault)(void), int number)
{
	struct termios before, after;
	char text[64] = "";
	int master, slave, status;
	pid_t child;

	terminal_open(&master, &slave);
	tcgetattr(slave, &before);
	child = fork();
	if (child == 0)
		crash(slave, fault);
	assert_int_equal(waitpid(child, &status, 0), child);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)number; /* their handlers end the process with an exit code */
	assert_int_not_equal(status, 0);
#else
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
#endif
	tcgetattr(slave, &after);
	assert_int_equal(before.c_lflag, after.c_lflag);
	assert_int_equal(before.c_iflag, after.c_iflag);
	assert_int_equal(before.c_oflag, after.c_oflag);
	assert_true(read(master, text, sizeof(text) - 1) > 0);
	assert_string_equal(text, "left$$<end");
	close(master);
	close(slave);
}

static void test_fault(void **state)
{
	(void)state;
	check_crash(use_null, SIGSEGV);
}

static void test_abort(void **state)
{
	(void)state;
	check_crash(abort, SIGABRT);
}

static void test_stack(void **state)
{
	(void)state;
	check_crash(use_up_stack, SIGSEGV);
}

static void set_size(struct terminal *terminal, int slave, int rows, int columns)
{
	struct winsize size = {.ws_row = (unsigned short)rows,
			       .ws_col = (unsigned short)columns};

	ioctl(slave, TIOCSWINSZ, &size);
	terminal_read_size(terminal);
}

static void test_size(void **state)
{
	struct terminal terminal = {.rows = 24, .columns = 80};
	int master, slave, before = dup(STDOUT_FILENO);

	(void)state;
	terminal_open(&master, &slave);
	dup2(slave, STDOUT_FILENO);
	set_size(&terminal, slave, 0, 0);
	assert_int_equal(terminal.rows, 24);
	assert_int_equal(terminal.columns, 80);
	set_size(&terminal, slave, 1, 2);
	assert_int_equal(terminal.rows, 1);
	assert_int_equal(terminal.columns, 2);
	set_size(&terminal, slave, 65535, 65535);
	assert_int_equal(terminal.rows, TERMINAL_ROWS_MAX);
	assert_int_equal(terminal.columns, TERMINAL_COLUMNS_MAX);
	dup2(before, STDOUT_FILENO);
	close(before);
	close(master);
	close(slave);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fault),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
