/* SPDX-License-Identifier: BSD-3-Clause */

/* The status line of a recording, on a pseudoterminal. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "record/file/meter.h"

#define START 1000000000000ull
#define ERASE "\033[K"

/* A terminal, as the user sees it and as the program has it. */
struct terminal {
	int screen, fd;
};

static struct terminal terminal_of(unsigned short columns)
{
	const struct winsize size = {.ws_row = 25, .ws_col = columns};
	struct terminal terminal = {.screen = posix_openpt(O_RDWR | O_NOCTTY)};

	assert_true(terminal.screen >= 0);
	assert_int_equal(grantpt(terminal.screen), 0);
	assert_int_equal(unlockpt(terminal.screen), 0);
	terminal.fd = open(ptsname(terminal.screen), O_RDWR | O_NOCTTY);
	assert_true(terminal.fd >= 0);
	assert_int_equal(ioctl(terminal.fd, TIOCSWINSZ, &size), 0);
	fcntl(terminal.screen, F_SETFL, O_NONBLOCK);
	return terminal;
}

static void terminal_close(struct terminal *terminal)
{
	close(terminal->screen);
	close(terminal->fd);
}

/* Returns the text written since the last call; on a pseudoterminal, it is there at
 * once. */
static const char *seen(struct terminal *terminal, char text[4096])
{
	ssize_t size = read(terminal->screen, text, 4095);

	text[size > 0 ? size : 0] = 0;
	return text;
}

/* Returns the meter of a second at 100 Hz, in which 80 rounds were taken, 10 of them with
 * twice the weight, and 10 were missed. */
static struct meter recorded(int fd, uint64_t time_limit)
{
	struct meter meter = {.frequency = 100, .start = START, .time_limit = time_limit};

	meter_start(&meter, fd);
	for (int i = 0; i < 70; i++)
		meter_round(&meter, 2, 1, 0);
	for (int i = 0; i < 10; i++)
		meter_round(&meter, 2, 2, 1);
	return meter;
}

static void show(struct meter *meter, uint64_t seconds)
{
	static struct pauses pauses;

	if (!pauses.count)
		for (int i = 0; i < 80; i++)
			pauses_add(&pauses, 50);
	meter_show(meter, START + seconds * NS_PER_S, &pauses, 12345678);
}

static void the_line_says_how_it_goes(void **state)
{
	struct terminal terminal = terminal_of(120);
	struct meter meter = recorded(terminal.fd, 90 * NS_PER_S);
	char text[4096];

	(void)state;
	show(&meter, 0);
	assert_string_equal(seen(&terminal, text), "");
	show(&meter, 1);
	assert_string_equal(seen(&terminal, text),
			    "\r0:01:29 left, 180 samples, 80.0 of 100 Hz, "
			    "pause 0.1 us (0.00 %), 12.3 MB" ERASE);
	show(&meter, 1);
	assert_string_equal(seen(&terminal, text), "");
	/* Someone else holds the guest paused. */
	meter_round(&meter, 0, 0, 0);
	show(&meter, 40);
	assert_non_null(
		strstr(seen(&terminal, text), "\r50 s left, 180 samples, 0.0 of"));
	meter_stop(&meter);
	assert_string_equal(seen(&terminal, text), "\r" ERASE);
	terminal_close(&terminal);
}

static void without_a_limit_it_says_how_long_it_records(void **state)
{
	struct terminal terminal = terminal_of(0); /* of unknown width */
	struct meter meter = recorded(terminal.fd, 0);
	char text[4096];

	(void)state;
	show(&meter, 4000);
	seen(&terminal, text);
	assert_memory_equal(text, "\r1:06:40 recorded, 180 samples, ", 32);
	assert_true(strlen(text) <= 1 + 79 + strlen(ERASE));
	meter_stop(&meter);
	terminal_close(&terminal);
}

