/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/xl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads the name from a line 'name = "web"', in single or double quotes. False if the
 * line is not like that. */
static bool parse_name(const char *line, char name[XL_NAME_SIZE])
{
	static const char key[] = "name";
	const char *end;

	line += strspn(line, " \t");
	if (strncmp(line, key, strlen(key)) != 0)
		return false;
	line += strlen(key);
	line += strspn(line, " \t");
	if (*line++ != '=')
		return false;
	line += strspn(line, " \t");
	if (*line != '"' && *line != '\'')
		return false;
	end = strchr(line + 1, *line);
	if (!end || end == line + 1 || end - line > XL_NAME_SIZE)
		return false;
	snprintf(name, XL_NAME_SIZE, "%.*s", (int)(end - line - 1), line + 1);
	return true;
}

int xl_config_name(const char *path, char name[XL_NAME_SIZE], struct error *err)
{
	FILE *file = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	if (!file)
		return error_errno(err, errno, "can't read %s", path);
	while (!found && getline(&line, &size, file) >= 0)
		found = parse_name(line, name);
	free(line);
	fclose(file);
	if (!found)
		return error_set(err, "%s has no line name = \"NAME\"", path);
	return 0;
}

/* Runs xl. Returns its exit code; -1 with @err set if it can't be run. */
static int xl_run(struct children *children, const char *action, const char *option,
		  const char *argument, bool is_quiet, struct error *err)
{
	const char *const argv[] = {"xl", action, option, argument, NULL};
	int code = child_program(children, (char *const *)argv, is_quiet);

	if (code == CHILD_NOT_RUN)
		return error_set(err, "can't run xl");
	return code;
}

int xl_exists(struct children *children, const char *name, struct error *err)
{
	int code = xl_run(children, "domid", "--", name, true, err);

	return code < 0 ? -1 : code == 0;
}

int xl_create(struct children *children, const char *config, struct error *err)
{
	int code = xl_run(children, "create", "-q", config, false, err);

	return code > 0 ? error_set(err, "xl create %s failed", config) : code;
}

int xl_destroy(struct children *children, const char *name, struct error *err)
{
	int code = xl_run(children, "destroy", "--", name, false, err);

	return code > 0 ? error_set(err, "xl destroy %s failed", name) : code;
}
