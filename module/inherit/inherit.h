/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inheritance: the events of a task that its children get, and theirs.
 *
 * An event with attr.inherit is the root of what descends from it: for every task that its
 * task makes, and for theirs, there is a child event in that task's context. The
 * roots of one group share a struct pmuctl_inherit_group, in which the children of all are listed.
 *
 * The list is cut into shards, one for each CPU: a child is in that of the CPU that made it,
 * so tasks that begin and end on different CPUs do not meet. When a child's task ends, its
 * counts are added to what its root keeps for that shard, and it leaves the list. Who
 * wants something of all children walks the list, one walk of a group at a time, up to those
 * that there were when it began: however slow it is, it ends, and who ends meanwhile is not
 * kept, but for the one that it is at. What those had counted that it did not see is told apart.
 *
 * An event of a process has children from the start, for the threads that were there:
 * inherit/attach.c.
 *
 *	fork:	context locks of parent and child > shard
 *	end:	context lock > shard
 *	walk:	mutex of the group, in it for each child its context lock, or for a shard its lock
 */
#ifndef PMUCTL_INHERIT_H
#define PMUCTL_INHERIT_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/seqlock.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct perf_event_attr;
struct pmuctl_context;
struct pmuctl_counts;
struct pmuctl_event;
struct pmuctl_explanation;
struct task_struct;

/**
 * struct pmuctl_child_counts - what children have counted
 * @value: and the others: as struct pmuctl_counts.
 */
struct pmuctl_child_counts {
	u64 value;
	u64 time_enabled;
	u64 time_running;
};

/**
 * struct pmuctl_child_total - what the children of a root have counted that have ended
 * @all: that; the shard's lock.
 * @unseen: of them those that ended during the walk, and before that came to them; likewise, and
 *	under the mutex once the walk is over.
 */
struct pmuctl_child_total {
	struct pmuctl_child_counts all;
	struct pmuctl_child_counts unseen;
};

/**
 * struct pmuctl_shard - children that were made on one CPU
 * @lock: raw, IRQs off; inside of the locks of contexts.
 * @children: by inherit->child_entry, the events of a group together, its leader first.
 * @walked: somebody is walking @children.
 * @end: the end of the walk, among @children: who comes later is behind it.
 * @at: where the walk is: who ends leaves the list, but not this one; NULL: nowhere yet.
 */
struct pmuctl_shard {
	raw_spinlock_t lock;
	struct list_head children;
	bool walked;
	struct list_head end;
	struct pmuctl_inherit *at;
};

/**
 * struct pmuctl_inherit_group - what the events of an inherited group share
 * @mutex: one walk at a time; outside of pmuctl_mutex, which nobody holds while he waits for
 *	a walk.
 * @roots: the events with descriptors; @mutex.
 * @walk: number of the last walk; @mutex.
 * @switches: odd while @roots are being enabled or disabled, all or one; @mutex, IRQs off.
 * @shards: one for each CPU.
 * @attach: one root at a time gets the children that its leader has; outside of @mutex.
 * @attaching: that root, or NULL; changed under @born_lock.
 * @born_lock: raw, IRQs off; inside of the locks of contexts, a leaf.
 * @born: the children, by inherit->sibling, that were made meanwhile without one of @attaching,
 *	and live; @born_lock.
 * @left: roots that are closed, for whoever has or gets @mutex; by inherit->left.
 * @refs: one for each root.
 */
struct pmuctl_inherit_group {
	struct mutex mutex; /* @roots, @walk, walks */
	struct list_head roots;
	u64 walk;
	seqcount_t switches;
	struct pmuctl_shard __percpu *shards;
	struct mutex attach; /* @attaching, with @born_lock */
	struct pmuctl_event *attaching;
	raw_spinlock_t born_lock; /* @born */
	struct list_head born;
	struct llist_head left;
	refcount_t refs;
};

/**
 * pmuctl_inherit_alloc() - make an event one that is inherited, if it is to be
 * @event: a new one of a task.
 * @leader: whose group it joins, or NULL.
 * @attr: validated.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL if the group's leader differs in that; -ENOMEM; -EINTR.
 */
int pmuctl_inherit_alloc(struct pmuctl_event *event, struct pmuctl_event *leader,
			 const struct perf_event_attr *attr,
			 struct pmuctl_explanation *why);

/**
 * pmuctl_inherit_attach() - give a root the children that it must have from the start
 * @event: a root, attached; nobody else knows it yet.
 * @process: for each other thread of its task's process there is to be one. One that
 *	joins a group gets one wherever its leader has one, and @may allows it, as its
 *	leader is one of a process, or is not.
 * @may: may the caller count this task, too? Asked of those that have the leader. Returns 0;
 *	-EACCES, -ESRCH: it is left out; another error, with @why filled, is returned.
 *	Process, may sleep; nothing is locked.
 * @arg: its second argument.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL if its leader differs in @process; -E2BIG if the group of one of the leader's
 * children is full; -ENOMEM; -EINTR; -EBUSY as pmuctl_admit(), or if somebody else traces a task
 * that would be traced; what @may returns.
 */
