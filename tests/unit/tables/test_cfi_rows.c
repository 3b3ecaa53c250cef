/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tables from call frame information say what readelf says, row by row: `readelf
 * --debug-dump=frames-interp` on the files named on the command line, or on those built
 * for this test (Makefile).
 */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tables/cfi/cfi.h"

#define COLUMNS_MAX 80
#define LINE_MAX    4096

static char *const *files;

/* One line of readelf's: a rule for the addresses from start on. */
struct line {
	uint64_t start;
	char cfa[24], fp[24], caller[24];
};

/* The rows of a common entry apply to functions without own instructions. */
struct common {
	uint64_t at;
	bool is_signal;
	struct line line;
};

struct comparison {
	struct unwind_table *table;
	const char *sp, *fp; /* names of registers */
	struct common *common;
	size_t common_count;
	bool is_function;
	const struct common *own;
	uint64_t end; /* of the function */
	char column[COLUMNS_MAX][8];
	unsigned int columns;
	struct line last;
	bool has_last;
	bool is_index; /* in a section without entries */
	/* Counts of the contents. */
	unsigned long functions, rows, by_expression, not_expressible, stopped;
};

static void expect(struct comparison *comparison, uint64_t address,
		   const struct line *line, bool is_right)
{
	const struct unwind_rule *rule = unwind_table_find(comparison->table, address);

	if (is_right)
		return;
	fail_msg("%llx: readelf says CFA %s, frame pointer %s, caller %s; the table has "
		 "kind %d, from_fp %d, from_word %d, cfa %d, fp %d, caller %d",
		 (unsigned long long)address, line->cfa, line->fp, line->caller,
		 rule ? rule->kind : 0, rule ? rule->from_fp : 0,
		 rule ? rule->from_word : 0, rule ? rule->cfa : 0, rule ? rule->fp : 0,
		 rule ? rule->caller : 0);
}

/* The number of the register called @name, in rules; -1 if it can't be in one. */
static int number_of(const char *name)
{
	static const char *const names[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
					    "rsi", "rdi", "r8",	 "r9",	"r10", "r11",
					    "r12", "r13", "r14", "r15"};

	if (name[0] == 'x' && atoi(name + 1) < 29)
		return atoi(name + 1);
	for (int i = 0; i < 16; i++)
		if (strcmp(name, names[i]) == 0)
			return i;
	return -1;
}

/* Whether the rule's CFA is as in @text, a register and an offset. */
static bool is_same_cfa(const struct comparison *comparison, const char *text,
			const struct unwind_rule *rule)
{
	size_t length = strcspn(text, "+-");
	char name[24] = "";

	memcpy(name, text, length);
	if (rule->from_word || rule->cfa != atoi(text + length))
		return false;
	if (strcmp(name, comparison->fp) == 0)
		return rule->from_fp && !rule->other;
	if (strcmp(name, comparison->sp) == 0)
		return !rule->from_fp && !rule->other;
	return !rule->from_fp && rule->other == number_of(name) + 1;
}

static bool is_same_place(const char *text, int32_t place, bool is_caller)
{
	if (text[0] == 'c')
		return place == atoi(text + 1);
	if (strcmp(text, "u") == 0 || strcmp(text, "s") == 0 || !text[0])
		return place == UNWIND_KEPT || (!is_caller && place == UNWIND_LOST);
	return is_caller ? false : place == UNWIND_LOST || strcmp(text, "exp") == 0;
}

/* Checks that the table's rule for @address, which is in the range of @line, agrees with
 * the line. */
static void compare_at(struct comparison *comparison, uint64_t address,
		       const struct line *line)
{
	const struct unwind_rule *rule = unwind_table_find(comparison->table, address);
	bool is_link = strcmp(comparison->sp, "sp") == 0;
	bool is_outermost = strcmp(line->caller, "u") == 0;

	if (comparison->own->is_signal) {
		comparison->stopped++;
		return;
	}
	/* For AArch64, readelf prints a register that is kept like one that no
	 * instruction mentions. */
	if (is_outermost && (!is_link || !rule || rule->kind == UNWIND_OUTERMOST)) {
		expect(comparison, address, line, rule && rule->kind == UNWIND_OUTERMOST);
		return;
	}
	if (strcmp(line->cfa, "exp") == 0) {
		comparison->by_expression += rule != NULL;
		comparison->not_expressible += !rule;
		return;
	}
	if (strchr("erv", line->caller[0]) && line->caller[0]) {
		comparison->not_expressible++;
		expect(comparison, address, line, !rule);
		return;
	}
	expect(comparison, address, line,
	       rule && rule->kind == UNWIND_CALLER &&
		       is_same_cfa(comparison, line->cfa, rule) &&
		       is_same_place(line->caller, rule->caller, true) &&
		       is_same_place(line->fp, rule->fp, false));
}

