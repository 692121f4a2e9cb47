// SPDX-License-Identifier: GPL-2.0-only
/*
 * What well-known tracepoints tell: how many arguments they have, and what filters call
 * these, where possible by the names that the kernel's own tracing has for them. A
 * tracepoint knows nothing of that itself: of others there are arguments by number only,
 * and those that it does not have mean nothing.
 */
#include <linux/mm_types.h>

#include <trace/events/sched.h>

#include "soft/tracepoint.h"

#define FIELDS(...)	((const struct filter_field[]){ __VA_ARGS__, { NULL } })
/* The first argument is a task. */
#define TASK_FIELDS(...) \
	FIELDS({ "pid", 0, FILTER_TASK }, { "comm", 0, FILTER_TASK_COMM }, ##__VA_ARGS__)

/* The prototypes of 5.10 to 7.3 agree in what is here, but for how many arguments there are. */
static const struct pmuctl_prototype prototypes[] = {
	{ "sys_enter", 2, FIELDS({ "id", 1, FILTER_S64 }) },
	{ "sys_exit", 2, FIELDS({ "id", 0, FILTER_SYSCALL },
				{ "ret", 1, FILTER_S64 }) },
	{ "sched_switch", COMPAT_SCHED_SWITCH_ARGS, FIELDS({ "preempt", 0, FILTER_BOOL },
							   { "prev_pid", 1, FILTER_TASK },
							   { "prev_comm", 1, FILTER_TASK_COMM },
							   { "next_pid", 2, FILTER_TASK },
							   { "next_comm", 2, FILTER_TASK_COMM },
							   { "prev_state", 3, FILTER_U32 }) },
	{ "sched_waking", 1, TASK_FIELDS() },
	{ "sched_wakeup", 1, TASK_FIELDS() },
	{ "sched_wakeup_new", 1, TASK_FIELDS() },
	{ "sched_migrate_task", 2, TASK_FIELDS({ "dest_cpu", 1, FILTER_S32 }) },
	/* They tell perf of nanoseconds, by __perf_count() in their definition. */
	{ "sched_stat_runtime", 2, TASK_FIELDS({ "runtime", 1, FILTER_U64 }), .weight = 1 },
	{ "sched_stat_wait", 2, TASK_FIELDS({ "delay", 1, FILTER_U64 }), .weight = 1 },
	{ "sched_stat_sleep", 2, TASK_FIELDS({ "delay", 1, FILTER_U64 }), .weight = 1 },
	{ "sched_stat_iowait", 2, TASK_FIELDS({ "delay", 1, FILTER_U64 }), .weight = 1 },
	{ "sched_stat_blocked", 2, TASK_FIELDS({ "delay", 1, FILTER_U64 }), .weight = 1 },
	{ "sched_process_fork", 2, FIELDS({ "parent_pid", 0, FILTER_TASK },
					  { "parent_comm", 0, FILTER_TASK_COMM },
					  { "child_pid", 1, FILTER_TASK },
					  { "child_comm", 1, FILTER_TASK_COMM }) },
	{ "sched_process_exec", 3, FIELDS({ "pid", 0, FILTER_TASK },
					  { "old_pid", 1, FILTER_S32 }) },
	{ "task_newtask", 2, FIELDS({ "pid", 0, FILTER_TASK },
				    { "clone_flags", 1, FILTER_U64 }) },
	{ "task_rename", 2, FIELDS({ "pid", 0, FILTER_TASK }) },
	{ "page_fault_user", 3, FIELDS({ "address", 0, FILTER_U64 },
				       { "error_code", 2, FILTER_U64 }) },
	{ "page_fault_kernel", 3, FIELDS({ "address", 0, FILTER_U64 },
					 { "error_code", 2, FILTER_U64 }) },
	{ "irq_handler_entry", 2, FIELDS({ "irq", 0, FILTER_S32 }) },
	{ "irq_handler_exit", 3, FIELDS({ "irq", 0, FILTER_S32 },
					{ "ret", 2, FILTER_S32 }) },
	{ "softirq_entry", 1, FIELDS({ "vec", 0, FILTER_U32 }) },
	{ "softirq_exit", 1, FIELDS({ "vec", 0, FILTER_U32 }) },
	{ "softirq_raise", 1, FIELDS({ "vec", 0, FILTER_U32 }) },
	{ "local_timer_entry", 1, FIELDS({ "vector", 0, FILTER_S32 }) },
	{ "local_timer_exit", 1, FIELDS({ "vector", 0, FILTER_S32 }) },
	{ "reschedule_entry", 1, FIELDS({ "vector", 0, FILTER_S32 }) },
	{ "call_function_entry", 1, FIELDS({ "vector", 0, FILTER_S32 }) },
	{ "signal_generate", 5, FIELDS({ "sig", 0, FILTER_S32 },
				       { "pid", 2, FILTER_TASK },
				       { "comm", 2, FILTER_TASK_COMM },
				       { "group", 3, FILTER_S32 },
				       { "res", 4, FILTER_S32 }) },
	{ "signal_deliver", 3, FIELDS({ "sig", 0, FILTER_S32 }) },
	{ "cpu_idle", 2, FIELDS({ "state", 0, FILTER_U32 },
				{ "cpu_id", 1, FILTER_U32 }) },
	{ "cpu_frequency", 2, FIELDS({ "state", 0, FILTER_U32 },
				     { "cpu_id", 1, FILTER_U32 }) },
	{ "nmi_handler", 3, FIELDS({ "delta_ns", 1, FILTER_S64 },
				   { "handled", 2, FILTER_S32 }) },
};

static const struct pmuctl_prototype unknown = {
	"", FILTER_ARGS_MAX, FIELDS({ NULL })
};

const struct pmuctl_prototype *pmuctl_prototype_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(prototypes); i++)
		if (!strcmp(prototypes[i].name, name))
			return &prototypes[i];
	return &unknown;
}