/* At any width, the line is shorter than the terminal and has whole parts only. */
static void it_fits_narrow_terminals(void **state)
{
	static const char *const ends[] = {"left", "samples", "Hz", " %)", " MB"};
	size_t found[sizeof(ends) / sizeof(ends[0])] = {0};
	char text[4096];

	(void)state;
	for (unsigned short columns = 2; columns < 130; columns++) {
		struct terminal terminal = terminal_of(columns);
		struct meter meter = recorded(terminal.fd, 10 * NS_PER_S);
		size_t length;

		show(&meter, 1);
		seen(&terminal, text);
		length = strlen(text);
		assert_true(length >= 1 + strlen(ERASE));
		length -= 1 + strlen(ERASE);
		assert_true(length < columns);
		text[1 + length] = 0;
		for (size_t i = 0; length && i < sizeof(ends) / sizeof(ends[0]); i++) {
			size_t end = strlen(ends[i]);

			if (length >= end &&
			    strcmp(text + 1 + length - end, ends[i]) == 0) {
				found[i]++;
				length = 0;
			}
		}
		assert_int_equal(length, 0);
		meter_stop(&meter);
		terminal_close(&terminal);
	}
	assert_true(found[0] && found[4]);
}

/* The meter never waits for a terminal that the user has stopped. */
static void a_full_terminal_is_not_waited_for(void **state)
{
	struct terminal terminal = terminal_of(80);
	struct meter meter = recorded(terminal.fd, 0);
	char text[4096];

	(void)state;
	for (uint64_t second = 1; second < 5000; second++)
		show(&meter, second);
	seen(&terminal, text);
	assert_int_equal(strlen(text), 4095);
	meter_stop(&meter);
	terminal_close(&terminal);
}

static void there_is_none_in_pipes_and_on_dumb_terminals(void **state)
{
	struct terminal terminal = terminal_of(80);
	char *type = strdup(getenv("TERM"));
	struct meter meter;
	char text[4096];
	int pipes[2];

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	meter = recorded(pipes[1], 0);
	show(&meter, 5);
	meter_stop(&meter);
	close(pipes[1]);
	assert_int_equal(read(pipes[0], text, sizeof(text)), 0);
	close(pipes[0]);

	meter = recorded(-1, 0);
	show(&meter, 5);
	meter_stop(&meter);

	setenv("TERM", "dumb", 1);
	meter = recorded(terminal.fd, 0);
	show(&meter, 5);
	meter_stop(&meter);
	setenv("TERM", type, 1);
	free(type);
	assert_string_equal(seen(&terminal, text), "");
	terminal_close(&terminal);
}

/* Records in the background of a new session on the terminal. Exits with 0 if nothing is
 * shown. */
static void record_in_background(struct terminal *terminal)
{
	int status = 1;
	pid_t child;

	setsid();
	if (ioctl(terminal->fd, TIOCSCTTY, 0) < 0)
		_exit(2);
	child = fork();
	if (child == 0) {
		struct meter meter;
		char text[4096];

		setpgid(0, 0); /* as a shell does before it starts a job's program */
		meter = recorded(terminal->fd, 0);
		show(&meter, 5);
		meter_stop(&meter);
		_exit(*seen(terminal, text) != 0);
	}
	waitpid(child, &status, 0);
	_exit(status != 0);
}

static void there_is_none_in_the_background(void **state)
{
	struct terminal terminal = terminal_of(80);
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0)
		record_in_background(&terminal);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	terminal_close(&terminal);
}

/* Prints a message where standard error is @fd. */
static void say_to(int fd)
{
	int saved = dup(STDERR_FILENO);

	dup2(fd, STDERR_FILENO);
	message("record", "'%s' has ended", "web");
	dup2(saved, STDERR_FILENO);
	close(saved);
}

static void a_message_erases_it(void **state)
{
	struct terminal terminal = terminal_of(80);
	char text[4096];
	int pipes[2];
	ssize_t size;

	(void)state;
	say_to(terminal.fd);
	assert_string_equal(seen(&terminal, text),
			    "\r" ERASE "uniprof record: 'web' has ended\r\n");
	terminal_close(&terminal);
	assert_int_equal(pipe(pipes), 0);
	say_to(pipes[1]);
	size = read(pipes[0], text, sizeof(text) - 1);
	assert_true(size > 0);
	text[size] = 0;
	assert_string_equal(text, "uniprof record: 'web' has ended\n");
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_says_how_it_goes),
		cmocka_unit_test(without_a_limit_it_says_how_long_it_records),
		cmocka_unit_test(it_fits_narrow_terminals),
		cmocka_unit_test(a_full_terminal_is_not_waited_for),
		cmocka_unit_test(there_is_none_in_pipes_and_on_dumb_terminals),
		cmocka_unit_test(there_is_none_in_the_background),
		cmocka_unit_test(a_message_erases_it),
	};

	setenv("TERM", "xterm", 1);
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
