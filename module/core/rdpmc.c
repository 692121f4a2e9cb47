// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading counters in user space: the pages of events. Which processes may is in rdpmc_mm.c.
 *
 * An event has up to two pages. One, for the thread that it counts, tells where the
 * counter is and is written whenever the event goes on or off the PMU. The other is for
 * everybody else, who could only read the wrong CPU's counters: it says that there is
 * nothing to read, and is never written again.
 */
#include <linux/clocksource.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include <asm/hypervisor.h>
#include <asm/processor.h>
#include <asm/tsc.h>

#include "core/context.h"
#include "core/event.h"
#include "core/rdpmc.h"

/**
 * struct pmuctl_userpages - the pages of an event
 * @hw: for its own thread, the page being NULL if that has never mapped it.
 * @other: for everybody else, likewise.
 * @mult: of the TSC; 0 if it cannot be used as a clock.
 * @shift: likewise.
 *
 * The pages are got under the mutex of pages and freed with the event.
 */
struct pmuctl_userpages {
	struct hwpmu_rdpmc hw;
	struct userpage other;
	u32 mult;
	u16 shift;
};

/*
 * Of the pages of an event, by hash: many events may get theirs at the same time. Inside of
 * mmap_lock, and outside of all locks of the core but pmuctl_mutex
 */
#define PAGE_BITS	6
static struct mutex page_mutexes[1 << PAGE_BITS];

/*
 * Is the kernel's own sched_clock() this clock, or does it run beside it? Where the TSC stops in
 * sleep states, and these are used, or its rate changes, or CPUs do not agree on it, the kernel
 * marks it as unstable. That the processor does not say that the rate is constant matters only
 * where a hypervisor has a clock of its own for its guests, who may come to another machine: newer
 * kernels do not take it from the model any more.
 */
static bool find_clock(u32 *mult, u16 *shift)
{
	u32 found;

	if (check_tsc_unstable())
		return false;
	if (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC) && x86_hyper_type != X86_HYPER_NATIVE)
		return false;
	clocks_calc_mult_shift(mult, &found, tsc_khz, NSEC_PER_MSEC, 0);
	/* perf's pages have no more than 31: some readers shift a word of 32 bits by it. */
	if (found == 32) {
		found = 31;
		*mult >>= 1;
	}
	*shift = found;
	return true;
}

/* An NMI or a hypervisor may come in between: of some readings that with the shortest time. */
static u64 find_time_zero(u32 mult, u16 shift)
{
	u64 least = U64_MAX, zero = 0, before, ns, took;
	unsigned long flags;
	unsigned int i;

	for (i = 0; i < 4; i++) {
		local_irq_save(flags);
		before = rdtsc_ordered();
		ns = local_clock();
		took = rdtsc_ordered() - before;
		local_irq_restore(flags);
		if (took >= least)
			continue;
		least = took;
		zero = ns - userpage_ns(before + took / 2, mult, shift);
	}
	return zero;
}

/* @of_records: records have this clock, too. */
static void tell_clock(struct perf_event_mmap_page *page, u32 mult, u16 shift, bool of_records)
{
	page->time_mult = mult;
	page->time_shift = shift;
	if (!of_records)
		return;
	page->time_zero = find_time_zero(mult, shift);
	page->cap_user_time_zero = 1;
}

void pmuctl_userpage_tell_clock(struct perf_event_mmap_page *page)
{
	u32 mult;
	u16 shift;

	if (find_clock(&mult, &shift))
		tell_clock(page, mult, shift, true);
}

static void write_page(struct pmuctl_event *event)
{
	const struct pmuctl_userpages *user = event->user;
	struct userpage_times times = {
		.enabled = event->state->time_enabled,
		.running = event->state->time_running,
	};

	if (event->state->eligible && user->mult && !check_tsc_unstable()) {
		times.ticking = true;
		times.offset = sched_clock() - event->state->stamp -
			       userpage_ns(rdtsc(), user->mult, user->shift);
	}
	hwpmu_rdpmc_write(&event->state->counter, &times);
}

void pmuctl_userpage_write_all(struct pmuctl_context *ctx)
{
	struct pmuctl_event *leader, *event;
	enum pmuctl_class class;

	lockdep_assert_held(&ctx->lock);
	for_each_group(leader, class, ctx)
		for_each_group_member(event, leader)
			if (event->state->counter.user)
				write_page(event);
}

