// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading counters in user space: which processes may.
 *
 * A process may use the instruction while it has the page of an own event mapped. The
 * kernel sets the CPU's CR4.PCE at every switch from mm->context.perf_rdpmc_allowed, which
 * perf counts in too; all our mappings of a process together count as one.
 *
 * A fork copies the number, so it is taken out of the child's; an exec starts from 0. A fork may
 * be under way for long, while the process unmaps its page and closes its event: forks are looked
 * at until a process that might read once has ended.
 *
 * In-tree perf leaves it in the children of its own readers, for good. So it is taken from these
 * strangers, too, before anything of ours counts: when the PMU is ours, perf has no event that
 * could be mapped, and who may read without a page of ours is one of them. Forks that are under way
 * then are seen by the probe, which is set before, and stays while there are events that need the
 * PMU.
 */
#include <linux/atomic.h>
#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <asm/processor.h>
#include <trace/events/sched.h>

#include "compat/pce.h"
#include "core/context.h"
#include "core/event.h"
#include "core/hook.h"
#include "core/rdpmc_callers.h"
#include "core/rdpmc_mm.h"
#include "explain/explain.h"
#include "pmu/hwpmu.h"

/**
 * struct user_mm - a process that may read counters, or might once
 * @node: in user_mms, by @mm.
 * @mm: its memory; referenced.
 * @mappings: how many it has; under its mmap_lock.
 */
struct user_mm {
	struct hlist_node node;
	struct mm_struct *mm;
	unsigned int mappings;
};

static DEFINE_SPINLOCK(mms_lock);	/* a leaf */
static DEFINE_HASHTABLE(user_mms, 8);	/* mms_lock */
static unsigned int nr_readers;		/* that have mappings; likewise */
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

/* How often it is looked whether those that have unmapped their pages have ended */
#define ENDED_DELAY	(1 * HZ)

/*
 * The hook of events that need the PMU, and each user_mm. The first comes and the last goes under
 * the mutex, which is outside of all of the kernel's that setting a probe takes, and so of
 * mmap_lock.
 */
static DEFINE_MUTEX(forks_mutex);
static atomic_t forks_users;
static struct tracepoint *fork_tracepoint;

/* Nobody may read without a page of ours. */
static bool strangers_gone;

/* By hash, those that it has been taken from; there is no telling how many. pmuctl_mutex */
#define TAKEN_BITS	16
static DECLARE_BITMAP(taken, 1 << TAKEN_BITS);

/* Processes of which CPUs are being told that they may, or may not any more; mms_lock */
static unsigned int nr_changing;

/* ---- Telling CPUs ---- */

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

static void look_for_ended(struct work_struct *work);

static void forget(struct work_struct *work)
{
	unsigned int i;

	spin_lock(&mms_lock);
	if (!nr_readers && !nr_changing) {
		WRITE_ONCE(pmuctl_rdpmc_mms, false);
		for (i = 0; i < ARRAY_SIZE(known); i++)
			WRITE_ONCE(known[i], NULL);
	}
	spin_unlock(&mms_lock);
}

static DECLARE_DELAYED_WORK(forget_work, forget);
static DECLARE_DELAYED_WORK(ended_work, look_for_ended);

/* ---- Letting them ---- */

static struct user_mm *find_mm(const struct mm_struct *mm)
{
	struct user_mm *um;

	hash_for_each_possible(user_mms, um, node, (unsigned long)mm)
		if (um->mm == mm)
			return um;
	return NULL;
}

/*
 * What is told of it if it may read, or might once; NULL if it never might. It stays while the
 * process has it mapped, or runs.
 */
static struct user_mm *look_up(const struct mm_struct *mm)
{
	struct user_mm *um;

	spin_lock(&mms_lock);
	um = find_mm(mm);
	spin_unlock(&mms_lock);
	return um;
}

/* From now on its forks are looked at: for the event that it maps they are already. */
static struct user_mm *remember(struct mm_struct *mm)
{
	struct user_mm *um = kzalloc(sizeof(*um), GFP_KERNEL_ACCOUNT);

