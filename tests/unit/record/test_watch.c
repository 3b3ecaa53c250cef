/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread that lists guests. The hypervisor is a fake with guests that appear on
 * request. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
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

static struct watch *started(void)
{
	struct error err;
	struct watch *watch;

	delay_ms = 0;
	third = 1;
	watch = watch_new(&fake_host, &err);
	assert_non_null(watch);
	assert_int_equal(watch_start(watch, &err), 0);
	return watch;
}

/* Sets the number of guests in listings started from now on. */
static size_t listed(struct watch *watch)
{
	uint64_t since = clock_monotonic();
	struct guest_info *guests;
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

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refused_guest_is_not_listed_while_it_exists),
		cmocka_unit_test(a_guest_with_the_id_of_a_refused_one_is_listed),
		cmocka_unit_test(a_guest_that_comes_back_is_listed_again),
		cmocka_unit_test(sampling_does_not_wait_for_a_slow_listing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
