/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * FORMAT.md matches the code: the writer produces its example, and a second reader, made
 * from the document alone (tests/format/read.py), reads any file like the first one.
 */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "tests/unit/format/test_print.h"

#include <ctype.h>
#include <sys/wait.h>

#define FORMAT "format/FORMAT.md"
#define READER "tests/format/read.py"
#define FILES  120 /* number of files passed to both readers */

/* The recording that FORMAT.md explains byte for byte. */
static void write_example(struct buffer *bytes)
{
	const struct recording_info info = {
		.version = 1,
		.tool = "uniprof 2.0",
		.host = "dom0",
		.command = "uniprof record web",
		.hypervisor = "Xen 4.17.3",
		.domctl_version = 0x15,
		.wall_start = 1700000000000000000,
		.monotonic_start = 5000000000,
		.frequency = 99000,
		.time_limit = 0,
	};
	const struct recording_domain domain = {
		.index = 0,
		.id = 7,
		.type = GUEST_PVH,
		.cpu = CPU_X86_64,
		.word = 8,
		.vcpus = 1,
		.name = "web",
		.uuid = {0x3d, 0xe5, 0x1c, 0x5a, 0x0f, 0x6b, 0x4c, 0x1d, 0x9a, 0x77, 0x2b,
			 0x10, 0x48, 0xc6, 0xf2, 0x81},
	};
	uint64_t first[] = {0x101234, 0x100200, 0x100010};
	uint64_t second[] = {0x100208, 0x100010};
	const struct sample samples[] = {
		{.time = 5010101010,
		 .weight = 1,
		 .state = VCPU_RUNNING,
		 .has_cpu_time = true,
		 .chain = {first, 3, CHAIN_WHOLE, false}},
		{.time = 5020202020,
		 .weight = 1,
		 .state = VCPU_BLOCKED,
		 .cpu_time = 4120000,
		 .has_cpu_time = true,
		 .chain = {second, 2, CHAIN_NOT_PRESENT, false}},
	};
	const struct recording_program program = {
		.name = "web.elf",
		.path = "/w/web.elf",
		.build_id = "8c01d7",
		.has_lines = 1,
		.image = 0x100000,
		.segments = {{0x100000, 0x2000, 0x1000}},
	};
	const struct recording_line lines[] = {
		{{"get", 3}, {"/w/get.c", 8}, 12},
		{{"", 0}, {"/w/poll.c", 9}, 40},
	};
	const struct recording_name names[] = {
		{.address = 0x1001ff,
		 .offset = 0xff,
		 .name = {"main", 4},
		 .dso = {"web.elf", 7},
		 .is_symbol = true,
		 .is_last = true,
		 .is_common = true},
		{.address = 0x101234,
		 .offset = 0x34,
		 .name = {"poll", 4},
		 .dso = {"web.elf", 7},
		 .is_symbol = true,
		 .is_common = true,
		 .lines = lines,
		 .line_count = 2},
	};
	struct recording_end end = {.reason = END_SIGNAL, .monotonic = 5030000000};
	struct error err = {""};
	int fd = file_with(NULL, 0);
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);

	assert_non_null(writer);
	assert_int_equal(writer_program(writer, &program, &err), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(writer_name(writer, &names[i], &err), 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(writer_sample(writer, &samples[i], &err), 0);
		pauses_add(&writer_counts(writer)->pauses, 20000 + 5000 * i);
	}
	writer_counts(writer)->missed = 1;
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	take_file(fd, bytes);
}

/* Parses the bytes of a line like "0018  01 01 01    version", or none. */
static size_t bytes_of_line(const char *line, size_t *offset, uint8_t bytes[16])
{
	unsigned int byte;
	size_t count = 0;
	int used;

	if (strspn(line, "0123456789abcdef") != 4 || strncmp(line + 4, "  ", 2) != 0)
		return 0;
	*offset = strtoul(line, NULL, 16);
	line += 6;
	while (count < 16 && isxdigit((unsigned char)line[0]) &&
	       sscanf(line, "%2x%n", &byte, &used) == 1 && used == 2) {
		bytes[count++] = (uint8_t)byte;
		if (line[2] != ' ' || line[3] == ' ')
			break;
		line += 3;
	}
	return count;
}