	if (!um || !atomic_inc_not_zero(&forks_users)) {
		kfree(um);
		return NULL;
	}
	mmgrab(mm);
	um->mm = mm;
	spin_lock(&mms_lock);
	hash_add(user_mms, &um->node, (unsigned long)mm);
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

static void allow(struct user_mm *um)
{
	struct mm_struct *mm = um->mm;
	unsigned int hash = known_hash(mm);

	make_known(mm);
	spin_lock(&mms_lock);
	WRITE_ONCE(um->mappings, 1);
	nr_readers++;
	atomic_inc(&mm->context.perf_rdpmc_allowed);
	WRITE_ONCE(known[hash], mm);
	WRITE_ONCE(beginning[hash], beginning[hash] - 1);
	nr_changing--;
	spin_unlock(&mms_lock);
	apply(mm);
}

/*
 * Nobody waits for what others do, as CPUs are told without a lock: mmap_lock is enough, under
 * which alone the number of a process's mappings changes.
 */
int pmuctl_rdpmc_mm_get(struct mm_struct *mm)
{
	struct user_mm *um = look_up(mm);

	if (um && um->mappings) {
		WRITE_ONCE(um->mappings, um->mappings + 1);
		return 0;
	}
	if (!pmuctl_rdpmc_may_call())
		return -EAGAIN;
	if (!um)
		um = remember(mm);
	if (!um)
		return -ENOMEM;
	allow(um);
	return 0;
}

void pmuctl_rdpmc_mm_put(struct mm_struct *mm)
{
	struct user_mm *um = look_up(mm);
	bool none;

	if (WARN_ON_ONCE(!um))
		return;
	if (um->mappings > 1) {
		WRITE_ONCE(um->mappings, um->mappings - 1);
		return;
	}
	spin_lock(&mms_lock);
	/* When the process ends, it is freed. */
	WRITE_ONCE(um->mappings, 0);
	nr_readers--;
	atomic_dec(&mm->context.perf_rdpmc_allowed);
	nr_changing++;
	spin_unlock(&mms_lock);
	apply(mm);
	spin_lock(&mms_lock);
	none = !--nr_changing && !nr_readers;
	spin_unlock(&mms_lock);
	if (none)
		mod_delayed_work(system_percpu_wq, &forget_work, FORGET_DELAY);
	queue_delayed_work(system_percpu_wq, &ended_work, ENDED_DELAY);
}

/* ---- Forks ---- */

/* The child does not run yet, and none of its parent's mappings is copied. */
static void probe_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	struct mm_struct *mm = child->mm;

	if (mm && mm != current->mm && is_allowed(mm))
		atomic_set(&mm->context.perf_rdpmc_allowed, 0);
}

/* The compiler checks the probe against the kernel's prototype. */
static void __maybe_unused check_probe(void)
{
	check_trace_callback_type_sched_process_fork(probe_fork);
}

static int get_forks(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err = 0;

	pmuctl_strangers_come();

	mutex_lock(&forks_mutex);
	if (!atomic_read(&forks_users))
		err = !fork_tracepoint ? -ENOENT :
		      tracepoint_probe_register(fork_tracepoint, probe_fork, NULL);
	if (!err)
		atomic_inc(&forks_users);
	mutex_unlock(&forks_mutex);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return err ? pmuctl_refuse(why, NO_HOOK, "pid", "sched_process_fork") : 0;
}

static void put_forks(void)
{
	if (!atomic_dec_and_mutex_lock(&forks_users, &forks_mutex))
		return;
	tracepoint_probe_unregister(fork_tracepoint, probe_fork, NULL);
	mutex_unlock(&forks_mutex);
}

static void drop_forks(struct pmuctl_hook *hook)
{
	put_forks();
}

struct pmuctl_hook pmuctl_forks_hook = {
	.name = "rights of forks", .set = get_forks, .drop = drop_forks,
};

void pmuctl_forks_show(struct seq_file *m)
{
	seq_printf(m, "forks: looked at for %d\n", atomic_read(&forks_users));
}

/* ---- Their end ---- */

