/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A synthetic program, and recordings of it like those of `uniprof record` with four busy
 * vCPUs at 1,000 Hz. The output is equal in every run, so that measurements of different
 * days are comparable. Writes to standard output:
 *
 *   generate program FUNCTIONS            assembler, to make an ELF file of
 *   generate samples FUNCTIONS COUNT zipf|busy|uniform      a recording
 *
 * The program consists of functions of some hundred bytes, each with a few call sites.
 * Stacks are paths through it, 12 deep, that start in the first function; the first call
 * sites are taken more often, and the first instructions are sampled more often. So
 * stacks share callers like those of real programs.
 *
 * zipf: the n-th stack found has 1/n of the first one's samples, Zipf's law with the
 * exponent 1. A 25th of 20,000 stacks then has 7 in 10 of the samples, slightly steeper
 * than in the real programs measured by Knuth, where a 25th took more than half of the
 * time
 * ("An empirical study of FORTRAN programs", 1971). busy: the same with vCPUs that are
 * never idle. uniform: like busy, and all stacks have equally many samples; this is
 * unrealistic, but the hardest to compress.
 *
 * How stacks branch (CALLS, HOT, and 1,000 functions) follows a profile that `perf record
 * -g` made of find, grep, tar and git: 2,400 of its samples have 860 different stacks, 3
 * nodes of the call tree to each, and 0.55 different addresses to a node. Here it is 880,
 * 2.8 and 0.6.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "format/writer.h"

#define TEXT_START	  0x400000u
#define CALLS		  3 /* places in a function that call, at most */
#define FUNCTION_SIZE_MAX (64 + 16 * 23)
#define HOT		  24 /* instructions of a function that samples hit */
#define DEPTH		  12
#define STACKS		  20000
#define VCPUS		  4
#define ROUND_NS	  (NS_PER_S / 1000)
#define FLUSH_NS	  (NS_PER_S * 8 / 10) /* as the recorder's (record/file/sink.c) */

struct function {
	uint64_t address;
	uint32_t size;
	uint32_t calls;
	uint32_t callee[CALLS];
	uint32_t call[CALLS]; /* the return addresses' offsets */
	uint32_t hot[HOT];    /* offsets */
};

struct program {
	uint64_t random;
	struct function *functions;
	uint32_t count;
	/* Innermost address first. The first stack is where idle vCPUs wait. */
	uint64_t (*stacks)[DEPTH];
};

static void *need(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "generate: out of memory\n");
	exit(1);
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift
 * generators, scrambled"). */
static uint64_t random_below(struct program *program, uint64_t limit)
{
	uint64_t *state = &program->random;

	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (*state * 2685821657736338717u >> 11) % limit;
}

/* Between 0 and 1, neither included. */
static double random_part(struct program *program)
{
	return ((double)random_below(program, 1u << 30) + 0.5) / (1u << 30);
}

/* An exponential distribution's, in ns. */
static uint64_t random_delay(struct program *program, double mean)
{
	return (uint64_t)(-log(random_part(program)) * mean);
}

/* A number below @count, small ones more often: n has the weight 1 / (n + 1). */
static uint32_t random_rank(struct program *program, uint32_t count)
{
	double sum = 0, at;
	uint32_t rank = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += 1.0 / (i + 1);
	at = random_part(program) * sum;
	while (rank + 1 < count && (at -= 1.0 / (rank + 1)) > 0)
		rank++;
	return rank;
}

/* Most callees are near, and some are functions used everywhere, which come last. */
static uint32_t choose_callee(struct program *program, uint32_t caller)
{
	uint32_t common = program->count / 20 + 1, first = program->count - common;

	if (caller < first && random_below(program, 4) == 0)
		return first + (uint32_t)random_below(program, common);
	return (caller + 1 + (uint32_t)random_below(program, 300)) % program->count;
}

static void make_program(struct program *program, uint32_t count)
{
	uint64_t address = TEXT_START;

	program->random = 88172645463325252u;
	program->count = count;
	program->functions = need(calloc(count, sizeof(*program->functions)));
	for (uint32_t i = 0; i < count; i++) {
		struct function *function = &program->functions[i];

		function->address = address;
		function->size = 64 + 16 * (uint32_t)random_below(program, 24);
		function->calls = 1 + (uint32_t)random_below(program, CALLS);
		for (uint32_t j = 0; j < function->calls; j++) {
			function->callee[j] = choose_callee(program, i);
			function->call[j] = 5 + (uint32_t)random_below(
							program, function->size - 5);
		}
		for (uint32_t j = 0; j < HOT; j++)
			function->hot[j] = (uint32_t)random_below(program,
								  function->size);
		address += function->size;
	}
}

