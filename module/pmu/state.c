// SPDX-License-Identifier: GPL-2.0-only
/*
 * The state of each CPU's PMU, and what all PMUs are: what the files of pmu/ share (private.h),
 * below all of them.
 */
#include <linux/cache.h>
#include <linux/module.h>

#include "pmu/private.h"

DEFINE_PER_CPU(struct hwpmu_cpu, hwpmu_cpu);
struct hwpmu_caps hwpmu_the_caps __ro_after_init;
const struct hwpmu_ops *hwpmu_core_ops __ro_after_init;
const char *hwpmu_no_pmu_reason __ro_after_init;

unsigned int hwpmu_late_nmi_ms = 100;
module_param_named(late_nmi_ms, hwpmu_late_nmi_ms, uint, 0644);
MODULE_PARM_DESC(late_nmi_ms,
		 "AMD: milliseconds after an overflow in which an NMI without one is taken for ours (default 100)");

const struct hwpmu_caps *hwpmu_caps(void)
{
	return &hwpmu_the_caps;
}

const char *hwpmu_reason(void)
{
	return hwpmu_no_pmu_reason;
}
