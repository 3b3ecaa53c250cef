/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/meter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define SHOW_NS (NS_PER_S / 2)

void meter_start(struct meter *meter, int fd)
{
	status_line_open(&meter->line, fd);
	meter->next = meter->start + SHOW_NS;
	meter->rate = -1;
}

void meter_stop(struct meter *meter)
{
	status_line_close(&meter->line);
}

void meter_round(struct meter *meter, uint64_t samples, uint64_t weight, uint64_t missed)
{
	uint64_t slots;

	if (meter->counts_events)
		weight = 1;
	slots = missed + (samples ? weight : 1);
	meter->samples += samples * weight;
	meter->slots += slots;
	meter->recent += slots;
	meter->rounds += samples != 0;
}

/* A line of text that ends before the first part that does not fit. */
struct text {
	char line[160];
	size_t columns; /* maximum length; 0: a part did not fit */
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text,
							   const char *format, ...)
{
	size_t used = strlen(text->line), length;
	char part[sizeof(text->line)];
	va_list args;

	va_start(args, format);
	vsnprintf(part, sizeof(part), format, args);
	va_end(args);
	length = strlen(part);
	if (used + length > text->columns || used + length >= sizeof(text->line))
		text->columns = 0;
	else
		memcpy(text->line + used, part, length + 1);
}

static void add_time(struct text *text, uint64_t ns, const char *what)
{
	uint64_t seconds = (ns + NS_PER_S - 1) / NS_PER_S;

	if (seconds < 60)
		text_add(text, "%" PRIu64 " s %s", seconds, what);
	else
		text_add(text, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " %s",
			 seconds / 3600, seconds / 60 % 60, seconds % 60, what);
}

static void add_size(struct text *text, uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB"};
	double value = (double)bytes / 1000;
	unsigned int unit = 0;

	for (; value >= 999.95 && unit < 3; unit++)
		value /= 1000;
	text_add(text, ", %.1f %s", value, units[unit]);
}

/* Writes the line, with the most important parts first: a narrow terminal has no room for
 * the others. */
static struct text write_line(const struct meter *meter, uint64_t now,
			      const struct pauses *pauses, uint64_t bytes)
{
	struct text text = {.columns = status_line_columns(&meter->line)};
	uint64_t end = meter->start + meter->time_limit;

	if (meter->time_limit)
		add_time(&text, end > now ? end - now : 0, "left");
	else
		add_time(&text, now - meter->start, "recorded");
	text_add(&text, ", %" PRIu64 " samples", meter->samples);
	if (meter->rate >= 0)
		text_add(&text, ", %.1f of %" PRIu64 " Hz", meter->rate,
			 meter->frequency);
	if (pauses->count && meter->slots)
		text_add(&text, ", pause %.1f us (%.2f %%)",
			 (double)pauses_quantile(pauses, 0.5) / NS_PER_US,
			 (double)pauses->sum * (double)meter->frequency /
				 ((double)meter->slots * NS_PER_S) * 100);
	add_size(&text, bytes);
	return text;
}

void meter_show(struct meter *meter, uint64_t now, const struct pauses *pauses,
		uint64_t bytes)
{
	struct text text;

	if (meter->line.fd < 0 || now < meter->next)
		return;
	meter->next = now + SHOW_NS;
	if (meter->recent)
		meter->rate = (double)meter->frequency * (double)meter->rounds /
			      (double)meter->recent;
	meter->rounds = meter->recent = 0;
	text = write_line(meter, now, pauses, bytes);
	status_line_show(&meter->line, text.line);
}
