/* SPDX-License-Identifier: BSD-3-Clause */

/* Sums over a whole recording, whatever it contains. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "report/load/summary.h"

#define COUNT RECORDING_MAX_SAMPLES

/* A chunk of the maximum number of samples, each with the highest numbers. */
static struct samples_batch largest_chunk(void)
{
	struct samples_batch batch = {
		.count = COUNT,
		.counts = {.lost = UINT64_MAX, .missed = UINT64_MAX},
		.has_cpu_time = true,
		.time = calloc(COUNT, sizeof(*batch.time)),
		.domain = calloc(COUNT, sizeof(*batch.domain)),
		.vcpu = calloc(COUNT, sizeof(*batch.vcpu)),
		.state = calloc(COUNT, sizeof(*batch.state)),
		.weight = calloc(COUNT, sizeof(*batch.weight)),
		.cpu_time = calloc(COUNT, sizeof(*batch.cpu_time)),
		.chain_kind = calloc(COUNT, sizeof(*batch.chain_kind)),
	};

	assert_true(batch.time && batch.domain && batch.vcpu && batch.state &&
		    batch.weight && batch.cpu_time && batch.chain_kind);
	for (size_t i = 0; i < COUNT; i++) {
		batch.weight[i] = RECORDING_MAX_WEIGHT;
		batch.cpu_time[i] = RECORDING_MAX_CPU_TIME;
		batch.chain_kind[i] = CHAIN_KIND_FRAMELESS;
	}
	return batch;
}

static void sums_end_at_the_highest_number(void **state)
{
	struct samples_batch batch = largest_chunk();
	struct summary sum = {0}, part = {0};

	(void)state;
	assert_int_equal(summary_add_samples(&part, &batch), 0);
	assert_int_equal(part.weight, (uint64_t)COUNT * RECORDING_MAX_WEIGHT);
	assert_int_equal(part.frameless, part.weight);
	assert_int_equal(part.vcpus[0].states[0], part.weight);
	assert_int_equal(part.vcpus[0].cpu_time, COUNT * (RECORDING_MAX_CPU_TIME / 1000));
	for (unsigned int i = 0; i < (1u << 14) + 2; i++)
		assert_int_equal(summary_join(&sum, &part), 0);
	assert_int_equal(sum.weight, UINT64_MAX);
	assert_int_equal(sum.frameless, UINT64_MAX);
	assert_int_equal(sum.vcpus[0].states[0], UINT64_MAX);
	assert_int_equal(sum.vcpus[0].cpu_time, UINT64_MAX);
	assert_int_equal(sum.counts.lost, UINT64_MAX);
	assert_int_equal(sum.counts.missed, UINT64_MAX);
	summary_free(&sum);
	summary_free(&part);
	samples_batch_free(&batch);
}

/* A table that is used only later is described once it is, by a second chunk. */
static void a_later_description_brings_the_table(void **state)
{
	struct recording_domain web = {.id = 7, .name = "web", .unwind_way = 1};
	const struct recording_process process = {.space = 0x1000};
	struct summary summary = {0};
	uint32_t index;

	(void)state;
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_int_equal(summary_add_process(&summary, 0, &process, &index), 0);
	web.id = 8;
	web.unwind_way = UNWIND_BY_TABLE_LATER;
	web.linux_text = 0xffffffff81000000;
	web.table_rows = 9;
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_int_equal(summary.domain_count, 1);
	for (int i = 0; i < 2; i++) {
		const struct recording_domain *domain = summary_domain(&summary,
								       i ? index : 0);

		assert_int_equal(domain->id, 7);
		assert_int_equal(domain->unwind_way, UNWIND_BY_TABLE_LATER);
		assert_int_equal(domain->table_rows, 9);
		assert_true(domain->linux_text == web.linux_text);
		assert_int_equal(domain->process.space, i ? 0x1000 : 0);
	}
	web.table_rows = 10; /* the first table counts */
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_int_equal(summary_domain(&summary, 0)->table_rows, 9);

	strcpy(web.table_files, "kernel, app"); /* one of more files counts again */
	web.table_rows = 20;
	web.moves[1] = 0x5581b2a05000;
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_true(summary_domain(&summary, 0)->moves[1] == web.moves[1]);
	assert_int_equal(summary_domain(&summary, 0)->table_rows, 20);
	web.spaces[1] = 0x5622000; /* and so does one of more processes */
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_true(summary_domain(&summary, 0)->spaces[1] == web.spaces[1]);
	strcpy(web.table_files, "app");
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_string_equal(summary_domain(&summary, 0)->table_files, "kernel, app");
	summary_free(&summary);
}

/* The first rounds of a domain may capture no registers. */
static void a_later_description_brings_the_kind_of_cpu(void **state)
{
	struct recording_domain web = {.id = 7, .name = "web"};
	struct summary summary = {0};

	(void)state;
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	web.cpu = CPU_X86_64;
	web.word = 8;
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	web.cpu = CPU_X86_32; /* the first kind counts */
	web.word = 4;
	assert_int_equal(summary_add_domain(&summary, &web), 0);
	assert_int_equal(summary_domain(&summary, 0)->cpu, CPU_X86_64);
	assert_int_equal(summary_domain(&summary, 0)->word, 8);
	summary_free(&summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_end_at_the_highest_number),
		cmocka_unit_test(a_later_description_brings_the_table),
		cmocka_unit_test(a_later_description_brings_the_kind_of_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
