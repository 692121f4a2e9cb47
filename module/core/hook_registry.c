// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of hooks: see hook.h. What is set, and how, is known to task_hooks.c,
 * sample/sideband.c, soft/sources.c and soft/tracepoint.c.
 *
 * While something is set or dropped, the kernel patches its text and waits for RCU: only who wants
 * that very hook waits.
 */
#include <linux/jiffies.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "core/core_ops.h"
#include "core/event.h"
#include "core/hook.h"

#define LINGER	(1 * HZ)
/* Between two that are dropped, however many there are: none is set again more often. */
#define INTERVAL	(LINGER / 16)

/* So many are woken in a row, with interrupts off. */
#define WAKE_AT_ONCE	32

static DEFINE_SPINLOCK(hooks_lock);
static LIST_HEAD(hooks);
static struct workqueue_struct *set_queue;

/* hooks_lock held, before and afterwards; then nobody sets or drops it but the caller. */
static void begin_change(struct pmuctl_hook *hook)
	__releases(&hooks_lock)
{
	WRITE_ONCE(hook->state, PMUCTL_HOOK_CHANGING);
	spin_unlock(&hooks_lock);
}

static void end_change(struct pmuctl_hook *hook, enum pmuctl_hook_state state)
	__acquires(&hooks_lock)
{
	spin_lock(&hooks_lock);
	WRITE_ONCE(hook->state, state);
	wake_up(&hook->settled);
}

static void has_no_user(struct pmuctl_hook *hook)
{
	hook->idle_since = jiffies;
	pmuctl_hooks_look_later();
}

static bool is_settled(const struct pmuctl_hook *hook)
{
	return READ_ONCE(hook->state) != PMUCTL_HOOK_CHANGING;
}

/*
 * All who wait, each of whom is a user. None is left to another one to wake, who may get no time.
 * hooks_lock held, before and afterwards.
 */
static void wake_waiting(struct pmuctl_hook *hook)
	__must_hold(&hooks_lock)
{
	unsigned int rounds = hook->users / WAKE_AT_ONCE + 1;

	hook->waking = true;
	/* Who comes after the wake-up of end_change() sees the state: no barrier is needed. */
	while (rounds-- && is_settled(hook) && waitqueue_active(&hook->settled)) {
		spin_unlock(&hooks_lock);
		wake_up_nr(&hook->settled, WAKE_AT_ONCE);
		cond_resched();
		spin_lock(&hooks_lock);
	}
	hook->waking = false;
}

static void set(struct work_struct *work)
{
	struct pmuctl_hook *hook = container_of(work, struct pmuctl_hook, work);
	int err = hook->set(hook, &hook->why);

	end_change(hook, err ? PMUCTL_HOOK_UNSET : PMUCTL_HOOK_SET);
	hook->error = err;
	hook->times += !err;
	wake_waiting(hook);
	if (!hook->users)
		has_no_user(hook); /* who wanted it was killed */
	spin_unlock(&hooks_lock);
}

/* hooks_lock held, before and afterwards, as in what follows */
static void begin_set(struct pmuctl_hook *hook)
{
	WRITE_ONCE(hook->state, PMUCTL_HOOK_CHANGING);
	queue_work(set_queue, &hook->work);
}

static void drop(struct pmuctl_hook *hook)
	__must_hold(&hooks_lock)
{
	begin_change(hook);
	hook->drop(hook);
	end_change(hook, PMUCTL_HOOK_UNSET);
	if (hook->missed)
		hook->missed_before += hook->missed(hook);
	if (hook->users)
		begin_set(hook); /* for who has come meanwhile */
}

/* Until nobody sets or drops it. Returns 0; -ERESTARTSYS if we are killed and @killable. */
static int wait_until_settled(struct pmuctl_hook *hook, bool killable)
	__must_hold(&hooks_lock)
{
	int err = 0;

	while (!is_settled(hook) && !err) {
		spin_unlock(&hooks_lock);
		if (killable)
			err = wait_event_killable_exclusive(hook->settled, is_settled(hook));
		else
			wait_event(hook->settled, is_settled(hook));
		spin_lock(&hooks_lock);
	}
	return err;
}

/* ---- The worker ---- */

/* One that is set, and that nobody has needed for a while. hooks_lock held. */
static struct pmuctl_hook *find_idle(bool at_once)
{
	struct pmuctl_hook *hook;

	list_for_each_entry(hook, &hooks, node)
		if (hook->state == PMUCTL_HOOK_SET && !hook->users && !hook->waking &&
		    (at_once || time_after_eq(jiffies, hook->idle_since + LINGER)))
			return hook;
	return NULL;
}

