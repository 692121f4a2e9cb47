// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading counters in user space: the pages of events, and which processes may.
 *
 * An event has up to two pages. One, for the thread that it counts, tells where the
 * counter is and is written whenever the event goes on or off the PMU. The other is for
 * everybody else, who could only read the wrong CPU's counters: it says that there is
 * nothing to read, and is never written again.
 *
 * A process may use the instruction while it has a page of the first kind mapped. The
 * kernel sets the CPU's CR4.PCE at every switch from mm->context.perf_rdpmc_allowed, which
 * perf counts in too; all our mappings of a process together count as one.
 * A fork copies the number, so it is taken out of the child's; an exec starts from 0.
 */
#include <linux/clocksource.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include <asm/processor.h>
#include <asm/tsc.h>

#include "core/event.h"

/**
 * struct pmuctl_user - the pages of an event
 * @hw: for its own thread, the page being NULL if that has never mapped it.
 * @other: for everybody else, likewise.
 * @mult: of the TSC; 0 if it cannot be used as a clock.
 * @shift: likewise.
 *
 * The pages are got under user_mutex and freed with the event.
 */
struct pmuctl_user {
	struct hwpmu_user hw;
	struct userpage other;
	u32 mult;
	u16 shift;
};

/**
 * struct user_mm - a process that may read counters
 * @node: in user_mms.
 * @mm: its memory, in which there are mappings.
 * @mappings: how many.
 */
struct user_mm {
	struct list_head node;
	struct mm_struct *mm;
	unsigned int mappings;
};

/* Inside of mmap_lock, and outside of all locks of the core but pmuctl_mutex */
static DEFINE_MUTEX(user_mutex);
static LIST_HEAD(user_mms);		/* user_mutex */
static struct mm_struct *allowing;	/* written under user_mutex */
unsigned int pmuctl_user_mms;		/* written under user_mutex */

/* ---- Pages ---- */

/* Is the kernel's own sched_clock() this clock, or does it run beside it? */
static bool find_clock(u32 *mult, u16 *shift)
{
	u32 found;

	if (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC) || check_tsc_unstable())
		return false;
	clocks_calc_mult_shift(mult, &found, tsc_khz, NSEC_PER_MSEC, 0);
	*shift = found;
	return true;
}

void pmuctl_userpage_tell_clock(struct perf_event_mmap_page *page)
{
	unsigned long flags;
	u32 mult;
	u16 shift;

	/* CPUs that trace have one that never stops, even if a hypervisor hides that. */
	if (!find_clock(&mult, &shift))
		return;
	page->time_mult = mult;
	page->time_shift = shift;
	local_irq_save(flags);
	page->time_zero = sched_clock() - userpage_ns(rdtsc_ordered(), mult, shift);
	local_irq_restore(flags);
	page->cap_user_time_zero = 1;
}

static void write_page(struct pmuctl_event *event)
{
	const struct pmuctl_user *user = event->user;
	struct userpage_times times = {
		.enabled = event->tally->time_enabled,
		.running = event->tally->time_running,
	};

	if (event->tally->eligible && user->mult) {
		times.mult = user->mult;
		times.shift = user->shift;
		times.offset = sched_clock() - event->tally->stamp -
			       userpage_ns(rdtsc(), user->mult, user->shift);
	}
	hwpmu_user_write(&event->tally->counter, &times);
}

void pmuctl_userpage_write_all(struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader, *event;
	enum pmuctl_class class;

	lockdep_assert_held(&ctx->lock);
	for_each_group(leader, class, ctx)
		for_each_group_member(event, leader)
			if (event->tally->counter.user)
				write_page(event);
}

void pmuctl_userpage_reset(struct pmuctl_event *event)
{
	event->user->hw.base = event->tally->base;
	write_page(event);
}

static void attach_page(struct pmuctl_context *ctx, void *arg)
{
	struct pmuctl_event *event = arg;

	if (event->tally->counter.user)
		return;
	/* That of one that has ended never changes: no switch is to look for it. */
	if (!event->ended) {
		ctx->nr_user_pages++;
		ctx->clone_id = 0;
	}
	hwpmu_user_attach(&event->tally->counter, &event->user->hw);
	pmuctl_userpage_reset(event);
}

static struct page *get_own(struct pmuctl_event *event)
{
	struct userpage *up = &event->user->hw.userpage;

	if (!up->page) {
		if (boot_cpu_has(X86_FEATURE_NONSTOP_TSC))
			find_clock(&event->user->mult, &event->user->shift);
		if (!userpage_alloc(up, true, event->user->mult))
			return NULL;
	}
	pmuctl_context_call(event->context, attach_page, event);
	return virt_to_page(up->page);
}

