// SPDX-License-Identifier: GPL-2.0-only
/*
 * With page table isolation there is no Branch Trace Store. For --cpu intel-bts with
 * mitigations=auto.
 */
#include "refusal.h"

Test(refuse_nobts, the_driver_is_listed_with_its_reason)
{
	struct pmuctl_driver driver = { .size = sizeof(driver), .index = 1 };
	union raw_attr a;

	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), 0);
	cr_assert_str_eq(driver.name, "intel_bts");
	cr_assert_str_eq(driver.reason, "page table isolation hides from user mode the memory that the CPU would write branches to: boot with nopti, if Meltdown is no danger here");
	a = raw_attr(driver.type, 0);
	check_refused(OPEN(a), ENOENT, PMUCTL_WHY_AUX_NONE, "attr.type",
		      "this machine has no intel_bts events: %s", driver.reason);
	/* The kernel alone is no better: its entry begins with the page tables of user mode. */
	a.attr.exclude_user = 1;
	a.attr.exclude_kernel = 0;
	check_refused(OPEN(a), ENOENT, PMUCTL_WHY_AUX_NONE, "attr.type",
		      "this machine has no intel_bts events: %s", driver.reason);
	cr_assert_neq(access("/sys/class/misc/pmuctl/intel_bts", F_OK), 0);
	cr_assert_eq(access("/sys/class/misc/pmuctl/intel_pt/type", F_OK), 0);
}
