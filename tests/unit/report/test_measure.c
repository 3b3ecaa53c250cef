/* SPDX-License-Identifier: BSD-3-Clause */

/* The weights of samples, and the call chains of several domains. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/model/domains.h"
#include "report/model/measure.h"
#include "report/model/stacks.h"

#define SAMPLES 2000
#define NODES	300

/* A chunk of samples, and the arrays that hold its contents. */
struct chunk {
	uint64_t time[SAMPLES], cpu_time[SAMPLES], counts[SAMPLES];
	uint32_t domain[SAMPLES], vcpu[SAMPLES], state[SAMPLES], weight[SAMPLES];
	uint32_t stack[SAMPLES], parent[NODES];
	uint64_t address[NODES];
	struct samples_batch batch;
	struct summary summary;
	struct measure measure;
};

static int chunk_setup(void **state)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk));

	if (!chunk)
		return -1;
	for (size_t i = 0; i < SAMPLES; i++)
		chunk->weight[i] = 1;
	chunk->batch = (struct samples_batch){
		.nodes = SAMPLES_ROOTS,
		.time = chunk->time,
		.cpu_time = chunk->cpu_time,
		.domain = chunk->domain,
		.vcpu = chunk->vcpu,
		.state = chunk->state,
		.weight = chunk->weight,
		.stack = chunk->stack,
		.parent = chunk->parent,
		.address = chunk->address,
		.has_cpu_time = true,
	};
	*state = chunk;
	return 0;
}

static int chunk_teardown(void **state)
{
	struct chunk *chunk = *state;

	measure_free(&chunk->measure);
	summary_free(&chunk->summary);
	free(chunk);
	return 0;
}

/* Measures the first @count samples; @wanted are their counts. */
static void expect_counts(struct chunk *chunk, size_t count, const uint64_t *wanted)
{
	chunk->batch.count = count;
	assert_int_equal(measure_batch(&chunk->measure, &chunk->summary, &chunk->batch),
			 0);
	for (size_t i = 0; i < count; i++)
		if (chunk->measure.counts[i] != wanted[i])
			fail_msg("sample %zu counts %llu", i,
				 (unsigned long long)chunk->measure.counts[i]);
}

static void wall_time_is_the_time_since_the_vcpus_last_sample(void **state)
{
	static const struct {
		uint32_t domain, vcpu, state;
		uint64_t time, count;
	} samples[] = {
		{0, 0, VCPU_BLOCKED, 1000000, 0},    /* first sample of the vCPU */
		{0, 1, VCPU_BLOCKED, 1500000, 0},    /* first sample of another vCPU */
		{1, 0, VCPU_BLOCKED, 1700000, 0},    /* first sample of another domain */
		{0, 0, VCPU_BLOCKED, 3000999, 2000}, /* whole us only */
		{0, 0, VCPU_BLOCKED, 3001000, 1},    /* the remainder is not lost */
		{0, 0, VCPU_RUNNING, 5000000, 0},    /* filtered out */
		{0, 0, VCPU_BLOCKED, 5100000, 100}, /* still ends the previous interval */
		{0, 0, VCPU_BLOCKED, 4000000, 0},   /* backwards */
		{0, 0, VCPU_BLOCKED, 4007000, 7},
		{0, 1, VCPU_BLOCKED, 4500000, 3000},
		{1, 0, VCPU_UNKNOWN, 4600000, 0},
		{1, 0, 77, 4700000, 0}, /* of a later version: unknown, too */
	};
	struct chunk *chunk = *state;
	uint64_t wanted[sizeof(samples) / sizeof(samples[0])];
	size_t count = sizeof(samples) / sizeof(samples[0]);

	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_WALL, MEASURE_BLOCKED, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		chunk->domain[i] = samples[i].domain;
		chunk->vcpu[i] = samples[i].vcpu;
		chunk->state[i] = samples[i].state;
		chunk->time[i] = samples[i].time;
		chunk->weight[i] = 5; /* does not affect the result */
		wanted[i] = samples[i].count;
	}
	/* The counts do not depend on whether the samples are in one chunk or in two. */
	expect_counts(chunk, 4, wanted);
	chunk->batch.time += 4;
	chunk->batch.domain += 4;
	chunk->batch.vcpu += 4;
	chunk->batch.state += 4;
	expect_counts(chunk, count - 4, wanted + 4);
	assert_int_equal(chunk->measure.total, 5108);
}