static void make_stack(struct program *program, uint64_t *stack)
{
	const struct function *function = program->functions;

	for (unsigned int i = DEPTH; i-- > 1;) {
		uint32_t call = random_rank(program, function->calls);

		stack[i] = function->address + function->call[call];
		function = &program->functions[function->callee[call]];
	}
	stack[0] = function->address + function->hot[random_rank(program, HOT)];
}

static uint64_t hash_stack(const uint64_t *stack)
{
	uint64_t hash = 0;

	for (unsigned int i = 0; i < DEPTH; i++)
		hash = (hash ^ stack[i]) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

/* Distinct stacks, the more likely ones mostly first. */
static void make_stacks(struct program *program)
{
	uint32_t size = 4 * STACKS, made = 0, tries = 0;
	uint32_t *table = need(calloc(size, sizeof(*table)));

	program->stacks = need(calloc(STACKS, sizeof(*program->stacks)));
	while (made < STACKS) {
		uint64_t *stack = program->stacks[made];
		uint64_t slot;

		if (tries++ == 1000 * STACKS) {
			fprintf(stderr, "generate: too few functions\n");
			exit(1);
		}
		make_stack(program, stack);
		slot = hash_stack(stack) % size;
		while (table[slot] && memcmp(program->stacks[table[slot] - 1], stack,
					     sizeof(*program->stacks)) != 0)
			slot = (slot + 1) % size;
		if (!table[slot])
			table[slot] = ++made;
	}
	free(table);
}

/* By stack: the cumulative share of the samples. */
static double *make_parts(bool is_uniform)
{
	double *parts = need(calloc(STACKS, sizeof(*parts))), sum = 0;

	for (uint32_t i = 1; i < STACKS; i++) {
		sum += is_uniform ? 1 : 1.0 / i;
		parts[i] = sum;
	}
	for (uint32_t i = 1; i < STACKS; i++)
		parts[i] /= sum;
	return parts;
}

static uint32_t choose_stack(struct program *program, const double *parts)
{
	double at = random_part(program);
	uint32_t low = 1, high = STACKS - 1;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (parts[middle] < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A vCPU that is busy for 45 ms, idle for 15, and so on, on average; or always busy. */
struct vcpu {
	bool is_idle, never_idles;
	uint64_t ran;	/* total running time, ns */
	uint64_t given; /* part of its running time that samples stand for already, in
			   samples */
};

/* Takes a sample: the vCPU's activity since the previous round, and its current place. */
static struct sample take_sample(struct program *program, struct vcpu *vcpu,
				 uint64_t passed, const double *parts)
{
	bool was_idle = vcpu->is_idle;
	struct sample sample = {.weight = 1, .state = VCPU_RUNNING, .has_cpu_time = true};
	uint32_t stack = 0;

	if (random_below(program, was_idle ? 15 : 45) == 0 && !vcpu->never_idles)
		vcpu->is_idle = !was_idle;
	if (was_idle != vcpu->is_idle)
		passed = random_below(program, passed + 1);
	else if (was_idle) /* a timer's tick now and then */
		passed = random_below(program, 4) ? 0 : random_delay(program, 15000);
	if (vcpu->is_idle) {
		sample.state = VCPU_BLOCKED;
	} else {
		stack = choose_stack(program, parts);
		if (random_below(program, 50) == 0) {
			sample.state = VCPU_RUNNABLE;
			passed = random_below(program, passed + 1);
		}
	}
	vcpu->ran += passed;
	sample.cpu_time = vcpu->ran - vcpu->ran % (ROUND_NS / 10) - vcpu->given;
	vcpu->given += sample.cpu_time;
	sample.chain = (struct chain){
		.address = program->stacks[stack], .count = DEPTH, .end = CHAIN_WHOLE};
	return sample;
}

/*
 * Rounds start late because of the wake-up latency: 5 us plus 15 us on average. A pause
 * takes 20 us plus 5 us on average; the guest does not run during it.
 */
static int write_samples(struct program *program, struct writer *writer, uint64_t count,
			 const double *parts, bool never_idles, uint64_t start,
			 struct error *err)
{
	struct vcpu vcpus[VCPUS] = {0};
	uint64_t before = start, paused = 0, flushed = start;

	for (uint32_t i = 0; i < VCPUS; i++)
		vcpus[i].never_idles = never_idles;
	for (uint64_t round = 1; count; round++) {
		uint64_t time = start + round * ROUND_NS + 5000 +
				random_delay(program, 15000);
		uint64_t passed = time - before - paused;

		for (uint32_t i = 0; i < VCPUS && count; i++, count--) {
			struct sample sample = take_sample(program, &vcpus[i], passed,
							   parts);

			sample.time = time - time % NS_PER_US;
			sample.vcpu = i;
			if (writer_sample(writer, &sample, err) < 0)
				return -1;
		}
		before = time;
		paused = 20000 + random_delay(program, 5000);
		pauses_add(&writer_counts(writer)->pauses, paused);
		if (time - flushed >= FLUSH_NS) {
			flushed = time;
			if (writer_flush(writer, err) < 0)
				return -1;
		}
	}
	return writer_end(
		writer, &(struct recording_end){.reason = END_TIME, .monotonic = before},
		err);
}

static int put_samples(struct program *program, uint64_t count, const char *kind)
{
	const struct recording_info info = {
		.version = RECORDING_VERSION,
		.wall_start = 1700000000 * (uint64_t)NS_PER_S,
		.monotonic_start = 1000 * (uint64_t)NS_PER_S,
		.frequency = 1000000,
		.tool = "tests/bench/report/generate",
		.host = "bench",
	};
	const struct recording_domain domain = {
		.id = 1,
		.type = GUEST_PVH,
		.cpu = CPU_X86_64,
		.word = 8,
		.vcpus = VCPUS,
		.name = "made-up",
	};
	double *parts = make_parts(strcmp(kind, "uniform") == 0);
	struct error err;
	struct writer *writer = writer_new(STDOUT_FILENO, &info, &domain, 1, &err);
	int status = -1;

	make_stacks(program);
	if (writer)
		status = write_samples(program, writer, count, parts,
				       strcmp(kind, "zipf") != 0, info.monotonic_start,
				       &err);
	if (status < 0)
		fprintf(stderr, "generate: %s\n", err.text);
	writer_free(writer);
	free(parts);
	free(program->stacks);
	return status < 0;
}

static void put_name(uint32_t function)
{
	static const char *const parts[] = {"net",  "page", "timer", "queue",
					    "http", "tls",  "inode", "sched"};
	static const char *const verbs[] = {"alloc",  "free",  "find_entry", "poll",
					    "insert", "parse", "flush",	     "lock"};

	printf("%s_%s_%u", parts[function % 8], verbs[function / 8 % 8], function);
}

/* Calls end where stacks return to; the rest is no-operations. Of calls that overlap the
 * one taken most often is whole: report checks that return addresses follow a call. */
static void put_code(const struct function *function)
{
	uint8_t code[FUNCTION_SIZE_MAX];

	memset(code, 0x90, sizeof(code));
	for (uint32_t i = function->calls; i-- > 0;) {
		uint8_t *call = code + function->call[i] - 5;

		call[0] = 0xe8; /* call rel32 */
		memset(call + 1, 0, 4);
	}
	printf("\t.byte %u", code[0]);
	for (uint32_t i = 1; i < function->size; i++)
		printf(",%u", code[i]);
}

static void put_program(const struct program *program)
{
	printf("\t.text\n");
	for (uint32_t i = 0; i < program->count; i++) {
		put_name(i);
		printf(":\n");
		put_code(&program->functions[i]);
		printf("\n\t.type ");
		put_name(i);
		printf(", @function\n\t.size ");
		put_name(i);
		printf(", %u\n", program->functions[i].size);
	}
}

int main(int argc, char **argv)
{
	struct program program = {0};
	int status = 0;

	if (argc < 3 || (strcmp(argv[1], "program") != 0 && argc < 5)) {
		fprintf(stderr, "usage: generate program FUNCTIONS | samples FUNCTIONS "
				"COUNT zipf|busy|uniform\n");
		return 2;
	}
	make_program(&program, (uint32_t)strtoul(argv[2], NULL, 10));
	if (strcmp(argv[1], "program") == 0)
		put_program(&program);
	else
		status = put_samples(&program, strtoull(argv[3], NULL, 10), argv[4]);
	free(program.functions);
	return status;
}
