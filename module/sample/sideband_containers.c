// SPDX-License-Identifier: GPL-2.0-only
/*
 * Side-band records of what tasks are in: namespaces and cgroups.
 *
 * Which namespaces a task has is told when it begins, by the scheduler's hook, and when it
 * takes others, by setns(2) or unshare(2). For that there is no tracepoint, so there is a probe
 * on the function that tells the kernel's own events. A cgroup is told of when it is made,
 * which a tracepoint tells.
 *
 * How a task's namespace is found, and the device of their files, is learnt once from the
 * files of our own ones, in procfs.
 */
#include <linux/cgroup.h>
#include <linux/fs.h>
#include <linux/kdev_t.h>
#include <linux/magic.h>
#include <linux/ns_common.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/proc_ns.h>
#include <linux/tracepoint.h>

#include <trace/events/cgroup.h>

#include "core/event.h"
#include "core/hook.h"
#include "sample/output.h"
#include "sample/sideband.h"
#include "sample/sideband_put.h"

/* ---- Namespaces ---- */

/* What there is of each kind; @ops NULL: this kernel has none. Constant after init. */
static struct {
	const struct proc_ns_operations *ops;
	u64 dev;
} kinds[NR_NAMESPACES];

struct namespaces_side {
	struct side_record side;
	struct task_struct *task;
	struct perf_ns_link_info links[NR_NAMESPACES];
};

static void put_namespaces(struct pmuctl_event *event, const struct side_record *side)
{
	const struct namespaces_side *t = container_of(side, struct namespaces_side, side);
	struct {
		struct perf_event_header header;
		u32 pid, tid;
		u64 number;
		struct perf_ns_link_info links[NR_NAMESPACES];
	} record = {
		.header.type = PERF_RECORD_NAMESPACES,
		.pid = pmuctl_output_pid(event->output, t->task),
		.tid = pmuctl_output_tid(event->output, t->task),
		.number = NR_NAMESPACES,
	};

	memcpy(record.links, t->links, sizeof(record.links));
	pmuctl_record_put(event, &record.header, sizeof(record), side->whose);
}

void pmuctl_side_namespaces(struct task_struct *task)
{
	struct namespaces_side t = {
		.side = { PMUCTL_SIDE_NAMESPACES, current, put_namespaces },
		.task = task,
	};
	struct ns_common *ns;
	unsigned int i;

	for (i = 0; i < NR_NAMESPACES; i++) {
		ns = kinds[i].ops ? kinds[i].ops->get(task) : NULL;
		if (!ns)
			continue;
		t.links[i].dev = kinds[i].dev;
		t.links[i].ino = ns->inum;
		/* Not the last reference: the task cannot take others meanwhile. */
		kinds[i].ops->put(ns);
	}
	pmuctl_side_emit(current, &t.side);
}

static int namespaces_probe(struct kprobe *probe, struct pt_regs *regs)
{
	struct task_struct *task = (void *)regs_get_kernel_argument(regs, 0);

	/* A child is told of after its FORK. */
	if (task == current)
		pmuctl_side_namespaces(task);
	return 0;
}

struct side_probe pmuctl_namespaces_probe =
	SIDE_PROBE("namespaces", "perf_event_namespaces", namespaces_probe, "attr.namespaces");

void __init pmuctl_namespaces_init(unsigned int kind, const struct inode *inode)
{
	if (inode->i_sb->s_magic != NSFS_MAGIC)
		return;
	kinds[kind].ops = get_proc_ns(inode)->ops;
	kinds[kind].dev = new_encode_dev(inode->i_sb->s_dev);
}

/* ---- Cgroups ---- */

struct cgroup_side {
	struct side_record side;
	u64 id;
	const char *path;
	u32 length;
};

static void put_cgroup(struct pmuctl_event *event, const struct side_record *side)
{
	const struct cgroup_side *t = container_of(side, struct cgroup_side, side);
	struct {
		struct perf_event_header header;
		u64 id;
	} record = {
		.header.type = PERF_RECORD_CGROUP,
		.id = t->id,
	};

	pmuctl_side_put_named(event, side, &record.header, sizeof(record), t->path, t->length);
}

/* As long as perf's may be */
#define CGROUP_PATH_MAX	(PATH_MAX - sizeof(u64))

/* Where the path is written: one for each CPU; the tracepoint has IRQs off. */
static char __percpu *paths;

/* perf knows those of the hierarchy that its controller is in. */
static bool perf_knows(const struct cgroup *cgrp)
{
#ifdef CONFIG_CGROUP_PERF
	return cgrp->root->subsys_mask & BIT(perf_event_cgrp_id);
#else
	return false;
#endif
}

static void probe_cgroup_mkdir(void *data, struct cgroup *cgrp, const char *path)
{
	struct cgroup_side t = {
		.side = { PMUCTL_SIDE_CGROUP, current, put_cgroup },
		.id = cgroup_id(cgrp),
	};
	char *whole;

	if (!perf_knows(cgrp))
		return;
	whole = this_cpu_ptr(paths);
	/* @path is cut off earlier than perf's. */
	if (cgroup_path(cgrp, whole, CGROUP_PATH_MAX) >= 0)
		path = whole;
	t.path = path;
	t.length = strnlen(path, CGROUP_PATH_MAX - 1);
	pmuctl_side_emit(current, &t.side);
}

static struct tracepoint *mkdir_tracepoint;

/* The compiler checks the probe against the kernel's prototype. */
static void __maybe_unused check_probe(void)
{
	check_trace_callback_type_cgroup_mkdir(probe_cgroup_mkdir);
}

static int set_cgroups(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err;

	paths = __alloc_percpu(PATH_MAX, sizeof(u64));
	if (!paths)
		return pmuctl_refuse(why, NO_MEMORY, "");
	err = !mkdir_tracepoint ? -ENOENT :
	      tracepoint_probe_register(mkdir_tracepoint, probe_cgroup_mkdir, NULL);
	if (!err)
		return 0;
	free_percpu(paths);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return pmuctl_refuse(why, NO_SIDE_HOOK, "attr.cgroup", "cgroup_mkdir");
}

static void drop_cgroups(struct pmuctl_hook *hook)
{
	tracepoint_probe_unregister(mkdir_tracepoint, probe_cgroup_mkdir, NULL);
	tracepoint_synchronize_unregister();
	free_percpu(paths);
}

struct pmuctl_hook pmuctl_cgroups_hook = {
	.name = "cgroups", .set = set_cgroups, .drop = drop_cgroups,
};

static void __init match(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "cgroup_mkdir"))
		mkdir_tracepoint = tp;
}

void __init pmuctl_cgroups_init(void)
{
	for_each_kernel_tracepoint(match, NULL);
}
