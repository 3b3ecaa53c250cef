/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

void progress_start(struct progress *progress, uint64_t whole)
{
	*progress = (struct progress){.whole = whole};
	status_line_open(&progress->line, STDERR_FILENO);
	progress->next = clock_monotonic() + NS_PER_S;
}

void progress_update(struct progress *progress, uint64_t done)
{
	char text[80], share[40] = "";
	uint64_t now;

	if (progress->line.fd < 0)
		return;
	now = clock_monotonic();
	if (now < progress->next)
		return;
	progress->next = now + NS_PER_S;
	if (progress->whole)
		snprintf(share, sizeof(share), " of %.1f MB (%.0f %%)",
			 (double)progress->whole / 1e6,
			 100.0 * (double)done / (double)progress->whole);
	snprintf(text, sizeof(text), "reading: %.1f MB%s", (double)done / 1e6, share);
	status_line_show(&progress->line, text);
}

void progress_end(struct progress *progress)
{
	status_line_close(&progress->line);
}

static void profile_starts(void *progress, uint64_t whole)
{
	progress_start(progress, whole);
}

static void profile_goes_on(void *progress, uint64_t done)
{
	progress_update(progress, done);
}

static void profile_ends(void *progress)
{
	progress_end(progress);
}

struct profile_progress progress_of_profile(struct progress *progress)
{
	return (struct profile_progress){
		.start = profile_starts,
		.update = profile_goes_on,
		.end = profile_ends,
		.arg = progress,
	};
}