static void compare_range(struct comparison *comparison, uint64_t end)
{
	const struct line *line = &comparison->last;

	if (!comparison->has_last || end <= line->start)
		return;
	comparison->rows++;
	compare_at(comparison, line->start, line);
	compare_at(comparison, end - 1, line);
}

static struct common *find_common(struct comparison *comparison, uint64_t at)
{
	for (size_t i = comparison->common_count; i--;)
		if (comparison->common[i].at == at)
			return &comparison->common[i];
	fail_msg("no common entry at %llx", (unsigned long long)at);
	return NULL;
}

/* The end of an entry in readelf's output. */
static void end_entry(struct comparison *comparison)
{
	if (comparison->is_function)
		compare_range(comparison, comparison->end);
	comparison->has_last = comparison->is_function = false;
}

static void take_common(struct comparison *comparison, uint64_t at, const char *text)
{
	struct common *to;

	end_entry(comparison);
	comparison->common = realloc(comparison->common,
				     (comparison->common_count + 1) * sizeof(*to));
	assert_non_null(comparison->common);
	to = &comparison->common[comparison->common_count++];
	*to = (struct common){.at = at, .is_signal = strstr(text, "S\"") != NULL};
}

static void take_function(struct comparison *comparison, const char *text)
{
	unsigned long long common, start, end;
	const char *cie = strstr(text, "cie=");

	end_entry(comparison);
	assert_non_null(cie);
	assert_int_equal(sscanf(cie, "cie=%llx pc=%llx..%llx", &common, &start, &end), 3);
	comparison->own = find_common(comparison, common);
	comparison->is_function = start < end;
	comparison->end = end;
	comparison->last = comparison->own->line;
	comparison->last.start = start;
	comparison->has_last = true;
	comparison->functions++;
}

static void take_columns(struct comparison *comparison, char *text)
{
	comparison->columns = 0;
	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
		assert_true(comparison->columns < COLUMNS_MAX);
		snprintf(comparison->column[comparison->columns++], 8, "%s", word);
	}
}

static void take_row(struct comparison *comparison, char *text)
{
	struct line line = {0};
	unsigned int column = 0;

	for (char *word = strtok(text, " \n"); word; word = strtok(NULL, " \n")) {
		const char *name;

		if (word[0] == '(') /* "r2 (rcx)" */
			continue;
		assert_true(column < comparison->columns);
		name = comparison->column[column++];
		if (strcmp(name, "LOC") == 0)
			line.start = strtoull(word, NULL, 16);
		if (strcmp(name, "CFA") == 0)
			snprintf(line.cfa, sizeof(line.cfa), "%s", word);
		if (strcmp(name, comparison->fp) == 0)
			snprintf(line.fp, sizeof(line.fp), "%s", word);
		if (strcmp(name, "ra") == 0)
			snprintf(line.caller, sizeof(line.caller), "%s", word);
	}
	if (!comparison->is_function) {
		comparison->common[comparison->common_count - 1].line = line;
		return;
	}
	if (line.start != comparison->last.start)
		compare_range(comparison, line.start);
	comparison->last = line;
	comparison->has_last = true;
}

/* Newer versions of readelf print .eh_frame_hdr, too. */
static void begin_section(struct comparison *comparison, const char *text)
{
	comparison->common_count = 0;
	comparison->is_index = strstr(text, ".eh_frame_hdr") != NULL;
}

static void take_line(struct comparison *comparison, char *text)
{
	char *word;

	if (comparison->is_index && strncmp(text, "Contents of", 11) != 0)
		return;
	if (strstr(text, " CIE "))
		take_common(comparison, strtoull(text, NULL, 16), text);
	else if (strstr(text, " FDE "))
		take_function(comparison, text);
	else if (strstr(text, " LOC "))
		take_columns(comparison, text);
	else if (strncmp(text, "Contents of", 11) == 0)
		begin_section(comparison, text);
	else if (strstr(text, " ZERO "))
		end_entry(comparison);
	else if (strtoull(text, &word, 16) || word - text == 16)
		take_row(comparison, text);
}

