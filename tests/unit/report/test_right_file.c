/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whether a file is of what a guest runs, in many runs of each kind: by the guest's
 * memory (recorder), by the votes of return addresses, and by those that follow no call
 * (reports). The file is this program; another build of it is made here by moving its
 * functions apart, as a compiler does if some of them grow.
 */
#include "tests/unit/arch/test_x86.h"

#include <elf.h>
#include <stdio.h>

#include "arch/flow.h"
#include "base/names.h"
#include "report/model/checks/fit.h"
#include "symbols/elf/vote.h"
#include "tables/program_table.h"

#ifdef __SANITIZE_ADDRESS__ /* which makes a run take ten times as long */
#define RUNS 50
#else
#define RUNS 200
#endif
#define ROOM	   ((size_t)2 << 20) /* for the code of another build, bytes */
#define FEW	   12		     /* return addresses by which a moved file is found */
#define LINKS	   64		     /* of a chain */
#define PAGE_OF(x) ((x) & -(uint64_t)GUEST_PAGE_SIZE)

/* The code of a build, and where its return addresses and its instructions are. */
struct build {
	struct code_range range;
	struct code code;
	uint64_t *after, *at;
	size_t calls, instructions;
};

struct files {
	struct program program;
	struct program_table *table;
	struct build right, wrong;
	uint8_t *bytes; /* of @wrong */
};

/* Returns the range with most code, .text; calls of the other ranges' stubs are in it. */
static const struct code_range *text_of(const struct program *program)
{
	const struct code_range *text = program->code;

	for (size_t i = 1; i < program->code_count; i++)
		if (program->code[i].size > text->size)
			text = &program->code[i];
	return text;
}

/* Adds the instructions of a function with @size bytes. */
static void add_function(struct build *build, uint64_t address, uint64_t size)
{
	const uint8_t *bytes = build->range.bytes + (address - build->range.address);
	uint64_t done = 0;

	while (done < size) {
		struct flow_instruction instruction = flow_decode(
			false, bytes + done, size - done, address + done);

		if (instruction.flow == FLOW_BAD)
			return;
		build->at[build->instructions++] = address + done;
		done += instruction.size;
		if (instruction.flow == FLOW_CALL ||
		    instruction.flow == FLOW_CALL_INDIRECT)
			build->after[build->calls++] = address + done;
	}
}

static void build_open(struct build *build, uint64_t address, const uint8_t *bytes,
		       uint64_t size)
{
	build->range = (struct code_range){address, size, bytes};
	build->code = (struct code){CPU_X86_64, &build->range, 1};
	build->after = calloc(ROOM, sizeof(*build->after));
	build->at = calloc(ROOM, sizeof(*build->at));
	assert_true(build->after && build->at);
	build->calls = build->instructions = 0;
}

static void build_close(struct build *build)
{
	free(build->after);
	free(build->at);
}

/* Returns where the code of function @i ends, if it starts in the range. */
static uint64_t function_end(const struct program *program,
			     const struct code_range *range, size_t i)
{
	uint64_t end = program->functions[i].end, last = range->address + range->size;

	return end < last ? end : last;
}

static bool is_in(const struct code_range *range, uint64_t address)
{
	return address - range->address < range->size;
}

/* Makes a build in which one function in ten, of those from @first on, has grown. */
static void make_wrong(struct files *files, uint64_t *seed)
{
	const struct program *program = &files->program;
	const struct code_range *text = text_of(program);
	uint64_t to = 0;

	memset(files->bytes, 0x90, ROOM);
	build_close(&files->wrong);
	build_open(&files->wrong, text->address, files->bytes, ROOM);
	for (size_t i = 0; i < program->function_count; i++) {
		uint64_t start = program->functions[i].start, size;

		if (!is_in(text, start))
			continue;
		size = function_end(program, text, i) - start;
		if (random_next(seed) % 10 == 0 || !to)
			to += 16 * (1 + random_next(seed) % 8);
		assert_true(to + size < ROOM);
		memcpy(files->bytes + to, text->bytes + (start - text->address), size);
		files->wrong.range.size = to + size;
		add_function(&files->wrong, text->address + to, size);
		to += size;
	}
}

