/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct import_format *const formats[] = {
	&import_xenctx, &import_perf_script, &import_uniprof_2017,
	&import_ftrace, &import_folded,	     NULL,
};

const struct import_format *import_format_find(const char *name)
{
	for (const struct import_format *const *format = formats; *format; format++)
		if (strcmp((*format)->name, name) == 0)
			return *format;
	return NULL;
}

const struct import_format *const *import_format_list(void)
{
	return formats;
}

const struct import_format *import_format_recognize(struct lines *lines,
						    struct error *err)
{
	struct recording_text line;
	size_t ahead = 0;
	int status;

	while ((status = lines_ahead(lines, &ahead, &line, err)) > 0)
		for (const struct import_format *const *format = formats; *format;
		     format++)
			if ((*format)->recognize(line))
				return *format;
	if (status == 0 && ahead)
		error_set(err, "unknown format (use --from to choose one)");
	else if (status == 0 && lines->end > lines->start)
		error_set(err,
			  "unknown format: the first line is longer than %u bytes (use "
			  "--from to choose one)",
			  LINES_MAX);
	else if (status == 0)
		error_set(err, "the input is empty");
	return NULL;
}

/* Counts a skipped line, and keeps the reason of the first one. */
static void count_skipped(struct import_result *result, uint64_t number,
			  const struct error *why)
{
	if (!result->skipped++)
		error_set(&result->first, "line %" PRIu64 ": %s", number, why->text);
}

/* Passes all lines to the format, counts those that are not empty in *@taken, and ends
 * the format. -1 with @err set if the import has failed. */
static int take_lines(const struct import_format *format, void *state,
		      struct lines *lines, struct importer *importer,
		      struct import_result *result, uint64_t *taken, struct error *err)
{
	struct recording_text line;
	struct error why;
	int status;

	while ((status = lines_next(lines, &line, &why)) != 0) {
		if (status < 0) {
			*err = why;
			return -1;
		}
		if (status != LINES_BAD &&
		    format->line(state, importer, line, &why) == 0) {
			*taken += line.length > 0;
			continue;
		}
		switch (importer_state(importer)) {
		case IMPORTER_GOOD:
			count_skipped(result, lines->number, &why);
			break;
		case IMPORTER_FULL:
			error_set(&result->stopped, "line %" PRIu64 ": %s", lines->number,
				  why.text);
			return 0;
		default:
			*err = why;
			return -1;
		}
	}
	return format->end(state, importer, result, err);
}

/* Refuses a text that has hardly anything in common with the format, so that no
 * recording is made of its few lines that fit. */
static int check_skipped(const struct import_format *format,
			 const struct import_result *result, uint64_t taken,
			 struct error *err)
{
	if (result->skipped <= taken)
		return 0;
	return error_set(err,
			 "not in the format %s: %" PRIu64 " of %" PRIu64
			 " lines can't be used, the first is %s",
			 format->name, result->skipped, result->skipped + taken,
			 result->first.text);
}

int import_lines(const struct import_format *format, const struct import_options *options,
		 struct lines *lines, struct importer *importer,
		 struct import_result *result, struct error *err)
{
	void *state = calloc(1, format->state_size);
	struct error why;
	uint64_t taken = 0;
	int status;

	*result = (struct import_result){0};
	if (!state)
		return error_set(err, "out of memory");
	if (format->begin)
		format->begin(state, options);
	status = take_lines(format, state, lines, importer, result, &taken, err);
	if (status == 0 && format->note)
		format->note(state, &result->note);
	if (format->release)
		format->release(state);
	free(state);
	if (status == 0 && importer_count(importer) &&
	    check_skipped(format, result, taken, err) < 0)
		return -1;
	if (status == 0)
		status = importer_end(importer, err);
	if (status < 0 && result->skipped && importer_state(importer) == IMPORTER_GOOD) {
		why = *err;
		error_set(err, "%s; skipped %" PRIu64 " line%s, the first is %s",
			  why.text, result->skipped, result->skipped == 1 ? "" : "s",
			  result->first.text);
	}
	return status;
}
