/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command/message.h"
#include "commands/commands.h"
#include "commands/namer.h"
#include "record/record.h"

static int record(const struct record_options *options, int argc, char **argv)
{
	struct namer namer;
	struct error err;
	int code;

	if (namer_start(&namer, options, &err) < 0) {
		message("record", "%s", err.text);
		return EXIT_FAILED;
	}
	code = record_run(options, argc, argv);
	if (namer_end(&namer, code == EXIT_DONE) < 0)
		code = EXIT_FAILED;
	return code;
}

static int run_command(const struct command *command, int argc, char **argv)
{
	struct record_options options;
	int status = record_options_read(command, argc, argv, &options);

	if (status == COMMAND_GO_ON)
		status = record(&options, argc, argv);
	record_options_free(&options);
	return status;
}

const struct command command_record = {
	.name = "record",
	.arguments = "DOMAIN...",
	.most = COMMAND_ANY,
	.summary = "sample running domains into a file",
	.about =
		"Samples the call stacks of running Xen domains or KVM guests, given by "
		"name or id, into a file, until the time limit is reached, Ctrl-C is "
		"pressed, or the "
		"last guest ends. Killing the recorder does not leave a guest paused, "
		"unless its guard process is killed at the same moment; use --unpause or "
		"'xl unpause NAME' then.",
	.groups = record_option_groups,
	.run = run_command,
};