static int setup(void **state)
{
	struct files *files = calloc(1, sizeof(*files));
	const char *const specs[] = {"/proc/self/exe"};
	const struct code_range *text;
	struct error err;

	*state = files;
	if (!files || program_open(&files->program, specs[0], DEBUG_DIRECTORY, &err) < 0)
		return -1;
	if (files->program.machine != EM_X86_64)
		return 0;
	files->table = program_table_make(specs, 1, DEBUG_DIRECTORY, NULL, &err);
	files->bytes = malloc(ROOM);
	if (!files->table || !files->bytes)
		return -1;
	text = text_of(&files->program);
	build_open(&files->right, text->address, text->bytes, text->size);
	for (size_t i = 0; i < files->program.function_count; i++) {
		uint64_t start = files->program.functions[i].start;

		if (is_in(text, start))
			add_function(&files->right, start,
				     function_end(&files->program, text, i) - start);
	}
	return files->right.calls < 1000 ? -1 : 0;
}

static int teardown(void **state)
{
	struct files *files = *state;

	build_close(&files->right);
	build_close(&files->wrong);
	program_table_free(files->table);
	program_close(&files->program);
	free(files->bytes);
	free(files);
	return 0;
}

static struct files *files_for_x86(void **state)
{
	struct files *files = *state;

	if (files->program.machine != EM_X86_64)
		skip();
	return files;
}

/* What is seen of a run of a build: return addresses, and interrupted ones that nothing
 * marks as such. */
static size_t run_build(const struct build *build, uint64_t shift, size_t calls,
			size_t interrupts, uint64_t *address, uint64_t *seed)
{
	size_t count = 0;

	while (count < calls + interrupts) {
		uint64_t next =
			count < calls
				? build->after[random_next(seed) % build->calls]
				: build->at[random_next(seed) % build->instructions];
		size_t i = 0;

		while (i < count && address[i] != next + shift)
			i++;
		if (i == count)
			address[count++] = next + shift;
	}
	return count;
}

/* A guest that has the code of a build, without all that is not code. */
static struct guest *load(const struct build *build, uint64_t shift)
{
	struct guest *guest = guest_new(&mode_4_level);
	uint64_t start = build->range.address, end = start + build->range.size;

	for (uint64_t at = start; at < end; at = PAGE_OF(at) + GUEST_PAGE_SIZE) {
		uint64_t size = PAGE_OF(at) + GUEST_PAGE_SIZE - at;
		uint64_t frame = map_new(guest, PAGE_OF(at + shift));

		memcpy(guest->page[frame] + at % GUEST_PAGE_SIZE,
		       build->range.bytes + (at - start),
		       size < end - at ? size : end - at);
	}
	return guest;
}

static uint64_t random_shift(uint64_t *seed)
{
	return random_next(seed) >> 20 & 0x7fffff000;
}

/* Looks for the file in the memory of a guest that runs the build. */
static enum table_fit find_in_memory(const struct files *files, const struct build *build,
				     uint64_t shift, uint64_t *moved, uint64_t *seed)
{
	struct guest *guest = load(build, shift);
	struct cpu cpu = {.family = CPU_FAMILY_X86, .x86 = guest->cpu};
	struct placed_table placed = {.table = files->table};
	uint64_t address[LINKS];
	struct error why;
	size_t count = run_build(build, shift, 1 + random_next(seed) % 20, 1, address,
				 seed);
	enum table_fit fit = placed_table_find(&placed, 0, &cpu, &guest->memory, address,
					       count, &why);

	*moved = placed.shift[0];
	free(guest);
	return fit;
}

/* Numbers of wrong results of runs. */
struct wrong {
	unsigned int right; /* the right file was refused, or warned of */
	unsigned int wrong; /* the wrong file was not */
};

/* Checks that nothing goes wrong in any of the runs. */
static void check_runs(void **state, uint64_t seed,
		       void (*check)(struct files *files, uint64_t *seed,
				     struct wrong *wrong))
{
	struct files *files = files_for_x86(state);
	struct wrong wrong = {0};