void pmuctl_userpage_reset(struct pmuctl_event *event)
{
	event->user->hw.base = event->state->base;
	write_page(event);
}

static void attach_page(struct pmuctl_context *ctx, void *arg)
{
	struct pmuctl_event *event = arg;

	if (event->state->counter.user)
		return;
	/* That of one that has ended never changes: no switch is to look for it. */
	if (!event->ended) {
		ctx->nr_user_pages++;
		ctx->clone_id = 0;
	}
	event->user->hw.base = event->state->base;
	hwpmu_rdpmc_attach(&event->state->counter, &event->user->hw);
	pmuctl_userpage_reset(event);
}

/* What an event may get: perhaps it has it already, or somebody else is faster. */
static bool alloc_spare(struct pmuctl_userpages **spare, bool own, bool of_records)
{
	struct pmuctl_userpages *user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	struct userpage *up;

	if (!user)
		return false;
	*spare = user;
	up = own ? &user->hw.userpage : &user->other;
	if (!userpage_alloc(up, own))
		return false;
	if (find_clock(&user->mult, &user->shift))
		tell_clock(up->page, user->mult, user->shift, of_records);
	return true;
}

static void free_user(struct pmuctl_userpages *user)
{
	if (!user)
		return;
	userpage_free(&user->hw.userpage);
	userpage_free(&user->other);
	kfree(user);
}

static void take_userpage(struct userpage *up, struct userpage *spare)
{
	*up = *spare;
	spare->page = NULL;
}

/* The event has it, or takes it from @spare, which is NULL if it needs nothing. */
static struct page *get_page_of(struct pmuctl_event *event, struct pmuctl_userpages **spare,
				bool own)
{
	struct pmuctl_userpages *user = event->user, *from = *spare;

	if (!user) {
		smp_store_release(&event->user, from); /* find_other() */
		*spare = NULL;
		user = from;
	} else if (from && own && !user->hw.userpage.page) {
		take_userpage(&user->hw.userpage, &from->hw.userpage);
	} else if (from && !own && !user->other.page) {
		user->other.lock = from->other.lock;
		smp_store_release(&user->other.page, from->other.page); /* find_other() */
		from->other.page = NULL;
	}
	if (!own)
		return virt_to_page(user->other.page);
	pmuctl_context_call(event->context, attach_page, event);
	return virt_to_page(user->hw.userpage.page);
}

static bool has_page(const struct pmuctl_event *event, bool own)
{
	const struct pmuctl_userpages *user = event->user;

	return user && (own ? user->hw.userpage.page : user->other.page);
}

/* Once it is there it stays, and is looked for without the mutex. */
static struct page *find_other(const struct pmuctl_event *event)
{
	/* What get_page_of() has made is complete. */
	struct pmuctl_userpages *user = smp_load_acquire(&event->user);
	struct perf_event_mmap_page *page = NULL;

	if (user)
		page = smp_load_acquire(&user->other.page); /* likewise */
	return page ? virt_to_page(page) : NULL;
}

bool pmuctl_userpage_is_own(const struct pmuctl_event *event)
{
	return event->context && event->context->task == current &&
	       !event->inherit.root && pmuctl_event_is_hw(event);
}

struct page *pmuctl_userpage_get(struct pmuctl_event *event, bool own, bool of_records)
{
	struct mutex *mutex = &page_mutexes[hash_ptr(event, PAGE_BITS)];
	struct pmuctl_userpages *spare = NULL;
	struct page *page = NULL;
	bool enough = true;

	page = own ? NULL : find_other(event);
	if (page)
		return page;
	mutex_lock(mutex);
	if (!has_page(event, own)) {
		mutex_unlock(mutex);
		/* A cgroup may let who allocates wait for seconds: nobody else does. */
		enough = alloc_spare(&spare, own, of_records);
		mutex_lock(mutex);
	}
	if (enough)
		page = get_page_of(event, &spare, own);
	mutex_unlock(mutex);
	free_user(spare);
	return page;
}

void pmuctl_userpage_free(struct pmuctl_event *event)
{
	free_user(event->user);
}

void __init pmuctl_rdpmc_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(page_mutexes); i++)
		mutex_init(&page_mutexes[i]);
}
