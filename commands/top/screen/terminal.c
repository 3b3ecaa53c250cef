/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/screen/terminal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Size of a terminal that does not know its own. */
#define ROWS	24
#define COLUMNS 80

static const int faults[TERMINAL_FAULTS] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE, SIGABRT,
					    SIGTRAP, SIGSYS, SIGXCPU, SIGXFSZ};

/* What handle_fault() restores, which gets it in no other way. */
static const struct terminal *guarded;

/* Lets the signal act as it would have without the handler. */
static void restore_action(const struct terminal *terminal, int number)
{
	for (size_t i = 0; i < TERMINAL_FAULTS; i++)
		if (faults[i] == number)
			sigaction(number, &terminal->before[i], NULL);
}

static void handle_fault(int number, siginfo_t *info, void *context)
{
	const struct terminal *terminal = guarded;
	int errnum = errno;

	(void)context;
	if (terminal->has_mode)
		tcsetattr(STDOUT_FILENO, TCSANOW, &terminal->mode);
	if (write(STDOUT_FILENO, terminal->leave, strlen(terminal->leave)) < 0)
		errnum = errno; /* nothing else can be done */
	restore_action(terminal, number);
	/* An instruction that faults does so again. */
	if (info->si_code <= 0)
		raise(number);
	errno = errnum;
}

void terminal_guard(struct terminal *terminal)
{
	const stack_t stack = {.ss_sp = terminal->stack,
			       .ss_size = sizeof(terminal->stack)};
	struct sigaction action = {
		.sa_sigaction = handle_fault,
		.sa_flags = SA_SIGINFO | SA_ONSTACK,
	};

	terminal->rows = ROWS;
	terminal->columns = COLUMNS;
	terminal->leave[0] = 0;
	terminal_read_size(terminal);
	terminal_read_mode(terminal);
	/* Not even SIGTTOU, for a background process that sets the mode, interrupts. */
	sigfillset(&action.sa_mask);
	guarded = terminal;
	sigaltstack(&stack, &terminal->stack_before);
	for (size_t i = 0; i < TERMINAL_FAULTS; i++)
		sigaction(faults[i], &action, &terminal->before[i]);
}

void terminal_unguard(struct terminal *terminal)
{
	for (size_t i = 0; i < TERMINAL_FAULTS; i++)
		sigaction(faults[i], &terminal->before[i], NULL);
	sigaltstack(&terminal->stack_before, NULL);
	guarded = NULL;
}

void terminal_read_mode(struct terminal *terminal)
{
	terminal->has_mode = tcgetattr(STDOUT_FILENO, &terminal->mode) == 0;
}

static int bounded(int size, int most)
{
	return size < most ? size : most;
}

void terminal_read_size(struct terminal *terminal)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return;
	if (size.ws_row)
		terminal->rows = bounded(size.ws_row, TERMINAL_ROWS_MAX);
	if (size.ws_col)
		terminal->columns = bounded(size.ws_col, TERMINAL_COLUMNS_MAX);
}

void terminal_leave_by(struct terminal *terminal, const char *string)
{
	size_t length = strlen(terminal->leave);

	if (length + strlen(string) >= sizeof(terminal->leave))
		return;
	while (*string) {
		/* Padding is $<MS>, possibly with * and / (terminfo(5)). */
		const char *end = strncmp(string, "$<", 2) == 0 ? strchr(string, '>')
								: NULL;

		if (end)
			string = end + 1;
		else
			terminal->leave[length++] = *string++;
	}
	terminal->leave[length] = 0;
}
