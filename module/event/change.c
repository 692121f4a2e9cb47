// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user changes of an event, of its children and of its parts. Process context, but for
 * what a context calls on the CPU where it is loaded.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/sched/mm.h>

#include "aux/aux.h"
#include "core/context.h"
#include "event/change.h"
#include "inherit/inherit.h"
#include "sample/output.h"
#include "sample/sampling.h"
#include "sample/wake.h"

static void set_enabled_all(struct pmuctl_event *event, bool group, bool enabled)
{
	int cpu;

	if (event->inherit.root) {
		if (pmuctl_inherit_lock(event))
			return; /* to a task that is being killed */
		pmuctl_event_switch(event, group, enabled);
		pmuctl_inherit_set_enabled(event, group, enabled);
		pmuctl_inherit_unlock(event);
		return;
	}
	if (!event->on_cpu) {
		pmuctl_event_switch(event, group, enabled);
		return;
	}
	for_each_possible_cpu(cpu)
		pmuctl_event_switch(event->on_cpu[cpu], group, enabled);
}

void pmuctl_event_enable(struct pmuctl_event *event, bool group)
{
	set_enabled_all(event, group, true);
}

void pmuctl_event_disable(struct pmuctl_event *event, bool group)
{
	set_enabled_all(event, group, false);
}

struct period_change {
	struct pmuctl_event *event;
	u64 value;
};

static void change_period(struct pmuctl_context *ctx, void *arg)
{
	const struct period_change *change = arg;

	pmuctl_sampling_set_period(change->event, change->value);
}

int pmuctl_event_set_period(struct pmuctl_event *event, u64 value,
			    struct pmuctl_explanation *why)
{
	struct period_change change = { .event = event, .value = value };
	int cpu, err;

	err = pmuctl_sampling_check_period(event, value, why);
	if (err)
		return err;
	if (event->inherit.root) {
		if (pmuctl_inherit_lock(event))
			return pmuctl_refuse(why, INTERRUPTED, "");
		pmuctl_context_call(event->context, change_period, &change);
		pmuctl_inherit_set_period(event, value);
		pmuctl_inherit_unlock(event);
		return 0;
	}
	if (!event->on_cpu) {
		pmuctl_context_call(event->context, change_period, &change);
		return 0;
	}
	for_each_possible_cpu(cpu) {
		change.event = event->on_cpu[cpu];
		pmuctl_context_call(change.event->context, change_period,
				    &change);
	}
	return 0;
}

int pmuctl_event_refresh(struct pmuctl_event *event, unsigned int overflows,
			 struct pmuctl_explanation *why)
{
	if (!event->sampling)
		return pmuctl_refuse(why, NOT_SAMPLED, "");
	if (event->on_cpu || event->inherit.root)
		return pmuctl_refuse(why, REFRESH_MANY, "");
	if (pmuctl_output_may_signal(event->output))
		return pmuctl_refuse(why, NO_MEMORY, "");
	atomic_add(overflows, &event->output->limit);
	pmuctl_event_enable(event, false);
	return 0;
}

/* ---- Filters of traces ---- */

static void look_if_it_knows(struct pmuctl_event *child, void *arg)
{
	bool *late = arg;

	*late |= !READ_ONCE(child->ended) && !pmuctl_aux_knows_places(child);
}

static void look_if_it_lives(struct pmuctl_event *child, void *arg)
{
	bool *late = arg;

	*late |= !READ_ONCE(child->ended);
}

/* Has a child begun, of all or of those that do not know where files are? */
static int check_children(struct pmuctl_event *root,
			  void (*look)(struct pmuctl_event *child, void *arg),
			  struct pmuctl_explanation *why)
{
	bool late = false;

	pmuctl_inherit_walk(root, look, &late);
	return late ? pmuctl_refuse(why, PT_RANGE_LATE, "filter") : 0;
}

/**
 * struct shared_filter - a filter of a trace that is inherited
 * @event: the root.
 * @new: the filter.
 * @unlooked: of the trace, before it was set.
 * @generation: that it has; 0: it is not set yet.
 * @mm: what the root's task maps, to be put; or NULL.
 */
struct shared_filter {
	struct pmuctl_event *event;
	struct pmuctl_aux_filter *new;
	int unlooked;
	u32 generation;
	struct mm_struct *mm;
};

static int set_once(struct shared_filter *s, struct pmuctl_explanation *why)
{
	int err = s->new->any ? check_children(s->event, look_if_it_lives, why) : 0;

	s->unlooked = atomic_read(&s->event->aux->unlooked);
	if (!err)
		err = pmuctl_aux_filter_set(s->event, s->new, why);
	s->generation = s->event->aux->generation;
	return err;
}

/*
 * Only the task of the root is looked into: as long as that takes, others wait. What is made
 * afterwards copies what it knows. Whoever was made before knows nothing: it is found, or was
 * counted when it made the one that there is now.
 *
 * Returns -EAGAIN if @mm is in use.
 */
static int set_and_look(struct shared_filter *s, struct pmuctl_explanation *why)
{
	struct pmuctl_event *event = s->event;
	int err = s->generation ? 0 : set_once(s, why);

	/* If somebody else has set another one meanwhile, this has nothing more to find. */
	if (err || !event->aux->follows || s->generation != event->aux->generation)
		return err;
	err = pmuctl_aux_find_places(event, &s->mm, why);
	if (!err)
		err = check_children(event, look_if_it_knows, why);
	if (!err && atomic_read(&event->aux->unlooked) != s->unlooked)
		err = pmuctl_refuse(why, PT_RANGE_LATE, "filter");
	return err;
}

static int wait_for_memory(struct mm_struct **mm, struct pmuctl_explanation *why)
{
	int killed = mmap_read_lock_killable(*mm);

	if (!killed)
		mmap_read_unlock(*mm);
	mmput(*mm);
	*mm = NULL;
	return killed ? pmuctl_refuse(why, INTERRUPTED, "") : 0;
}

static int set_shared_filter(struct pmuctl_event *event, struct pmuctl_aux_filter *new,
			     struct pmuctl_explanation *why)
{
	struct shared_filter s = { .event = event, .new = new };
	int err;

	do {
		if (pmuctl_inherit_lock(event))
			return pmuctl_refuse(why, INTERRUPTED, "");
		err = set_and_look(&s, why);
		pmuctl_inherit_unlock(event);
	} while (err == -EAGAIN && !(err = wait_for_memory(&s.mm, why)));
	/* Perhaps the last of it: that takes long. */
	if (s.mm)
		mmput(s.mm);
	return err;
}

int pmuctl_event_set_filter(struct pmuctl_event *event, const char *text,
			    struct pmuctl_explanation *why)
{
	struct pmuctl_aux_filter new;
	int err = pmuctl_aux_filter_open(event, text, &new, why);

	if (err)
		return err;
	err = event->inherit.root ? set_shared_filter(event, &new, why) :
				    pmuctl_aux_filter_set(event, &new, why);
	pmuctl_aux_filter_close(&new);
	return err;
}
