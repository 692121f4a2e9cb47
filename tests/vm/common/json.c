// SPDX-License-Identifier: GPL-2.0-only
#include "json.h"

#include <criterion/criterion.h>
#include <stdio.h>

json_t *json_from(const char *command, int expected)
{
	FILE *pipe = popen(command, "r");
	json_error_t error;
	json_t *value;
	int status;

	cr_assert_not_null(pipe);
	value = json_loadf(pipe, JSON_DISABLE_EOF_CHECK, &error);
	while (fgetc(pipe) != EOF)
		;
	status = pclose(pipe);
	cr_assert_eq(status, expected << 8, "%s: status %d", command, status);
	cr_assert_not_null(value, "%s: %s", command, error.text);
	return value;
}

double json_number_of(json_t *object, const char *key)
{
	json_t *value = json_object_get(object, key);

	cr_assert(json_is_number(value), "%s", key);
	return json_number_value(value);
}