static struct page *get_other(struct pmuctl_event *event)
{
	struct userpage *up = &event->user->other;

	if (!up->page && !userpage_alloc(up, false, false))
		return NULL;
	return virt_to_page(up->page);
}

bool pmuctl_userpage_is_own(const struct pmuctl_event *event)
{
	return event->context && event->context->task == current &&
	       !event->inherit.root && pmuctl_event_is_hw(event);
}

struct page *pmuctl_userpage_get(struct pmuctl_event *event, bool own)
{
	struct page *page = NULL;

	mutex_lock(&user_mutex);
	if (!event->user)
		event->user = kzalloc(sizeof(*event->user), GFP_KERNEL_ACCOUNT);
	if (event->user)
		page = own ? get_own(event) : get_other(event);
	mutex_unlock(&user_mutex);
	return page;
}

void pmuctl_userpage_free(struct pmuctl_event *event)
{
	if (!event->user)
		return;
	userpage_free(&event->user->hw.userpage);
	userpage_free(&event->user->other);
	kfree(event->user);
}

/* ---- Processes ---- */

static bool is_allowed(struct mm_struct *mm)
{
	return atomic_read(&mm->context.perf_rdpmc_allowed);
}

static void apply_here(void *info)
{
	struct mm_struct *mm = info;

	/* Nothing but a switch changes it. */
	if (current->active_mm == mm)
		hwpmu_user_allow(is_allowed(mm));
}

static void apply(struct mm_struct *mm)
{
	/* A CPU that switches to it from now on sees the number. */
	smp_mb__after_atomic();
	on_each_cpu_mask(mm_cpumask(mm), apply_here, mm, 1);
}

static void nothing(void *unused)
{
}

static void allow(struct mm_struct *mm)
{
	WRITE_ONCE(pmuctl_user_mms, pmuctl_user_mms + 1);
	/*
	 * The number decides in the middle of a switch, after the hook has looked at it.
	 * When every CPU has taken an interrupt no switch is under way any more whose
	 * hook did not know.
	 */
	WRITE_ONCE(allowing, mm);
	on_each_cpu(nothing, NULL, 1);
	atomic_inc(&mm->context.perf_rdpmc_allowed);
	apply(mm);
	WRITE_ONCE(allowing, NULL);
}

static void forbid(struct mm_struct *mm)
{
	atomic_dec(&mm->context.perf_rdpmc_allowed);
	apply(mm);
	WRITE_ONCE(pmuctl_user_mms, pmuctl_user_mms - 1);
}

static struct user_mm *find_mm(const struct mm_struct *mm)
{
	struct user_mm *um;

	list_for_each_entry(um, &user_mms, node)
		if (um->mm == mm)
			return um;
	return NULL;
}

bool pmuctl_user_mm_get(struct mm_struct *mm)
{
	struct user_mm *um;

	mutex_lock(&user_mutex);
	um = find_mm(mm);
	if (!um) {
		um = kzalloc(sizeof(*um), GFP_KERNEL_ACCOUNT);
		if (um) {
			um->mm = mm;
			list_add(&um->node, &user_mms);
			allow(mm);
		}
	}
	if (um)
		um->mappings++;
	mutex_unlock(&user_mutex);
	return um;
}

void pmuctl_user_mm_put(struct mm_struct *mm)
{
	struct user_mm *um;

	mutex_lock(&user_mutex);
	um = find_mm(mm);
	if (!WARN_ON_ONCE(!um) && !--um->mappings) {
		list_del(&um->node);
		forbid(mm);
		kfree(um);
	}
	mutex_unlock(&user_mutex);
}

/* ---- What the hooks tell ---- */

void pmuctl_user_fork(struct task_struct *child)
{
	struct mm_struct *mm = child->mm;

	/* It does not run yet, and none of its parent's mappings is copied. */
	if (mm && mm != current->mm && is_allowed(mm))
		atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

bool pmuctl_user_switch_disturbs(const struct task_struct *next)
{
	struct mm_struct *mm = next->mm;

	if (!mm || (mm != READ_ONCE(allowing) && !is_allowed(mm)))
		return false;
	/* Only if the page table, too, is another one. */
	return hwpmu_user_unsettled() && read_cr3_pa() != __pa(mm->pgd);
}

void pmuctl_user_switch(const struct task_struct *next)
{
	if (next->mm && is_allowed(next->mm))
		hwpmu_user_hide();
}
