// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which CPU and which task has which context. Of tasks: a hash table by the task's address, in
 * which a switch to a task without events costs one load and a branch.
 */
#include "core/context.h"
#include "core/context_table.h"
#include "core/cpu_state.h"

#define LOCK_BITS	6

/* See the lock order in context_types.h. */
DEFINE_MUTEX(pmuctl_mutex);

/* ---- Of CPUs ---- */

struct pmuctl_cpuctx __percpu *pmuctl_cpus;

struct pmuctl_cpuctx *pmuctl_cpu_of(int cpu)
{
	return per_cpu_ptr(pmuctl_cpus, cpu);
}

struct pmuctl_context *pmuctl_context_of_cpu(int cpu)
{
	return &pmuctl_cpu_of(cpu)->context;
}

/* ---- Of tasks ---- */

struct hlist_head pmuctl_context_heads[1 << PMUCTL_HASH_BITS];

/* Each is for some of the chains, so tasks that begin and end at a time do not meet. */
static struct hash_lock {
	raw_spinlock_t lock;
} ____cacheline_aligned_in_smp pmuctl_hash_locks[1 << LOCK_BITS];

/* That of a chain is found by some bits of the chain's number. */
static raw_spinlock_t *hash_lock(const struct task_struct *task)
{
	return &pmuctl_hash_locks[hash_ptr(task, LOCK_BITS)].lock;
}

struct pmuctl_context *pmuctl_context_get_existing(const struct task_struct *task)
{
	struct pmuctl_context *ctx;

	rcu_read_lock();
	ctx = pmuctl_context_find(task);
	if (ctx && !refcount_inc_not_zero(&ctx->refs))
		ctx = NULL; /* about to leave the table */
	rcu_read_unlock();
	return ctx;
}

struct pmuctl_context *pmuctl_context_hash(struct pmuctl_context *new)
{
	raw_spinlock_t *lock = hash_lock(new->task);
	struct pmuctl_context *ctx;
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	ctx = pmuctl_context_get_existing(new->task);
	if (!ctx) {
		ctx = new;
		hlist_add_head_rcu(&new->hash, pmuctl_context_head(new->task));
	}
	raw_spin_unlock_irqrestore(lock, flags);
	return ctx;
}

/* Whoever comes first takes it out of the table: the task's end, or the last event's. */
void pmuctl_context_unhash(struct pmuctl_context *ctx)
{
	raw_spinlock_t *lock = hash_lock(ctx->task);
	unsigned long flags;

	raw_spin_lock_irqsave(lock, flags);
	if (!hlist_unhashed(&ctx->hash))
		hlist_del_init_rcu(&ctx->hash);
	raw_spin_unlock_irqrestore(lock, flags);
}

void __init pmuctl_context_table_init(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pmuctl_hash_locks); i++)
		raw_spin_lock_init(&pmuctl_hash_locks[i].lock);
}

bool pmuctl_context_visit_tasks(pmuctl_context_visit func, void *arg)
{
	struct pmuctl_context *ctx;
	bool go_on = true;
	unsigned int i;

	lockdep_assert_held(&pmuctl_mutex);
	for (i = 0; go_on && i < ARRAY_SIZE(pmuctl_context_heads); i++) {
		rcu_read_lock();
		hlist_for_each_entry_rcu(ctx, &pmuctl_context_heads[i], hash) {
			go_on = func(ctx, arg);
			if (!go_on)
				break;
		}
		rcu_read_unlock();
		cond_resched();
	}
	return go_on;
}
