/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Compares the unwind table that is made from an x86-64 or arm64 ELF file's machine code
 * with the file's call frame information, as readelf prints it: at each instruction, and
 * at calls in particular, because only these are in the middle of call chains.
 *
 *   code [-v] [-f | -n] FILE...
 *
 * -f takes the functions' ranges from the call frame information, for files without
 * symbols. -n finds the functions in the code, as in a guest's memory, from a function in
 * its middle on. -v lists what differs. Prints one line per file.
 */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "arch/arm/arm64_code.h"
#include "arch/x86/code.h"
#include "base/array.h"
#include "symbols/code.h"
#include "symbols/source.h"
#include "tables/code/code.h"

/* What the file says about addresses from start on. */
struct row {
	uint64_t start;
	bool is_known; /* in the form of one of our rules; else an expression, or none */
	bool from_fp;
	bool is_outermost;
	int32_t cfa, caller, fp; /* as in struct unwind_rule */
};

struct truth {
	bool is_arm64;
	struct row *row;
	size_t rows, row_room;
	struct code_function *function;
	size_t functions, function_room;
};

enum verdict {
	RIGHT,
	OTHER_FORM, /* from another register: not comparable by itself */
	UNKNOWN,    /* the table has no rule, or not the frame pointer's */
	WRONG,
	NO_TRUTH, /* the file has an expression */
	VERDICTS,
};

struct tally {
	size_t all[VERDICTS], calls[VERDICTS];
};

static void die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	exit(1);
}

static void *grow(void *list, size_t count, size_t *room, size_t size)
{
	if (count < *room)
		return list;
	*room = *room ? 2 * *room : 4096;
	if (!array_grow(&list, *room, size))
		die("out of memory");
	return list;
}

static void add_row(struct truth *truth, const struct row *row)
{
	truth->row = grow(truth->row, truth->rows, &truth->row_room, sizeof(*row));
	truth->row[truth->rows++] = *row;
}

static void add_function(struct truth *truth, uint64_t start, uint64_t end)
{
	truth->function = grow(truth->function, truth->functions, &truth->function_room,
			       sizeof(*truth->function));
	truth->function[truth->functions++] = (struct code_function){.start = start,
								     .size = end - start};
	/* readelf prints no row if there is only one. */
	add_row(truth, &(struct row){.start = start,
				     .is_known = true,
				     .cfa = truth->is_arm64 ? 0 : 8,
				     .caller = truth->is_arm64 ? UNWIND_KEPT : -8,
				     .fp = UNWIND_KEPT});
}

/* The columns of the current FDE: LOC CFA rbx rbp ... ra; of arm64, x29 is as rbp. */
struct columns {
	int fp, ra; /* -1: not in it */
};

static void read_columns(char *line, struct columns *columns)
{
	int at = 0;

	columns->fp = columns->ra = -1;
	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), at++) {
		if (strcmp(word, "rbp") == 0 || strcmp(word, "x29") == 0)
			columns->fp = at;
		if (strcmp(word, "ra") == 0)
			columns->ra = at;
	}
}

static void read_cfa(const char *word, struct row *row)
{
	static const char *const registers[] = {"rsp+", "sp+", "rbp+", "x29+"};

	row->is_known = false;
	for (unsigned int i = 0; i < 4; i++) {
		size_t length = strlen(registers[i]);

		if (strncmp(word, registers[i], length) != 0)
			continue;
		row->is_known = true;
		row->from_fp = i >= 2;
		row->cfa = (int32_t)strtol(word + length, NULL, 10);
	}
}

/* Where a register is saved. */
static void read_place(const char *word, struct row *row, int32_t *place)
{
	if (strncmp(word, "c-", 2) == 0)
		*place = (int32_t)strtol(word + 1, NULL, 10);
	else if (strcmp(word, "u") != 0 && strcmp(word, "s") != 0)
		row->is_known = false;
}

