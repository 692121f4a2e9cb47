// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of numbers on the command line: "12,13" and "0,2-3".
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include "stat/stat.h"

/* A wider range is a slip of the finger, not a machine. */
#define RANGE_MAX 65536

static int number(const char **at)
{
	long value = 0;

	if (!isdigit((unsigned char)**at))
		return -EINVAL;
	while (isdigit((unsigned char)**at)) {
		value = value * 10 + (*(*at)++ - '0');
		if (value > INT_MAX)
			return -EINVAL;
	}
	return (int)value;
}

static int append(struct int_list *list, int first, int last)
{
	size_t more = (size_t)(last - first) + 1;
	int *new = reallocarray(list->list, list->count + more, sizeof(*new));

	if (!new)
		return -ENOMEM;
	list->list = new;
	for (size_t i = 0; i < more; i++)
		new[list->count++] = first + (int)i;
	return 0;
}

/* A number, and behind it where it is in the list */
static int by_number(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* Each number is meant once: it stays where it is first. */
static int drop_repeated(struct int_list *list)
{
	uint64_t *sorted = calloc(list->count, sizeof(*sorted));
	size_t left = 0;

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++)
		sorted[i] = (uint64_t)list->list[i] << 32 | i;
	qsort(sorted, list->count, sizeof(*sorted), by_number);
	for (size_t i = 1; i < list->count; i++)
		if (sorted[i] >> 32 == sorted[i - 1] >> 32)
			list->list[(uint32_t)sorted[i]] = -1;
	for (size_t i = 0; i < list->count; i++)
		if (list->list[i] >= 0)
			list->list[left++] = list->list[i];
	list->count = left;
	free(sorted);
	return 0;
}

/**
 * int_list_parse() - understand a list of numbers
 * @text: the list.
 * @ranges: "2-5" is allowed.
 * @list: filled, each number once; to be freed with int_list_free(), also after an error.
 * @position: where it went wrong, from 0.
 *
 * Return: 0, -EINVAL, -ENOMEM.
 */
int int_list_parse(const char *text, bool ranges, struct int_list *list,
		   size_t *position)
{
	const char *at = text;
	int ret = 0;

	list->count = 0;
	list->list = NULL;
	for (;;) {
		const char *start = at;
		int first = number(&at), last = first;

		if (first >= 0 && ranges && *at == '-') {
			at++;
			last = number(&at);
		}
		if (first < 0 || last < first || last - first >= RANGE_MAX) {
			*position = (size_t)(start - text);
			return -EINVAL;
		}
		ret = append(list, first, last);
		if (ret < 0)
			return ret;
		if (!*at)
			return drop_repeated(list);
		if (*at != ',') {
			*position = (size_t)(at - text);
			return -EINVAL;
		}
		at++;
	}
}

void int_list_free(struct int_list *list)
{
	free(list->list);
	list->list = NULL;
	list->count = 0;
}
