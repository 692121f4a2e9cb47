/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of a process, as a list that one may sleep over.
 */
#ifndef PMUCTL_THREADS_H
#define PMUCTL_THREADS_H

#include <linux/types.h>
#include <linux/wait.h>

struct pid;
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
 *
 * Who is exiting is left out.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_threads_put(), or NULL: no memory.
 */
struct pmuctl_threads *pmuctl_threads_get(struct task_struct *task);
void pmuctl_threads_put(struct pmuctl_threads *threads);

/* @task if it is not exiting; else another thread of its process, if there is one; else @task.
 * With a reference. Context: Any.
 */
struct task_struct *pmuctl_thread_get_alive(struct task_struct *task);

/* Has every thread of this process at least begun to exit? Any context. */
bool pmuctl_process_has_ended(struct pid *process);

/* Woken whenever a process has, while the hooks are there; one for all of them. */
extern wait_queue_head_t pmuctl_process_wait;

/* The current task is exiting. */
void pmuctl_process_task_ends(void);

#endif /* PMUCTL_THREADS_H */
