// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enabling and disabling events. Process context, but for what a context calls on the CPU where it
 * is loaded.
 */
#include <linux/cpumask.h>

#include "core/sched.h"
#include "sample/sampling.h"

/**
 * struct event_switch - what set_enabled() wants
 * @event: which event.
 * @group: all of its group are meant.
 * @enabled: on or off.
 */
struct event_switch {
	struct pmuctl_event *event;
	bool group;
	bool enabled;
};

static bool switch_events(struct pmuctl_cpuctx *pc, void *arg)
{
	const struct event_switch *want = arg;
	struct pmuctl_event *each;
	bool changed = false;

	if (want->event->ended)
		return false;
	for_each_meant(each, want->event, want->group) {
		changed |= each->enabled != want->enabled || each->error;
		if (each->sampling)
			changed |= pmuctl_sampling_refresh(each);
		each->enabled = want->enabled;
		each->error = false;
		pmuctl_inherit_follows(each);
	}
	want->event->context->clone_id = 0;
	return changed && !(pc && pmuctl_sched_group(pc, want->event->leader));
}

static void set_enabled(struct pmuctl_event *event, bool group, bool enabled)
{
	struct event_switch want = {
		.event = event, .group = group, .enabled = enabled,
	};

	pmuctl_context_change(event->context, switch_events, &want);
}

void pmuctl_event_switch_child(struct pmuctl_event *child, bool group,
			       bool enabled)
{
	set_enabled(child, group, enabled);
}

static void set_enabled_all(struct pmuctl_event *event, bool group, bool enabled)
{
	int cpu;

	if (event->inherit.root) {
		pmuctl_inherit_lock(event);
		set_enabled(event, group, enabled);
		pmuctl_inherit_set_enabled(event, group, enabled);
		pmuctl_inherit_unlock(event);
		return;
	}
	if (!event->on_cpu) {
		set_enabled(event, group, enabled);
		return;
	}
	for_each_possible_cpu(cpu)
		set_enabled(event->on_cpu[cpu], group, enabled);
}

void pmuctl_event_enable(struct pmuctl_event *event, bool group)
{
	set_enabled_all(event, group, true);
}

void pmuctl_event_disable(struct pmuctl_event *event, bool group)
{
	set_enabled_all(event, group, false);
}
