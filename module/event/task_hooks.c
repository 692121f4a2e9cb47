// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hooks: the kernel's tracepoints through which contexts follow their tasks. They are
 * registered while an event needs them, and for a moment afterwards: see hook.h.
 *
 * sched_switch runs with IRQs off and the rq lock held, before the switch, so current is the
 * task that goes. The others see to it that preemption is off, as newer kernels do not.
 * task_rename comes early in an exec, before the new image has mapped anything,
 * sched_process_exec at its end, when the new credentials are in force; sched_process_exit before
 * the parent can be told.
 */
#include <linux/binfmts.h>
#include <linux/tracepoint.h>

#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "core/context.h"
#include "core/context_table.h"
#include "core/event.h"
#include "core/hook.h"
#include "core/may_tell.h"
#include "core/rdpmc_mm.h"
#include "core/threads.h"
#include "event/cgroup_moves.h"
#include "event/exec.h"
#include "event/task_hooks.h"
#include "inherit/inherit.h"
#include "sample/sideband.h"

static noinline void switch_and_tell(bool preempted, struct task_struct *prev,
				     struct task_struct *next)
{
	pmuctl_side_switch_out(prev, next, preempted || task_is_running(prev));
	pmuctl_context_switch(next);
	pmuctl_side_switch_in(next, prev);
}

static void probe_sched_switch(void *data, bool preempt,
			       struct task_struct *prev,
			       struct task_struct *next,
			       unsigned int prev_state)
{
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_SWITCH))
		switch_and_tell(preempt, prev, next);
	else
		pmuctl_context_switch(next);
}

static void probe_task_rename(void *data, struct task_struct *task,
			      const char *comm)
{
	/* Also prctl() and writes to /proc/PID/comm rename. */
	bool exec = task == current && current->in_execve;

	preempt_disable_notrace();
	if (exec)
		pmuctl_context_exec_begin();
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_COMM))
		pmuctl_side_comm(task, comm, exec);
	preempt_enable_notrace();
}

/* @ended: it will never run again; else only nobody may look into it any more. */
static void task_gone(bool ended)
{
	struct pmuctl_context *ctx;

	rcu_read_lock();
	ctx = pmuctl_context_find(current);
	if (ctx)
		pmuctl_context_retire(ctx);
	/* After its last sample, while all its events are there, and before others know */
	if (ended && pmuctl_side_is_wanted(PMUCTL_SIDE_TASK))
		pmuctl_side_exit(ctx);
	if (ctx) {
		pmuctl_inherit_end(ctx);
		/* wq_has_sleeper() pairs with event_poll:A. */
		if (wq_has_sleeper(&ctx->gone_wait))
			wake_up_all(&ctx->gone_wait);
	}
	if (ended)
		pmuctl_process_task_ends();
	rcu_read_unlock();
}

static void probe_sched_process_exec(void *data, struct task_struct *task,
				     pid_t old_pid, struct linux_binprm *bprm)
{
	/*
	 * The new image has more rights than the opener was checked for, or its file is
	 * not even readable: then nobody may look into it any more.
	 */
	preempt_disable_notrace();
	if (bprm->secureexec || pmuctl_exec_is_secret(task) ||
	    (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP))
		task_gone(false);
	else
		pmuctl_context_exec_end();
	preempt_enable_notrace();
}

/* Unlike sched_process_fork it also tells of threads that io_uring makes. */
static void probe_task_newtask(void *data, struct task_struct *task,
			       u64 clone_flags)
{
	preempt_disable_notrace();
	pmuctl_inherit_fork(task, clone_flags);
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_TASK))
		pmuctl_side_fork(task);
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_NAMESPACES))
		pmuctl_side_namespaces(task);
	preempt_enable_notrace();
}

static void probe_sched_process_exit(void *data, struct task_struct *task, bool group_dead)
{
	preempt_disable_notrace();
	task_gone(true);
	preempt_enable_notrace();
}

/* Behind the probes of tracepoints' events, also behind those that wait for the kernel's own */
#define PRIORITY	(TRACEPOINT_DEFAULT_PRIO - 2)

static struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
} hooks[] = {
	{ "sched_switch", probe_sched_switch },
	{ "task_newtask", probe_task_newtask },
	{ "task_rename", probe_task_rename },
	{ "sched_process_exec", probe_sched_process_exec },
	{ "sched_process_exit", probe_sched_process_exit },
};

/* The compiler checks the probes against the kernel's prototypes. */
static void __maybe_unused check_probes(void)
{
	check_trace_callback_type_sched_switch(probe_sched_switch);
	check_trace_callback_type_task_newtask(probe_task_newtask);
	check_trace_callback_type_task_rename(probe_task_rename);
	check_trace_callback_type_sched_process_exec(probe_sched_process_exec);
	check_trace_callback_type_sched_process_exit(probe_sched_process_exit);
}

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(tp->name, hooks[i].name))
			hooks[i].tp = tp;
}

static void unregister_first(unsigned int n)
{
	while (n--)
		tracepoint_probe_unregister(hooks[n].tp, hooks[n].probe, NULL);
}

static int register_all(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = !hooks[i].tp ? -ENOENT :
		      tracepoint_probe_register_prio(hooks[i].tp, hooks[i].probe,
						     NULL, PRIORITY);
		if (err)
			goto err_unregister;
	}
	return 0;

err_unregister:
	unregister_first(i);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return pmuctl_refuse(why, NO_HOOK, "pid", hooks[i].name);
}

static void drop(struct pmuctl_hook *hook)
{
	unregister_first(ARRAY_SIZE(hooks));
}

static struct pmuctl_hook scheduler_hook = {
	.name = "scheduler", .set = register_all, .drop = drop,
};

/* ---- For events ---- */

int pmuctl_hooks_get(struct pmuctl_event *event, bool scheduler,
		     struct pmuctl_explanation *why)
{
	int err = 0;

	if (scheduler)
		err = pmuctl_hook_get(&scheduler_hook, why);
	if (err)
		return err;
	if (event->ops->needs_pmu)
		err = pmuctl_hook_get(&pmuctl_forks_hook, why);
	if (err)
		goto err_scheduler;
	err = pmuctl_side_get(event->side, why);
	if (err)
		goto err_forks;
	if (event->hook)
		err = pmuctl_hook_get(event->hook, why);
	if (err)
		goto err_side;
	if (event->cgroup)
		err = pmuctl_hook_get(&pmuctl_cgroup_moves_hook, why);
	if (err)
		goto err_event;
	return 0;

err_event:
	if (event->hook)
		pmuctl_hook_put(event->hook);
err_side:
	pmuctl_side_put(event->side);
err_forks:
	if (event->ops->needs_pmu)
		pmuctl_hook_put(&pmuctl_forks_hook);
err_scheduler:
	if (scheduler)
		pmuctl_hook_put(&scheduler_hook);
	return err;
}

void pmuctl_hooks_put(struct pmuctl_event *event, bool scheduler)
{
	if (event->cgroup)
		pmuctl_hook_put(&pmuctl_cgroup_moves_hook);
	if (event->hook)
		pmuctl_hook_put(event->hook);
	pmuctl_side_put(event->side);
	if (event->ops->needs_pmu)
		pmuctl_hook_put(&pmuctl_forks_hook);
	if (scheduler)
		pmuctl_hook_put(&scheduler_hook);
}

void __init pmuctl_hooks_init(void)
{
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	pmuctl_hook_add(&scheduler_hook);
	pmuctl_rdpmc_mm_init();
}
