/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/window.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/parse.h"

#define WHOLE	   (100 * NS_PER_S) /* in billionths of a percent */
#define MAX_SECOND (100ull * 365 * 24 * 3600)

/* Takes a number of exactly @digits digits, at most @most, off the start of *@text. */
static bool take_number(const char **text, int digits, int most, int *number)
{
	*number = 0;
	for (; digits; digits--, (*text)++) {
		if (!isdigit((unsigned char)**text))
			return false;
		*number = *number * 10 + (**text - '0');
	}
	return *number <= most;
}

static bool take_character(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

/* Parses a time zone at the end of @text: sets its distance from UTC in seconds. */
static bool parse_zone(const char *text, long *seconds)
{
	int sign = *text == '-' ? -1 : 1, hours = 0, minutes = 0;

	*seconds = 0;
	if (strcmp(text, "Z") == 0)
		return true;
	if (*text != '+' && *text != '-')
		return false;
	text++;
	if (!take_number(&text, 2, 23, &hours))
		return false;
	take_character(&text, ':');
	if (!take_number(&text, 2, 59, &minutes) || *text)
		return false;
	*seconds = sign * (hours * 3600L + minutes * 60L);
	return true;
}

/* Takes HH:MM[:SS[.FRACTION]] off the start of *@text; @ns is set to the fraction. */
static bool take_clock(const char **text, struct tm *tm, uint64_t *ns)
{
	*ns = 0;
	if (!take_number(text, 2, 23, &tm->tm_hour) || !take_character(text, ':') ||
	    !take_number(text, 2, 59, &tm->tm_min))
		return false;
	if (!take_character(text, ':'))
		return true;
	if (!take_number(text, 2, 59, &tm->tm_sec))
		return false;
	if (!take_character(text, '.'))
		return true;
	if (!isdigit((unsigned char)**text))
		return false;
	for (uint64_t unit = NS_PER_S / 10; isdigit((unsigned char)**text); (*text)++) {
		*ns += unit * (uint64_t)(**text - '0');
		unit /= 10;
	}
	return true;
}

static bool take_date(const char **text, struct tm *tm)
{
	if (!take_number(text, 4, 2500, &tm->tm_year) || !take_character(text, '-') ||
	    !take_number(text, 2, 12, &tm->tm_mon) || !take_character(text, '-') ||
	    !take_number(text, 2, 31, &tm->tm_mday) || !take_character(text, 'T') ||
	    tm->tm_year < 1970 || !tm->tm_mon || !tm->tm_mday)
		return false;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	return true;
}

static int parse_date(const char *text, struct window_end *end)
{
	struct tm tm = {.tm_isdst = -1}, asked;
	uint64_t fraction;
	time_t seconds;
	long zone = 0;

	if (!take_date(&text, &tm) || !take_clock(&text, &tm, &fraction) ||
	    (*text && !parse_zone(text, &zone)))
		return -1;
	asked = tm;
	seconds = *text ? timegm(&tm) - zone : mktime(&tm);
	/* mktime() turns February 30 into a day in March. */
	if (seconds < 0 || tm.tm_mon != asked.tm_mon || tm.tm_mday != asked.tm_mday)
		return -1;
	end->unit = WINDOW_DATE;
	end->value = (uint64_t)seconds * NS_PER_S + fraction;
	return 0;
}

static int parse_clock(const char *text, struct window_end *end)
{
	struct tm tm = {0};
	uint64_t fraction;

	if (!take_clock(&text, &tm, &fraction) || *text)
		return -1;
	end->unit = WINDOW_CLOCK;
	end->value = (uint64_t)(tm.tm_hour * 3600 + tm.tm_min * 60 + tm.tm_sec) *
			     NS_PER_S +
		     fraction;
	return 0;
}

static int parse_end(const char *text, size_t length, struct window_end *end)
{
	char copy[64];

	*end = (struct window_end){.given = length > 0};
	if (!length)
		return 0;
	if (length >= sizeof(copy))
		return -1;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	if (strchr(copy, ':'))
		return strchr(copy, 'T') ? parse_date(copy, end) : parse_clock(copy, end);
	if (copy[length - 1] == '%') {
		end->unit = WINDOW_PERCENT;
		copy[length - 1] = 0;
	}
	if (parse_billionths(copy, end->unit == WINDOW_PERCENT ? 101 : MAX_SECOND,
			     &end->value) < 0)
		return -1;
	return end->unit == WINDOW_PERCENT && end->value > WHOLE ? -1 : 0;
}

/* Whether there is nothing between two ends, whatever the recording. */
static bool is_empty(const struct window *window)
{
	const struct window_end *from = &window->from, *to = &window->to;

	if (!from->given || !to->given)
		return !from->given && !to->given;
	if (from->unit != to->unit)
		return false;
	/* Times of day may be of two different days. */
	return from->unit == WINDOW_CLOCK ? from->value == to->value
					  : from->value >= to->value;
}

int window_parse(const char *text, struct window *window)
{
	size_t length = strcspn(text, ",");
	struct window parsed;

	if (text[length] != ',' || parse_end(text, length, &parsed.from) < 0 ||
	    parse_end(text + length + 1, strlen(text + length + 1), &parsed.to) < 0 ||
	    is_empty(&parsed))
		return -1;
	*window = parsed;
	return 0;
}

static bool is_clock(const struct window_end *end)
{
	return end->given && end->unit == WINDOW_CLOCK;
}

bool window_needs_length(const struct window *window)
{
	return window->from.unit == WINDOW_PERCENT || window->to.unit == WINDOW_PERCENT ||
	       (is_clock(&window->from) && !window->to.given);
}

/* Returns the time of day @clock on the day that is @days after @date; times in ns. */
static uint64_t on_day(uint64_t date, int days, uint64_t clock)
{
	time_t seconds = (time_t)(date / NS_PER_S);
	struct tm tm;

	tzset(); /* localtime_r() is not required to call it */
	if (!localtime_r(&seconds, &tm))
		return 0;
	tm.tm_mday += days;
	tm.tm_hour = (int)(clock / NS_PER_S / 3600);
	tm.tm_min = (int)(clock / NS_PER_S / 60 % 60);
	tm.tm_sec = (int)(clock / NS_PER_S % 60);
	tm.tm_isdst = -1;
	seconds = mktime(&tm);
	return seconds < 0 ? 0 : (uint64_t)seconds * NS_PER_S + clock % NS_PER_S;
}

static uint64_t first_after(uint64_t date, uint64_t clock)
{
	uint64_t today = on_day(date, 0, clock);

	return today > date ? today : on_day(date, 1, clock);
}

static uint64_t last_before(uint64_t date, uint64_t clock)
{
	uint64_t today = on_day(date, 0, clock);

	return today < date ? today : on_day(date, -1, clock);
}

/* Returns the sum, or the highest value if it would be larger. */
static uint64_t sum_of(uint64_t a, uint64_t b)
{
	return b < UINT64_MAX - a ? a + b : UINT64_MAX;
}

/* Returns the time from the recording's start to @date, in ns; 0 if @date is earlier. */
static uint64_t offset_of(uint64_t date, const struct window_span *span)
{
	return date > span->wall ? date - span->wall : 0;
}

/* Returns the time from the recording's start to an end that is not a time of day, in ns.
 */
static uint64_t distance_of(const struct window_end *end, const struct window_span *span)
{
	if (end->unit == WINDOW_PERCENT)
		return (uint64_t)((unsigned __int128)span->length * end->value / WHOLE);
	return end->unit == WINDOW_DATE ? offset_of(end->value, span) : end->value;
}

static bool needs_wall(const struct window_end *end)
{
	return end->given && (end->unit == WINDOW_CLOCK || end->unit == WINDOW_DATE);
}

int window_place(const struct window *window, const struct window_span *span,
		 uint64_t *from, uint64_t *to)
{
	const struct window_end *first = &window->from, *last = &window->to;
	bool is_end = last->unit == WINDOW_PERCENT && last->value == WHOLE;
	uint64_t since = 0, until = span->length; /* from the recording's start */

	if (!span->wall && (needs_wall(first) || needs_wall(last)))
		return -1;
	if (first->given && !is_clock(first))
		since = distance_of(first, span);
	if (is_clock(last))
		until = offset_of(first_after(sum_of(span->wall, since), last->value),
				  span);
	else if (last->given)
		until = distance_of(last, span);
	if (is_clock(first))
		since = offset_of(last_before(sum_of(span->wall, until), first->value),
				  span);
	*from = since ? sum_of(span->start, since) : 0;
	*to = last->given && !is_end ? sum_of(span->start, until) : UINT64_MAX;
	return 0;
}
