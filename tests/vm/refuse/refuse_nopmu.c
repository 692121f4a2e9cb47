// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine without a PMU that the module can drive: hardware events say why not; all
 * else is as everywhere. For guests with "--cpu none".
 */
#include "refusal.h"

static const char *expected_reason(void)
{
	return "this is a virtual machine whose hypervisor offers no PMU: enable it there (QEMU/KVM: -cpu host,pmu=on)";
}

Test(refuse_nopmu, info_has_the_reason)
{
	struct pmuctl_info info = raw_info();

	cr_assert_eq(info.pmu_kind, PMUCTL_PMU_NONE);
	cr_assert_str_eq(info.pmu_reason, expected_reason());
	cr_assert_str_empty(info.pmu_name);
}

Test(refuse_nopmu, hardware_events_have_the_reason)
{
	const union raw_attr events[] = {
		raw_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS),
		raw_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
		raw_attr(PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D),
		raw_attr(PERF_TYPE_RAW, 0xc0),
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(events); i++) {
		check_refused(OPEN(events[i]), ENOENT, PMUCTL_WHY_NO_PMU, "attr.type",
			      "hardware events cannot be counted: %s", expected_reason());
		check_refused(OPEN(events[i], -1, 0), ENOENT, PMUCTL_WHY_NO_PMU, "attr.type",
			      "hardware events cannot be counted: %s", expected_reason());
	}
}

/* There is nothing to take at once, and what was set stays. */
Test(refuse_nopmu, nobody_has_it_always)
{
	char claim[16] = "";
	int fd;

	cr_assert_eq(raw_write_file(RAW_CLAIM, "always"), -ENOENT);
	fd = open(RAW_CLAIM, O_RDONLY | O_CLOEXEC);
	cr_assert_gt(read(fd, claim, sizeof(claim) - 1), 0);
	cr_assert_str_eq(claim, "anyone\n");
}

Test(refuse_nopmu, mistakes_of_the_caller_are_told_first)
{
	union raw_attr a = raw_instructions();

	check_refusals(
		{ "the pid", OPEN(a, -2), ESRCH, PMUCTL_WHY_PID_INVALID, "pid",
		  "pid -2 is not a target: use 0 for the calling task, a thread id, or -1 with a cpu" },
		{ "a flag", OPEN(RAW_ATTR(.sigtrap = 1)), EINVAL, PMUCTL_WHY_ATTR_UNSUPPORTED,
		  "attr.sigtrap", "attr.sigtrap is not supported by this version of pmuctl: leave it 0" }
	);
}
