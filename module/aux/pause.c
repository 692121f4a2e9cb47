// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace of a group's leader is paused and resumed by what the members of the group count.
 */
#include "aux/aux.h"

/*
 * If the leader was paused while this interrupts its start or stop, that knows (pmu/). So
 * none is dropped, and there is nothing that could recurse.
 */
void pmuctl_aux_pause(struct pmuctl_event *event, bool pause)
{
	struct pmuctl_aux *aux = event->aux;
	bool changes;

	if (READ_ONCE(aux->trace.paused) == &event->aux_paused) {
		changes = aux->driver->unit->pause(&aux->trace, pause);
	} else { /* it is inherited, and does not run just now */
		changes = event->aux_paused != pause;
		WRITE_ONCE(event->aux_paused, pause);
	}
	if (!changes)
		local64_inc(&aux->idle);
	else
		local64_inc(pause ? &aux->pauses : &aux->resumes);
}

void pmuctl_aux_missed(const struct pmuctl_event *event)
{
	struct pmuctl_aux *aux = event->leader->aux;

	if (aux)
		local64_inc(&aux->missed);
}

void pmuctl_aux_status(const struct pmuctl_event *event,
		       struct pmuctl_aux_status *status)
{
	struct pmuctl_aux *aux = event->aux;

	*status = (struct pmuctl_aux_status){
		.size = sizeof(*status),
		.state = (READ_ONCE(event->aux_paused) ? PMUCTL_AUX_IS_PAUSED : 0) |
			 (READ_ONCE(aux->stalled) ? PMUCTL_AUX_IS_STALLED : 0),
		.pauses = local64_read(&aux->pauses),
		.resumes = local64_read(&aux->resumes),
		.idle = local64_read(&aux->idle),
		.missed = local64_read(&aux->missed),
	};
}
