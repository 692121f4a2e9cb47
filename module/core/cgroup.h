/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cgroups, as far as events are concerned: which task is in which of those that perf's controller
 * knows. Such a one is known by its state of that controller, in the hierarchy that this is in: the
 * default one, or that of cgroup v1 if it is mounted there.
 */
#ifndef PMUCTL_CGROUP_H
#define PMUCTL_CGROUP_H

#include <linux/cgroup.h>
#include <linux/sched.h>

/* The cgroup of a task that is, or is about to be, this CPU's, or that cannot move. Preemption off,
 * or RCU; NMI-safe. It may be left at any time.
 */
static inline struct cgroup_subsys_state *pmuctl_cgroup_of(const struct task_struct *task)
{
#ifdef CONFIG_CGROUP_PERF
	/* task_css_check() changes nothing of it. */
	return task_css_check((struct task_struct *)task, perf_event_cgrp_id, true);
#else
	return NULL;
#endif
}

/* Is this one @cgroup, or below it? Any context; both are kept by somebody. */
static inline bool pmuctl_cgroup_has(const struct cgroup_subsys_state *cgroup,
				     const struct cgroup_subsys_state *other)
{
	return cgroup == other || (other && cgroup_is_descendant(other->cgroup, cgroup->cgroup));
}

/* The number of a task's, as pmuctl_cgroup_of(): of its directory the inode's; 0: there is none. */
static inline u64 pmuctl_cgroup_id_of(const struct task_struct *task)
{
	const struct cgroup_subsys_state *cgroup = pmuctl_cgroup_of(task);

	return cgroup ? cgroup_id(cgroup->cgroup) : 0;
}

#endif /* PMUCTL_CGROUP_H */
