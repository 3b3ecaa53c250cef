/* SPDX-License-Identifier: BSD-3-Clause */

/* The thread that examines guests' code. */
#define _GNU_SOURCE 1
#include "tests/unit/tables/test_program.h"

#include <dirent.h>
#include <sched.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "record/learning/examiner.h"
#include "record/safety/priority.h"

static struct examiner *started(void)
{
	struct examiner *examiner = examiner_new();
	struct error err;

	assert_non_null(examiner);
	assert_int_equal(examiner_start(examiner, &err), 0);
	return examiner;
}

static void read_at(const struct guest *guest, struct found_code *found, uint64_t address)
{
	assert_true(read_code(guest, found, &address, 1));
}

static void a_table_is_used_while_the_next_one_is_made(void **state)
{
	struct examiner *examiner = started();
	struct guest *guest = guest_with_program();
	struct found_code *found = found_code_new();
	uint64_t address[] = {CODE + 0x21, CODE + 1};
	struct chain chain = {.address = address};

	(void)state;
	put_program(guest, OTHER - GUEST_PAGE_SIZE);
	assert_null(examiner_job(examiner));
	read_at(guest, found, CODE);
	examiner_give(examiner, found);
	while (examiner_job(examiner) == found)
		assert_null(found_code_table(found));
	assert_true(found_code_renew(found));
	read_at(guest, found, OTHER);
	examiner_give(examiner, found);
	do {
		assert_int_equal(cfa_at(found, CODE + 0x21), 16);
		assert_int_equal(cfa_at(found, OTHER + 0x21), -1);
		chain.count = 2;
		found_code_check(found, &nothing, x86_space(&guest->cpu), &chain);
		assert_int_equal(chain.count, 1);
	} while (examiner_job(examiner) == found);
	assert_true(found_code_renew(found));
	assert_int_equal(cfa_at(found, OTHER + 0x21), 16);
	examiner_drop(examiner, found);
	examiner_free(examiner);
	free(guest);
}

/* A guest may end at any time. */
static void code_is_freed_at_any_time(void **state)
{
	struct examiner *examiner = started();
	struct guest *guest = guest_with_program();

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		struct found_code *found = found_code_new();

		read_at(guest, found, CODE);
		examiner_give(examiner, found);
		usleep(i * 4);
		examiner_drop(examiner, found);
		while (examiner_job(examiner))
			;
	}
	examiner_free(examiner);
	free(guest);
}

static void it_ends_at_any_time(void **state)
{
	struct guest *guest = guest_with_program();

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		struct examiner *examiner = started();
		struct found_code *found = found_code_new();

		read_at(guest, found, CODE);
		examiner_give(examiner, found);
		usleep(i * 4);
		examiner_drop(examiner, found);
		examiner_free(examiner);
	}
	free(guest);
}

static void without_a_thread_jobs_are_done_at_once(void **state)
{
	struct examiner *examiner = examiner_new();
	struct guest *guest = guest_with_program();
	struct found_code *found = found_code_new();

	(void)state;
	read_at(guest, found, CODE);
	examiner_give(examiner, found);
	assert_null(examiner_job(examiner));
	assert_true(found_code_renew(found));
	examiner_drop(examiner, found);
	examiner_free(examiner);
	free(guest);
}

static void all_guests_together_have_limited_room(void **state)
{
	struct found_code *found[EXAMINER_PARTS];
	struct examiner *examiner = examiner_new();
	struct guest *guest = guest_with_program();

	(void)state;
	for (size_t i = 0; i < EXAMINER_PARTS; i++) {
		found[i] = found_code_new();
		read_at(guest, found[i], CODE);
		assert_true(examiner_has_room(examiner));
		examiner_give(examiner, found[i]);
	}
	assert_false(examiner_has_room(examiner));
	examiner_drop(examiner, NULL);
	assert_false(examiner_has_room(examiner));
	for (size_t i = 0; i < EXAMINER_PARTS; i++) {
		examiner_drop(examiner, found[i]);
		assert_true(examiner_has_room(examiner));
	}
	examiner_free(examiner);
	free(guest);
}

/* Lists the threads of this process, of which one may be a sanitizer's. Returns their
 * number. */
static size_t list_threads(pid_t *list, size_t room)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	size_t count = 0;

	assert_non_null(tasks);
	while ((entry = readdir(tasks)) && count < room)
		if (entry->d_name[0] != '.')
			list[count++] = (pid_t)atoi(entry->d_name);
	closedir(tasks);
	return count;
}

static bool is_among(const pid_t *list, size_t count, pid_t thread)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == thread)
			return true;
	return false;
}

/* The thread that starts it may have any priority. */
static void its_priority_is_low(void **state)
{
	int own = getpriority(PRIO_PROCESS, 0), low = 5;
	pid_t before[8], after[8];
	size_t others = list_threads(before, COUNT_OF(before)), count;
	struct examiner *examiner;
	int policy = SCHED_OTHER;
	unsigned int found = 0;

	(void)state;
	priority_set(PRIORITY_SAMPLER);
	/* Without permission to set a priority, the thread inherits the one of this
	 * thread. */
	if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_FIFO) {
		policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
		low = own < 14 ? own + 5 : 19;
	}
	examiner = started();
	count = list_threads(after, COUNT_OF(after));
	for (size_t i = 0; i < count; i++) {
		if (is_among(before, others, after[i]))
			continue;
		assert_int_equal(getpriority(PRIO_PROCESS, (id_t)after[i]), low);
		assert_int_equal(sched_getscheduler(after[i]) & ~SCHED_RESET_ON_FORK,
				 policy);
		found++;
	}
	assert_int_equal(found, 1);
	assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
	priority_set(PRIORITY_USUAL);
	examiner_free(examiner);
}

static void its_clock_is_of_its_cpu_time(void **state)
{
	struct examiner *examiner = started();
	uint64_t before = clock_ns(*examiner_clock(examiner));
	uint64_t own = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct guest *guest = guest_with_program();

	(void)state;
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < own + 50000000)
		;
	/* The thread may have had to fall asleep first. */
	assert_true(clock_ns(*examiner_clock(examiner)) < before + 10000000);
	before = clock_ns(*examiner_clock(examiner));
	for (unsigned int i = 0; i < 10; i++) {
		struct found_code *found = found_code_new();

		read_at(guest, found, CODE);
		examiner_give(examiner, found);
		while (examiner_job(examiner))
			;
		examiner_drop(examiner, found);
	}
	assert_true(clock_ns(*examiner_clock(examiner)) > before);
	examiner_free(examiner);
	free(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_is_used_while_the_next_one_is_made),
		cmocka_unit_test(code_is_freed_at_any_time),
		cmocka_unit_test(it_ends_at_any_time),
		cmocka_unit_test(without_a_thread_jobs_are_done_at_once),
		cmocka_unit_test(all_guests_together_have_limited_room),
		cmocka_unit_test(its_priority_is_low),
		cmocka_unit_test(its_clock_is_of_its_cpu_time),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