static void the_writer_writes_the_example_in_the_document(void **state)
{
	struct buffer example = {0};
	FILE *document = fopen(FORMAT, "r");
	size_t done = 0, offset;
	uint8_t bytes[16];
	char line[512];

	(void)state;
	assert_non_null(document);
	write_example(&example);
	while (fgets(line, sizeof(line), document)) {
		size_t count = bytes_of_line(line, &offset, bytes);

		if (!count)
			continue;
		assert_int_equal(offset, done);
		assert_true(done + count <= example.size);
		assert_memory_equal(example.data + done, bytes, count);
		done += count;
	}
	fclose(document);
	assert_int_equal(done, example.size);
	buffer_free(&example);
}

/* Puts chunks with correct checksums around samples with a changed byte. */
static void put_changed_samples(struct buffer *bytes, const struct samples *samples,
				uint64_t *seed)
{
	struct samples_encoder *encoder = samples_encoder_new();
	struct sampling_counts counts = {0};
	struct buffer payload = {0};

	assert_non_null(encoder);
	for (size_t i = 0; i < samples->count && i < 5; i++) {
		assert_int_equal(samples_encoder_add(encoder, &samples->at[i]), 0);
		pauses_add(&counts.pauses, random_next(seed) >> random_next(seed) % 64);
	}
	samples_encoder_finish(encoder, &counts, &payload);
	for (unsigned int i = 0; i < 20; i++) {
		size_t at = random_next(seed) % payload.size;
		uint8_t change = (uint8_t)random_next(seed);

		payload.data[at] ^= change;
		put_plain_chunk(bytes, CHUNK_SAMPLES, &payload);
		payload.data[at] ^= change;
	}
	samples_encoder_free(encoder);
	buffer_free(&payload);
}

/* Puts chunks with correct checksums around waits, then with a changed byte each. */
static void put_changed_waits(struct buffer *bytes, const struct samples *samples,
			      uint64_t *seed)
{
	struct waits_encoder *encoder = waits_encoder_new();
	struct waits_counts counts = {.rounds = 3, .threads = 5, .cpu_time = 12345};
	struct buffer payload = {0};

	assert_non_null(encoder);
	for (size_t i = 0; i < samples->count && i < 5; i++) {
		const struct sample *sample = &samples->at[i];
		struct wait wait = {
			.from = sample->time >> 8,
			.to = (sample->time >> 8) + random_next(seed) % 3 * 100,
			.is_over = random_next(seed) & 1,
			.domain = sample->domain,
			.state = sample->state,
			.chain = sample->chain,
			.process = {.pid = 1,
				    .tid = random_next(seed) % 3,
				    .thread = "io"},
		};

		wait.chain.is_stack = false;
		assert_int_equal(waits_encoder_add(encoder, &wait), 0);
	}
	waits_encoder_finish(encoder, &counts, &payload);
	put_plain_chunk(bytes, CHUNK_WAITS, &payload);
	for (unsigned int i = 0; i < 20; i++) {
		size_t at = random_next(seed) % payload.size;
		uint8_t change = (uint8_t)random_next(seed);

		payload.data[at] ^= change;
		put_plain_chunk(bytes, CHUNK_WAITS, &payload);
		payload.data[at] ^= change;
	}
	waits_encoder_free(encoder);
	buffer_free(&payload);
}

/* Puts chunks with correct checksums around fields that are often invalid. */
static void put_hostile_chunks(struct buffer *bytes, uint64_t *seed)
{
	struct buffer payload = {0};

	for (unsigned int i = 0; i < 20; i++) {
		unsigned int type = random_next(seed) % 9;

		buffer_reset(&payload);
		for (unsigned int tag = 0; tag < 14; tag++) {
			uint8_t column[24];
			size_t size = random_next(seed) % sizeof(column);

			for (size_t j = 0; j < size; j++)
				column[j] = random_next(seed) & 0x1f;
			if (random_next(seed) % 20 == 0)
				memset(column, 0xff, size);
			if (random_next(seed) % 8)
				field_put(&payload, tag, column, size);
		}
		if (random_next(seed) % 10 == 0)
			buffer_put(&payload, "\x80", 1);
		else if (random_next(seed) % 10 == 0)
			field_put(&payload, random_next(seed) % 70, "\1", 1);
		put_plain_chunk(bytes, (uint16_t)type, &payload);
	}
	buffer_free(&payload);
}

