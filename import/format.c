/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct import_format *const formats[] = {
	&import_xenctx, &import_perf_script, &import_uniprof_2017, &import_folded, NULL,
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
	if (status == 0)
		error_set(err, ahead ? "none of its first lines is of a format that can "
				       "be imported (--from names one)"
				     : "there is nothing in it");
	return NULL;
}

static int take_lines(const struct import_format *format, void *state,
		      struct lines *lines, struct importer *importer, struct error *err)
{
	struct recording_text line;
	struct error why;
	int status;

	while ((status = lines_next(lines, &line, &why)) > 0) {
		status = format->line(state, importer, line, &why);
		if (status < 0)
			break;
	}
	if (status < 0)
		return error_set(err, "line %" PRIu64 ": %s", lines->number, why.text);
	return format->end(state, importer, err);
}

int import_lines(const struct import_format *format, struct lines *lines,
		 struct importer *importer, struct error *err)
{
	void *state = calloc(1, format->state_size);
	int status;

	if (!state)
		return error_set(err, "not enough memory");
	status = take_lines(format, state, lines, importer, err);
	free(state);
	if (status >= 0 && importer_end(importer, err) < 0)
		return -1;
	return status;
}
