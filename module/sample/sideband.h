/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Side-band records: what a reader of samples must know of the tasks they are of. Names
 * (COMM), beginnings and ends (FORK, EXIT), what is mapped where (MMAP, MMAP2), when they
 * run (SWITCH), the containers they are in (NAMESPACES, CGROUP), and what becomes of the
 * kernel's own code (KSYMBOL, BPF_EVENT, TEXT_POKE). docs/sideband.md says which event gets
 * which record when.
 */
#ifndef PMUCTL_SIDEBAND_H
#define PMUCTL_SIDEBAND_H

#include <linux/compiler.h>
#include <linux/types.h>

struct inode;
struct perf_event_attr;
struct pmuctl_context;
struct pmuctl_event;
struct pmuctl_explanation;
struct task_struct;
struct vm_area_struct;

/* What an event wants to be told: struct pmuctl_event.side */
#define PMUCTL_SIDE_COMM	0x001
#define PMUCTL_SIDE_TASK	0x002
#define PMUCTL_SIDE_MMAP	0x004
#define PMUCTL_SIDE_MMAP_DATA	0x008
#define PMUCTL_SIDE_SWITCH	0x010
/* Not a kind of its own: mappings in the longer form */
#define PMUCTL_SIDE_MMAP2	0x020
/* Not for records: where the code of a file is, for the filter of a trace */
#define PMUCTL_SIDE_CODE	0x040
#define PMUCTL_SIDE_NAMESPACES	0x080
#define PMUCTL_SIDE_CGROUP	0x100
#define PMUCTL_SIDE_KSYMBOL	0x200
#define PMUCTL_SIDE_BPF		0x400
#define PMUCTL_SIDE_TEXT_POKE	0x800
/* Not kinds of their own: in the longer form, build ids in place of inodes, where there are */
#define PMUCTL_SIDE_BUILD_ID	0x1000
/* and: an event of a CPU is told of containers, too */
#define PMUCTL_SIDE_OF_CPU	0x2000

/* What somebody wants now. Any context. */
extern u16 pmuctl_side_wanted;

/* What an event with this attr wants. Any context. */
u16 pmuctl_side_of(const struct perf_event_attr *attr);

/**
 * pmuctl_side_get() - an event is about to want something
 * @side: what; 0 is allowed.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; neither pmuctl_mutex nor cpus_read_lock held.
 * Return: 0; -EOPNOTSUPP if this kernel cannot tell of it; -ENOMEM; -EINTR if the caller is killed.
 */
int pmuctl_side_get(u16 side, struct pmuctl_explanation *why);

/* It is closed. Context: as pmuctl_side_get() */
void pmuctl_side_put(u16 side);

/* As pmuctl_hook_missed(), of the hooks behind what an event wants, but the scheduler's. */
unsigned long pmuctl_side_missed(u16 side);

/* As pmuctl_hook_missed(), of all that an event has. Its user's; any context. */
u64 pmuctl_hooks_missed(const struct pmuctl_event *event);

/*
 * What the hooks tell; the events of the current task and of this CPU are told of it.
 * Context: that of the tracepoint, see event/task_hooks.c
 */

/* @task is to be called @name; @exec: because the current one executes another program. */
void pmuctl_side_comm(struct task_struct *task, const char *name, bool exec);

/* @task is a new child of the current one, and has not run. */
void pmuctl_side_fork(struct task_struct *task);

/* The namespaces of @task, the current one or its child that has not run, are these. */
void pmuctl_side_namespaces(struct task_struct *task);

/* The current task has ended, and nothing of it counts any more. @ctx: its context, which may
 * not be found any more, or NULL. Under RCU.
 */
void pmuctl_side_exit(struct pmuctl_context *ctx);

/* @prev goes, because it must or of its own will, and then @next comes. IRQs off. */
void pmuctl_side_switch_out(struct task_struct *prev, struct task_struct *next,
			    bool preempted);
void pmuctl_side_switch_in(struct task_struct *next, struct task_struct *prev);

/* Does anybody want this? Any context. */
static inline bool pmuctl_side_is_wanted(u16 side)
{
	return unlikely(READ_ONCE(pmuctl_side_wanted) & side);
}

/* @mapped: is told that the current process has mapped code, with mmap_lock held. */
void pmuctl_sideband_init(void (*mapped)(const struct vm_area_struct *vma));

/* @inode: of the namespace of the kind NAME_NS_INDEX that the current task has. Before any event */
void pmuctl_namespaces_init(unsigned int kind, const struct inode *inode);

#endif /* PMUCTL_SIDEBAND_H */
