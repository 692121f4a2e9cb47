// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overflow NMI. It claims what the global status shows of our counters, on CPUs whose
 * PMU is ours, and nothing else. Where there is no such register, it looks at each counter.
 *
 * Intel's processors mask LVTPC when they deliver the interrupt (SDM Vol. 3A, "Local
 * Vector Table"); it is written anew after the status has been acknowledged.
 * All counters stand still in between, so that nothing overflows unseen. An interrupt may also
 * come with no status at all: a masked LVTPC tells that it was one of the PMU's, too.
 *
 * AMD's do not mask it, and an interrupt may be some time on its way: when two overflows are
 * handled together, or one is found before its NMI has come, that may still come and find
 * nothing. One that comes soon enough after an overflow is taken for such a one, as perf does.
 *
 * What branches were taken is not noted from here on, until the counters start again (lbr.c).
 *
 * Branch Trace Store is in no status: it knows by itself whether it has a reason (bts.c).
 *
 * A status bit without an active counter is a late overflow of one that has been
 * stopped since: it was folded then, but the interrupt is ours all the same.
 *
 * Perf's own handler comes after ours, and while an event of its intel_pt is open anywhere it
 * does on each CPU, with each NMI, what it does with counters of its own: stops all, acknowledges
 * all of the status, and starts all again, or none if it has none. So from our look at the status
 * on nothing counts, until a second handler of ours, behind that one, starts what is to.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/nmi.h>
#include <linux/workqueue.h>

#include <asm/apic.h>
#include <asm/nmi.h>
#include <asm/tsc.h>

#include "pmu/bts.h"
#include "pmu/lbr.h"
#include "pmu/private.h"
#include "pmu/pt.h"

#define NMI_NAME	"pmuctl"
#define NMI_LAST_NAME	"pmuctl_last"
/* Overflows in a row, without leaving the handler, that are surely not real */
#define LOOPS_MAX	64

/* ---- A PMU whose overflows do not end ---- */

/*
 * It is tried again after a while, which doubles while that does not help.
 * @was_retried: and has not been stuck since.
 * @retried: when, in jiffies.
 * @wait: before that, in seconds.
 */
struct recovery {
	struct irq_work report;
	struct delayed_work retry;
	bool was_retried;
	unsigned long retried;
	unsigned int wait;
};

#define WAIT_S		10
#define WAIT_S_MAX	320U

static DEFINE_PER_CPU(struct recovery, recoveries);

/* Of its CPU, with IRQs off */
static void report_stuck(struct irq_work *work)
{
	struct recovery *r = container_of(work, struct recovery, report);

	if (r->was_retried && time_before(jiffies, r->retried + r->wait * HZ))
		r->wait = min(2 * r->wait, WAIT_S_MAX);
	else
		r->wait = WAIT_S;
	r->was_retried = false;
	pr_warn("CPU %d: counters overflow without end and are stopped; they are tried again in %u s, or when all hardware events have been closed\n",
		smp_processor_id(), r->wait);
	hwpmu_core_ops->stopped();
	mod_delayed_work_on(smp_processor_id(), system_percpu_wq, &r->retry, r->wait * HZ);
}

static void retry(struct work_struct *work)
{
	struct recovery *r = container_of(to_delayed_work(work), struct recovery, retry);

	/* If its CPU has gone offline since, this is another one; that one begins anew. */
	local_irq_disable();
	if (r == this_cpu_ptr(&recoveries)) {
		r->was_retried = true;
		r->retried = jiffies;
		hwpmu_cpu_retry();
	}
	local_irq_enable();
}

/* ---- The NMI ---- */

/* A period is over. What was counted beyond its end belongs to the next ones. */
static void end_period(struct hwpmu_counter *c, struct pt_regs *regs)
{
	if (!hwpmu_core_ops->overflow(c, regs)) {
		c->stopped = true;
		this_cpu_or(hwpmu_cpu.stopped, BIT_ULL(c->index));
	}
	c->left += c->period;
	if (unlikely(c->left <= 0))
		c->left = c->period - (u64)-c->left % c->period;
}

