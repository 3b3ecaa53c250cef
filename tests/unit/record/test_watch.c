/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread that lists guests. The hypervisor is a fake with guests that appear on
 * request. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/domains/watch.h"

static unsigned int delay_ms; /* duration of each listing, ms; atomic, like @third */
static unsigned int third; /* first byte of the third guest's UUID; 0: no third guest */

static int list_guests(struct host *host, struct guest_info **guests, size_t *count,
		       struct error *err)
{
	uint8_t uuid = (uint8_t)__atomic_load_n(&third, __ATOMIC_SEQ_CST);

	(void)host;
	(void)err;
	usleep(1000 * __atomic_load_n(&delay_ms, __ATOMIC_SEQ_CST));
	*guests = calloc(3, sizeof(**guests));
	*count = uuid ? 3 : 2;
	(*guests)[1].id = 1;
	(*guests)[2].id = 2;
	(*guests)[2].uuid[0] = uuid;
	return 0;
}

static void close_host(struct host *host)
{
	(void)host;
}

static const struct host_ops fake_ops = {.list = list_guests, .close = close_host};
static struct host fake_host = {.ops = &fake_ops};

static struct watch *started_with(const struct watch_wish *wish)
{
	struct error err;
	struct watch *watch;

	delay_ms = 0;
	third = 1;
	watch = watch_new(&fake_host, wish, &err);
	assert_non_null(watch);
	assert_int_equal(watch_start(watch, &err), 0);
	return watch;
}

static struct watch *started(void)
{
	const struct watch_wish none = {.finder = NULL};

	return started_with(&none);
}

/* Sets the number of guests in listings started from now on. */
static size_t listed(struct watch *watch)
{
	uint64_t since = clock_monotonic();
	struct watched *guests;
	size_t count;

	while (!(guests = watch_take(watch, since, &count)))
		usleep(1000);
	free(guests);
	return count;
}

static void a_refused_guest_is_not_listed_while_it_exists(void **state)
{
	struct guest_info guest = {.id = 2, .uuid = {1}};
	struct watch *watch = started();

	(void)state;
	assert_int_equal(listed(watch), 3);
	watch_refuse(watch, &guest);
	assert_int_equal(listed(watch), 2);
	assert_int_equal(listed(watch), 2);
	watch_free(watch);
}

static void a_guest_with_the_id_of_a_refused_one_is_listed(void **state)
{
	struct guest_info guest = {.id = 2, .uuid = {1}};
	struct watch *watch = started();

	(void)state;
	watch_refuse(watch, &guest);
	assert_int_equal(listed(watch), 2);
	__atomic_store_n(&third, 2, __ATOMIC_SEQ_CST);
	assert_int_equal(listed(watch), 3);
	watch_free(watch);
}

static void a_guest_that_comes_back_is_listed_again(void **state)
{
	struct guest_info guest = {.id = 2, .uuid = {1}};
	struct watch *watch = started();

	(void)state;
	watch_refuse(watch, &guest);
	__atomic_store_n(&third, 0, __ATOMIC_SEQ_CST);
	assert_int_equal(listed(watch), 2);
	__atomic_store_n(&third, 1, __ATOMIC_SEQ_CST);
	assert_int_equal(listed(watch), 3);
	watch_free(watch);
}

static void sampling_does_not_wait_for_a_slow_listing(void **state)
{
	struct watch *watch = started();
	uint64_t begun, longest = 0;
	size_t count;

	(void)state;
	__atomic_store_n(&delay_ms, 1000, __ATOMIC_SEQ_CST);
	listed(watch);
	for (unsigned int i = 0; i < 500; i++) {
		begun = clock_monotonic();
		free(watch_take(watch, 0, &count));
		if (clock_monotonic() - begun > longest)
			longest = clock_monotonic() - begun;
		usleep(1000);
	}
	assert_true(longest < NS_PER_S / 2);
	watch_free(watch);
}

static void answer_all(int questions, int answers)
{
	struct found_files found = {0};

	finder_serve(&(struct finder){questions, answers, &found}, -1);
	found_files_free(&found);
	_exit(0);
}

static bool wants_second(const void *context, const struct guest_info *guest)
{
	(void)context;
	return guest->id == 2;
}

/* Takes a listing, and returns its third guest. */
static struct watched third_of(struct watch *watch)
{
	uint64_t since = clock_monotonic();
	struct watched *guests, guest;
	size_t count;

	while (!(guests = watch_take(watch, since, &count)))
		usleep(1000);
	assert_int_equal(count, 3);
	assert_string_equal(guests[1].file.text.text, "");
	guest = guests[2];
	free(guests);
	return guest;
}

/* Questions are asked for guests that are wanted, once for each. This process has no
 * guest, so that there is no file. */
static void files_of_new_guests_are_looked_for(void **state)
{
	struct found_files found = {0};
	int questions[2], answers[2], status;
	struct finder finder;
	const struct watch_wish wish = {.finder = &finder, .wants = wants_second};
	struct watch *watch;
	pid_t server;

	(void)state;
	assert_int_equal(pipe(questions), 0);
	assert_int_equal(pipe(answers), 0);
	finder = (struct finder){questions[1], answers[0], &found};
	server = fork();
	if (server == 0) {
		close(questions[1]);
		answer_all(questions[0], answers[1]);
	}
	close(questions[0]);
	close(answers[1]);
	watch = started_with(&wish);
	assert_string_equal(third_of(watch).file.text.text,
			    "its configuration names no kernel");
	/* Another guest with its id is another question. */
	__atomic_store_n(&third, 2, __ATOMIC_SEQ_CST);
	while (third_of(watch).info.uuid[0] != 2)
		usleep(1000);
	assert_string_equal(third_of(watch).file.text.text,
			    "its configuration names no kernel");
	/* Without the other process, what is known stays. */
	kill(server, SIGKILL);
	assert_int_equal(waitpid(server, &status, 0), server);
	assert_string_equal(third_of(watch).file.text.text,
			    "its configuration names no kernel");
	__atomic_store_n(&third, 3, __ATOMIC_SEQ_CST);
	while (strcmp(third_of(watch).file.text.text, "") != 0)
		usleep(1000);
	watch_free(watch);
	assert_int_equal(finder.questions, -1);
	found_files_free(&found);
}

/* A process that never answers delays neither a sample nor the end. */
static void the_end_does_not_wait_for_a_file(void **state)
{
	struct found_files found = {0};
	int questions[2], answers[2];
	struct finder finder;
	const struct watch_wish wish = {.finder = &finder, .wants = wants_second};
	struct watch *watch;
	uint64_t begun;
	char byte;

	(void)state;
	assert_int_equal(pipe(questions), 0);
	assert_int_equal(pipe(answers), 0);
	finder = (struct finder){questions[1], answers[0], &found};
	watch = started_with(&wish);
	assert_int_equal(read(questions[0], &byte, 1), 1); /* it waits */
	begun = clock_monotonic();
	watch_free(watch);
	assert_true(clock_monotonic() - begun < FIND_LATER_NS / 2);
	finder_close(&finder);
	close(questions[0]);
	close(answers[1]);
}

int main(void)
{
	alarm(300);
	signal(SIGPIPE, SIG_IGN);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_guest_is_not_listed_while_it_exists),
		cmocka_unit_test(a_guest_with_the_id_of_a_refused_one_is_listed),
		cmocka_unit_test(a_guest_that_comes_back_is_listed_again),
		cmocka_unit_test(files_of_new_guests_are_looked_for),
		cmocka_unit_test(the_end_does_not_wait_for_a_file),
		cmocka_unit_test(sampling_does_not_wait_for_a_slow_listing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