	for (int i = 0; i < RUNS; i++)
		check(files, &seed, &wrong);
	if (wrong.right || wrong.wrong)
		fail_msg("wrong results: %u for the right file, %u for the wrong one",
			 wrong.right, wrong.wrong);
}

static void check_recorder(struct files *files, uint64_t *seed, struct wrong *wrong)
{
	uint64_t shift = random_shift(seed), moved;

	wrong->right += find_in_memory(files, &files->right, shift, &moved, seed) !=
				TABLE_FITS ||
			moved != shift;
	make_wrong(files, seed);
	wrong->wrong += find_in_memory(files, &files->wrong,
				       random_next(seed) % 2 ? shift : 0, &moved,
				       seed) == TABLE_FITS;
}

static void the_recorder_uses_the_right_file_only(void **state)
{
	check_runs(state, 1, check_recorder);
}

static void check_votes(struct files *files, uint64_t *seed, struct wrong *wrong)
{
	size_t calls = FEW + random_next(seed) % 80;
	uint64_t shift = random_shift(seed), other = random_shift(seed);
	uint64_t address[VOTERS_MAX];
	struct votes votes;
	size_t count = run_build(&files->right, shift, calls, calls / 5, address, seed);

	make_wrong(files, seed);
	/* and another program, elsewhere */
	count += run_build(&files->wrong, other + ((uint64_t)1 << 40), calls / 2, 0,
			   address + count, seed);
	wrong->right += !votes_find(&files->right.code, address, count, &votes) ||
			votes.shift != shift;
	wrong->wrong += votes_find(&files->wrong.code, address, calls, &votes);
}

static void votes_find_the_right_file_only(void **state)
{
	check_runs(state, 2, check_votes);
}

/* Whether few votes of a run of the build confirm that it is the right one. */
static bool is_confirmed(const struct files *files, const struct build *build,
			 size_t calls, uint64_t *seed)
{
	uint64_t address[VOTERS_MAX];
	size_t count = run_build(build, 0, calls, 0, address, seed);
	struct votes votes = votes_count(&files->right.code, 0, address, count);

	return votes_confirm(&votes);
}

static void check_few_votes(struct files *files, uint64_t *seed, struct wrong *wrong)
{
	size_t calls = 3 + random_next(seed) % FEW;

	wrong->right += !is_confirmed(files, &files->right, calls, seed);
	make_wrong(files, seed);
	wrong->wrong += is_confirmed(files, &files->wrong, calls, seed);
}

/* Where the place of a file is known, few return addresses say whether it is right. */
static void few_votes_confirm_the_right_file_only(void **state)
{
	check_runs(state, 3, check_few_votes);
}

/* Whether a report says that the right file does not match what ran. */
static bool is_misfit(const struct files *files, const struct build *build, size_t calls,
		      size_t interrupts, uint64_t *seed)
{
	static const struct symbols_file file = {.path = "file"};
	struct fit_part part = {.domain = "web", .file = &file};
	struct fit fit = {.list = &part, .count = 1, .domains = names_new()};
	uint64_t address[VOTERS_MAX];
	struct error line;
	bool is;

	assert_non_null(fit.domains);
	run_build(build, 0, calls, interrupts, address, seed);
	for (size_t i = 0; i < calls + interrupts; i++) {
		enum symbols_call call = code_before(&files->right.code, address[i]);

		part.addresses += call != SYMBOLS_CALL_UNKNOWN;
		part.misfits += call == SYMBOLS_CALL_MISSING;
	}
	is = fit_note(&fit, 0, &line);
	names_free(fit.domains);
	return is;
}

static void check_report(struct files *files, uint64_t *seed, struct wrong *wrong)
{
	size_t calls = 1 + random_next(seed) % 100;

	wrong->right += is_misfit(files, &files->right, calls, calls / 12, seed);
	make_wrong(files, seed);
	wrong->wrong += !is_misfit(files, &files->wrong, FEW + calls, 0, seed);
}

static void reports_warn_of_the_wrong_file_only(void **state)
{
	check_runs(state, 4, check_report);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_recorder_uses_the_right_file_only),
		TEST(votes_find_the_right_file_only),
		TEST(few_votes_confirm_the_right_file_only),
		TEST(reports_warn_of_the_wrong_file_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
