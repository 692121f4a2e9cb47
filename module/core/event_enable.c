// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enabling and disabling events. Process context, but for what a context calls on the CPU where it
 * is loaded.
 */
#include <linux/cpumask.h>

#include "core/sched.h"
#include "inherit/inherit.h"

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
