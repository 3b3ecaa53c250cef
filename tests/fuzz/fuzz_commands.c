/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Whole commands on arbitrary input files. Build with -fsanitize=fuzzer,address,undefined
 * and run on tests/fuzz/corpus/commands. The first byte of the input selects the command
 * line, the rest is the file: a recording, a symbol file, or text to import.
 *
 * A recording is either a file, whose checksums are corrected first, or a list of chunks:
 * for each its type (one byte), its size (two bytes, little-endian) and its payload.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command/command.h"
#include "commands/commands.h"
#include "format/chunk.h"
#include "format/writer.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/mend.h"

#define WORDS_MAX 16

/* What stands for a file in a command line. */
#define DATA	  "@" /* the input */
#define RECORDING "%" /* a small recording, of addresses from TEXT on */
#define SYMBOLS	  "$" /* names from TEXT on, as of nm */

#define TEXT	  0x1000
#define FUNCTIONS 16
#define SAMPLES	  64

static const struct line {
	const struct command *command;
	bool is_recording; /* the input is one */
	const char *words[WORDS_MAX];
} lines[] = {
	{&command_info, true, {"-v", DATA}},
	{&command_report, true, {"--format", "histogram", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "histogram", "--per-vcpu", "-v", DATA}},
	{&command_report,
	 true,
	 {"--format", "histogram-csv", "--per-vcpu", "-s", SYMBOLS, DATA}},
	{&command_report,
	 true,
	 {"--format", "histogram-json", "--weight", "cpu-time", DATA}},
	{&command_report, true, {"--format", "folded", "--weight", "wall", DATA}},
	{&command_report, true, {"--format", "tree", "-s", SYMBOLS, DATA, RECORDING}},
	{&command_report, true, {"--format", "tree", "--invert", "--state", "all", DATA}},
	{&command_report, true, {"--format", "flamegraph", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "flamegraph", "--invert", DATA}},
	{&command_report, true, {"--format", "timeline", DATA}},
	{&command_report, true, {"--format", "perf-script", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "perf-data", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "pprof", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "callgrind", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "speedscope", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "rows", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--time", "10%,60%", "--vcpu", "0,2-5", DATA}},
	{&command_report,
	 true,
	 {"--parent", "f1", "--max-depth", "3", "--domain", "1", "-s", SYMBOLS, DATA}},
	{&command_diff, true, {"-s", SYMBOLS, DATA, RECORDING}},
	{&command_diff, true, {"--format", "folded", RECORDING, DATA}},
	{&command_diff, true, {"--format", "flamegraph", DATA, DATA}},
	{&command_report, false, {"-s", DATA, "-v", RECORDING}},
	{&command_report, false, {"-s", DATA "@0x1000", "--format", "folded", RECORDING}},
	{&command_report,
	 false,
	 {"-s", DATA, "--inline", "--srcline", "--format", "pprof", RECORDING}},
	{&command_report,
	 false,
	 {"-s", DATA, "--no-demangle", "--format", "perf-script", RECORDING}},
	{&command_import, false, {DATA}},
	{&command_import, false, {"--from", "perf-script", "--event", "cycles", DATA}},
	{&command_import, false, {"--from", "folded", DATA}},
	{&command_report,
	 true,
	 {"--format", "pprof", "--inline", "--srcline", "--no-demangle", DATA}},
	{&command_report, true, {"--format", "callgrind", "--srcline", DATA, RECORDING}},
	{&command_report, true, {"--format", "perf-data", DATA}},
	{&command_report, true, {"--format", "perf-script", DATA}},
	{&command_archive, true, {"--srcline", "-s", SYMBOLS, DATA}},
	{&command_archive, false, {"--srcline", "-s", DATA, RECORDING}},
	{&command_report, true, {"--format", "otlp", "--inline", "-s", SYMBOLS, DATA}},
	{&command_report, true, {"--format", "markdown", "-s", SYMBOLS, DATA}},
	{&command_report,
	 true,
	 {"--format", "firefox", "--srcline", "-s", SYMBOLS, DATA}},
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

/* Paths of the files in memory, /proc/self/fd/N. */
static char recording[32], symbols[32];

int LLVMFuzzerInitialize(int *argc, char ***argv);

static void write_recording(int fd)
{
	const struct recording_info info = {.version = RECORDING_VERSION,
					    .frequency = 1000};
	const struct recording_domain domain = {
		.id = 1, .cpu = CPU_X86_64, .word = 8, .vcpus = 2, .name = "known"};
	struct error err = {""};
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);

	check(writer != NULL);
	for (unsigned int i = 0; i < SAMPLES; i++) {
		uint64_t address[3];
		struct sample sample = {
			.time = i * NS_PER_S / 1000,
			.vcpu = i % 2,
			.weight = 1,
			.state = VCPU_RUNNING,
			.chain = {.address = address, .count = 3, .end = CHAIN_WHOLE},
		};

		for (unsigned int j = 0; j < 3; j++)
			address[j] = TEXT + (i * 7 + j * 40) % (FUNCTIONS * 16);
		check(writer_sample(writer, &sample, &err) == 0);
	}
	check(writer_end(writer, &(struct recording_end){.reason = END_TIME}, &err) == 0);
	writer_free(writer);
}

static void write_symbols(int fd)
{
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		check(dprintf(fd, "%016x T f%u\n", TEXT + i * 16, i) > 0);
}

/* A file of the chunks in the list. */
static void put_chunks(struct buffer *file, const uint8_t *data, size_t size)
{
	while (size >= 3) {
		size_t length = data[1] | (size_t)data[2] << 8;
		struct buffer payload = {0};

		if (length > size - 3)
			length = size - 3;
		buffer_put(&payload, data + 3, length);
		check(chunk_encode_plain(file, data[0], &payload) == 0);
		buffer_free(&payload);
		data += 3 + length;
		size -= 3 + length;
	}
}

static int input_file(const struct line *line, const uint8_t *data, size_t size)
{
	struct buffer file = {0};
	int fd;

	if (!line->is_recording)
		return file_with(data, size);
	if (size >= CHUNK_MAGIC_SIZE && !memcmp(data, CHUNK_MAGIC, CHUNK_MAGIC_SIZE)) {
		buffer_put(&file, data, size);
		mend_checksums(file.data, file.size);
	} else {
		put_chunks(&file, data, size);
	}
	fd = file_with(file.data, file.size);
	buffer_free(&file);
	return fd;
}

/* The argument that stands at @word; @room holds it if it names a file. */
static char *argument(const char *word, int fd, char room[64])
{
	if (word[0] == DATA[0])
		snprintf(room, 64, "/proc/self/fd/%d%s", fd, word + 1);
	else if (strcmp(word, RECORDING) == 0)
		snprintf(room, 64, "%s", recording);
	else if (strcmp(word, SYMBOLS) == 0)
		snprintf(room, 64, "%s", symbols);
	else
		snprintf(room, 64, "%s", word);
	return room;
}

static int run_line(const struct line *line, int fd)
{
	char room[WORDS_MAX + 3][64];
	char *argv[WORDS_MAX + 4];
	int argc = 0;

	argv[argc] = argument(line->command->name, fd, room[argc]);
	argc++;
	if (line->command != &command_info)
		for (unsigned int i = 0; i < 2; i++, argc++)
			argv[argc] = argument(i ? "/dev/null" : "-o", fd, room[argc]);
	for (unsigned int i = 0; i < WORDS_MAX && line->words[i]; i++, argc++)
		argv[argc] = argument(line->words[i], fd, room[argc]);
	argv[argc] = NULL;
	optind = 0; /* getopt_long(3): start again */
	return line->command->run(line->command, argc, argv);
}

/* A command line that is refused would test nothing. */
static void check_lines(void)
{
	int fd = file_with("a;b 1\n", 6);

	for (unsigned int i = 0; i < LINES; i++)
		check(run_line(&lines[i], fd) != EXIT_USAGE);
	close(fd);
}

/* Messages go nowhere; libFuzzer and the sanitizers have their own ways to fd 2. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	int fd = file_with(NULL, 0);

	(void)argc;
	(void)argv;
	write_recording(fd);
	snprintf(recording, sizeof(recording), "/proc/self/fd/%d", fd);
	fd = file_with(NULL, 0);
	write_symbols(fd);
	snprintf(symbols, sizeof(symbols), "/proc/self/fd/%d", fd);
	stderr = fopen("/dev/null", "we");
	check(stderr && freopen("/dev/null", "we", stdout));
	check_lines();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct line *line;
	int fd, status;

	if (size < 1)
		return 0;
	line = &lines[data[0] % LINES];
	fd = input_file(line, data + 1, size - 1);
	status = run_line(line, fd);
	check(status == EXIT_DONE || status == EXIT_FAILED || status == EXIT_USAGE ||
	      status == EXIT_DAMAGED);
	close(fd);
	return 0;
}