static void cpu_time_of_blocked_samples_goes_to_the_next_running_one(void **state)
{
	static const struct {
		uint32_t vcpu, state;
		uint64_t cpu_time, count;
	} samples[] = {
		{0, VCPU_RUNNING, 10000, 10},
		{0, VCPU_BLOCKED, 20000, 0}, /* CPU time used before the vCPU was blocked
					      */
		{1, VCPU_RUNNING, 40000, 40},
		{0, VCPU_BLOCKED, 50000, 0},
		{0, VCPU_RUNNABLE, 60000, 130},
		{0, VCPU_UNKNOWN, 70000, 70},
		{1, VCPU_BLOCKED, 80000, 0},
		{0, VCPU_BLOCKED, 90000, 0},
	};
	struct chunk *chunk = *state;
	size_t count = sizeof(samples) / sizeof(samples[0]);
	uint64_t wanted[sizeof(samples) / sizeof(samples[0])];

	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_CPU_TIME, MEASURE_ALL_STATES, NULL),
		0);
	for (size_t i = 0; i < count; i++) {
		chunk->vcpu[i] = samples[i].vcpu;
		chunk->state[i] = samples[i].state;
		chunk->cpu_time[i] = samples[i].cpu_time;
		chunk->weight[i] = 5;
		wanted[i] = samples[i].count;
	}
	expect_counts(chunk, count, wanted);
	assert_int_equal(measure_left(&chunk->measure), 170);
}

static void samples_are_selected_by_state_and_domain(void **state)
{
	static const uint64_t wanted[] = {0, 3, 0, 0, 0, 0};
	struct recording_domain web = {.index = 1, .id = 7, .name = "web"};
	struct chunk *chunk = *state;

	assert_int_equal(summary_add_domain(&chunk->summary, &web), 0);
	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_SAMPLES, MEASURE_BUSY, "db,web"),
		0);
	for (size_t i = 0; i < 6; i++) {
		chunk->domain[i] = 1;
		chunk->state[i] = VCPU_BLOCKED;
		chunk->weight[i] = 3;
	}
	chunk->state[1] = VCPU_RUNNABLE;
	chunk->state[2] = VCPU_RUNNING;
	chunk->domain[2] = 0; /* unknown: in no list */
	expect_counts(chunk, 6, wanted);
	/* A sample in another state does not count, but belongs to the chosen domains;
	 * samples of other domains don't. */
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(chunk->measure.chosen[i], i != 2);
}

static void busy_is_running_or_runnable(void **state)
{
	static const struct {
		enum measure_states states;
		uint64_t wanted[3];
	} cases[] = {
		{MEASURE_RUNNING, {1, 0, 0}},
		{MEASURE_RUNNABLE, {0, 1, 0}},
		{MEASURE_BUSY, {1, 1, 0}},
		{MEASURE_BLOCKED, {0, 0, 1}},
	};
	struct chunk *chunk = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(measure_init(&chunk->measure, MEASURE_SAMPLES,
					      cases[i].states, NULL),
				 0);
		chunk->state[0] = VCPU_RUNNING;
		chunk->state[1] = VCPU_RUNNABLE;
		chunk->state[2] = VCPU_BLOCKED;
		chunk->weight[0] = chunk->weight[1] = chunk->weight[2] = 1;
		expect_counts(chunk, 3, cases[i].wanted);
		if (i + 1 < sizeof(cases) / sizeof(cases[0]))
			measure_free(&chunk->measure);
	}
}

