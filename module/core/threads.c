// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads of a process: collected under RCU, and kept by references, so that who goes
 * through them may sleep. And who waits for the end of one.
 */
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "core/threads.h"
#include "explain/explain.h"

/* More may have come when the room for them is there; at each try for twice as many. */
#define SPARE	16

static bool is_exiting(const struct task_struct *task)
{
	return READ_ONCE(task->flags) & PF_EXITING;
}

/* Returns false if there are more than @room. */
static bool collect(struct task_struct *task, struct pmuctl_threads *threads,
		    unsigned int room)
{
	struct task_struct *each;
	bool all = true;

	rcu_read_lock();
	for_each_thread(task, each) {
		if (is_exiting(each))
			continue;
		all = threads->n < room;
		if (!all)
			break;
		threads->task[threads->n++] = get_task_struct(each);
	}
	rcu_read_unlock();
	return all;
}

struct pmuctl_threads *pmuctl_threads_get(struct task_struct *task,
					  struct pmuctl_explanation *why)
{
	struct pmuctl_threads *threads;
	unsigned int room, spare;

	for (spare = SPARE;; spare *= 2) {
		room = READ_ONCE(task->signal->nr_threads) + spare;
		threads = kvzalloc(struct_size(threads, task, room),
				   GFP_KERNEL_ACCOUNT);
		if (!threads)
			return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
		if (collect(task, threads, room))
			return threads;
		pmuctl_threads_put(threads);
		if (fatal_signal_pending(current))
			return ERR_PTR(pmuctl_refuse(why, INTERRUPTED, ""));
		cond_resched();
	}
}

void pmuctl_threads_put(struct pmuctl_threads *threads)
{
	unsigned int i;

	for (i = 0; i < threads->n; i++)
		put_task_struct(threads->task[i]);
	kvfree(threads);
}

struct task_struct *pmuctl_thread_get_alive(struct task_struct *task)
{
	struct task_struct *each, *alive = task;

	rcu_read_lock();
	if (is_exiting(task)) {
		for_each_thread(task, each) {
			if (!is_exiting(each)) {
				alive = each;
				break;
			}
		}
	}
	get_task_struct(alive);
	rcu_read_unlock();
	return alive;
}

/* ---- The end of processes: each wakes those alone who wait for it ---- */

static DEFINE_HASHTABLE(processes, 8);
static DEFINE_MUTEX(processes_mutex); /* a leaf */

static struct pmuctl_process *find_process(const struct pid *pid)
{
	struct pmuctl_process *process;

	hash_for_each_possible_rcu(processes, process, node, (unsigned long)pid,
				   lockdep_is_held(&processes_mutex))
		if (process->pid == pid)
			return process;
	return NULL;
}

static struct pmuctl_process *make_process(struct pid *pid)
{
	struct pmuctl_process *process = kzalloc(sizeof(*process), GFP_KERNEL_ACCOUNT);

	if (!process)
		return ERR_PTR(-ENOMEM);
	process->pid = pid;
	init_waitqueue_head(&process->wait);
	return process;
}

/* The one that is there, or @new if there is none; with a reference */
static struct pmuctl_process *use_process(struct pid *pid, struct pmuctl_process *new)
{
	struct pmuctl_process *process;

	mutex_lock(&processes_mutex);
	process = find_process(pid);
	if (!process && new) {
		process = new;
		get_pid(pid);
		hash_add_rcu(processes, &process->node, (unsigned long)pid);
	}
	if (process)
		process->refs++;
	mutex_unlock(&processes_mutex);
	return process;
}

/* A cgroup may let who allocates wait for seconds: nobody else does. */
static struct pmuctl_process *use_or_make_process(struct pid *pid)
{
	struct pmuctl_process *process = use_process(pid, NULL), *new;

	if (process)
		return process;
	new = make_process(pid);
	if (IS_ERR(new))
		return new;
	process = use_process(pid, new);
	if (process != new)
		kfree(new);
	return process;
}

struct pmuctl_process *pmuctl_process_get(struct task_struct *task)
{
	struct pid *pid = get_task_pid(task, PIDTYPE_TGID);
	struct pmuctl_process *process;

	if (!pid)
		return NULL;
	process = use_or_make_process(pid);
	put_pid(pid);
	return process;
}

void pmuctl_process_put(struct pmuctl_process *process)
{
	if (!process)
		return;
	mutex_lock(&processes_mutex);
	if (!--process->refs) {
		hash_del_rcu(&process->node);
		put_pid(process->pid);
		kfree_rcu(process, rcu);
	}
	mutex_unlock(&processes_mutex);
}

bool pmuctl_process_has_ended(const struct pmuctl_process *process)
{
	struct task_struct *task;
	bool ended;

	rcu_read_lock();
	task = pid_task(process->pid, PIDTYPE_TGID);
	ended = !task || !atomic_read(&task->signal->live);
	rcu_read_unlock();
	return ended;
}

void pmuctl_process_task_ends(void)
{
	struct pmuctl_process *process;

	if (atomic_read(&current->signal->live))
		return;
	process = find_process(task_tgid(current));
	if (process && wq_has_sleeper(&process->wait))
		wake_up_all(&process->wait);
}