/* Puts chunks with correct checksums around names with at most one changed byte. */
static void put_changed_names(struct buffer *bytes, uint64_t *seed)
{
	struct buffer payload = {0};
	struct name_list names = {0};

	for (uint32_t i = 0; i < 5; i++) {
		const struct recording_line lines[] = {
			{{"inlined", i}, {"path", 4 - i % 3}, i << 20},
			{{"", 0}, {"other", 5}, 1},
		};
		struct recording_name name = {
			.is_symbol = i & 1,
			.is_common = i & 2,
			.is_last = i == 4,
			.lines = lines,
			.line_count = i % 3,
			.domain = i % 2,
			.address = random_next(seed) >> random_next(seed) % 64,
			.offset = random_next(seed) >> random_next(seed) % 64,
			.name = {"function", 1 + i},
			.dso = {"dso", random_next(seed) % 4},
			.file_path = {"/usr/bin/file", i % 2 ? 13 : 0},
			.file_build_id = {"\1\0\2", i == 3 ? 3 : 0},
		};

		name_list_add(&names, &name);
	}
	name_list_finish(&names, &payload);
	put_plain_chunk(bytes, CHUNK_NAMES, &payload);
	for (unsigned int i = 0; i < 20; i++) {
		size_t at = random_next(seed) % payload.size;
		uint8_t change = (uint8_t)random_next(seed);

		payload.data[at] ^= change;
		put_plain_chunk(bytes, CHUNK_NAMES, &payload);
		payload.data[at] ^= change;
	}
	name_list_free(&names);
	buffer_free(&payload);
}

/* Likewise around mappings. */
static void put_changed_mappings(struct buffer *bytes, uint64_t *seed)
{
	struct mapping_list list = {0};
	struct buffer payload = {0};

	for (uint32_t i = 0; i < 6; i++) {
		const struct recording_mapping mapping = {
			.domain = i / 4,
			.pid = i / 2,
			.space = random_next(seed) >> random_next(seed) % 64,
			.time = random_next(seed) >> random_next(seed) % 64,
			.start = random_next(seed) % 0x7ffffffff000,
			.size = 4096 + random_next(seed) % 0x100000000000,
			.offset = random_next(seed),
			.path = {"/usr/bin/program", random_next(seed) % 17},
			.build_id = {"\1\0\2\3", random_next(seed) % 5},
		};

		mapping_list_add(&list, &mapping);
	}
	mapping_list_finish(&list, &payload);
	put_plain_chunk(bytes, CHUNK_MAPPINGS, &payload);
	for (unsigned int i = 0; i < 20; i++) {
		size_t at = random_next(seed) % payload.size;
		uint8_t change = (uint8_t)random_next(seed);

		payload.data[at] ^= change;
		put_plain_chunk(bytes, CHUNK_MAPPINGS, &payload);
		payload.data[at] ^= change;
	}
	mapping_list_free(&list);
	buffer_free(&payload);
}

