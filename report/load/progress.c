/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/progress.h"

#include <time.h>

#define SECOND 1000000000u

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

void progress_start(struct progress *progress, FILE *to, uint64_t whole)
{
	*progress = (struct progress){.to = to, .whole = whole};
	if (to)
		progress->next = now() + SECOND;
}

void progress_update(struct progress *progress, uint64_t done)
{
	uint64_t time;

	if (!progress->to)
		return;
	time = now();
	if (time < progress->next)
		return;
	progress->next = time + SECOND;
	progress->shown = true;
	fprintf(progress->to, "\rreading: %.1f MB", (double)done / 1e6);
	if (progress->whole)
		fprintf(progress->to, " of %.1f MB (%.0f %%)",
			(double)progress->whole / 1e6,
			100.0 * (double)done / (double)progress->whole);
	fflush(progress->to);
}

void progress_end(struct progress *progress)
{
	if (!progress->shown)
		return;
	/* ECMA-48, 8.3.41: erase to the end of the line. */
	fputs("\r\033[K", progress->to);
	fflush(progress->to);
	progress->shown = false;
}
