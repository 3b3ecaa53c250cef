/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

#include <string.h>
#include <unistd.h>

#include "report/options.h"
#include "report/outfile.h"

/* Reads the recordings and writes the report, which is then to be closed. */
static int write_report(struct profile *profile, const struct report_options *options,
			FILE *out, struct error *err)
{
	const struct output *format = options->format;
	struct report report = profile_report(profile);
	bool is_watched = isatty(STDERR_FILENO) && !isatty(fileno(out));
	void *state;
	int status;

	report.view = options->view;
	report.out = out;
	state = format->begin(&report);
	if (!state)
		return profile_out_of_memory(err);
	status = profile_read(profile, out, is_watched, format->sample, state, err);
	if (status == 0) {
		profile_complete(profile, &report);
		if (format->end(state) < 0)
			status = profile_out_of_memory(err);
	}
	format->free(state);
	return status;
}

static FILE *open_report(struct profile *profile, const struct report_options *options,
			 struct error *err)
{
	if (profile_open(profile, &options->profile.rules, err) < 0)
		return NULL;
	return outfile_open(options->output, profile->inputs, profile->opened, err);
}

static int run(const struct report_options *options)
{
	struct profile profile = {0};
	struct error err = {""}, write_err = {""};
	int exit_code = EXIT_FAILED, status;
	FILE *out = open_report(&profile, options, &err);

	if (!out)
		goto out;
	profile_describe_symbols(&profile);
	status = write_report(&profile, options, out, &err);
	if (outfile_close(out, options->output, &write_err) < 0) {
		err = write_err;
		goto out;
	}
	if (status == 0)
		exit_code = profile_say_notes(&profile);
out:
	if (exit_code == EXIT_FAILED && err.text[0])
		fprintf(stderr, "uniprof report: %s\n", err.text);
	profile_close(&profile);
	return exit_code;
}

int command_report(int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(&options, argc, argv);

	if (status == PROFILE_GO_ON)
		status = run(&options);
	report_options_free(&options);
	return status;
}
