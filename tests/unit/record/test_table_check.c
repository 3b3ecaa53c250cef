/* SPDX-License-Identifier: BSD-3-Clause */

/* A table that is not used has a reason for that, whatever the vCPUs did. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/learning/table_check.h"

static void begin_pages(void *memory, uint64_t now, unsigned int map_calls)
{
	(void)memory, (void)now, (void)map_calls;
}

static const void *no_page(void *memory, uint64_t frame)
{
	(void)memory, (void)frame;
	return NULL;
}

static void without_any_registers_there_is_a_reason(void **state)
{
	const struct guest_ops ops = {.begin_pages = begin_pages};
	const struct guest_memory memory = {.page = no_page};
	const struct round round = {.time = NS_PER_S};
	struct table_check check = {.state = TABLE_PENDING};
	struct guest_vcpu vcpu = {.captured = false};
	const struct guest guest = {.ops = &ops, .info.vcpus = 1, .vcpu = &vcpu};

	(void)state;
	assert_false(table_check_run(&check, &guest, &memory, &round));
	assert_int_equal(check.state, TABLE_PENDING);
	assert_string_equal(check.why.text, "none of its vCPUs could be read");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_any_registers_there_is_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
