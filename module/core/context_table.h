/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which task has which context: context_table.c. Looking is done here, as every switch does.
 */
#ifndef PMUCTL_CONTEXT_TABLE_H
#define PMUCTL_CONTEXT_TABLE_H

#include <linux/hash.h>
#include <linux/rculist.h>

#include "core/context.h"
#include "core/event.h"

/* Few are in each chain even if a user has as many tasks as he may, all of them with events: every
 * switch, anybody's, goes through one.
 */
#define PMUCTL_HASH_BITS	14

extern struct hlist_head pmuctl_context_heads[1 << PMUCTL_HASH_BITS];

/* The chain in which the context of a task is */
static __always_inline struct hlist_head *pmuctl_context_head(const struct task_struct *task)
{
	return &pmuctl_context_heads[hash_ptr(task, PMUCTL_HASH_BITS)];
}

/* The context of a task, or NULL. Under RCU, or with pmuctl_mutex, which keeps contexts alive. */
static __always_inline struct pmuctl_context *
pmuctl_context_find(const struct task_struct *task)
{
	struct pmuctl_context *ctx;

	hlist_for_each_entry_rcu(ctx, pmuctl_context_head(task), hash,
				 lockdep_is_held(&pmuctl_mutex))
		if (ctx->task == task)
			return ctx;
	return NULL;
}

/* The same with a reference, or NULL if it has none that will stay. Any context. */
struct pmuctl_context *
pmuctl_context_get_existing(const struct task_struct *task);

/* Make a context, that is set up, its task's, unless that has one. Returns the one that it
 * has then, with a reference. Any context.
 */
struct pmuctl_context *pmuctl_context_hash(struct pmuctl_context *ctx);

/* Take it out of the table; whoever comes second does nothing. Any context. */
void pmuctl_context_unhash(struct pmuctl_context *ctx);

void pmuctl_context_table_init(void);

#endif /* PMUCTL_CONTEXT_TABLE_H */