static void handle_overflow(struct hwpmu_cpu *cpu, unsigned int index,
			    struct pt_regs *regs)
{
	struct hwpmu_counter *c = READ_ONCE(cpu->active[index]);

	if (!c || !(READ_ONCE(cpu->enabled) & BIT_ULL(index))) {
		this_cpu_or(hwpmu_cpu.seen, BIT_ULL(index));
		return;
	}
	WRITE_ONCE(c->seq, c->seq + 1); /* hwpmu_read() that we interrupt tries again */
	hwpmu_fold(c);
	if (c->period && c->left <= 0)
		end_period(c, regs);
	hwpmu_arm(c);
	if (c->user)
		hwpmu_rdpmc_overflow(c);
}

/* The status without what only others may acknowledge: a trace that is not ours */
static u64 read_status(struct hwpmu_cpu *cpu)
{
	if (static_branch_likely(&hwpmu_has_global))
		return hwpmu_regs_read_status() &
			(hwpmu_regs.clearable | READ_ONCE(hwpmu_status_topa));
	return hwpmu_noglobal_overflowed(cpu);
}

/*
 * Why there is an NMI, of what is ours: counters that have overflowed, a trace. With either of
 * them counters may have been frozen, and are not left so, whoever had them be. The bits of other
 * units are no reason, and some processors have them always.
 */
static u64 causes_of(u64 status)
{
	return status & (hwpmu_the_caps.counters | HWPMU_STATUS_TOPA | hwpmu_regs.frozen);
}

static void acknowledge(u64 status)
{
	if (static_branch_likely(&hwpmu_has_global))
		hwpmu_regs_ack_status(status);
}

/* Nothing has overflowed: has something, not long ago? */
static int take_late_nmi(const struct hwpmu_cpu *cpu)
{
	return (s64)(rdtsc() - cpu->late_nmi_deadline) < 0 ? NMI_HANDLED : NMI_DONE;
}

/*
 * Has one of the PMU's interrupts come for nothing of ours? What has overflowed since, while LVTPC
 * was masked, sends no other one.
 */
static bool unmask(struct hwpmu_cpu *cpu, u64 *status)
{
	if (!(apic->read(APIC_LVTPC) & APIC_LVT_MASKED))
		return false;
	if (*status)
		acknowledge(*status);
	hwpmu_lvtpc_set_nmi();
	*status = read_status(cpu);
	if (!causes_of(*status))
		cpu->stats.nmis_claimed++;
	return true;
}

/* A trace has filled a region. What it fills from here on must be seen anew. */
static int handle_topa(u64 status)
{
	if (likely(!(status & HWPMU_STATUS_TOPA)))
		return 0;
	hwpmu_regs_ack_status(status & HWPMU_STATUS_TOPA);
	pt_nmi();
	return 1;
}

/*
 * Traces do not stand still: what has filled a region while LVTPC was masked, after the last look
 * at the status, sends no interrupt.
 */
static int take_unsent_topa(void)
{
	unsigned int loops = 0;
	int handled = 0;

	while (unlikely(pt_is_on()) && loops++ < LOOPS_MAX &&
	       hwpmu_regs_read_status() & HWPMU_STATUS_TOPA)
		handled += handle_topa(HWPMU_STATUS_TOPA);
	return handled;
}

/* No counter has overflowed beside. */
static int end_of_traces(struct hwpmu_cpu *cpu)
{
	cpu->stats.nmis_claimed++;
	hwpmu_lvtpc_set_nmi();
	return 1;
}

/* The counters are started by hwpmu_nmi_last(), because perf's handler may come before that. */
static bool starts_last __ro_after_init;

static int hwpmu_nmi_last(unsigned int type, struct pt_regs *regs)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	/* What is stuck, has crashed or is given back starts nothing anew: hwpmu_crash(). */
	if (cpu->owned && !READ_ONCE(cpu->stuck))
		hwpmu_write_enabled(cpu, hwpmu_wanted(cpu));
	return NMI_DONE;
}

