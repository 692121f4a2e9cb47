// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers of the PMU: those parts of regs.h that are not on the hot path.
 */
#include <asm/nmi.h>

#include "pmu/regs.h"

struct hwpmu_regs hwpmu_regs __ro_after_init;
DEFINE_STATIC_KEY_TRUE(hwpmu_has_global);

static u32 evtsel_msr(unsigned int index)
{
	return hwpmu_regs.evtsel + (index << hwpmu_regs.shift);
}

static u32 counter_msr(unsigned int index)
{
	return hwpmu_regs.counter + (index << hwpmu_regs.shift);
}

/* Does a register that nobody uses hold what is written to it? Some hypervisors ignore
 * writes. Not all can be written beyond 32 bits.
 */
static bool holds(u32 msr, u64 old)
{
	u64 new = (u32)(old ^ 0xffff), got;
	bool good;

	good = !wrmsrq_safe(msr, new) && !rdmsrq_safe(msr, &got) &&
		(u32)got == (u32)new;
	wrmsrq_safe(msr, old);
	return good;
}

static bool probe_general(unsigned int index)
{
	u64 evtsel, counter;
	bool good;

	if (rdmsrq_safe(evtsel_msr(index), &evtsel) ||
	    rdmsrq_safe(counter_msr(index), &counter))
		return false;
	/* What is in use works. */
	if ((evtsel & HWPMU_EVTSEL_EN) || !reserve_evntsel_nmi(evtsel_msr(index)))
		return true;
	good = holds(hwpmu_regs.write + (index << hwpmu_regs.shift), counter) &&
		holds(evtsel_msr(index), evtsel);
	release_evntsel_nmi(evtsel_msr(index));
	return good;
}

/* The kernel's reservation knows no fixed counters: who has the event selects has them. */
static bool probe_fixed(unsigned int index)
{
	u32 msr = MSR_CORE_PERF_FIXED_CTR0 + index;
	u64 ctrl, counter;
	bool good;

	if (rdmsrq_safe(MSR_CORE_PERF_FIXED_CTR_CTRL, &ctrl) ||
	    rdmsrq_safe(msr, &counter))
		return false;
	if ((ctrl >> 4 * index & 0xf) || !reserve_evntsel_nmi(evtsel_msr(0)))
		return true;
	good = holds(msr, counter);
	release_evntsel_nmi(evtsel_msr(0));
	return good;
}

static bool probe_global(void)
{
	u64 value;

	return !rdmsrq_safe(hwpmu_regs.global_ctrl, &value) &&
		!rdmsrq_safe(hwpmu_regs.global_status, &value);
}

/* General counters are numbered without gaps, so they end at the first that fails. */
static void probe_counters(struct hwpmu_caps *caps)
{
	u64 left;

	for (left = caps->counters; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (i < HWPMU_FIXED_BASE ? probe_general(i) :
					   probe_fixed(i - HWPMU_FIXED_BASE))
			continue;
		if (i < HWPMU_FIXED_BASE) {
			left &= ~GENMASK_ULL(HWPMU_FIXED_BASE - 1, i + 1);
			caps->counters &= ~GENMASK_ULL(HWPMU_FIXED_BASE - 1, i);
		} else {
			caps->counters &= ~BIT_ULL(i);
		}
	}
	caps->nr_general = hweight64(caps->counters & GENMASK_ULL(HWPMU_FIXED_BASE - 1, 0));
	caps->nr_fixed = hweight64(caps->counters >> HWPMU_FIXED_BASE);
}

bool hwpmu_regs_probe(struct hwpmu_caps *caps)
{
	if (caps->global && !probe_global())
		return false;
	probe_counters(caps);
	return caps->nr_general;
}

bool __init hwpmu_regs_init(struct hwpmu_caps *caps)
{
	if (caps->vendor == HWPMU_VENDOR_AMD)
		hwpmu_amd_regs(caps);
	else
		hwpmu_intel_regs(caps);

	if (!hwpmu_regs_probe(caps))
		return false;
	if (!caps->global)
		static_branch_disable(&hwpmu_has_global);
	return true;
}

