/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Making and ending an event, with all that it has of sampling, traces and inheritance.
 */
#ifndef PMUCTL_CREATE_H
#define PMUCTL_CREATE_H

#include "core/event.h"

/* How pmuctl_event_create() makes one */
#define PMUCTL_EVENT_ENABLED	1
#define PMUCTL_EVENT_CLAIMS	2
#define PMUCTL_EVENT_UNLIMITED	4

/**
 * struct pmuctl_target - whom an event counts
 * @task: a task; NULL for everybody on @cpu.
 * @cpu: on which CPU; -1 on any: without a task, on all. Exists if it is not negative.
 * @cgroup: of those on @cpu only the tasks of this one; NULL for all. The event takes over the
 *	reference if it is made.
 * @quota: what it is counted in until it has ended; NULL: in none. Taken over in any case, as one
 *	that is refused may end later.
 */
struct pmuctl_target {
	struct task_struct *task;
	int cpu;
	struct cgroup_subsys_state *cgroup;
	struct pmuctl_quota *quota;
};

/**
 * pmuctl_event_create() - make an event and attach it
 * @target: whom to count.
 * @leader: of the group to join, kept open by the caller; NULL for a group of its own.
 * @attr: validated by pmuctl_attr_check().
 * @tp: if @attr is of a tracepoint: which; the event's, but on an error the caller's still.
 * @flags: PMUCTL_EVENT_ENABLED: it counts at once; else it waits for pmuctl_event_enable(), or
 *	an exec. PMUCTL_EVENT_CLAIMS: its opener may take the PMU, and it keeps it (claim.c).
 *	PMUCTL_EVENT_UNLIMITED: its opener may have any number in one context.
 * @why: filled on refusal.
 *
 * The first hardware event makes the module own the PMU, the first one of a task registers the
 * hooks that follow tasks.
 *
 * Context: Process, may sleep.
 * Return: the event, to be given to pmuctl_event_free(); or ERR_PTR: -ENOENT, -EINVAL
 * as hwpmu_counter_init(); -EBUSY if the PMU is somebody else's or no counter is left;
 * -EACCES if it may not be taken for this opener; -ENOSPC if its context has too many;
 * -EINVAL if it cannot join the group; -ENODEV if the CPU is offline; -ESRCH if the task
 * is exiting; -EOPNOTSUPP if a hook lacks; -ENOMEM; -EINTR.
 */
struct pmuctl_event *pmuctl_event_create(const struct pmuctl_target *target,
					 const struct perf_event_attr *attr,
					 struct pmuctl_tp *tp, unsigned int flags,
					 struct pmuctl_event *leader,
					 struct pmuctl_explanation *why);

/* It is closed. One that is inherited may live on until whoever works on its group is done. */
void pmuctl_event_free(struct pmuctl_event *event);

/**
 * pmuctl_event_get_output() - its output, made if it has none
 * @event: kept open by the caller.
 *
 * Context: Process, may sleep; mmap_lock may be held.
 * Return: the same each time; NULL: no memory.
 */
struct pmuctl_output *pmuctl_event_get_output(struct pmuctl_event *event);

/* Number of hardware events that are open. Any context. */
unsigned int pmuctl_event_number(void);

#endif /* PMUCTL_CREATE_H */
