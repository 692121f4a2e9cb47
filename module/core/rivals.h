/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who uses the tracing units, so that the kernel's own drivers of them are kept away meanwhile:
 * events that trace; and events that sample branches, which a CPU does not note while it traces.
 *
 * Nobody is kept away for what is not attached, but for a moment: who opens and closes in a loop
 * does not call all CPUs each time.
 *
 * pmuctl_mutex and cpus_read_lock are held by the callers, unless it says otherwise.
 */
#ifndef PMUCTL_CORE_RIVALS_H
#define PMUCTL_CORE_RIVALS_H

#include "pmu/hwtrace.h"

/**
 * pmuctl_rivals_keep_away() - from now on nobody else uses a unit
 * @unit: of pt.h or bts.h.
 *
 * To be followed by pmuctl_rivals_get(), or pmuctl_rivals_unused().
 *
 * Return: 0, also if this CPU has no such unit; -EBUSY: somebody does; -ENOMEM; another error with
 * which perf refuses.
 */
int pmuctl_rivals_keep_away(const struct hwtrace_unit *unit);

/* One more event is attached that needs it, or one less. */
void pmuctl_rivals_get(const struct hwtrace_unit *unit);
void pmuctl_rivals_put(const struct hwtrace_unit *unit);

/* They may come back soon where nobody else is attached. */
void pmuctl_rivals_unused(void);

/*
 * The PMU is about to be ours, or is not any more: so are the units of events that are open all the
 * while. Where others trace by then, ours stand still until they have ended; that is looked at ten
 * times a second.
 */
void pmuctl_rivals_pmu_comes(void);
void pmuctl_rivals_pmu_has_gone(void);

/*
 * A CPU is about to be online: until pmuctl_rivals_cpu_came() has kept others away no branches are
 * noted there. On that CPU, without locks.
 */
void pmuctl_rivals_cpu_comes(int cpu);

/*
 * A CPU has come online: others are kept away there too. Returns false if somebody traces
 * there already. Process, may sleep; takes the locks.
 */
bool pmuctl_rivals_cpu_came(int cpu);

/* At unload, when the PMU has been given back; without locks */
void pmuctl_rivals_exit(void);

#endif /* PMUCTL_CORE_RIVALS_H */
