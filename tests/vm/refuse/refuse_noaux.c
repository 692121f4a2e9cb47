// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU that cannot trace says so. For --cpu intel.
 */
#include "refusal.h"

Test(refuse_noaux, each_driver_is_listed_with_its_reason)
{
	static const char *const reasons[][2] = {
		{ "intel_pt", "this CPU has no Intel Processor Trace, or the hypervisor hides it" },
		{ "intel_bts", "this CPU has no Branch Trace Store in the 64-bit format, or the hypervisor hides it" },
	};

	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(reasons); i++) {
		struct pmuctl_driver driver = { .size = sizeof(driver), .index = i };
		char path[60];
		union raw_attr a;

		cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), 0);
		cr_assert_str_eq(driver.name, reasons[i][0]);
		cr_assert_str_eq(driver.reason, reasons[i][1]);
		cr_assert_eq(driver.config, 0);
		a = raw_attr(driver.type, 0);
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_AUX_NONE, "attr.type",
			      "this machine has no %s events: %s", driver.name, driver.reason);
		snprintf(path, sizeof(path), "/sys/class/misc/pmuctl/%s", driver.name);
		cr_assert_neq(access(path, F_OK), 0);
	}
	cr_assert_not(raw_info().features & PMUCTL_FEATURE_AUX);
}