static void samples_are_selected_by_vcpu_and_time(void **state)
{
	static const uint64_t wanted[] = {0, 100, 0, 100, 0, 0};
	static bool vcpus[RECORDING_MAX_VCPU + 1] = {
		[1] = true, [RECORDING_MAX_VCPU] = true};
	struct chunk *chunk = *state;

	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_WALL, MEASURE_ALL_STATES, NULL), 0);
	chunk->measure.vcpus = vcpus;
	chunk->measure.from = 200000;
	chunk->measure.to = 500000;
	for (size_t i = 0; i < 6; i++) {
		chunk->vcpu[i] = i == 2 ? 0 : i % 2 ? 1 : RECORDING_MAX_VCPU;
		chunk->time[i] = (i + 1) * 100000;
	}
	/* The interval of a sample in the window starts at the sample before the window.
	 */
	chunk->vcpu[0] = 1;
	expect_counts(chunk, 4, (uint64_t[]){0, 100, 0, 200});
	measure_free(&chunk->measure);
	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_SAMPLES, MEASURE_ALL_STATES, NULL),
		0);
	chunk->measure.vcpus = vcpus;
	chunk->measure.from = 200000;
	chunk->measure.to = 500000;
	for (size_t i = 0; i < 6; i++)
		chunk->weight[i] = 100;
	expect_counts(chunk, 6, wanted);
	assert_int_equal(chunk->measure.whole, 200);
	measure_drop(&chunk->measure, 3);
	assert_int_equal(chunk->measure.counts[3], 0);
	assert_int_equal(chunk->measure.total, 100);
	assert_int_equal(chunk->measure.whole, 200);
}

static void the_skipped_cpu_time_is_that_of_selected_vcpus(void **state)
{
	static bool vcpus[RECORDING_MAX_VCPU + 1] = {[1] = true};
	struct chunk *chunk = *state;

	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_CPU_TIME, MEASURE_ALL_STATES, NULL),
		0);
	chunk->measure.vcpus = vcpus;
	for (size_t i = 0; i < 3; i++) {
		chunk->vcpu[i] = (uint32_t)i % 2;
		chunk->state[i] = VCPU_BLOCKED;
		chunk->cpu_time[i] = 7000;
	}
	expect_counts(chunk, 3, (uint64_t[]){0, 0, 0});
	assert_int_equal(measure_left(&chunk->measure), 7);
}

static void sums_of_counts_do_not_overflow(void **state)
{
	struct chunk *chunk = *state;
	uint64_t wanted[SAMPLES] = {0};

	assert_int_equal(
		measure_init(&chunk->measure, MEASURE_WALL, MEASURE_ALL_STATES, NULL), 0);
	for (size_t i = 0; i < SAMPLES; i++)
		chunk->time[i] = i % 2 ? UINT64_MAX : 0;
	/* 584 years, repeatedly. */
	expect_counts(chunk, 2, (uint64_t[]){0, MEASURE_MOST});
	expect_counts(chunk, SAMPLES, wanted);
	assert_int_equal(chunk->measure.total, MEASURE_MOST);
}

static void domains_are_selected_by_name_or_id(void **state)
{
	struct recording_domain web = {.id = 7, .name = "web"};

	(void)state;
	assert_true(domain_is(&web, "web"));
	assert_true(domain_is(&web, "7"));
	assert_false(domain_is(&web, "we"));
	assert_false(domain_is(&web, "webs"));
	assert_false(domain_is(&web, "07"));
	assert_false(domain_is(&web, ""));
	assert_false(domain_is(NULL, "web"));
	assert_true(domain_in_list(&web, "db,web,x"));
	assert_true(domain_in_list(&web, "db,7"));
	assert_false(domain_in_list(&web, "db,70,"));
	assert_true(domain_in_list(NULL, NULL));
	assert_false(domain_in_list(NULL, "web"));
}

static void each_domain_has_its_own_pid(void **state)
{
	static const struct {
		uint64_t id;
		const char *name;
		uint32_t pid;
	} domains[] = {
		{7, "xen1/web", 7},
		{7, "xen2/web", 32768 + 1},
		{8, "xen1/web", 8},
		{7, "xen1/web", 7}, /* in another recording */
		{7, "xen2/web", 32768 + 1},
		{7, "xen3/web", 32768 + 5},
		{0x7fef, "x", 0x7fef},
		{0x7ff0, "x", 32768 + 7}, /* not an id used by Xen */
		{7, "xen4/web", 32768 + 8},
		{7, "xen5/web", 32768 + 9},
		{7, "xen6/web", 32768 + 10},
		{7, "xen7/web", 32768 + 11},
		{7, "xen8/web", 32768 + 12},
		{7, "xen7/web", 32768 + 11},
	};
	struct chunk *chunk = *state;
	size_t count = sizeof(domains) / sizeof(domains[0]);

	for (size_t i = 0; i < count; i++) {
		struct recording_domain domain = {.index = i, .id = domains[i].id};

		strcpy(domain.name, domains[i].name);
		assert_int_equal(summary_add_domain(&chunk->summary, &domain), 0);
		assert_int_equal(domain_pid(&chunk->summary, (uint32_t)i),
				 domains[i].pid);
	}
	/* Unknown; all thread numbers are below 2^31. */
	assert_int_equal(domain_pid(&chunk->summary, (uint32_t)count), 32768 + count);
	assert_true(domain_pid(&chunk->summary, RECORDING_MAX_DOMAIN) <
		    (1u << 31) / 10000);
}

