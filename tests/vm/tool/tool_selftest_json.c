// SPDX-License-Identifier: GPL-2.0-only
/* The report of "pmuctl selftest" as programs read it, in a guest with the driver. */
/* libs: -ljansson */
#include "json.h"

#include <criterion/criterion.h>
#include <string.h>

/* A healthy machine, with figures of each check that was made */
Test(tool_selftest_json, passes_here)
{
	json_t *all = json_from("pmuctl selftest -j", 0);
	json_t *machine = json_object_get(all, "machine");
	json_t *checks = json_object_get(all, "checks");
	json_t *check;
	size_t i;

	cr_assert_eq(json_number_of(all, "format"), 1);
	cr_assert(json_is_true(json_object_get(all, "passed")));
	cr_assert_gt(json_number_of(json_object_get(machine, "cpu"), "family"), 5);
	cr_assert_geq(json_array_size(checks), 2);
	json_array_foreach(checks, i, check) {
		const char *verdict = json_string_value(json_object_get(check, "verdict"));

		cr_expect_eq(json_array_size(json_object_get(check, "faults")), 0);
		if (!strcmp(verdict, "skipped"))
			continue;
		cr_expect_str_eq(verdict, "ok");
		cr_expect_gt(json_array_size(json_object_get(check, "figures")), 0);
	}
	json_decref(all);
}
