/* SPDX-License-Identifier: GPL-2.0-only */
/* <trace/events/task.h> as newer kernels have it. */
#ifndef PMUCTL_SHADOW_TRACE_EVENTS_TASK_H
#define PMUCTL_SHADOW_TRACE_EVENTS_TASK_H

#include_next <trace/events/task.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_TASK_NEWTASK_U64
/* Since 6.18 all have 64 bits for the flags, which x86-64 had before. May go with 6.12. */
static inline void
compat_check_task_newtask(void (*probe)(void *data, struct task_struct *task, u64 clone_flags))
{
}

#define check_trace_callback_type_task_newtask(probe) compat_check_task_newtask(probe)
#endif

#endif /* PMUCTL_SHADOW_TRACE_EVENTS_TASK_H */