int pmuctl_inherit_attach(struct pmuctl_event *event, bool process,
			  int (*may)(struct task_struct *task, void *arg), void *arg,
			  struct pmuctl_explanation *why);

/**
 * pmuctl_inherit_close() - a root is closed, or was never opened: its children end
 * @event: the root.
 * @free: is given it afterwards, when nothing is locked any more.
 *
 * Nobody waits for what others do with its group: if that is locked, whoever unlocks it does all
 * of this.
 *
 * Context: Process, may sleep; pmuctl_mutex not held.
 */
void pmuctl_inherit_close(struct pmuctl_event *event, void (*free)(struct pmuctl_event *event));

/* Free what it has; if it is a root, it was closed. */
void pmuctl_inherit_free(struct pmuctl_event *event);

/*
 * No walk is under way between these two, and each event has what its own task has counted:
 * see core/clone_switch.c. Process, may sleep; what a user can make slow must not be waited for
 * between them. Return: 0; -EINTR: the caller is being killed, and has not locked it.
 */
int __must_check pmuctl_inherit_lock(struct pmuctl_event *event);
void pmuctl_inherit_unlock(struct pmuctl_event *event);

/**
 * pmuctl_inherit_walk() - do something to all children of a root
 * @event: the root; locked by pmuctl_inherit_lock().
 * @func: may find that the child has ended.
 * @arg: its second argument.
 *
 * Context: Process, may sleep.
 */
void pmuctl_inherit_walk(struct pmuctl_event *event,
			 void (*func)(struct pmuctl_event *child, void *arg),
			 void *arg);

/* All children, or all of the group, are to be enabled or not, or to have another period,
 * those that are being made now too; as above.
 */
void pmuctl_inherit_set_enabled(struct pmuctl_event *event, bool group,
				bool enabled);
void pmuctl_inherit_set_period(struct pmuctl_event *event, u64 period);

/**
 * pmuctl_inherit_add() - add what the children of roots have counted
 * @event: a root; locked by pmuctl_inherit_lock().
 * @group: of all events of its group.
 * @counts: what they counted themselves.
 * @n: of how many there is something.
 *
 * The values of each child are of one instant.
 *
 * Context: Process, may sleep.
 */
void pmuctl_inherit_add(struct pmuctl_event *event, bool group,
			struct pmuctl_counts *counts, unsigned int n);

/* Forget what has been counted by children until now. As above. */
void pmuctl_inherit_reset(struct pmuctl_event *event, bool group);

/* What the hooks tell. The current task makes another, which has not run; RCU. */
void pmuctl_inherit_fork(struct task_struct *child, u64 clone_flags);

/* Does it descend from another? Any context. */
bool pmuctl_is_child(const struct pmuctl_event *event);

/* A child ends: its counts are kept. Its context is locked, and it is in none of the lists of
 * that any more. @done: gets it, for pmuctl_inherit_release(), unless a walk is at it.
 */
void pmuctl_inherit_end_child(struct pmuctl_event *child, struct list_head *done);

/* Tell what a child of the current task has counted, if that is wanted. Its context is locked,
 * and it is not on the PMU.
 */
void pmuctl_inherit_emit_read(struct pmuctl_event *child);

/* The context of a task that has ended, or may not be looked into any more; not loaded. */
void pmuctl_inherit_end(struct pmuctl_context *ctx);

/* How many children there is no memory for, ever. Any context. */
unsigned long pmuctl_inherit_missing(void);

/* Free children that are on this list by their child_entry, and nowhere else. Any context. */
void pmuctl_inherit_release(struct list_head *list);

/* ---- For the files of inheritance alone ---- */

/*
 * A walk of a shard, whose group is locked: it begins under the shard's lock, and is over when
 * there is no next child. @root: those of others may be left out; NULL: those that this walk has
 * counted. Process, may sleep.
 */
void pmuctl_walk_begin_locked(struct pmuctl_shard *shard);
struct pmuctl_inherit *pmuctl_walk_next(struct pmuctl_shard *shard,
					const struct pmuctl_event *root);

/* @event, and all roots of its group if @group, of perhaps very many that were in the group before;
 * by next_meant. Its inherit group is locked. Never NULL.
 */
struct pmuctl_inherit *pmuctl_find_meant(struct pmuctl_event *event, bool group);

/* Let these be the roots that the next walk is about; returns its number. The group is locked. */
u64 pmuctl_walk_number(struct pmuctl_inherit_group *ig, struct pmuctl_inherit *meant);

/* The event whose it is */
struct pmuctl_event *pmuctl_inherit_event(struct pmuctl_inherit *h);

/* The child of this root that a context has, or NULL. Its lock is held. */
struct pmuctl_event *pmuctl_inherit_find(const struct pmuctl_context *ctx,
					 const struct pmuctl_event *root);

/* List a new child of the root of @from, of which it is a copy, in the shard of @cpu; those
 * of a group are in the same. It follows the last change for all, which @from may not have
 * seen yet. Its context's lock is held. Returns false if the root gets no more children.
 */
bool pmuctl_inherit_list(struct pmuctl_event *child,
			 const struct pmuctl_event *from, int cpu);

#endif /* PMUCTL_INHERIT_H */
