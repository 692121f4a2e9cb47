// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUs without global control and status: AMD's before PerfMonV2, and version 1 of
 * Intel's. Each counter is started and stopped by the enable bit of its own event
 * select, and has overflowed if its raw value is less than when it was last looked at.
 *
 * Counters start and stop one after the other, always in the same order and by the same
 * instructions for each. So all of them count for equally long, each one a few
 * instructions of this code later than the one before; that concerns only those that
 * count the kernel.
 *
 * The NMI may come in the middle of hwpmu_noglobal_enable_only(). @counting never lacks a
 * counter that counts, so the NMI can stop all, and it sets it to what it leaves behind.
 * What is interrupted goes on with its writes; if the NMI has changed what is wanted,
 * hwpmu_write_enabled() notices and does it again.
 *
 * An NMI of ours must find a counter that has overflowed, or it is nobody's. So a counter
 * that overflows while it is being stopped waits for its NMI, which is on its way, before
 * it is folded: hwpmu_noglobal_settle().
 */
#include <linux/delay.h>

#include "pmu/private.h"

/* How long an NMI may be on its way, in microseconds; not known to be more than a few */
#define NMI_LATENCY	50

void hwpmu_noglobal_enable_only(struct hwpmu_cpu *cpu, u64 counters)
{
	u64 left = READ_ONCE(cpu->counting) ^ counters;

	this_cpu_or(hwpmu_cpu.counting, counters);
	for (; left; left &= left - 1) {
		unsigned int i = __ffs64(left);
		u64 enable = (counters >> i & 1) * HWPMU_EVTSEL_EN;

		/* Without a branch, to take equally long in both cases */
		hwpmu_regs_write_evtsel(i, (cpu->evtsel[i] & ~HWPMU_EVTSEL_EN) | enable);
	}
	/* An NMI may have come in between: see the top of the file. */
	this_cpu_or(hwpmu_cpu.counting, counters);
	this_cpu_and(hwpmu_cpu.counting, counters);
}

static bool has_wrapped(const struct hwpmu_counter *c)
{
	return hwpmu_regs_read_counter(c->index) < READ_ONCE(c->prev);
}

u64 hwpmu_noglobal_overflowed(struct hwpmu_cpu *cpu)
{
	u64 left, overflowed = 0;

	for (left = hwpmu_the_caps.counters & ~READ_ONCE(cpu->seen); left;
	     left &= left - 1) {
		const struct hwpmu_counter *c = READ_ONCE(cpu->active[__ffs64(left)]);

		if (c && has_wrapped(c))
			overflowed |= left & -left;
	}
	return overflowed;
}

static bool is_settled(struct hwpmu_cpu *cpu, u64 counters)
{
	u64 left = counters & ~READ_ONCE(cpu->seen);

	for (; left; left &= left - 1)
		if (has_wrapped(cpu->active[__ffs64(left)]))
			return false;
	return true;
}

void hwpmu_noglobal_settle(struct hwpmu_cpu *cpu, u64 counters)
{
	unsigned int i;

	for (i = 0; i < NMI_LATENCY && !is_settled(cpu, counters); i++)
		udelay(1);
	/* If it has not come, one NMI stood for two overflows, or it is later than that. */
	if (i == NMI_LATENCY)
		hwpmu_expect_late_nmi();
	this_cpu_and(hwpmu_cpu.seen, ~counters);
}
