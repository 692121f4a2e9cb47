// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of hooks: see hook.h. What is set, and how, is known to task_hooks.c,
 * sample/sideband.c, soft/sources.c and soft/tracepoint.c.
 *
 * hooks_mutex is inside of tracepoint.c's. It is not held while something is set or dropped, for
 * which the kernel patches its text and waits for RCU: only who wants that very hook waits.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include "core/core_ops.h"
#include "core/event.h"
#include "core/hook.h"

#define LINGER	(1 * HZ)
/* Between two that are dropped, however many there are: none is set again more often. */
#define INTERVAL	(LINGER / 16)

static DEFINE_MUTEX(hooks_mutex);
static LIST_HEAD(hooks);

/* hooks_mutex held, before and afterwards; then nobody sets or drops it but the caller. */
static void begin_change(struct pmuctl_hook *hook)
{
	WRITE_ONCE(hook->state, PMUCTL_HOOK_CHANGING);
	mutex_unlock(&hooks_mutex);
}

static void end_change(struct pmuctl_hook *hook, enum pmuctl_hook_state state)
{
	mutex_lock(&hooks_mutex);
	WRITE_ONCE(hook->state, state);
	wake_up(&hook->settled);
}

/* hooks_mutex held, before and afterwards, as in what follows */
static int set(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err;

	begin_change(hook);
	err = hook->set(hook, why);
	end_change(hook, err ? PMUCTL_HOOK_UNSET : PMUCTL_HOOK_SET);
	hook->times += !err;
	return err;
}

static void drop(struct pmuctl_hook *hook)
{
	begin_change(hook);
	hook->drop(hook);
	end_change(hook, PMUCTL_HOOK_UNSET);
	if (hook->missed)
		hook->missed_before += hook->missed(hook);
}

static bool is_settled(const struct pmuctl_hook *hook)
{
	return READ_ONCE(hook->state) != PMUCTL_HOOK_CHANGING;
}

/*
 * Until nobody sets or drops it. Who can be killed is woken by the one before: thousands at once
 * would all want the mutex, before anybody who waits for another hook.
 *
 * Returns 0; -ERESTARTSYS if we are killed and @killable.
 */
static int wait_until_settled(struct pmuctl_hook *hook, bool killable)
{
	bool waited = false;
	int err = 0;

	while (!is_settled(hook) && !err) {
		waited = true;
		mutex_unlock(&hooks_mutex);
		if (killable)
			err = wait_event_killable_exclusive(hook->settled, is_settled(hook));
		else
			wait_event(hook->settled, is_settled(hook));
		mutex_lock(&hooks_mutex);
	}
	if (waited)
		wake_up(&hook->settled);
	return err;
}

/* ---- The worker ---- */

/* One that is set, and that nobody has needed for a while. hooks_mutex held. */
static struct pmuctl_hook *find_idle(bool at_once)
{
	struct pmuctl_hook *hook;

	list_for_each_entry(hook, &hooks, node)
		if (hook->state == PMUCTL_HOOK_SET && !hook->users &&
		    (at_once || time_after_eq(jiffies, hook->idle_since + LINGER)))
			return hook;
	return NULL;
}

/* In how many jiffies to look again; 0: not before somebody says so. hooks_mutex held. */
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

	mutex_lock(&hooks_mutex);
	hook = find_idle(false);
	if (hook)
		drop(hook);
	next = next_look();
	mutex_unlock(&hooks_mutex);
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

	cancel_delayed_work_sync(&drop_work);
	mutex_lock(&hooks_mutex);
	while ((hook = find_idle(true)))
		drop(hook);
	mutex_unlock(&hooks_mutex);
	/* A probe may still be running. */
	tracepoint_synchronize_unregister();
}

/* ---- For those who have hooks, and for their users ---- */

void pmuctl_hook_add(struct pmuctl_hook *hook)
{
	init_waitqueue_head(&hook->settled);
	mutex_lock(&hooks_mutex);
	list_add_tail(&hook->node, &hooks);
	mutex_unlock(&hooks_mutex);
}

bool pmuctl_hook_del(struct pmuctl_hook *hook)
{
	bool unset;

	mutex_lock(&hooks_mutex);
	unset = hook->state == PMUCTL_HOOK_UNSET;
	if (unset)
		list_del(&hook->node);
	mutex_unlock(&hooks_mutex);
	return unset;
}

int pmuctl_hook_get(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err = 0;

	mutex_lock(&hooks_mutex);
	if (wait_until_settled(hook, true))
		err = pmuctl_refuse(why, INTERRUPTED, "");
	else if (hook->state == PMUCTL_HOOK_UNSET)
		err = set(hook, why);
	hook->users += !err;
	mutex_unlock(&hooks_mutex);
	return err;
}

void pmuctl_hook_put(struct pmuctl_hook *hook)
{
	mutex_lock(&hooks_mutex);
	if (!--hook->users) {
		hook->idle_since = jiffies;
		pmuctl_hooks_look_later();
	}
	mutex_unlock(&hooks_mutex);
}

void pmuctl_hook_drop_now(struct pmuctl_hook *hook)
{
	mutex_lock(&hooks_mutex);
	wait_until_settled(hook, false);
	if (hook->state == PMUCTL_HOOK_SET)
		drop(hook);
	mutex_unlock(&hooks_mutex);
}

unsigned long pmuctl_hook_missed(const struct pmuctl_hook *hook)
{
	return hook->missed ? READ_ONCE(hook->missed_before) + hook->missed(hook) : 0;
}

void pmuctl_hooks_show(struct seq_file *m)
{
	struct pmuctl_hook *hook;

	mutex_lock(&hooks_mutex);
	list_for_each_entry(hook, &hooks, node) {
		bool set = hook->state != PMUCTL_HOOK_UNSET;

		seq_printf(m, "%s: set %lu times, events %u%s", hook->name, hook->times,
			   hook->users, set ? "" : ", not set");
		if (hook->missed)
			seq_printf(m, ", missed %lu",
				   hook->missed_before + (set ? hook->missed(hook) : 0));
		seq_putc(m, '\n');
	}
	mutex_unlock(&hooks_mutex);
}
