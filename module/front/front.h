/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The front: what user space talks to. Only here are user pointers and struct file.
 */
#ifndef PMUCTL_FRONT_H
#define PMUCTL_FRONT_H

#include <linux/spinlock.h>

#include "core/event.h"

struct device;
struct file;
struct vm_area_struct;

/**
 * struct pmuctl_last - the explanation of the last refusal on a file descriptor
 * @lock: protects @explanation.
 * @explanation: all zero if nothing was refused yet.
 */
struct pmuctl_last {
	spinlock_t lock; /* @explanation */
	struct pmuctl_explanation explanation;
};

static inline void pmuctl_last_init(struct pmuctl_last *last)
{
	spin_lock_init(&last->lock);
}

/* Keep the explanation of an error, its number positive, for PMUCTL_IOC_EXPLAIN. Process. */
void pmuctl_last_set(struct pmuctl_last *last, int error,
		     struct pmuctl_explanation *why);

/* front/aux_sysfs.c: what is in sysfs */
int pmuctl_dev_aux_init(struct device *device);
void pmuctl_dev_aux_exit(void);

/* dev.c: /dev/pmuctl */
int pmuctl_dev_init(void);
void pmuctl_dev_exit(void);

/**
 * pmuctl_event_fd_mmap() - map the page of an event, or its buffer
 * @event: kept open by the mapping.
 * @vma: the mapping.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; mmap_lock held.
 * Return: 0, -EINVAL, -EPERM, -ENOMEM.
 */
int pmuctl_event_fd_mmap(struct pmuctl_event *event, struct vm_area_struct *vma,
			 struct pmuctl_explanation *why);

/* Enable or disable all events that the calling thread opened. Process, may sleep. */
void pmuctl_event_fd_switch_own(bool enable);

/* debugfs.c; the module works without it, so nothing can fail */
void pmuctl_debugfs_init(void);
void pmuctl_debugfs_exit(void);

/* permission.c */
int pmuctl_permission_init(void);
void pmuctl_permission_exit(void);

/* Show sample/sideband.h what namespaces are, by the files of our own ones. Process. */
void pmuctl_permission_namespaces(void);

/* The level of the checks, -1 to 3. Any context. */
int pmuctl_paranoid(void);

/* May the caller be told where the kernel's code is? Process. */
bool pmuctl_may_see_kernel(void);

/* May the caller see the arguments of tracepoints? Process. */
bool pmuctl_may_see_raw(void);

/**
 * pmuctl_may_open() - may the caller open this event?
 * @attr: validated.
 * @task: whom it counts, NULL for all of a CPU.
 * @pid: its id as the caller gave it, for the sentence.
 * @for_anyone: what a tracepoint tells of a task is told to everybody who may count that.
 * @perfmon: the caller has CAP_PERFMON.
 * @why: filled on refusal.
 *
 * For somebody else's task the answer holds only as long as the task does not exec: ask
 * again after the event was attached, since from then on an exec that gains privilege
 * ends it.
 *
 * Context: Process, may sleep.
 * Return: 0; -EACCES; -EPERM if the kernel is locked down, and its registers are wanted;
 * -ESRCH if somebody else's task is exiting; -ENOMEM, -ENFILE.
 */
int pmuctl_may_open(const struct perf_event_attr *attr,
		    struct task_struct *task, int pid, bool for_anyone, bool perfmon,
		    struct pmuctl_explanation *why);

/**
 * pmuctl_cgroup_get() - the cgroup whose directory a descriptor is of (cgroup_fd.c)
 * @fd: the descriptor.
 * @why: filled on refusal.
 *
 * Context: Process.
 * Return: its state of perf's controller, with a reference; ERR_PTR: -EBADF if it is no such
 * directory; -ENOENT if the cgroup is removed, or has no such controller.
 */
struct cgroup_subsys_state *pmuctl_cgroup_get(int fd, struct pmuctl_explanation *why);

#endif /* PMUCTL_FRONT_H */
