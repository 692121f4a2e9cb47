// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all tracing units have in common: looking for others who trace, on all CPUs. Process
 * context only.
 */
#include <linux/lockdep.h>
#include <linux/smp.h>

#include "pmu/hwtrace.h"

/**
 * struct look - for others
 * @unit: that they may use.
 * @found_on: a CPU on which one does; -1 if there is none.
 */
struct look {
	const struct hwtrace_unit *unit;
	int found_on;
};

static void look_here(void *info)
{
	struct look *look = info;

	if (look->unit->is_taken())
		WRITE_ONCE(look->found_on, smp_processor_id());
}

bool hwtrace_is_taken_by_others(const struct hwtrace_unit *unit)
{
	struct look look = { .unit = unit, .found_on = -1 };

	if (*unit->found_on >= 0)
		smp_call_function_single(*unit->found_on, look_here, &look, 1);
	if (look.found_on < 0)
		on_each_cpu(look_here, &look, 1);
	*unit->found_on = look.found_on;
	return look.found_on >= 0;
}
