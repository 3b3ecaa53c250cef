/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Texts of any content, to be imported. Build with -fsanitize=fuzzer,address,undefined
 * and run on tests/fuzz/corpus/import. The input's first byte chooses the format, or,
 * being the one behind the last, that it is to be found out; the rest is the text.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/name_list.h"
#include "format/reader.h"
#include "format/samples.h"
#include "import/format.h"

#define MOST_DIGITS 8 /* in a count: it is to be written as so many samples */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static int file_with(const void *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	check(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
	return fd;
}

/* Large counts only take long; fuzz_reader knows what samples can look like. */
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

/* The recording is whole, keeps all limits, and its samples count for @count. */
static void check_recording(int fd, uint64_t count)
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
	check(status == 0 && type == CHUNK_END && sum == count);
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
		status = import_lines(format, &lines, importer, &err);
		check(status >= 0 || err.text[0]);
		lseek(to, 0, SEEK_SET);
		if (status >= 0)
			check_recording(to, importer_count(importer));
		importer_free(importer);
	}
	lines_free(&lines);
	close(from);
	close(to);
	return 0;
}