static void read_row(char *line, const struct columns *columns, struct truth *truth)
{
	struct row row = {.caller = truth->is_arm64 ? UNWIND_KEPT : -8,
			  .fp = UNWIND_KEPT};
	int at = 0;

	for (char *word = strtok(line, " \n"); word; word = strtok(NULL, " \n"), at++) {
		if (at == 0)
			row.start = strtoull(word, NULL, 16);
		else if (at == 1)
			read_cfa(word, &row);
		else if (at == columns->fp)
			read_place(word, &row, &row.fp);
		else if (at == columns->ra && truth->is_arm64)
			read_place(word, &row, &row.caller);
		else if (at == columns->ra && strcmp(word, "u") == 0)
			row.is_outermost = true;
	}
	/* Replaces the rule that is assumed at the start. */
	if (truth->row[truth->rows - 1].start == row.start)
		truth->rows--;
	add_row(truth, &row);
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static int compare_functions(const void *left, const void *right)
{
	const struct code_function *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

static void read_truth(const char *path, struct truth *truth)
{
	struct columns columns = {-1, -1};
	char command[4096], line[4096], *pc;
	FILE *from;

	snprintf(command, sizeof(command),
		 "readelf --debug-dump=frames-interp -W '%s' 2>/dev/null", path);
	from = popen(command, "r");
	if (!from)
		die("can't run readelf");
	while (fgets(line, sizeof(line), from)) {
		pc = strstr(line, " pc=");
		if (pc && strstr(line, " FDE ")) {
			char *end;
			uint64_t start = strtoull(pc + 4, &end, 16);

			add_function(truth, start, strtoull(end + 2, NULL, 16));
		} else if (strstr(line, " LOC ")) {
			read_columns(line, &columns);
		} else if (truth->functions && strspn(line, "0123456789abcdef") == 16 &&
			   !strstr(line, " CIE ")) {
			read_row(line, &columns, truth);
		}
	}
	pclose(from);
	if (!truth->functions)
		die("readelf finds no call frame information");
	qsort(truth->row, truth->rows, sizeof(*truth->row), compare_rows);
	qsort(truth->function, truth->functions, sizeof(*truth->function),
	      compare_functions);
}

static const struct row *find_row(const struct truth *truth, uint64_t address)
{
	size_t from = 0, to = truth->rows;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (truth->row[middle].start <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? &truth->row[from - 1] : NULL;
}

static enum verdict judge(const struct row *row, const struct unwind_rule *rule)
{
	if (!row->is_known && !row->is_outermost)
		return NO_TRUTH;
	if (!rule || rule->kind == UNWIND_UNKNOWN)
		return UNKNOWN;
	if (row->is_outermost || rule->kind == UNWIND_OUTERMOST)
		return row->is_outermost == (rule->kind == UNWIND_OUTERMOST) ? RIGHT
									     : WRONG;
	if (rule->from_word || rule->other || rule->from_fp != row->from_fp)
		return OTHER_FORM;
	if (rule->cfa != row->cfa)
		return WRONG;
	/* It is in the register and in memory. */
	if (rule->caller != row->caller)
		return rule->caller == UNWIND_KEPT || row->caller == UNWIND_KEPT
			       ? OTHER_FORM
			       : WRONG;
	/* After a pop, the caller's rbp is in the register, and below the stack. */
	if (rule->fp == row->fp ||
	    (rule->fp == UNWIND_KEPT && !row->from_fp && row->fp < -row->cfa))
		return RIGHT;
	if (rule->fp == UNWIND_LOST)
		return UNKNOWN;
	/* It is in the register and in memory. */
	return rule->fp == UNWIND_KEPT || row->fp == UNWIND_KEPT ? OTHER_FORM : WRONG;
}

static void print_verdict(uint64_t address, uint64_t function, bool is_call,
			  enum verdict verdict, const struct row *row,
			  const struct unwind_rule *rule)
{
	static const char *const names[] = {"right", "other", "unknown", "wrong", ""};
	static const struct unwind_rule none = {.kind = UNWIND_UNKNOWN};

	rule = rule ? rule : &none;
	printf("%s %s %lx in %lx: %s%+d caller %d fp %d outermost %d; table: kind %d "
	       "%s%s%+d caller %d fp %d\n",
	       names[verdict], is_call ? "call" : "at", (unsigned long)address,
	       (unsigned long)function, row->from_fp ? "fp" : "sp", row->cfa, row->caller,
	       row->fp, row->is_outermost, rule->kind, rule->from_fp ? "fp" : "sp",
	       rule->from_word ? "[]" : "", rule->cfa, rule->caller, rule->fp);
}

/* Bytes of the instruction; 0: there is none. */
static size_t measure_instruction(const struct truth *truth, const uint8_t *code,
				  size_t left, uint64_t at, bool *is_call)
{
	struct x86_instruction next;
	uint32_t word;

	if (!truth->is_arm64) {
		next = x86_decode(code, left, at, true);
		*is_call = next.act == X86_CALL || next.act == X86_CALL_INDIRECT;
		return next.size;
	}
	if (left < sizeof(word))
		return 0;
	memcpy(&word, code, sizeof(word));
	*is_call = arm64_decode(word, at).act == ARM64_CALL ||
		   arm64_decode(word, at).act == ARM64_CALL_INDIRECT;
	return sizeof(word);
}

static void compare_function(const struct truth *truth, const struct unwind_table *table,
			     const struct code_range *range,
			     const struct code_function *function, bool is_loud,
			     struct tally *tally)
{
	uint64_t end = range->address + range->size;

	if (function->size < end - function->start)
		end = function->start + function->size;
	for (uint64_t at = function->start; at < end;) {
		const uint8_t *code = range->bytes + (at - range->address);
		bool is_call = false;
		size_t size = measure_instruction(truth, code, end - at, at, &is_call);
		const struct row *row = find_row(truth, at);
		const struct unwind_rule *rule;
		enum verdict verdict;

		if (!size || !row)
			return;
		rule = unwind_table_find(table, at + size - 1);
		verdict = judge(row, rule);
		tally->all[verdict]++;
		tally->calls[verdict] += is_call;
		if (is_loud && verdict != RIGHT && verdict != NO_TRUTH)
			print_verdict(at, function->start, is_call, verdict, row, rule);
		at += size;
	}
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void add_by_ranges(struct unwind_builder *builder, const struct truth *truth,
			  const struct code *code)
{
	struct error err;

	for (size_t i = 0; i < code->count; i++) {
		struct machine_code part = {
			.is_arm64 = truth->is_arm64,
			.bytes = code->list[i].bytes,
			.size = code->list[i].size,
			.address = code->list[i].address,
			.functions = truth->function,
			.count = truth->functions,
		};

		if (unwind_table_add_code(builder, &part, &err))
			die(err.text);
	}
}

/* The address of the first function in the second half of the code. */
static uint64_t middle_function(const struct truth *truth, const struct code_range *range)
{
	for (size_t i = 0; i < truth->functions; i++)
		if (truth->function[i].start - range->address - range->size / 2 <
		    range->size / 2)
			return truth->function[i].start;
	return range->address;
}

static void add_by_search(struct unwind_builder *builder, const struct truth *truth,
			  const struct code *code)
{
	struct error err;

	for (size_t i = 0; i < code->count; i++) {
		const uint64_t known = middle_function(truth, &code->list[i]);
		struct machine_code part = {
			.is_arm64 = truth->is_arm64,
			.is_first = true,
			.bytes = code->list[i].bytes,
			.size = code->list[i].size,
			.address = code->list[i].address,
		};

		if (code_find_functions(&part, &known, 1) ||
		    unwind_table_add_code(builder, &part, &err))
			die("out of memory");
		free((void *)(uintptr_t)part.functions);
	}
}

static void print_share(const size_t *tally, enum verdict verdict)
{
	size_t sum = tally[RIGHT] + tally[OTHER_FORM] + tally[UNKNOWN] + tally[WRONG];

	printf(" %8.3f", sum ? 100.0 * (double)tally[verdict] / (double)sum : 0);
}

static void report(const char *path, const struct tally *tally,
		   const struct unwind_table *table, double bytes, double seconds)
{
	const char *name = strrchr(path, '/');

	printf("%-28s %6.0f %5.1f %5.1f %8zu", name ? name + 1 : path, bytes / 1024,
	       (double)unwind_table_rows(table) / (bytes / 1024),
	       seconds * 1000 / (bytes / 1048576),
	       tally->calls[RIGHT] + tally->calls[OTHER_FORM] + tally->calls[UNKNOWN] +
		       tally->calls[WRONG]);
	for (enum verdict i = 0; i < NO_TRUTH; i++)
		print_share(tally->calls, i);
	for (enum verdict i = 0; i < NO_TRUTH; i++)
		print_share(tally->all, i);
	printf("\n");
}

/* The start of the program has no caller. GCC's says so in call frame information that
 * readelf does not print, or, for arm64, as if the caller was in x30; Rust's does not say
 * it. */
static void set_outermost(struct truth *truth, const void *data)
{
	uint64_t entry = ((const Elf64_Ehdr *)data)->e_entry, size = 1;

	for (size_t i = 0; i < truth->functions; i++)
		if (truth->function[i].start == entry && truth->is_arm64)
			size = truth->function[i].size;
	for (size_t i = 0; i < truth->rows && entry; i++)
		if (truth->row[i].start - entry < size)
			truth->row[i].is_outermost = truth->row[i].start == entry ||
						     truth->row[i].caller == UNWIND_KEPT;
}

static void measure(const char *path, int way, bool is_loud)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct symbols_source source;
	struct unwind_table *table;
	struct tally tally = {0};
	struct truth truth = {0};
	double bytes = 0, start;
	size_t functions;
	struct error err;
	struct code code;

	if (!builder || symbols_source_open(&source, path, path, &err))
		die(err.text);
	if (source.size < sizeof(Elf64_Ehdr))
		die("no ELF file");
	truth.is_arm64 = ((const Elf64_Ehdr *)source.data)->e_machine == EM_AARCH64;
	read_truth(path, &truth);
	set_outermost(&truth, source.data);
	code_read(&code, source.data, source.size);
	start = now();
	if (way == 'f')
		add_by_ranges(builder, &truth, &code);
	else if (way == 'n')
		add_by_search(builder, &truth, &code);
	else if (unwind_table_add_elf_code(builder, path, source.data, source.size, 0,
					   DEBUG_DIRECTORY, &functions, &err))
		die(err.text);
	start = now() - start;
	table = unwind_builder_finish(builder);
	if (!table)
		die("out of memory");
	for (size_t i = 0; i < code.count; i++) {
		const struct code_range *range = &code.list[i];

		bytes += (double)range->size;
		for (size_t j = 0; j < truth.functions; j++)
			if (truth.function[j].start - range->address < range->size)
				compare_function(&truth, table, range, &truth.function[j],
						 is_loud, &tally);
	}
	report(path, &tally, table, bytes, start);
	unwind_table_free(table);
	unwind_builder_free(builder);
	code_free(&code);
	symbols_source_close(&source);
	free(truth.row);
	free(truth.function);
}

int main(int argc, char **argv)
{
	bool is_loud = false;
	int option, way = 0;

	while ((option = getopt(argc, argv, "fnv")) != -1) {
		way = option == 'v' ? way : option;
		is_loud |= option == 'v';
	}
	printf("%-28s %6s %5s %5s %8s %35s %35s\n", "", "KB", "rows", "ms", "calls",
	       "calls, %: right, other form,", "instructions, %: right, other form,");
	printf("%-28s %6s %5s %5s %8s %35s %35s\n", "", "", "/KB", "/MB", "",
	       "unknown, wrong", "unknown, wrong");
	for (int i = optind; i < argc; i++)
		measure(argv[i], way, is_loud);
	return 0;
}
