// SPDX-License-Identifier: GPL-2.0-only
/*
 * For a guest that was booted with the NMI watchdog on, as many machines are: our
 * events are refused with the remedy, which works.
 */
#include "module.h"
#include "nmis.h"

#define N		100000ull
#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"

#define ALWAYS	"somebody else has the PMU; it is taken with the first event, or when always is written to /sys/module/pmuctl/parameters/claim"

/* A module that is to have the PMU from the start is of use all the same if it cannot. */
Test(own_booted, a_module_that_is_to_have_it_always)
{
	int log = log_open();

	cr_assert_eq(module_unload(), 0);
	cr_assert_eq(module_load_with(MODULE_PARAMETERS " claim=always"), 0);
	cr_expect_eq(log_count(log, ALWAYS), 1);
	cr_expect_neq(module_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	cr_expect_eq(raw_write_file(RAW_CLAIM, "always"), -EBUSY);

	cr_assert_eq(raw_write_file(WATCHDOG, "0"), 0);
	cr_expect_eq(raw_write_file(RAW_CLAIM, "always"), 0);
	cr_expect_eq(module_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	cr_expect_eq(raw_write_file(RAW_CLAIM, "anyone"), 0);
	cr_expect_neq(module_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	cr_assert_eq(raw_write_file(WATCHDOG, "1"), 0);
	cr_expect_eq(log_count(log, ALWAYS), 0);
	close(log);
}

Test(own_booted, the_remedy_for_the_watchdog_works)
{
	struct perf_event_attr attr = instructions_u();
	unsigned int round;
	char state = 0;
	int fd, file;

	file = open(WATCHDOG, O_RDWR | O_CLOEXEC);
	cr_assert(file >= 0 && read(file, &state, 1) == 1);
	cr_assert_eq(state, '1', "this guest is to be booted with nmi_watchdog=1");
	for (round = 0; round < 3; round++) {
		cr_expect_eq(event_try(attr), -EBUSY);
		cr_expect_eq(event_why.code, PMUCTL_WHY_PMU_BUSY);
		cr_expect_not_null(strstr(event_why.sentence, WATCHDOG + 10), "%s",
				   event_why.sentence);

		cr_assert_eq(pwrite(file, "0", 1, 0), 1);
		attr.disabled = 1;
		fd = event_open(attr);
		bracket(fd, N);
		cr_expect_eq(event_value(fd), bracket_instructions(N));
		close(fd);
		cr_assert_eq(raw_give_back(), 0);
		cr_assert_eq(pwrite(file, "1", 1, 0), 1);
	}
	close(file);
}
