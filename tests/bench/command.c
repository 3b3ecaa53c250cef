/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/ways.h"

/* Runs @argv to its end. -1 with @err set if it fails. */
static int run_program(char **argv, struct error *err)
{
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY,
					 0);
	status = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (status)
		return error_errno(err, status, "can't run %s", argv[0]);
	if (waitpid(pid, &status, 0) < 0 || status)
		return error_set(err, "%s failed", argv[0]);
	return 0;
}

/* Measures a run of the command. The guest is busy and has its own CPU: while it does not
 * run, it is paused. */
static int measure_run(struct current *current, struct series *takes,
		       struct series *stops, char **argv, struct error *err)
{
	uint64_t start, ran_before, ran, took;

	if (current_look(current, &ran_before, err) < 0)
		return -1;
	start = clock_monotonic();
	if (run_program(argv, err) < 0 || current_look(current, &ran, err) < 0)
		return -1;
	took = clock_monotonic() - start;
	ran -= ran_before;
	series_add(takes, took);
	series_add(stops, took > ran ? took - ran : 0);
	return 0;
}

int bench_command(struct host *host, const struct guest_info *domain, size_t runs,
		  char **argv, struct error *err)
{
	struct current *current = current_new(host, domain, NULL, err);
	struct series takes = {0}, stops = {0};
	int status = -1;

	if (current && series_new(&takes, "takes", runs, err) == 0 &&
	    series_new(&stops, "stops", runs, err) == 0)
		status = 0;
	for (size_t i = 0; i < runs && status == 0; i++)
		status = measure_run(current, &takes, &stops, argv, err);
	if (status == 0) {
		series_print(&takes);
		series_print(&stops);
	}
	series_free(&takes);
	series_free(&stops);
	current_free(current);
	return status;
}
