// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tasks that move to another cgroup while they run: what counts on their CPU has to be chosen anew.
 * A tracepoint tells of the move, with interrupts off, when it has been made. From there no other
 * CPU can be waited for, so that is done on the way back to user space of who has moved the task:
 * when its write to cgroup.procs or cgroup.threads returns, events of the old cgroup have stopped,
 * and those of the new one have started.
 */
#include <linux/cgroup.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>
#include <linux/slab.h>
#include <linux/task_work.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <trace/events/cgroup.h>

#include "core/context.h"
#include "core/hook.h"
#include "event/cgroup_moves.h"

static bool has_cgroups(int cpu, void *unused)
{
	return pmuctl_context_has_cgroups(cpu);
}

static void look_again(void *unused)
{
	pmuctl_context_cgroup_moved();
}

static void look_everywhere(void)
{
	/*
	 * cgroup_moves:A: the task is in the other cgroup before this looks for events; with A in
	 * core/context.c: an event that is not seen here has seen where the task is.
	 */
	smp_mb();
	on_each_cpu_cond(has_cgroups, look_again, NULL, true);
}

/* ---- On the way back to user space ---- */

static bool was_pending;

/* He may take his time to get there: nobody waits for him, but the module stays meanwhile. */
static void mover_returns(struct callback_head *work)
{
	kfree(work);
	look_everywhere();
	module_put(THIS_MODULE);
}

static void look_on_return(void)
{
	struct callback_head *work;

	/* These do not return there. */
	if (current->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER))
		return;
	/* Who is being unloaded already waits for nobody. */
	if (!try_module_get(THIS_MODULE))
		return;
	work = kmalloc(sizeof(*work), GFP_ATOMIC | __GFP_NOWARN);
	if (!work)
		goto err_put;
	init_task_work(work, mover_returns);
	WRITE_ONCE(was_pending, true);
	if (!task_work_add(current, work, TWA_RESUME))
		return;
	kfree(work);
err_put:
	module_put(THIS_MODULE);
}

/* ---- A little later ---- */

static void look(struct work_struct *work)
{
	look_everywhere();
}

static DECLARE_WORK(look_later, look);

static void probe_attach_task(void *data, struct cgroup *cgrp, const char *path,
			      struct task_struct *task, bool threadgroup)
{
	look_on_return();
	/* It may be long until then: a call may do more than this. */
	schedule_work(&look_later);
}

/* ---- The hook ---- */

static struct tracepoint *attach_tracepoint;

/* The compiler checks the probe against the kernel's prototype. */
static void __maybe_unused check_probe(void)
{
	check_trace_callback_type_cgroup_attach_task(probe_attach_task);
}

static int set_moves(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err;

	err = !attach_tracepoint ? -ENOENT :
	      tracepoint_probe_register(attach_tracepoint, probe_attach_task, NULL);
	if (!err)
		return 0;
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return pmuctl_refuse(why, NO_HOOK, "pid", "cgroup_attach_task");
}

static void drop_moves(struct pmuctl_hook *hook)
{
	tracepoint_probe_unregister(attach_tracepoint, probe_attach_task, NULL);
	tracepoint_synchronize_unregister();
	flush_work(&look_later);
}

struct pmuctl_hook pmuctl_cgroup_moves_hook = {
	.name = "cgroup moves", .set = set_moves, .drop = drop_moves,
};

static void __init match(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "cgroup_attach_task"))
		attach_tracepoint = tp;
}

void __init pmuctl_cgroup_moves_init(void)
{
	for_each_kernel_tracepoint(match, NULL);
	pmuctl_hook_add(&pmuctl_cgroup_moves_hook);
}

void pmuctl_cgroup_moves_exit(void)
{
	/* The last one may not have left mover_returns() yet. */
	if (was_pending)
		synchronize_rcu_tasks();
}
