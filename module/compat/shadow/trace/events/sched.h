/* SPDX-License-Identifier: GPL-2.0-only */
/* <trace/events/sched.h> as newer kernels have it. */
#ifndef PMUCTL_SHADOW_TRACE_EVENTS_SCHED_H
#define PMUCTL_SHADOW_TRACE_EVENTS_SCHED_H

#include_next <trace/events/sched.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_SCHED_SWITCH_PREV_STATE
/*
 * Since 5.18 sched_switch has one argument more, the last. A probe that takes it and does not look
 * at it is right for both. May go with 5.10.
 */
static inline void
compat_check_sched_switch(void (*probe)(void *data, bool preempt, struct task_struct *prev,
					struct task_struct *next, unsigned int prev_state))
{
}

#define check_trace_callback_type_sched_switch(probe) compat_check_sched_switch(probe)
#define COMPAT_SCHED_SWITCH_ARGS	3
#else
#define COMPAT_SCHED_SWITCH_ARGS	4
#endif

#ifndef COMPAT_HAS_SCHED_PROCESS_EXIT_GROUP_DEAD
/* Likewise sched_process_exit, since 6.16. May go with 6.12. */
static inline void
compat_check_sched_process_exit(void (*probe)(void *data, struct task_struct *task,
					      bool group_dead))
{
}

#define check_trace_callback_type_sched_process_exit(probe) compat_check_sched_process_exit(probe)
#endif

#endif /* PMUCTL_SHADOW_TRACE_EVENTS_SCHED_H */
