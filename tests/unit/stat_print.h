/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of what "pmuctl stat" prints: rows, and what is printed of them.
 */
#ifndef TESTS_UNIT_STAT_PRINT_H
#define TESTS_UNIT_STAT_PRINT_H

#include <criterion/criterion.h>

#include "../../tools/stat/stat.h"

static inline struct stat_row hw(char *name, uint64_t config, uint64_t value)
{
	return (struct stat_row){
		.name = name,
		.attr = { .type = PERF_TYPE_HARDWARE, .config = config },
		.cpu = ROW_ALL_TARGETS,
		.value = value, .enabled = 1000, .running = 1000,
	};
}

/* What a print function writes; to be freed. */
static inline char *printed(const struct stat_result *result, char form,
		     const char *separator)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	if (form == 't')
		print_text(out, result);
	else if (form == 'c')
		print_csv(out, result, separator);
	else if (form == 'm')
		cr_assert_eq(print_metric_only(out, result, separator), 0);
	else
		cr_assert_eq(print_json(out, result), 0);
	fclose(out);
	return text;
}

#endif /* TESTS_UNIT_STAT_PRINT_H */
