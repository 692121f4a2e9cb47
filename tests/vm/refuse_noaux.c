// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that cannot trace says so. For --cpu intel.
 */
#include "raw_check.h"

Test(refuse_noaux, the_driver_is_listed_with_its_reason)
{
	struct pmuctl_driver driver = { .size = sizeof(driver) };
	union raw_attr a;

	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), 0);
	cr_assert_str_eq(driver.name, "intel_pt");
	cr_assert_str_eq(driver.reason, "this CPU has no Intel Processor Trace, or the hypervisor hides it");
	cr_assert_eq(driver.config, 0);
	cr_assert_not(raw_info().features & PMUCTL_FEATURE_AUX);
	a = raw_attr(driver.type, 0);
	raw_check_refused(&a, 0, -1, 0, ENOENT, PMUCTL_WHY_AUX_NONE, "attr.type",
			  "this machine has no intel_pt events: %s", driver.reason);
	cr_assert_neq(access("/sys/class/misc/pmuctl/intel_pt", F_OK), 0);
}