static int handle_nmi(struct hwpmu_cpu *cpu, struct pt_regs *regs)
{
	unsigned int loops = 0;
	u64 status, left;
	int handled;

	cpu->stats.nmis_seen++;
	if (READ_ONCE(cpu->stuck))
		return NMI_DONE; /* nothing counts, but the status may say otherwise */
	if (starts_last)
		hwpmu_enable_only(cpu, 0);
	status = read_status(cpu);
	if (!causes_of(status)) {
		if (bts_nmi())
			return end_of_traces(cpu);
		if (!unmask(cpu, &status))
			return take_late_nmi(cpu);
		if (!causes_of(status))
			return NMI_HANDLED;
	}

	if (!starts_last)
		hwpmu_enable_only(cpu, 0);
	handled = bts_nmi();
	while (causes_of(status) && loops++ < LOOPS_MAX) {
		/* First: a counter that overflows as it is armed must be seen again. */
		acknowledge(status & ~HWPMU_STATUS_TOPA);
		for (left = status & hwpmu_the_caps.counters; left; left &= left - 1) {
			handle_overflow(cpu, __ffs64(left), regs);
			handled++;
		}
		handled += handle_topa(status);
		status = read_status(cpu);
	}
	cpu->stats.nmis_claimed++;
	cpu->stats.overflows += handled;
	if (causes_of(status)) {
		cpu->stats.stuck++;
		WRITE_ONCE(cpu->stuck, true);
		irq_work_queue(this_cpu_ptr(&recoveries.report));
	}
	hwpmu_expect_late_nmi();
	hwpmu_lvtpc_set_nmi();
	handled += take_unsent_topa();
	if (!starts_last)
		hwpmu_write_enabled(cpu, hwpmu_wanted(cpu));
	return handled ?: NMI_HANDLED;
}

static int hwpmu_nmi(unsigned int type, struct pt_regs *regs)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);
	bool branches;
	int handled;

	if (!cpu->owned)
		return NMI_DONE;
	branches = lbr_nmi_begin();
	handled = handle_nmi(cpu, regs);
	if (unlikely(branches))
		lbr_nmi_end();
	return handled;
}

/* Ours first, and where perf's may do more than return at once, ours again behind it */
static int __init register_handlers(void)
{
	int err;

	starts_last = hwpmu_the_caps.vendor == HWPMU_VENDOR_INTEL && hwpmu_the_caps.global;
	if (starts_last) {
		err = register_nmi_handler(NMI_LOCAL, hwpmu_nmi_last, 0, NMI_LAST_NAME);
		if (err)
			return err;
	}
	err = register_nmi_handler(NMI_LOCAL, hwpmu_nmi, NMI_FLAG_FIRST, NMI_NAME);
	if (err && starts_last)
		unregister_nmi_handler(NMI_LOCAL, NMI_LAST_NAME);
	return err;
}

int __init hwpmu_nmi_init(void)
{
	int cpu;

	/* Not by an initializer: in a module's per-CPU data older kernels leave pointers 0. */
	for_each_possible_cpu(cpu) {
		struct recovery *r = per_cpu_ptr(&recoveries, cpu);

		init_irq_work(&r->report, report_stuck);
		INIT_DELAYED_WORK(&r->retry, retry);
	}
	return register_handlers();
}

void hwpmu_nmi_exit(void)
{
	int cpu;

	unregister_nmi_handler(NMI_LOCAL, NMI_NAME);
	if (starts_last)
		unregister_nmi_handler(NMI_LOCAL, NMI_LAST_NAME);
	for_each_possible_cpu(cpu) {
		irq_work_sync(per_cpu_ptr(&recoveries.report, cpu));
		cancel_delayed_work_sync(per_cpu_ptr(&recoveries.retry, cpu));
	}
}
