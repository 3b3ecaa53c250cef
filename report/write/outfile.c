/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/write/outfile.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool is_stdout(const struct outfile *out)
{
	return out->file.fd == STDOUT_FILENO;
}

int outfile_open(struct outfile *out, const char *path, struct error *err)
{
	if (replace_open(&out->file, path, 0666, false, err) < 0)
		return -1;
	out->writes = (struct stream){0};
	/* Outputs that fit their lines to a terminal need its descriptor. */
	if (is_stdout(out) && isatty(STDOUT_FILENO)) {
		out->stream = stdout;
		return 0;
	}
	out->stream = stream_open(&out->writes, out->file.fd);
	if (out->stream)
		return 0;
	error_errno(err, errno, "can't write %s", path ?: "standard output");
	replace_abandon(&out->file);
	return -1;
}

/* Writes the rest; false if that, or a write before, failed. */
static bool finish_stream(struct outfile *out)
{
	bool failed = fflush(out->stream) != 0 || ferror(out->stream);

	if (out->stream != stdout)
		failed |= fclose(out->stream) != 0;
	return !failed;
}

int outfile_close(struct outfile *out, bool is_complete, struct error *err)
{
	const char *name = is_stdout(out) ? "standard output" : out->file.path;
	bool is_written = finish_stream(out);

	err->text[0] = 0;
	if (is_written && is_complete)
		return replace_commit(&out->file, err);
	replace_abandon(&out->file);
	if (is_written)
		return 0;
	return out->writes.why == EPIPE ? -1 : stream_explain(&out->writes, name, err);
}
