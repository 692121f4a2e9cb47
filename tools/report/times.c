// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parts of the time of a recording, as perf's --time has them: "START,STOP" in seconds,
 * several of them with spaces between; or parts of the whole, with commas between:
 * "10%-40%", or "10%/2", which is the second tenth.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

#define SECOND 1000000000ULL

/* As ten tenths may add up to it */
#define WHOLE 1.000000001

/* No command line has more. */
#define TIMES_MAX 1024

static int add(struct filter_ranges *times, uint64_t first, uint64_t last)
{
	struct filter_range *list;

	if (first > last)
		return -EINVAL;
	if (times->count == TIMES_MAX)
		return -E2BIG;
	list = reallocarray(times->list, times->count + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	times->list = list;
	list[times->count++] = (struct filter_range){ first, last };
	return 0;
}

/* "12.5" as nanoseconds; behind the ninth digit nothing counts. */
static bool parse_time(const char **text, uint64_t *time)
{
	uint64_t seconds = 0, part = 0, unit = SECOND;
	const char *at = *text;

	if (!isdigit((unsigned char)*at))
		return false;
	for (; isdigit((unsigned char)*at); at++) {
		if (seconds > UINT64_MAX / SECOND / 10 - 1)
			return false;
		seconds = seconds * 10 + (uint64_t)(*at - '0');
	}
	if (*at == '.')
		for (at++; isdigit((unsigned char)*at); at++) {
			unit /= 10;
			part += (uint64_t)(*at - '0') * unit;
		}
	*time = seconds * SECOND + part;
	*text = at;
	return true;
}

/* "START,STOP", of which either may be left out */
static int parse_stamps(struct filter_ranges *times, const char *text)
{
	while (*text) {
		uint64_t first = 0, last = UINT64_MAX;
		int ret;

		if (*text != ',' && !parse_time(&text, &first))
			return -EINVAL;
		if (*text == ',')
			text++;
		if (*text && *text != ' ' && !parse_time(&text, &last))
			return -EINVAL;
		if (*text && *text != ' ')
			return -EINVAL;
		ret = add(times, first, last);
		if (ret < 0)
			return ret;
		text += strspn(text, " ");
	}
	return 0;
}

static bool parse_percent(const char **text, double *part)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*part = strtod(*text, &end) / 100;
	if (*end != '%' || !(*part <= 1))
		return false;
	*text = end + 1;
	return true;
}

/* What is in two parts that touch is only in the later one. */
static int add_part(struct filter_ranges *times, double from, double to, uint64_t first,
		    uint64_t last)
{
	double total = (double)(last - first);
	uint64_t begin, end;

	if (!(from <= to && to <= WHOLE))
		return -EINVAL;
	begin = first + (uint64_t)(from * total + 0.5);
	end = first + (uint64_t)(to * total + 0.5);
	end = end > last ? last : end;
	return add(times, begin, end > begin && end != last ? end - 1 : end);
}

static int parse_parts(struct filter_ranges *times, const char *text, uint64_t first,
		       uint64_t last)
{
	for (;;) {
		double from, to;
		char *end;
		int ret;

		if (!parse_percent(&text, &from))
			return -EINVAL;
		if (*text == '-') {
			text++;
			if (!parse_percent(&text, &to))
				return -EINVAL;
		} else if (*text == '/' && isdigit((unsigned char)text[1])) {
			unsigned long n = strtoul(text + 1, &end, 10);

			if (n < 1 || n > 100000)
				return -EINVAL;
			to = from * (double)n;
			from = to - from;
			text = end;
		} else {
			to = from;
			from = 0;
		}
		ret = add_part(times, from, to, first, last);
		if (ret < 0 || !*text)
			return ret;
		if (*text++ != ',')
			return -EINVAL;
	}
}

/**
 * times_parse() - understand parts of the time
 * @times: added to.
 * @text: as the user wrote it.
 * @first: time of the first sample, in nanoseconds.
 * @last: of the last one.
 *
 * Return: 0, -EINVAL, -E2BIG, -ENOMEM.
 */
int times_parse(struct filter_ranges *times, const char *text, uint64_t first, uint64_t last)
{
	if (!*text)
		return -EINVAL;
	if (strchr(text, '%'))
		return parse_parts(times, text, first, last);
	return parse_stamps(times, text);
}
