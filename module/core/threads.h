/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of a process, as a list that one may sleep over.
 */
#ifndef PMUCTL_THREADS_H
#define PMUCTL_THREADS_H

#include <linux/rcupdate.h>
#include <linux/types.h>
#include <linux/wait.h>

struct pid;
struct pmuctl_explanation;
struct task_struct;

/**
 * struct pmuctl_threads - threads of a process
 * @n: how many.
 * @task: the threads, referenced.
 */
struct pmuctl_threads {
	unsigned int n;
	struct task_struct *task[];
};

/**
 * pmuctl_threads_get() - the threads that a process has now
 * @task: any of them, referenced by the caller.
 * @why: filled on refusal.
 *
 * Who is exiting is left out.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_threads_put(); ERR_PTR: -ENOMEM; -EINTR: the caller is
 * being killed.
 */
struct pmuctl_threads *pmuctl_threads_get(struct task_struct *task,
					  struct pmuctl_explanation *why);
void pmuctl_threads_put(struct pmuctl_threads *threads);

/* @task if it is not exiting; else another thread of its process, if there is one; else @task.
 * With a reference. Context: Any.
 */
struct task_struct *pmuctl_thread_get_alive(struct task_struct *task);

/**
 * struct pmuctl_process - a process whose end somebody may wait for
 * @pid: which; constant, referenced.
 * @wait: woken when it has ended, while the hooks are there.
 * @node: in those that are known; its mutex, read under RCU.
 * @refs: likewise.
 * @rcu: delays the end until nobody can find it any more.
 */
struct pmuctl_process {
	struct pid *pid;
	wait_queue_head_t wait;
	struct hlist_node node;
	unsigned int refs;
	struct rcu_head rcu;
};

/**
 * pmuctl_process_get() - the process of a task
 * @task: referenced by the caller.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_process_put(); NULL if it is no more; ERR_PTR(-ENOMEM).
 */
struct pmuctl_process *pmuctl_process_get(struct task_struct *task);

/* Nobody waits for it any more who got it so; nothing for NULL. */
void pmuctl_process_put(struct pmuctl_process *process);

/* Has every thread of it at least begun to exit? Any context. */
bool pmuctl_process_has_ended(const struct pmuctl_process *process);

/* The current task is exiting. RCU. */
void pmuctl_process_task_ends(void);

#endif /* PMUCTL_THREADS_H */
