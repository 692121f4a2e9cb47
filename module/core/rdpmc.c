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
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <asm/processor.h>
#include <asm/tsc.h>

#include "compat/pce.h"
#include "core/context.h"
#include "core/event.h"
#include "core/quota.h"
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

/**
 * struct user_mm - a process that may read counters
 * @node: in user_mms, by @mm.
 * @mm: its memory, in which there are mappings.
 * @mappings: how many.
 */
struct user_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int mappings;
};

/*
 * Of the pages of an event, by hash: many events may get theirs at the same time. Inside of
 * mmap_lock, and outside of all locks of the core but pmuctl_mutex
 */
#define PAGE_BITS	6
static struct mutex page_mutexes[1 << PAGE_BITS];

static DEFINE_SPINLOCK(mms_lock);	/* a leaf */
static DEFINE_HASHTABLE(user_mms, 8);	/* mms_lock */
bool pmuctl_rdpmc_mms;			/* written under mms_lock */

/*
 * Processes of which every hook knows that they may, or might in a moment; by hash, never to be
 * dereferenced. Written under mms_lock. Of those that begin to read, how many have this hash.
 */
#define KNOWN_BITS	6
static struct mm_struct *known[1 << KNOWN_BITS];
static unsigned int beginning[1 << KNOWN_BITS];

/* They are forgotten so long after the last process. */
#define FORGET_DELAY	(1 * HZ)

/*
 * CPUs are called when a process begins to read. So many processes of a user may do so at once, and
 * one in a jiffy from then on.
 */
#define CALLS_AT_ONCE	256

/**
 * struct caller - a user for whom CPUs are called
 * @uid: who.
 * @paid: the jiffy up to which the calls are accounted for, each by one; in the past: nobody is.
 */
struct caller {
	kuid_t uid;
	unsigned long paid;
};

/* If as many others have not been accounted for, a user may not. */
static struct caller callers[64];
static DEFINE_SPINLOCK(callers_lock); /* a leaf */

/* Processes of which CPUs are being told that they may, or may not any more; mms_lock */
static unsigned int nr_changing;

/* ---- Pages ---- */

/*
 * Is the kernel's own sched_clock() this clock, or does it run beside it? Where the TSC stops in
 * sleep states, and these are used, the kernel marks it as unstable.
 */
static bool find_clock(u32 *mult, u16 *shift)
{
	u32 found;

	if (!boot_cpu_has(X86_FEATURE_CONSTANT_TSC) || check_tsc_unstable())
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

	if (event->state->eligible && user->mult) {
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

/* ---- Processes ---- */

static bool is_allowed(const struct mm_struct *mm)
{
	return atomic_read(&mm->context.perf_rdpmc_allowed);
}

static void apply_here(void *info)
{
	struct mm_struct *mm = info;

	/* Nothing but a switch changes it. */
	if (current->active_mm == mm)
		hwpmu_rdpmc_allow(is_allowed(mm));
}

static void apply(struct mm_struct *mm)
{
	/* A CPU that switches to it from now on sees the number. */
	smp_mb__after_atomic();
	compat_pce_apply(mm, apply_here);
}

static void nothing(void *unused)
{
}

static unsigned int known_hash(const struct mm_struct *mm)
{
	return hash_ptr(mm, KNOWN_BITS);
}

static void forget(struct work_struct *work)
{
	unsigned int i;

	spin_lock(&mms_lock);
	if (hash_empty(user_mms) && !nr_changing) {
		WRITE_ONCE(pmuctl_rdpmc_mms, false);
		for (i = 0; i < ARRAY_SIZE(known); i++)
			WRITE_ONCE(known[i], NULL);
	}
	spin_unlock(&mms_lock);
}

static DECLARE_DELAYED_WORK(forget_work, forget);

void __init pmuctl_rdpmc_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(page_mutexes); i++)
		mutex_init(&page_mutexes[i]);
}

void pmuctl_rdpmc_exit(void)
{
	cancel_delayed_work_sync(&forget_work);
}

/* The user's, or one that nobody needs any more; NULL if all are needed. */
static struct caller *find_caller(kuid_t uid, unsigned long now)
{
	struct caller *free = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(callers); i++) {
		if (time_before_eq(callers[i].paid, now))
			free = &callers[i];
		else if (uid_eq(callers[i].uid, uid))
			return &callers[i];
	}
	if (free)
		*free = (struct caller){ .uid = uid, .paid = now };
	return free;
}

