/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses the digits at *@text and advances *@text past them. */
static int take_digits(const char **text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno ? -1 : 0;
}

int parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20; /* to lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	uint64_t value;

	if (take_digits(&text, &value) < 0 || *text || value < min || value > max)
		return -1;
	*number = value;
	return 0;
}

int parse_billionths(const char *text, uint64_t most, uint64_t *billionths)
{
	uint64_t whole = 0, fraction = 0;

	if (*text != '.' && take_digits(&text, &whole) < 0)
		return -1;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return -1;
		for (uint64_t unit = 100000000; isdigit((unsigned char)*text); text++) {
			fraction += unit * (uint64_t)(*text - '0');
			unit /= 10;
		}
	}
	if (*text || whole >= most)
		return -1;
	*billionths = whole * 1000000000 + fraction;
	return 0;
}

int parse_time(const char *text, uint64_t *ns)
{
	static const struct unit {
		const char *name;
		uint64_t seconds; /* 0: a thousandth of one */
	} units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"ms", 0}, {"", 1}};
	const uint64_t most = 100ull * 365 * 86400;
	size_t digits = strspn(text, "0123456789.");
	const struct unit *unit = units;
	uint64_t value;
	char copy[32];

	while (unit->name[0] && strcmp(text + digits, unit->name) != 0)
		unit++;
	if (digits >= sizeof(copy) || strcmp(text + digits, unit->name) != 0)
		return -1;
	memcpy(copy, text, digits);
	copy[digits] = '\0';
	if (parse_billionths(copy, unit->seconds ? most / unit->seconds : most, &value) <
	    0)
		return -1;
	value = unit->seconds ? value * unit->seconds : value / 1000;
	if (!value)
		return -1;
	*ns = value;
	return 0;
}

int parse_percent(const char *text, double *part)
{
	uint64_t value;

	if (parse_billionths(text, 101, &value) < 0 || value < 10000000 ||
	    value > 100000000000)
		return -1;
	*part = (double)value / 1e11;
	return 0;
}

int parse_list(const char *text, bool *set, size_t size)
{
	/* The first pass only validates, so that @set is unchanged on error. */
	for (int pass = 0; pass < 2; pass++) {
		for (const char *at = text;; at++) {
			uint64_t first, last;

			if (take_digits(&at, &first) < 0)
				return -1;
			last = first;
			if (*at == '-') {
				at++;
				if (take_digits(&at, &last) < 0)
					return -1;
			}
			if (last < first || last >= size || (*at && *at != ','))
				return -1;
			for (uint64_t i = first; pass == 1 && i <= last; i++)
				set[i] = true;
			if (!*at)
				break;
		}
	}
	return 0;
}

#define HARDWARE(name, config)                                   \
	{                                                        \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##config \
	}
#define SOFTWARE(name, config)                                   \
	{                                                        \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##config \
	}

/* perf-list(1) has these names; include/uapi/linux/perf_event.h, the numbers. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} known[] = {
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
};

/* Whether the first @length bytes are "r" and a hexadecimal number. */
static bool find_raw(const char *text, size_t length, struct event_kind *kind)
{
	static const char digits[] = "0123456789abcdefABCDEF";

	if (length < 2 || length > 17 || text[0] != 'r' ||
	    strspn(text + 1, digits) != length - 1)
		return false;
	kind->type = PERF_TYPE_RAW;
	kind->config = strtoull(text + 1, NULL, 16);
	return true;
}

static bool find_known(const char *text, size_t length, struct event_kind *kind)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == length &&
		    memcmp(known[i].name, text, length) == 0) {
			kind->type = known[i].type;
			kind->config = known[i].config;
			return true;
		}
	return false;
}

int parse_event(const char *text, struct event_kind *kind, struct error *err)
{
	size_t length = strcspn(text, ":");
	const char *modifier = text + length;

	*kind = (struct event_kind){.is_guest_only = strcmp(modifier, ":G") == 0};
	if ((*modifier && !kind->is_guest_only) ||
	    (!find_known(text, length, kind) && !find_raw(text, length, kind)))
		return error_set(err,
				 "no such event: perf's for hardware, such as cycles or "
				 "cache-misses, rN, cpu-clock or task-clock; with :G "
				 "after it, in the guest only");
	snprintf(kind->name, sizeof(kind->name), "%s", text);
	return 0;
}
