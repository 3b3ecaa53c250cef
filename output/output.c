/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/output.h"

#include <string.h>

/* In the order of --help. */
#define OUTPUTS(X)        \
	X(histogram)      \
	X(histogram_csv)  \
	X(histogram_json) \
	X(tree)           \
	X(flamegraph)     \
	X(timeline)       \
	X(html)           \
	X(markdown)       \
	X(folded)         \
	X(perf_script)    \
	X(perf_data)      \
	X(pprof)          \
	X(otlp)           \
	X(speedscope)     \
	X(firefox)        \
	X(callgrind)      \
	X(rows)

#define DECLARE(name) extern const struct output output_##name;
#define ADDRESS(name) &output_##name,

OUTPUTS(DECLARE)

static const struct output *const outputs[] = {OUTPUTS(ADDRESS) NULL};

const struct output *output_find(const char *name)
{
	for (size_t i = 0; outputs[i]; i++)
		if (strcmp(outputs[i]->name, name) == 0)
			return outputs[i];
	return NULL;
}

const struct output *const *output_list(void)
{
	return outputs;
}

struct report report_of(const struct profile *profile, const struct report_view *view,
			FILE *out, struct error *why)
{
	return (struct report){
		.summary = &profile->summary,
		.stacks = profile->stacks,
		.frames = profile->frames,
		.sources = &profile->sources,
		.measure = &profile->measure,
		.coverage = &profile->coverage,
		.quality = &profile->quality,
		.filter = profile->filter,
		.recordings = profile->recordings,
		.recording_count = profile->opened,
		.notes = &profile->notes,
		.recorded = &profile->bytes,
		.view = *view,
		.out = out,
		.why = why,
	};
}

bool report_shows_domains(const struct report *report)
{
	return report->view.shows_domains || report->coverage->domain_count > 1;
}

int output_write(const struct output *format, struct profile *profile,
		 const struct report_view *view, const struct note_options *notes,
		 const struct profile_progress *progress, FILE *out, struct error *err)
{
	struct error why = {""};
	const struct report report = report_of(profile, view, out, &why);
	void *state = format->begin(&report);
	const struct profile_listener listener = {
		.sample = format->sample,
		.sees_all = format->sees_all,
		.wait = format->wait,
		.arg = state,
		.out = out,
		.progress = progress,
	};
	int status = state ? profile_read(profile, &listener, err)
			   : profile_out_of_memory(err);
	size_t note_count = profile->notes.count;

	if (status == 0 && notes && profile_note_contents(profile, notes) < 0)
		status = profile_out_of_memory(err);
	if (status == 0 && format->end(state) < 0)
		status = profile_out_of_memory(err);
	if (status < 0)
		notes_cut(&profile->notes, note_count);
	if (status < 0 && why.text[0])
		*err = why;
	if (state)
		format->free(state);
	return status;
}
