/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_REPORT_TEST_MODEL_H
#define UNIPROF_TESTS_UNIT_REPORT_TEST_MODEL_H

/* Shared by the tests of report/model: call chains, and names for them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/model/frames.h"
#include "report/model/stacks.h"

struct model {
	struct sources sources;
	struct summary summary;
	struct frames *frames;
	struct stacks *stacks;
};

/* @list has the symbols, as written by nm. -1 on failure. */
static inline int model_init(struct model *model, const char *list)
{
	char path[] = "/tmp/uniprof-test-XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct error err;
	int status;

	fputs(list, file);
	fclose(file);
	status = sources_add(&model->sources, path, &err);
	unlink(path);
	model->sources.recorded = recorded_new(DEMANGLE_FULL);
	model->frames = frames_new(&model->sources, &model->summary);
	model->stacks = stacks_new();
	return model->sources.recorded && model->frames && model->stacks ? status : -1;
}

static inline void model_free(struct model *model)
{
	stacks_free(model->stacks);
	frames_free(model->frames);
	recorded_free(model->sources.recorded);
	sources_free(&model->sources);
}

#endif