/* A random tree of chains, and samples of some domains in mixed order. */
static void make_chunk(struct chunk *chunk, unsigned int *seed)
{
	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++)
		chunk->parent[i] = i;
	for (uint32_t i = SAMPLES_ROOTS; i < NODES; i++) {
		chunk->parent[i] = (uint32_t)rand_r(seed) % i;
		chunk->address[i] = (uint64_t)rand_r(seed) % 5;
	}
	chunk->batch.nodes = NODES;
	chunk->batch.count = SAMPLES;
	for (uint32_t i = 0; i < SAMPLES; i++) {
		chunk->domain[i] = (uint32_t)rand_r(seed) % 3 * 32767;
		chunk->stack[i] = (uint32_t)rand_r(seed) % NODES;
		chunk->counts[i] = (uint64_t)rand_r(seed) % 4;
	}
}

/* The chain of the sample is in its domain and in no other. */
static void expect_chain(const struct stacks *stacks, const struct chunk *chunk, size_t i)
{
	uint32_t node = stacks->chains[i], from = chunk->stack[i];

	assert_int_equal(stacks->domain[node], chunk->domain[i]);
	while (from >= SAMPLES_ROOTS) {
		assert_true(stacks_is_address(stacks, node));
		assert_int_equal(stacks->tree.nodes[node].key, chunk->address[from]);
		from = chunk->parent[from];
		node = stacks->tree.nodes[node].parent;
	}
	assert_false(stacks_is_address(stacks, node));
	assert_int_equal(stacks->tree.nodes[node].key, chunk->domain[i]);
	assert_int_equal(stacks->tree.nodes[node].parent, from);
}

static void each_domain_has_its_own_chains(void **state)
{
	struct stacks *stacks = stacks_new();
	struct chunk *chunk = *state;
	uint64_t total = 0, *inclusive;
	unsigned int seed = 1;

	assert_non_null(stacks);
	for (unsigned int round = 0; round < 20; round++) {
		make_chunk(chunk, &seed);
		assert_int_equal(stacks_add(stacks, &chunk->batch, chunk->counts), 0);
		for (size_t i = 0; i < SAMPLES; i++) {
			total += chunk->counts[i];
			if (chunk->counts[i])
				expect_chain(stacks, chunk, i);
			else
				assert_int_equal(stacks->chains[i], TREE_NONE);
		}
	}
	for (uint32_t i = 0; i < stacks->tree.count; i++)
		total -= stacks->self[i];
	assert_int_equal(total, 0);
	inclusive = stacks_inclusive(stacks);
	assert_non_null(inclusive);
	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++)
		total += inclusive[i];
	for (uint32_t i = 0; i < stacks->tree.count; i++)
		total -= stacks->self[i];
	assert_int_equal(total, 0);
	free(inclusive);
	stacks_free(stacks);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, chunk_setup, chunk_teardown)
	const struct CMUnitTest tests[] = {
		TEST(wall_time_is_the_time_since_the_vcpus_last_sample),
		TEST(cpu_time_of_blocked_samples_goes_to_the_next_running_one),
		TEST(samples_are_selected_by_state_and_domain),
		TEST(busy_is_running_or_runnable),
		TEST(samples_are_selected_by_vcpu_and_time),
		TEST(the_skipped_cpu_time_is_that_of_selected_vcpus),
		TEST(sums_of_counts_do_not_overflow),
		TEST(domains_are_selected_by_name_or_id),
		TEST(each_domain_has_its_own_pid),
		TEST(each_domain_has_its_own_chains),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