/* In how many jiffies to look again; 0: not before somebody says so. hooks_lock held. */
static unsigned long next_look(void)
{
	unsigned long next = 0, left;
	struct pmuctl_hook *hook;

	list_for_each_entry(hook, &hooks, node) {
		if (hook->state != PMUCTL_HOOK_SET || hook->users)
			continue;
		left = hook->idle_since + LINGER - jiffies;
		left = clamp_t(long, left, 1, LINGER);
		next = next ? min(next, left) : left;
	}
	return next;
}

static void drop_idle(struct work_struct *work);
static DECLARE_DELAYED_WORK(drop_work, drop_idle);

static void drop_idle(struct work_struct *work)
{
	struct pmuctl_hook *hook;
	unsigned long next;

	spin_lock(&hooks_lock);
	hook = find_idle(false);
	if (hook)
		drop(hook);
	next = next_look();
	spin_unlock(&hooks_lock);
	pmuctl_core_ops->hooks_dropped();
	if (next)
		queue_delayed_work(system_percpu_wq, &drop_work,
				   max_t(unsigned long, next, INTERVAL));
}

void pmuctl_hooks_look_later(void)
{
	queue_delayed_work(system_percpu_wq, &drop_work, LINGER);
}

void pmuctl_hooks_drop_all(void)
{
	struct pmuctl_hook *hook;

	flush_workqueue(set_queue); /* for who was killed */
	cancel_delayed_work_sync(&drop_work);
	spin_lock(&hooks_lock);
	while ((hook = find_idle(true)))
		drop(hook);
	spin_unlock(&hooks_lock);
	/* A probe may still be running. */
	tracepoint_synchronize_unregister();
}

int __init pmuctl_hook_registry_init(void)
{
	/* Any user's opens wait for it, so that it is to get time whatever runs, and on any CPU. */
	set_queue = alloc_workqueue("pmuctl_hooks", WQ_HIGHPRI | WQ_UNBOUND, 0);
	return set_queue ? 0 : -ENOMEM;
}

void pmuctl_hook_registry_exit(void)
{
	destroy_workqueue(set_queue);
}

/* ---- For those who have hooks, and for their users ---- */

void pmuctl_hook_add(struct pmuctl_hook *hook)
{
	init_waitqueue_head(&hook->settled);
	INIT_WORK(&hook->work, set);
	spin_lock(&hooks_lock);
	list_add_tail(&hook->node, &hooks);
	spin_unlock(&hooks_lock);
}

bool pmuctl_hook_del(struct pmuctl_hook *hook)
{
	bool unset;

	spin_lock(&hooks_lock);
	unset = hook->state == PMUCTL_HOOK_UNSET && !hook->users && !hook->waking;
	if (unset)
		list_del(&hook->node);
	spin_unlock(&hooks_lock);
	return unset;
}

static void put(struct pmuctl_hook *hook)
{
	if (!--hook->users)
		has_no_user(hook);
}

/* Who has it set, and who waits for that, may be killed; then it is dropped after a while. */
static int get(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	bool tried = false;

	for (;;) {
		if (wait_until_settled(hook, true))
			return pmuctl_refuse(why, INTERRUPTED, "");
		if (hook->state == PMUCTL_HOOK_SET)
			return 0;
		if (tried && hook->error)
			break;
		begin_set(hook);
		tried = true;
	}
	if (why)
		*why = hook->why;
	return hook->error;
}

int pmuctl_hook_get(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err;

	spin_lock(&hooks_lock);
	hook->users++;
	err = get(hook, why);
	if (err)
		put(hook);
	spin_unlock(&hooks_lock);
	return err;
}

void pmuctl_hook_put(struct pmuctl_hook *hook)
{
	spin_lock(&hooks_lock);
	put(hook);
	spin_unlock(&hooks_lock);
}

void pmuctl_hook_drop_now(struct pmuctl_hook *hook)
{
	spin_lock(&hooks_lock);
	wait_until_settled(hook, false);
	if (hook->state == PMUCTL_HOOK_SET)
		drop(hook);
	spin_unlock(&hooks_lock);
}

unsigned long pmuctl_hook_missed(const struct pmuctl_hook *hook)
{
	return hook->missed ? READ_ONCE(hook->missed_before) + hook->missed(hook) : 0;
}

void pmuctl_hooks_show(struct seq_file *m)
{
	struct pmuctl_hook *hook;

	spin_lock(&hooks_lock);
	list_for_each_entry(hook, &hooks, node) {
		bool set = hook->state != PMUCTL_HOOK_UNSET;

		seq_printf(m, "%s: set %lu times, events %u%s", hook->name, hook->times,
			   hook->users, set ? "" : ", not set");
		if (hook->missed)
			seq_printf(m, ", missed %lu",
				   hook->missed_before + (set ? hook->missed(hook) : 0));
		seq_putc(m, '\n');
	}
	spin_unlock(&hooks_lock);
}