/* Take out those that have ended. Returns whether others are left that may not read. */
static bool take_ended(struct hlist_head *chain, struct hlist_head *ended)
{
	struct hlist_node *next;
	struct user_mm *um;
	bool left = false;

	spin_lock(&mms_lock);
	hlist_for_each_entry_safe(um, next, chain, node) {
		if (READ_ONCE(um->mappings))
			continue; /* it is looked at again when there is none */
		/* Whoever still forks in it uses it. */
		if (atomic_read(&um->mm->mm_users)) {
			left = true;
			continue;
		}
		hash_del(&um->node);
		hlist_add_head(&um->node, ended);
	}
	spin_unlock(&mms_lock);
	return left;
}

static void free_mm(struct user_mm *um)
{
	hash_del(&um->node);
	mmdrop(um->mm);
	kfree(um);
	put_forks();
}

static void look_for_ended(struct work_struct *work)
{
	struct hlist_node *next;
	struct user_mm *um;
	HLIST_HEAD(ended);
	bool left = false;
	unsigned int i;

	for (i = 0; i < HASH_SIZE(user_mms); i++) {
		left |= take_ended(&user_mms[i], &ended);
		cond_resched();
	}
	hlist_for_each_entry_safe(um, next, &ended, node) {
		free_mm(um);
		cond_resched();
	}
	if (left)
		queue_delayed_work(system_percpu_wq, &ended_work, ENDED_DELAY);
}

/* ---- Strangers ---- */

static unsigned int taken_hash(const struct mm_struct *mm)
{
	return hash_ptr(mm, TAKEN_BITS);
}

/* Whoever else runs keeps what he may: perhaps everybody may, with no number. */
static void apply_to_taken(void *unused)
{
	const struct mm_struct *mm = current->active_mm;

	if (test_bit(taken_hash(mm), taken) && !is_allowed(mm))
		hwpmu_rdpmc_allow(false);
}

/* It may not any more, if it should not. Returns whether it was so. @task is locked. */
static bool take_from(const struct task_struct *task)
{
	struct mm_struct *mm = task->mm;
	const struct user_mm *um;
	bool is_stranger;
	int own;

	if (!is_allowed(mm))
		return false;
	spin_lock(&mms_lock);
	um = find_mm(mm);
	own = um && um->mappings;
	is_stranger = atomic_read(&mm->context.perf_rdpmc_allowed) != own;
	if (is_stranger) {
		atomic_set(&mm->context.perf_rdpmc_allowed, own);
		__set_bit(taken_hash(mm), taken);
	}
	spin_unlock(&mms_lock);
	return is_stranger;
}

/* One of its threads has the memory; the first ones may have ended. */
static bool take_from_process(struct task_struct *process)
{
	struct task_struct *thread;
	bool was = false, found = false;

	for_each_thread(process, thread) {
		task_lock(thread);
		found = thread->mm;
		if (found)
			was = take_from(thread);
		task_unlock(thread);
		if (found)
			break;
	}
	return was;
}

void pmuctl_strangers_come(void)
{
	WRITE_ONCE(strangers_gone, false);
}

void pmuctl_strangers_go(void)
{
	struct task_struct *process;
	bool any = false;

	lockdep_assert_held(&pmuctl_mutex);
	if (READ_ONCE(strangers_gone))
		return;
	bitmap_zero(taken, 1 << TAKEN_BITS);
	rcu_read_lock();
	for_each_process(process)
		any |= take_from_process(process);
	rcu_read_unlock();
	if (any)
		compat_pce_apply_all(apply_to_taken);
	WRITE_ONCE(strangers_gone, true);
}

/* ---- Switches ---- */

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

/* ---- Beginning and end ---- */

static void __init match(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_fork"))
		fork_tracepoint = tp;
}

void __init pmuctl_rdpmc_mm_init(void)
{
	for_each_kernel_tracepoint(match, NULL);
	pmuctl_hook_add(&pmuctl_forks_hook);
}

void pmuctl_rdpmc_mm_exit(void)
{
	struct hlist_node *next;
	struct user_mm *um;
	int chain;

	cancel_delayed_work_sync(&forget_work);
	cancel_delayed_work_sync(&ended_work);
	hash_for_each_safe(user_mms, chain, next, um, node)
		free_mm(um);
}
