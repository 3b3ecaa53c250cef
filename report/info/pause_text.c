/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/info/pause_text.h"

#include <inttypes.h>

#define BAR_WIDTH 40
/* "1.0 us": three digits and a unit. */
#define LENGTH_SIZE 24

static const char *length_text(char to[LENGTH_SIZE], uint64_t ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	double value = (double)ns;
	unsigned int unit = 0;

	/* Not 1000: 999.5 and more would be shown as "1e+03". */
	for (; value >= 999.5 && unit < 3; unit++)
		value /= 1000;
	snprintf(to, LENGTH_SIZE, "%.3g %s", value, units[unit]);
	return to;
}

static void put_length(FILE *out, const char *label, uint64_t ns)
{
	char text[LENGTH_SIZE];

	fprintf(out, "  %-14s  %s\n", label, length_text(text, ns));
}

/* Counts pauses of 2^i ns up to twice that in @counts[i]; those of 0 ns in @counts[0]. */
static void count_octaves(const struct pauses *pauses, uint64_t counts[64])
{
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		uint64_t start = pauses_bucket_start(i);

		counts[start ? 63 - __builtin_clzll(start) : 0] += pauses->bucket[i];
	}
}

static void put_bars(FILE *out, const struct pauses *pauses)
{
	uint64_t counts[64] = {0}, most = 0;
	unsigned int first = 64, last = 0;

	count_octaves(pauses, counts);
	for (unsigned int i = 0; i < 64; i++) {
		if (!counts[i])
			continue;
		if (first == 64)
			first = i;
		last = i;
		if (counts[i] > most)
			most = counts[i];
	}
	for (unsigned int i = first; i <= last && i < 64; i++) {
		int width = (int)((double)counts[i] / (double)most * BAR_WIDTH + 0.5);
		char text[LENGTH_SIZE];

		fprintf(out, "  from %9s  %12" PRIu64 "%s%.*s\n",
			length_text(text, (uint64_t)1 << i), counts[i], width ? "  " : "",
			width, "########################################");
	}
}

void pause_text_write(FILE *out, const struct pauses *pauses, uint64_t duration,
		      bool several)
{
	fprintf(out, "Pauses of the domain%s\n", several ? "s" : "");
	fprintf(out, "  %-14s  %" PRIu64 "\n", "pauses", pauses->count);
	put_length(out, "shortest", pauses_quantile(pauses, 0));
	put_length(out, "median", pauses_quantile(pauses, 0.5));
	put_length(out, "90 %", pauses_quantile(pauses, 0.9));
	put_length(out, "99 %", pauses_quantile(pauses, 0.99));
	put_length(out, "longest", pauses->max);
	put_length(out, "total", pauses->sum);
	if (duration)
		fprintf(out, "  %-14s  %.3f %% of the time%s\n", "stopped for",
			100.0 * (double)pauses->sum / (double)duration,
			several ? " (sum over all domains)" : "");
	put_bars(out, pauses);
}
