// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters that user space reads by itself: what its page says of them, the right to
 * use the instruction, and what else could be read with it.
 *
 * A reader adds the page's offset to the raw value, extended from its highest bit. That
 * is a number that grows without a jump as long as the raw value does not pass from
 * the lower half of its range to the upper one; so such a counter is kept in the
 * upper half (hwpmu_arm()), at whose end it overflows. It is set as perf's are, and the offset
 * is perf's: not only what the header of the page says of them is relied on.
 *
 * The instruction reads every counter of the CPU. What is left in those that nobody
 * uses is somebody else's, and is cleared before a program that may read comes.
 *
 * In-tree perf does so too, with counters that it has used once: in the middle of a
 * switch to a process that may read, once on every CPU, and not knowing that they are
 * ours now. Until that is over on a CPU, the core keeps counters off during such
 * switches (hwpmu_rdpmc_unsettled()).
 */
#include <asm/processor-flags.h>
#include <asm/special_insns.h>

#include "compat/pce.h"
#include "pmu/private.h"

static u64 sign_extend(u64 raw, unsigned int width)
{
	return (s64)(raw << (64 - width)) >> (64 - width);
}

static void write_offset(const struct hwpmu_counter *c)
{
	struct perf_event_mmap_page *page = c->user->userpage.page;
	u64 offset = c->count - c->user->base;

	if (c->running)
		offset -= sign_extend(c->prev, hwpmu_width(c->index));
	WRITE_ONCE(page->offset, offset);
}

static void write_index(const struct hwpmu_counter *c)
{
	struct perf_event_mmap_page *page = c->user->userpage.page;
	u32 index = 0;

	/* That of general counters while it is on none: readers may ask for it once, and before. */
	WRITE_ONCE(page->pmc_width, hwpmu_width(c->running ? c->index : 0));
	if (c->running)
		index = hwpmu_regs_number(c->index) + 1;
	WRITE_ONCE(page->index, index);
}

static void write_times(struct perf_event_mmap_page *page,
			const struct userpage_times *times)
{
	WRITE_ONCE(page->time_enabled, times->enabled);
	WRITE_ONCE(page->time_running, times->running);
	WRITE_ONCE(page->time_offset, times->offset);
	page->cap_user_time = times->ticking;
}

void hwpmu_rdpmc_write(struct hwpmu_counter *c, const struct userpage_times *times)
{
	struct userpage *up = &c->user->userpage;
	u32 seq;

	lockdep_assert_irqs_disabled();
	userpage_write_begin(up);
	write_index(c);
	write_times(up->page, times);
	do {
		seq = READ_ONCE(c->seq);
		barrier(); /* pairs with the NMI's on this CPU: seq first */
		write_offset(c);
		barrier();
	} while (seq != READ_ONCE(c->seq));
	userpage_write_end(up);
}

void hwpmu_rdpmc_overflow(struct hwpmu_counter *c)
{
	struct userpage *up = &c->user->userpage;

	if (userpage_is_written(up))
		return; /* hwpmu_rdpmc_write() does it again */
	userpage_write_begin(up);
	write_offset(c);
	userpage_write_end(up);
}

void hwpmu_rdpmc_hide(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);
	u64 left = cpu->used & ~cpu->enabled;

	lockdep_assert_irqs_disabled();
	if (!cpu->owned)
		return;
	for (; left; left &= left - 1)
		hwpmu_regs_write_counter(&hwpmu_the_caps, __ffs64(left), 0);
	cpu->used &= cpu->enabled;
}

void hwpmu_rdpmc_allow(bool allow)
{
	lockdep_assert_irqs_disabled();
	if (allow)
		hwpmu_rdpmc_hide();
	compat_pce_write(allow);
}

static bool is_allowed(void)
{
	return native_read_cr4() & X86_CR4_PCE;
}

bool hwpmu_rdpmc_unsettled(void)
{
	const struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	return cpu->owned && cpu->unsettled;
}

void hwpmu_rdpmc_settle(void)
{
	/* perf clears before it gives the right. */
	if (is_allowed())
		this_cpu_write(hwpmu_cpu.unsettled, false);
}