/* Makes a file of one of several kinds, which the readers must agree on. */
static void make_file(unsigned int number, struct buffer *bytes)
{
	uint64_t seed = number;
	struct samples samples = likely_samples(1 + number % 40, &seed);

	buffer_reset(bytes);
	for (size_t i = 0; i < samples.count; i++) {
		if (number % 7 == 1)
			samples.at[i].weight = 1 +
					       random_next(&seed) % RECORDING_MAX_WEIGHT;
		if (number % 7 == 2)
			samples.at[i].domain = random_next(&seed) & 0xffff;
		if (number % 7 == 3)
			samples.at[i].time = random_next(&seed);
		if (number % 7 == 4)
			for (uint32_t j = 0; j < CHAIN_MAX; j++)
				samples.at[i].chain.address[j] = random_next(&seed);
		if (number % 7 == 5)
			samples.at[i].chain.count = random_next(&seed) % 257;
		samples.at[i].chain.frameless = number % 4 == 1 && i % 3 == 0;
		samples.at[i].chain.is_stack = number % 4 == 2 && i % 5 == 0;
		if (number % 5 == 1)
			samples.at[i].process.space = random_next(&seed) % 3
						      << number % 60;
		if (number % 3 == 1)
			samples.at[i].process.pid = random_next(&seed) % 3;
		if (number % 4 == 1)
			strcpy(samples.at[i].process.comm,
			       (const char *[]){"", "sh", "0123456789abcde"}[i % 3]);
		if (number % 5 == 2)
			samples.at[i].process.tid = random_next(&seed) >> number % 64;
		if (number % 6 == 2)
			strcpy(samples.at[i].process.thread, i % 2 ? "io" : "");
		samples.at[i].has_cpu_time = number % 3 == 0;
		if (number % 3 == 0)
			samples.at[i].cpu_time = (random_next(&seed) >>
						  (25 + random_next(&seed) % 39)) *
						 (1 + number % 7);
	}
	if (number == 0)
		write_example(bytes);
	else if (number != 1) /* an empty file */
		record(&samples, 1 + random_next(&seed) % 20, bytes);
	if (number > 20 && number % 4 == 0)
		bytes->data[random_next(&seed) % bytes->size] ^= 1 + number;
	if (number > 20 && number % 4 == 1)
		bytes->size = random_next(&seed) % bytes->size;
	if (number > 20 && number % 4 == 2)
		put_hostile_chunks(bytes, &seed);
	if (number > 20 && number % 4 == 3)
		put_changed_samples(bytes, &samples, &seed);
	if (number > 20 && number % 4 == 3)
		put_changed_names(bytes, &seed);
	if (number > 20 && number % 4 == 3)
		put_changed_mappings(bytes, &seed);
	if (number > 20 && number % 4 == 3)
		put_changed_waits(bytes, &samples, &seed);
	if (number > 20 && number % 8 == 3)
		buffer_put(bytes, "\xabUP", 3);
	if (number > 20 && number % 8 == 7)
		put_chunk(bytes, 1, 2, "unknown encoding", 16, 16);
	samples_free(&samples);
}

static bool command_works(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs the second reader on the files of @directory and returns its output. */
static void run_reader(const char *directory, struct buffer *output)
{
	char command[256];
	FILE *from;
	size_t got;

	snprintf(command, sizeof(command), "python3 " READER " %s/*", directory);
	from = popen(command, "r");
	assert_non_null(from);
	do {
		uint8_t *to = buffer_extend(output, 65536);

		assert_non_null(to);
		got = fread(to, 1, 65536, from);
		output->size -= 65536 - got;
	} while (got);
	assert_int_equal(pclose(from), 0);
}

static void expect_equal_lines(const char *one, const char *other)
{
	for (size_t line = 1;; line++) {
		size_t length = strcspn(one, "\n");

		if (length != strcspn(other, "\n") || strncmp(one, other, length) != 0)
			fail_msg("line %zu: '%.*s', but read.py says '%.*s'", line,
				 (int)length, one, (int)strcspn(other, "\n"), other);
		if (!one[length])
			return;
		one += length + 1;
		other += length + 1;
	}
}

static void a_reader_written_from_the_document_agrees(void **state)
{
	char directory[] = "/tmp/uniprof-test-XXXXXX", path[64], *wanted = NULL;
	struct buffer bytes = {0}, output = {0};
	size_t size = 0;
	FILE *to;

	(void)state;
	if (!command_works("python3 -c '' && zstd --version >/dev/null")) {
		print_message("SKIPPED: " READER " needs python3 and zstd, which are not "
			      "installed: FORMAT.md was not held against the code\n");
		skip();
	}
	assert_non_null(mkdtemp(directory));
	to = open_memstream(&wanted, &size);
	assert_non_null(to);
	for (unsigned int i = 0; i < FILES; i++) {
		FILE *file;

		make_file(i, &bytes);
		snprintf(path, sizeof(path), "%s/%03u", directory, i);
		file = fopen(path, "w");
		assert_non_null(file);
		assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
		assert_int_equal(fclose(file), 0);
		print_file(to, &bytes);
	}
	assert_int_equal(fclose(to), 0);
	run_reader(directory, &output);
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "%s/%03u", directory, i);
		unlink(path);
	}
	rmdir(directory);
	buffer_put(&output, "", 1);
	expect_equal_lines(wanted, (const char *)output.data);
	free(wanted);
	buffer_free(&bytes);
	buffer_free(&output);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_writer_writes_the_example_in_the_document),
		cmocka_unit_test(a_reader_written_from_the_document_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
