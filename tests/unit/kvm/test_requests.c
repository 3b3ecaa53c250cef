/* SPDX-License-Identifier: BSD-3-Clause */

/* Bits of kvm_valid_regs are added to and cleared among those that a VMM sets and clears.
 * A struct kvm_run stands for the run page: a real one can't be written at a known
 * moment. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "kvm/requests.h"

#define REGS   1u
#define SREGS  2u
#define EVENTS 4u

static struct kvm_run run;
static struct request *requests, *request;

static int set_up(void **state)
{
	struct error err;

	(void)state;
	requests = requests_new(&err);
	return requests ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	requests_free(requests);
	return 0;
}

/* Requests registers from a VMM that asks for @theirs now, and sets and clears @changes.
 */
static void make(uint64_t theirs, uint64_t changes)
{
	run.kvm_valid_regs = theirs;
	request = requests_add(requests, getpid(), 0);
	assert_non_null(request);
	request->theirs = changes;
	request_make(request, &run, theirs, (REGS | SREGS) & ~theirs & ~changes);
}

/* The VMM writes @written meanwhile; @left remains. */
static void check_withdrawn(uint64_t written, uint64_t left)
{
	run.kvm_valid_regs = written;
	request_withdraw(request, &run);
	assert_int_equal(run.kvm_valid_regs, left);
	assert_int_equal(request->bits, 0);
	assert_int_equal(run.kvm_dirty_regs, 0);
	requests_remove(request);
}

static void what_was_added_is_cleared(void **state)
{
	(void)state;
	make(0, 0);
	assert_int_equal(run.kvm_valid_regs, REGS | SREGS);
	check_withdrawn(REGS | SREGS, 0);
	make(REGS, 0);
	assert_int_equal(request->bits, SREGS);
	check_withdrawn(REGS | SREGS, REGS);
	make(EVENTS, 0);
	check_withdrawn(REGS | SREGS | EVENTS, EVENTS);
}

static void a_word_that_the_vmm_has_written_is_left_alone(void **state)
{
	(void)state;
	make(0, 0);
	check_withdrawn(REGS, REGS);
	make(0, 0);
	check_withdrawn(REGS | SREGS | EVENTS, REGS | SREGS | EVENTS);
	make(REGS, 0);
	check_withdrawn(0, 0);
}

static void bits_that_a_vmm_sets_and_clears_may_change(void **state)
{
	(void)state;
	make(0, REGS);
	assert_int_equal(run.kvm_valid_regs, SREGS);
	check_withdrawn(REGS | SREGS, REGS);
	make(REGS, REGS);
	check_withdrawn(SREGS, 0);
	make(REGS, REGS);
	check_withdrawn(EVENTS, EVENTS);
}

static void nothing_is_added_to_a_word_that_has_just_changed(void **state)
{
	(void)state;
	run.kvm_valid_regs = EVENTS;
	request = requests_add(requests, getpid(), 0);
	request_make(request, &run, 0, REGS | SREGS);
	assert_int_equal(run.kvm_valid_regs, EVENTS);
	check_withdrawn(EVENTS, EVENTS);
}

static void entries_are_used_again(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < REQUESTS_MAX; i++)
		assert_non_null(requests_add(requests, getpid(), (int)i));
	assert_null(requests_add(requests, getpid(), REQUESTS_MAX));
	requests_remove(&requests[7]);
	assert_ptr_equal(requests_add(requests, getpid(), 7), &requests[7]);
	for (unsigned int i = 0; i < REQUESTS_MAX; i++)
		requests_remove(&requests[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_added_is_cleared),
		cmocka_unit_test(a_word_that_the_vmm_has_written_is_left_alone),
		cmocka_unit_test(bits_that_a_vmm_sets_and_clears_may_change),
		cmocka_unit_test(nothing_is_added_to_a_word_that_has_just_changed),
		cmocka_unit_test(entries_are_used_again),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
