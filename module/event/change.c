// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user changes of an event, of its children and of its parts. Process context, but for
 * what a context calls on the CPU where it is loaded.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/sched/mm.h>
#include <linux/string.h>

#include "aux/aux.h"
#include "core/context.h"
#include "event/change.h"
#include "inherit/inherit.h"
#include "sample/output.h"
#include "sample/sampling.h"

static void set_enabled_all(struct pmuctl_event *event, bool group, bool enabled)
{
	int cpu;

	if (event->inherit.root) {
		pmuctl_inherit_lock(event);
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
		pmuctl_inherit_lock(event);
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

/*
 * Only the task of the root is looked into: as long as that takes, others wait. What is made
 * afterwards copies what it knows. Whoever was made before knows nothing: it is found, or was
 * counted when it made the one that there is now.
 */
static int set_shared_filter(struct pmuctl_event *event, const char *text, struct mm_struct **mm,
			     struct pmuctl_explanation *why)
{
	int err = strchr(text, '@') ? check_children(event, look_if_it_lives, why) : 0;
	int unlooked = atomic_read(&event->aux->unlooked);

	if (!err)
		err = pmuctl_aux_set_filter(event, text, why);
	if (err || !event->aux->follows)
		return err;
	err = pmuctl_aux_find_places(event, mm, why);
	if (!err)
		err = check_children(event, look_if_it_knows, why);
	if (!err && atomic_read(&event->aux->unlooked) != unlooked)
		err = pmuctl_refuse(why, PT_RANGE_LATE, "filter");
	return err;
}

int pmuctl_event_set_filter(struct pmuctl_event *event, const char *text,
			    struct pmuctl_explanation *why)
{
	struct mm_struct *mm = NULL;
	int err;

	if (!event->inherit.root)
		return pmuctl_aux_set_filter(event, text, why);
	pmuctl_inherit_lock(event);
	err = set_shared_filter(event, text, &mm, why);
	pmuctl_inherit_unlock(event);
	/* Perhaps the last of it: that takes long. */
	if (mm)
		mmput(mm);
	return err;
}
