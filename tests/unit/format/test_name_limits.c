/* SPDX-License-Identifier: BSD-3-Clause */

/* Names in recordings: their place among other chunks, and their limits. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/name_list.h"
#include "report/load/load.h"
#include "tests/unit/format/test_recorded_name.h"

/* Reads the types of all chunks of a file, as digits. */
static void read_types(int fd, char *types)
{
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	struct error err;
	unsigned int type;

	lseek(fd, 0, SEEK_SET);
	while (reader_next(reader, &type, &payload, &err) > 0)
		*types++ = (char)('0' + type);
	*types = 0;
	reader_free(reader);
}

static void names_are_written_before_their_samples(void **state)
{
	static const struct recording_name names[] = {
		NAME(0, 0x1104, 4, "middle", "web.elf"),
		NAME(0, 0x1000, 0, "with blanks; and more", ""),
	};
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {0};
	uint64_t address[] = {0x1104};
	const struct sample sample = {.weight = 1,
				      .chain = {address, 1, CHAIN_WHOLE, false}};
	int fd = file_with(NULL, 0);
	struct error err;
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);
	char types[32];

	(void)state;
	assert_int_equal(writer_sample(writer, &sample, &err), 0);
	assert_int_equal(writer_name(writer, &names[0], &err), 0);
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_sample(writer, &sample, &err), 0);
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_name(writer, &names[1], &err), 0);
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	read_types(fd, types);
	assert_string_equal(types, "12"
				   "53"
				   "3"
				   "5"
				   "124");
	close(fd);
}

static void the_number_of_names_is_limited(void **state)
{
	struct recording_info info = test_info();
	static char longest[RECORDING_MAX_NAME];
	int fd = file_with(NULL, 0);
	struct error err = {""};
	struct writer *writer = writer_new(fd, &info, NULL, 0, &err);
	struct recording_name name = {.name = {longest, sizeof(longest)}, .dso = {"", 0}};
	uint64_t bytes = 0, largest = 0;
	struct name_list_reader names_reader;
	struct reader *reader;
	struct cursor payload;
	unsigned int type;

	(void)state;
	memset(longest, 'n', sizeof(longest));
	while (writer_name(writer, &name, &err) == 0)
		name.address++;
	assert_string_equal(err.text, "too many names for a recording");
	assert_int_equal(writer_flush(writer, &err), 0);
	writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		uint64_t size = (uint64_t)(payload.end - payload.at);

		if (type != CHUNK_NAMES)
			continue;
		assert_int_equal(name_list_read(&names_reader, payload), 0);
		bytes += size;
		largest = size > largest ? size : largest;
	}
	assert_true(largest <= RECORDING_MAX_PAYLOAD);
	assert_true(bytes <= RECORDING_MAX_NAMES_BYTES);
	assert_true(bytes + 5 * sizeof(longest) > RECORDING_MAX_NAMES_BYTES);
	reader_free(reader);
	close(fd);
}

/* The largest possible name still fits in a chunk that is otherwise full. */
static void the_longest_lines_fit_in_a_chunk(void **state)
{
	static char longest[RECORDING_MAX_NAME];
	const struct recording_text text = {longest, sizeof(longest)};
	struct recording_line most[RECORDING_MAX_LINES];
	struct recording_name name = {.name = text, .dso = text};
	struct name_list list = {0};
	struct buffer payload = {0};

	(void)state;
	memset(longest, 'n', sizeof(longest));
	for (size_t i = 0; i < RECORDING_MAX_LINES; i++)
		most[i] = (struct recording_line){text, text, UINT32_MAX};
	while (!name_list_full(&list))
		name_list_add(&list, &name);
	name.lines = most;
	name.line_count = RECORDING_MAX_LINES;
	name_list_add(&list, &name);
	name_list_finish(&list, &payload);
	assert_true(payload.size <= RECORDING_MAX_PAYLOAD);
	name_list_free(&list);
	buffer_free(&payload);
}

static int pass_over(void *arg, struct samples_batch *batch, struct error *err)
{
	(void)arg;
	(void)batch;
	(void)err;
	return 0;
}

/* Loads a recording of names that compress extremely well, after @filler bytes of an
 * unknown chunk. Returns the status; *@found is the number of names loaded. */
static int load_recorded_names(unsigned int chunks, uint32_t filler, uint64_t *found,
			       struct error *err)
{
	const struct recording_name name = {.name = TEXT("n")};
	const struct load_visitor visitor = {.samples = pass_over};
	struct name_list list = {0};
	struct buffer payload = {0}, file = {0};
	struct summary summary = {0};
	struct input input = {.name = "input"};
	int status;

	fill_random(&payload, filler);
	put_plain_chunk(&file, 77, &payload);
	buffer_reset(&payload);
	for (size_t i = 0; i < 100000; i++)
		name_list_add(&list, &name);
	name_list_finish(&list, &payload);
	for (unsigned int i = 0; i < chunks; i++)
		assert_int_equal(chunk_encode(&file, CHUNK_NAMES, &payload), 0);
	input.fd = file_with(file.data, file.size);
	status = load_recording(&input, 0, &summary, &visitor, err);
	*found = summary.names;
	close(input.fd);
	summary_free(&summary);
	name_list_free(&list);
	buffer_free(&payload);
	buffer_free(&file);
	return status;
}

static void the_size_of_a_recording_limits_its_names(void **state)
{
	uint64_t found;
	struct error err;

	(void)state;
	assert_int_equal(load_recorded_names(2, 1, &found, &err), 0);
	assert_int_equal(found, 200000);
	assert_int_equal(load_recorded_names(3, 1, &found, &err), -1);
	assert_non_null(
		strstr(err.text, "input contains more than a recording of its size"));
	assert_int_equal(load_recorded_names(3, 100000, &found, &err), 0);
	assert_int_equal(found, 300000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_written_before_their_samples),
		cmocka_unit_test(the_number_of_names_is_limited),
		cmocka_unit_test(the_longest_lines_fit_in_a_chunk),
		cmocka_unit_test(the_size_of_a_recording_limits_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
