// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of Intel's architectural PMU: those parts of intel.h that are not on the
 * hot path.
 */
#include "pmu/intel.h"

bool intel_probe(const struct hwpmu_caps *caps)
{
	u64 value;

	if (rdmsrl_safe(MSR_ARCH_PERFMON_EVENTSEL0, &value) ||
	    rdmsrl_safe(MSR_ARCH_PERFMON_PERFCTR0, &value) ||
	    rdmsrl_safe(MSR_CORE_PERF_GLOBAL_CTRL, &value) ||
	    rdmsrl_safe(MSR_CORE_PERF_GLOBAL_STATUS, &value))
		return false;
	return !caps->nr_fixed ||
		!rdmsrl_safe(MSR_CORE_PERF_FIXED_CTR_CTRL, &value);
}

void intel_write_counter(const struct hwpmu_caps *caps, unsigned int index,
			 u64 value)
{
	if (index >= HWPMU_FIXED_BASE) {
		value &= GENMASK_ULL(caps->fixed_width - 1, 0);
		wrmsrl(MSR_CORE_PERF_FIXED_CTR0 + index - HWPMU_FIXED_BASE,
		       value);
	} else if (caps->full_width) {
		value &= GENMASK_ULL(caps->general_width - 1, 0);
		wrmsrl(MSR_IA32_PMC0 + index, value);
	} else {
		/* Sign-extends bit 31: the caller's value fits in 32 bits. */
		wrmsrl(MSR_ARCH_PERFMON_PERFCTR0 + index, (u32)value);
	}
}

/* All bits that may be set in the status: those of existing counters */
static void clear_status(const struct hwpmu_caps *caps)
{
	intel_ack_status(caps->counters & intel_read_status());
}

void intel_take(const struct hwpmu_caps *caps, struct intel_saved *saved)
{
	u64 left;

	rdmsrl(MSR_CORE_PERF_GLOBAL_CTRL, saved->global_ctrl);
	intel_enable_only(0);
	if (caps->nr_fixed) {
		rdmsrl(MSR_CORE_PERF_FIXED_CTR_CTRL, saved->fixed_ctrl);
		intel_write_fixed_ctrl(0);
	}
	for (left = caps->counters; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (i < HWPMU_FIXED_BASE) {
			rdmsrl(MSR_ARCH_PERFMON_EVENTSEL0 + i, saved->evtsel[i]);
			intel_write_evtsel(i, 0);
		}
		saved->counter[i] = intel_read_counter(i);
		intel_write_counter(caps, i, 0);
	}
	clear_status(caps);
}

void intel_give_back(const struct hwpmu_caps *caps,
		     const struct intel_saved *saved)
{
	u64 left;

	intel_enable_only(0);
	for (left = caps->counters; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (i < HWPMU_FIXED_BASE)
			intel_write_evtsel(i, saved->evtsel[i]);
		intel_write_counter(caps, i, saved->counter[i]);
	}
	clear_status(caps);
	if (caps->nr_fixed)
		intel_write_fixed_ctrl(saved->fixed_ctrl);
	intel_enable_only(saved->global_ctrl);
}