/* May CPUs be called for a process more of this user, now? */
static bool may_call(void)
{
	const unsigned long now = jiffies;
	struct caller *caller;
	bool may;

	if (pmuctl_is_unlimited())
		return true;
	spin_lock(&callers_lock);
	caller = find_caller(pmuctl_payer(), now);
	may = caller && caller->paid - now < CALLS_AT_ONCE;
	if (may)
		caller->paid++;
	spin_unlock(&callers_lock);
	return may;
}

static struct user_mm *find_mm(const struct mm_struct *mm)
{
	struct user_mm *um;

	hash_for_each_possible(user_mms, um, node, (unsigned long)mm)
		if (um->mm == mm)
			return um;
	return NULL;
}

/* A mapping more, if it has one. */
static bool map_again(struct mm_struct *mm)
{
	struct user_mm *um;

	spin_lock(&mms_lock);
	um = find_mm(mm);
	if (um)
		um->mappings++;
	spin_unlock(&mms_lock);
	return um;
}

/*
 * The number decides in the middle of a switch, after the hook has looked at it. When every CPU
 * has taken an interrupt no switch is under way any more whose hook did not know.
 */
static void make_known(struct mm_struct *mm)
{
	unsigned int hash = known_hash(mm);
	bool is_known;

	spin_lock(&mms_lock);
	is_known = known[hash] == mm;
	WRITE_ONCE(beginning[hash], beginning[hash] + 1);
	WRITE_ONCE(pmuctl_rdpmc_mms, true);
	nr_changing++;
	spin_unlock(&mms_lock);
	if (!is_known)
		on_each_cpu(nothing, NULL, 1);
}

static void allow(struct user_mm *um, struct mm_struct *mm)
{
	unsigned int hash = known_hash(mm);

	make_known(mm);
	spin_lock(&mms_lock);
	um->mm = mm;
	um->mappings = 1;
	hash_add(user_mms, &um->node, (unsigned long)mm);
	atomic_inc(&mm->context.perf_rdpmc_allowed);
	WRITE_ONCE(known[hash], mm);
	WRITE_ONCE(beginning[hash], beginning[hash] - 1);
	nr_changing--;
	spin_unlock(&mms_lock);
	apply(mm);
}

/* Nobody waits for what others do, as CPUs are told without a lock: mmap_lock is enough. */
int pmuctl_rdpmc_mm_get(struct mm_struct *mm)
{
	struct user_mm *new;

	if (map_again(mm))
		return 0;
	if (!may_call())
		return -EAGAIN;
	new = kzalloc(sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	allow(new, mm);
	return 0;
}

void pmuctl_rdpmc_mm_put(struct mm_struct *mm)
{
	struct user_mm *um;
	bool last;

	spin_lock(&mms_lock);
	um = find_mm(mm);
	last = !WARN_ON_ONCE(!um) && !--um->mappings;
	if (last) {
		hash_del(&um->node);
		atomic_dec(&mm->context.perf_rdpmc_allowed);
		nr_changing++;
	}
	spin_unlock(&mms_lock);
	if (!last)
		return;
	kfree(um);
	apply(mm);
	spin_lock(&mms_lock);
	last = !--nr_changing && hash_empty(user_mms);
	spin_unlock(&mms_lock);
	if (last)
		mod_delayed_work(system_percpu_wq, &forget_work, FORGET_DELAY);
}

/* ---- What the hooks tell ---- */

void pmuctl_rdpmc_fork(struct task_struct *child)
{
	struct mm_struct *mm = child->mm;

	/* It does not run yet, and none of its parent's mappings is copied. */
	if (mm && mm != current->mm && is_allowed(mm))
		atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

/* Is it allowed, or might it be before the switch is over? */
static bool may_be_allowed(const struct mm_struct *mm)
{
	unsigned int hash = known_hash(mm);

	return READ_ONCE(beginning[hash]) || is_allowed(mm) || READ_ONCE(known[hash]) == mm;
}

bool pmuctl_rdpmc_switch_disturbs(const struct task_struct *next)
{
	struct mm_struct *mm = next->mm;

	if (!mm || !may_be_allowed(mm))
		return false;
	/* Only if the page table, too, is another one. */
	return hwpmu_rdpmc_unsettled() && read_cr3_pa() != __pa(mm->pgd);
}

void pmuctl_rdpmc_switch(const struct task_struct *next)
{
	if (next->mm && may_be_allowed(next->mm))
		hwpmu_rdpmc_hide();
}