void hwpmu_regs_write_counter(const struct hwpmu_caps *caps, unsigned int index,
			      u64 value)
{
	if (index >= HWPMU_FIXED_BASE) {
		value &= GENMASK_ULL(caps->fixed_width - 1, 0);
		wrmsrq(MSR_CORE_PERF_FIXED_CTR0 + index - HWPMU_FIXED_BASE,
		       value);
		return;
	}
	if (caps->full_width)
		value &= GENMASK_ULL(caps->general_width - 1, 0);
	else /* Sign-extends bit 31: the caller's value fits in 32 bits. */
		value = (u32)value;
	wrmsrq(hwpmu_regs.write + (index << hwpmu_regs.shift), value);
}

u64 hwpmu_regs_read_enabled(const struct hwpmu_caps *caps)
{
	u64 left, value, enabled = 0;

	if (caps->global) {
		rdmsrq(hwpmu_regs.global_ctrl, value);
		return value;
	}
	for (left = caps->counters; left; left &= left - 1) {
		rdmsrq(evtsel_msr(__ffs64(left)), value);
		if (value & HWPMU_EVTSEL_EN)
			enabled |= left & -left;
	}
	return enabled;
}

static void clear_status(const struct hwpmu_caps *caps)
{
	if (caps->global)
		hwpmu_regs_ack_status(hwpmu_regs.clearable & hwpmu_regs_read_status());
}

/* Nothing may stop counters but we. Return: what it was. */
static u64 forbid_freezing(void)
{
	u64 ctl;

	if (!hwpmu_regs.freeze)
		return 0;
	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	if (ctl & hwpmu_regs.freeze)
		wrmsrq(MSR_IA32_DEBUGCTLMSR, ctl & ~hwpmu_regs.freeze);
	return ctl & hwpmu_regs.freeze;
}

static void restore_freezing(u64 freeze)
{
	u64 ctl;

	if (!freeze)
		return;
	rdmsrq(MSR_IA32_DEBUGCTLMSR, ctl);
	wrmsrq(MSR_IA32_DEBUGCTLMSR, ctl | freeze);
}

void hwpmu_regs_take(const struct hwpmu_caps *caps, struct hwpmu_saved *saved)
{
	u64 left;

	saved->freeze = forbid_freezing();
	if (caps->global) {
		rdmsrq(hwpmu_regs.global_ctrl, saved->global_ctrl);
		hwpmu_regs_enable_only(0);
	}
	if (caps->nr_fixed) {
		rdmsrq(MSR_CORE_PERF_FIXED_CTR_CTRL, saved->fixed_ctrl);
		hwpmu_regs_write_fixed_ctrl(0);
	}
	for (left = caps->counters; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (i < HWPMU_FIXED_BASE) {
			rdmsrq(evtsel_msr(i), saved->evtsel[i]);
			hwpmu_regs_write_evtsel(i, 0);
		}
		saved->counter[i] = hwpmu_regs_read_counter(i);
		hwpmu_regs_write_counter(caps, i, 0);
	}
	clear_status(caps);
}

void hwpmu_regs_clear(const struct hwpmu_caps *caps)
{
	u64 left;

	if (caps->global)
		hwpmu_regs_enable_only(0);
	for (left = caps->counters; left; left &= left - 1)
		if (__ffs64(left) < HWPMU_FIXED_BASE)
			hwpmu_regs_write_evtsel(__ffs64(left), 0);
	if (caps->nr_fixed)
		hwpmu_regs_write_fixed_ctrl(0);
}

/* The event selects last: without global control they start the counters. */
void hwpmu_regs_give_back(const struct hwpmu_caps *caps,
			  const struct hwpmu_saved *saved)
{
	u64 left;

	if (caps->global)
		hwpmu_regs_enable_only(0);
	for (left = caps->counters; left; left &= left - 1) {
		unsigned int i = __ffs64(left);

		if (i < HWPMU_FIXED_BASE)
			hwpmu_regs_write_evtsel(i, 0);
		hwpmu_regs_write_counter(caps, i, saved->counter[i]);
		if (i < HWPMU_FIXED_BASE)
			hwpmu_regs_write_evtsel(i, saved->evtsel[i]);
	}
	clear_status(caps);
	restore_freezing(saved->freeze);
	if (caps->nr_fixed)
		hwpmu_regs_write_fixed_ctrl(saved->fixed_ctrl);
	if (caps->global)
		hwpmu_regs_enable_only(saved->global_ctrl);
}