static struct unwind_table *make_table(const char *path, struct cfi_summary *summary)
{
	struct unwind_builder *builder = unwind_builder_new();
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct error err = {{0}};
	struct unwind_table *table;
	struct stat about;
	void *data;

	assert_true(file >= 0);
	assert_int_equal(fstat(file, &about), 0);
	data = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	assert_ptr_not_equal(data, MAP_FAILED);
	if (unwind_table_add_cfi(builder, path, data, (size_t)about.st_size, 0, summary,
				 &err))
		fail_msg("%s", err.text);
	table = unwind_builder_finish(builder);
	assert_non_null(table);
	unwind_builder_free(builder);
	munmap(data, (size_t)about.st_size);
	close(file);
	return table;
}

static void compare_file(const char *path, bool is_arm, struct comparison *comparison)
{
	struct cfi_summary summary;
	char command[LINE_MAX], line[LINE_MAX];
	FILE *output;

	*comparison = (struct comparison){
		.table = make_table(path, &summary),
		.sp = is_arm ? "sp" : "rsp",
		.fp = is_arm ? "x29" : "rbp",
	};
	snprintf(command, sizeof(command),
		 "readelf --debug-dump=frames-interp,no-follow-links '%s' 2>/dev/null",
		 path);
	output = popen(command, "r");
	assert_non_null(output);
	while (fgets(line, sizeof(line), output))
		take_line(comparison, line);
	end_entry(comparison);
	assert_int_equal(pclose(output), 0);
	print_message("%s: %lu functions, %lu rows as readelf's; at their ends, %lu by "
		      "expressions, %lu of interrupts, %lu not expressible\n",
		      path, comparison->functions, comparison->rows,
		      comparison->by_expression, comparison->stopped,
		      comparison->not_expressible);
	assert_int_equal(summary.damaged, 0);
	unwind_table_free(comparison->table);
	free(comparison->common);
}

static const char *path_of(const char *name)
{
	static char path[LINE_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 64);

	assert_true(length > 0);
	path[length] = 0;
	snprintf(strrchr(path, '/'), 64, "/%s", name);
	return path;
}

/*
 * Whether readelf is older than 2.40: it then says that a caller is unknown from a
 * function's start on, if the function moves the return address to a register later
 * (setjmp).
 */
static bool readelf_is_before_2_40(void)
{
	char line[LINE_MAX] = "", *version;
	FILE *output = popen("readelf --version", "r");

	assert_non_null(output);
	assert_non_null(fgets(line, sizeof(line), output));
	pclose(output);
	version = strrchr(line, ' ');
	assert_non_null(version);
	return strtod(version, NULL) < 2.395;
}

static void a_whole_program_is_as_readelf_says(void **state)
{
	struct comparison found;

	(void)state;
	if (readelf_is_before_2_40())
		skip();
	compare_file(path_of("../unwind/workload"), false, &found);
	assert_true(found.functions > 1000);
	assert_true(found.rows > 7000);
	assert_true(found.stopped > 0);
}

static void functions_of_all_kinds_are_as_readelf_says(void **state)
{
	struct comparison found;

	(void)state;
	compare_file(path_of("cfi_sample_eh.so"), false, &found);
	assert_true(found.functions >= 8);
	/* The function that realigns its stack, and the linkage table. */
	assert_true(found.by_expression >= 4);
}

static void debug_sections_are_as_readelf_says(void **state)
{
	struct comparison found;

	(void)state;
	compare_file(path_of("cfi_sample_debug.so"), false, &found);
	assert_true(found.functions >= 8);
	compare_file(path_of("cfi_sample_packed.so"), false, &found);
	assert_true(found.functions >= 8);
}

static void arm64_is_as_readelf_says(void **state)
{
	struct comparison found;

	(void)state;
	compare_file(path_of("cfi_sample_arm64.so"), true, &found);
	assert_true(found.functions >= 8);
	assert_true(found.rows > 20);
}

static void named_files_are_as_readelf_says(void **state)
{
	struct comparison found;

	(void)state;
	for (; *files; files++)
		compare_file(*files, strstr(*files, "aarch64") != NULL, &found);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_program_is_as_readelf_says),
		cmocka_unit_test(functions_of_all_kinds_are_as_readelf_says),
		cmocka_unit_test(debug_sections_are_as_readelf_says),
		cmocka_unit_test(arm64_is_as_readelf_says),
	};
	const struct CMUnitTest named[] = {
		cmocka_unit_test(named_files_are_as_readelf_says),
	};

	files = arguments + 1;
	if (count > 1)
		return cmocka_run_group_tests(named, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
