// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling, as far as it is part of an event: its memory, its copy for a child, and what is over
 * when the event is enabled or disabled.
 */
#include <linux/slab.h>

#include "core/sampling_state.h"

bool pmuctl_sampling_blank(struct pmuctl_event *child, gfp_t gfp)
{
	child->sampling = kzalloc(sizeof(*child->sampling), gfp);
	return child->sampling;
}

void pmuctl_sampling_copy(struct pmuctl_event *child, const struct pmuctl_event *from)
{
	struct pmuctl_sampling *s = child->sampling;

	s->event = child;
	s->freq = from->sampling->freq;
	s->tells_group = from->sampling->tells_group;
	init_irq_work(&s->work, from->sampling->work.func);
	if (child->ops->init_timer)
		child->ops->init_timer(child);
}

void pmuctl_sampling_free(struct pmuctl_event *event)
{
	kfree(event->sampling);
	event->sampling = NULL;
}

bool pmuctl_sampling_refresh(struct pmuctl_event *event)
{
	struct pmuctl_sampling *s = event->sampling;

	if (likely(!s->expired))
		return false;
	s->expired = false;
	if (!s->throttled)
		event->ops->resume(event);
	return true;
}
