/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registry of what is set in the kernel for the whole machine, in the name of any user: probes
 * at tracepoints and of functions. Each is set for its first user. After its last one it stays for
 * a second, as setting and dropping it patches the kernel's text on all CPUs, and waits for them:
 * any user may open and close events in a loop, which so sets it at most once in that time. Workers
 * set and drop it, so that nobody depends on the time that the first user gets; of all of them only
 * some are dropped in a second: so many may be set again. Nobody waits for either but who wants
 * that very hook.
 */
#ifndef PMUCTL_HOOK_H
#define PMUCTL_HOOK_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "explain/explain.h"

struct pmuctl_event;
struct seq_file;

enum pmuctl_hook_state {
	PMUCTL_HOOK_UNSET,
	PMUCTL_HOOK_SET,
	PMUCTL_HOOK_CHANGING,	/* a worker sets or drops it: who wants it waits */
};

/**
 * struct pmuctl_hook - something that is set for the whole machine
 * @name: for people.
 * @set: sets it. A worker, nothing of the registry locked. Returns 0, or what is to be refused
 *	with.
 * @drop: the reverse; it may wait for other CPUs. Process.
 * @missed: how often it did not tell of what it is there for since it was set; any context. May
 *	be NULL.
 * @node: in the registry.
 * @state: whether it is set.
 * @settled: who waits until nobody changes that.
 * @work: sets it.
 * @why: what it was refused with, when that was tried last,
 * @error: and the negative errno; 0.
 * @users: events that need it, or wait for it.
 * @waking: these are being woken, and it stays meanwhile.
 * @times: how often it was set.
 * @missed_before: the sum of @missed when it was dropped. Constant while there is a user.
 * @idle_since: when its last user went; jiffies.
 *
 * The first group is constant, the second the registry's.
 */
struct pmuctl_hook {
	const char *name;
	int (*set)(struct pmuctl_hook *hook, struct pmuctl_explanation *why);
	void (*drop)(struct pmuctl_hook *hook);
	unsigned long (*missed)(const struct pmuctl_hook *hook);

	struct list_head node;
	enum pmuctl_hook_state state;
	wait_queue_head_t settled;
	struct work_struct work;
	struct pmuctl_explanation why;
	int error;
	unsigned int users;
	bool waking;
	unsigned long times;
	unsigned long missed_before;
	unsigned long idle_since;
};

/**
 * pmuctl_hook_add() - put a hook into the registry; it is not set yet
 * pmuctl_hook_del() - take one out that nobody can get any more
 * @hook: which.
 *
 * Context: Process, may sleep.
 * Return: pmuctl_hook_del(): false if it is still set, or was a moment ago, or somebody is being
 * woken: to be tried again when the registry has dropped something.
 */
void pmuctl_hook_add(struct pmuctl_hook *hook);
bool pmuctl_hook_del(struct pmuctl_hook *hook);

/**
 * pmuctl_hook_get() - somebody needs it
 * @hook: of the registry.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep, for RCU, too; pmuctl_mutex and cpus_read_lock not held.
 * Return: 0; what its @set returns; -EINTR if the caller is killed meanwhile.
 */
int pmuctl_hook_get(struct pmuctl_hook *hook, struct pmuctl_explanation *why);

/* Not any more. Context: as pmuctl_hook_get() */
void pmuctl_hook_put(struct pmuctl_hook *hook);

/* What it is set on goes: drop it now, users or not. Context: as pmuctl_hook_get() */
void pmuctl_hook_drop_now(struct pmuctl_hook *hook);

/* What it has missed, ever; only differences tell something. A user's; any context. */
unsigned long pmuctl_hook_missed(const struct pmuctl_hook *hook);

/* Have the worker look after what is not needed any more, after a while. Any context. */
void pmuctl_hooks_look_later(void);

/* Tell maintainers. Process. */
void pmuctl_hooks_show(struct seq_file *m);

/* There are no users any more: drop all of them. None of the probes runs afterwards. */
void pmuctl_hooks_drop_all(void);

/* Before the first hook, and after all were dropped. Returns 0 or -ENOMEM. */
int pmuctl_hook_registry_init(void);
void pmuctl_hook_registry_exit(void);

#endif /* PMUCTL_HOOK_H */
