// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registry of hooks: see hook.h. What is set, and how, is known to task_hooks.c,
 * sample/sideband.c, soft/sources.c and soft/tracepoint.c.
 *
 * hooks_mutex is inside of pmuctl_mutex and of tracepoint.c's. It is not held while something is
 * dropped. Only who wants that very hook waits for it, and with pmuctl_mutex unlocked.
 */
#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "core/core_ops.h"
#include "core/event.h"
#include "core/hook.h"

#define LINGER	(1 * HZ)
/* Between two that are dropped, however many there are: none is set again more often. */
#define INTERVAL	(LINGER / 16)

static DEFINE_MUTEX(hooks_mutex);
static LIST_HEAD(hooks);

/* A hook has been dropped; so many still are. */
static DECLARE_WAIT_QUEUE_HEAD(dropped);
static unsigned int nr_dropping;

/* hooks_mutex held, before and afterwards */
static void drop(struct pmuctl_hook *hook)
{
	WRITE_ONCE(hook->state, PMUCTL_HOOK_DROPPING);
	WRITE_ONCE(nr_dropping, nr_dropping + 1);
	mutex_unlock(&hooks_mutex);
	hook->drop(hook);
	mutex_lock(&hooks_mutex);
	if (hook->missed)
		hook->missed_before += hook->missed(hook);
	WRITE_ONCE(hook->state, PMUCTL_HOOK_UNSET);
	WRITE_ONCE(nr_dropping, nr_dropping - 1);
	wake_up_all(&dropped);
}

/* The same; then nobody is dropping it. */
static void wait_until_dropped(struct pmuctl_hook *hook)
{
	while (hook->state == PMUCTL_HOOK_DROPPING) {
		mutex_unlock(&hooks_mutex);
		wait_event(dropped, READ_ONCE(hook->state) != PMUCTL_HOOK_DROPPING);
		mutex_lock(&hooks_mutex);
	}
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
	if (hook->state == PMUCTL_HOOK_DROPPING) {
		err = -EAGAIN;
	} else if (hook->state == PMUCTL_HOOK_UNSET) {
		err = hook->set(hook, why);
		if (!err) {
			WRITE_ONCE(hook->state, PMUCTL_HOOK_SET);
			hook->times++;
		}
	}
	hook->users += !err;
	mutex_unlock(&hooks_mutex);
	return err;
}

int pmuctl_hooks_wait(struct pmuctl_explanation *why)
{
	return wait_event_killable(dropped, !READ_ONCE(nr_dropping)) ?
		pmuctl_refuse(why, INTERRUPTED, "") : 0;
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
	wait_until_dropped(hook);
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
