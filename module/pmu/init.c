// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding out at load what the PMU is, and making all that needs it ready; and the reverse.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/smp.h>

#include "explain/explain.h"
#include "pmu/private.h"

int __init hwpmu_init(const struct hwpmu_ops *ops)
{
	struct hwpmu_cpuid id;
	int err;

	hwpmu_core_ops = ops;
	migrate_disable(); /* CPUs may differ */
	hwpmu_read_cpuid(&id);
	hwpmu_no_pmu_reason = hwpmu_cpuid_decode(&id, &hwpmu_the_caps);
	if (!hwpmu_no_pmu_reason && !hwpmu_regs_init(&hwpmu_the_caps)) {
		memset(&hwpmu_the_caps, 0, sizeof(hwpmu_the_caps));
		hwpmu_no_pmu_reason = PMUCTL_NO_PMU_MSR;
	}
	migrate_enable();
	if (hwpmu_no_pmu_reason) {
		pr_info("no hardware events: %s\n", hwpmu_no_pmu_reason);
		return 0;
	}
	if (hwpmu_the_caps.core_type)
		hwpmu_hybrid_init();

	err = hwpmu_owner_init();
	if (err)
		return err;
	err = hwpmu_nmi_init();
	if (err)
		hwpmu_owner_exit();
	return err;
}

void hwpmu_exit(void)
{
	if (hwpmu_no_pmu_reason)
		return;
	hwpmu_nmi_exit();
	hwpmu_owner_exit();
}
