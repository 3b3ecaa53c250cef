/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Imports arbitrary texts. Build with -fsanitize=fuzzer,address,undefined and run on
 * tests/fuzz/corpus/import. The first byte of the input selects the format; the number
 * after that of the last format selects detection. The rest is the text.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/name_list.h"
#include "format/reader.h"
#include "format/samples.h"
#include "import/format.h"
#include "tests/fuzz/check.h"

#define MOST_DIGITS 8 /* in a count, which determines the number of samples written */

/* Large counts only take long; fuzz_reader covers the contents of samples. */
static bool has_large_count(const uint8_t *data, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
		if (digits > MOST_DIGITS &&
		    (i + 1 == size || data[i + 1] == '\n' || data[i + 1] == '\r' ||
		     data[i + 1] == ' ' || data[i + 1] == '\t'))
			return true;
	}
	return false;
}

/* The recording is complete and within all limits. Its weights add up to the importer's
 * count, which periods are not part of. */
static void check_recording(int fd, const struct importer *importer)
{
	struct reader *reader = reader_new(fd);
	struct samples_batch batch = {0};
	struct name_list_reader names;
	struct cursor payload;
	struct error err;
	unsigned int type = 0;
	uint64_t sum = 0;
	int status;

	check(reader != NULL);
	while ((status = reader_next(reader, &type, &payload, &err)) > 0) {
		if (type == CHUNK_NAMES)
			check(name_list_read(&names, payload) == 0);
		if (type != CHUNK_SAMPLES)
			continue;
		check(samples_decode(payload, &batch) == 0);
		for (size_t i = 0; i < batch.count; i++)
			sum += batch.weight[i];
	}
	check(status == 0 && type == CHUNK_END);
	check(importer_weights(importer).by_period || sum == importer_count(importer));
	check(reader_damage(reader)->bytes == 0);
	samples_batch_free(&batch);
	reader_free(reader);
}

static const struct import_format *choose(uint8_t byte, struct lines *lines)
{
	const struct import_format *const *formats = import_format_list();
	struct error err = {""};
	const struct import_format *format;
	uint8_t count = 0;

	while (formats[count])
		count++;
	format = formats[byte % (count + 1)];
	if (format)
		return format;
	format = import_format_recognize(lines, &err);
	check(format || err.text[0]);
	return format;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct recording_info info = {.version = RECORDING_VERSION};
	const struct import_format *format;
	const struct import_options options = {0};
	struct import_result result = {0};
	struct importer *importer;
	struct error err = {""};
	struct lines lines;
	int from, to, status;

	if (size < 2 || has_large_count(data, size))
		return 0;
	from = file_with(data + 1, size - 1);
	to = file_with(NULL, 0);
	check(lines_init(&lines, from) == 0);
	format = choose(data[0], &lines);
	if (format) {
		importer = importer_new(to, &info);
		check(importer != NULL);
		status = import_lines(format, &options, &lines, importer, &result, &err);
		check(status >= 0 || err.text[0]);
		lseek(to, 0, SEEK_SET);
		if (status >= 0)
			check_recording(to, importer);
		importer_free(importer);
	}
	lines_free(&lines);
	close(from);
	close(to);
	return 0;
}
