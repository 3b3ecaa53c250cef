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

/* Passes all lines to the format, and ends it. -1 with @err set if the import has
 * failed. */
static int take_lines(const struct import_format *format, void *state,
		      struct lines *lines, struct importer *importer,
		      struct import_result *result, struct error *err)
{
	struct recording_text line;
	struct error why;
	int status;

	while ((status = lines_next(lines, &line, &why)) != 0) {
		if (status < 0)
			return error_set(err, "line %" PRIu64 ": %s", lines->number + 1,
					 why.text);
		if (status != LINES_BAD && format->line(state, importer, line, &why) == 0)
			continue;
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

int import_lines(const struct import_format *format, const struct import_options *options,
		 struct lines *lines, struct importer *importer,
		 struct import_result *result, struct error *err)
{
	void *state = calloc(1, format->state_size);
	struct error why;
	int status;

	*result = (struct import_result){0};
	if (!state)
		return error_set(err, "out of memory");
	if (format->begin)
		format->begin(state, options);
	status = take_lines(format, state, lines, importer, result, err);
	if (status == 0 && format->note)
		format->note(state, &result->note);
	if (format->release)
		format->release(state);
	free(state);
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
