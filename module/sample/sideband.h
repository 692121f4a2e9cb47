/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Side-band records: what a reader of samples must know of the tasks they are of. Names
 * (COMM), beginnings and ends (FORK, EXIT), what is mapped where (MMAP, MMAP2), and when
 * they run (SWITCH). docs/sideband.md says which event gets which record when.
 */
#ifndef PMUCTL_SIDEBAND_H
#define PMUCTL_SIDEBAND_H

#include <linux/compiler.h>
#include <linux/types.h>

struct perf_event_attr;
struct pmuctl_context;
struct pmuctl_event;
struct pmuctl_explanation;
struct task_struct;
struct vm_area_struct;

/* What an event wants to be told: struct pmuctl_event.side */
#define PMUCTL_SIDE_COMM	0x01
#define PMUCTL_SIDE_TASK	0x02
#define PMUCTL_SIDE_MMAP	0x04
#define PMUCTL_SIDE_MMAP_DATA	0x08
#define PMUCTL_SIDE_SWITCH	0x10
/* Not a kind of its own: mappings in the longer form */
#define PMUCTL_SIDE_MMAP2	0x20
/* Not for records: where the code of a file is, for the filter of a trace */
#define PMUCTL_SIDE_CODE	0x40

/* What somebody wants now. Any context. */
extern u8 pmuctl_side_wanted;

/* What an event with this attr wants. Any context. */
u8 pmuctl_side_of(const struct perf_event_attr *attr);

/**
 * pmuctl_side_get() - an event is about to want something
 * @side: what; 0 is allowed.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; pmuctl_mutex held, cpus_read_lock not.
 * Return: 0; -EOPNOTSUPP if this kernel cannot tell of mappings; -ENOMEM.
 */
int pmuctl_side_get(u8 side, struct pmuctl_explanation *why);

/* It is closed. Context: as pmuctl_side_get() */
void pmuctl_side_put(u8 side);

/* As pmuctl_hook_missed(), of the hooks behind what an event wants, but the scheduler's. */
unsigned long pmuctl_side_missed(u8 side);

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

/* The current task has ended, and nothing of it counts any more. @ctx: its context, which may
 * not be found any more, or NULL. Under RCU.
 */
void pmuctl_side_exit(struct pmuctl_context *ctx);

/* @prev goes, because it must or of its own will, and then @next comes. IRQs off. */
void pmuctl_side_switch_out(struct task_struct *prev, struct task_struct *next,
			    bool preempted);
void pmuctl_side_switch_in(struct task_struct *next, struct task_struct *prev);

/* Does anybody want this? Any context. */
static inline bool pmuctl_side_is_wanted(u8 side)
{
	return unlikely(READ_ONCE(pmuctl_side_wanted) & side);
}

/* @mapped: is told that the current process has mapped code, with mmap_lock held. */
void pmuctl_sideband_init(void (*mapped)(const struct vm_area_struct *vma));

#endif /* PMUCTL_SIDEBAND_H */
