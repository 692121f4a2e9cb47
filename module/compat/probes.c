// SPDX-License-Identifier: GPL-2.0-only
/*
 * What differs between the kernels that the module is built for. Each probe is a function
 * that compiles where the kernel has the newer of two interfaces; compat/probe makes
 * COMPAT_HAS_... of it, by which the headers of compat/shadow add what is missing. Versions
 * would lie: fixes are brought back into older ones.
 *
 * Which results are expected for which kernel is in tests/style/probes.list.
 */
#include <linux/version.h>

/* Of those between, none of which Debian has any more, nothing has been tried. */
#if KERNEL_VERSION(5, 10, 0) > LINUX_VERSION_CODE || \
	(KERNEL_VERSION(6, 13, 0) <= LINUX_VERSION_CODE && \
	 KERNEL_VERSION(7, 3, 0) > LINUX_VERSION_CODE) || \
	KERNEL_VERSION(7, 4, 0) <= LINUX_VERSION_CODE
#error "this version of pmuctl is for kernels from 5.10 to 6.12, and for 7.3"
#endif

#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/syscore_ops.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>

#include <asm/cpufeature.h>
#include <asm/msr.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

#define PROBE(name) static void probe_##name(void)
/* What is declared and may not be exported to modules: of Module.symvers */
#define EXPORTED(symbol)

EXPORTED(cr4_update_irqsoff)
EXPORTED(has_capability_noaudit)

PROBE(ASM_CPUID_API)
{
#if !__has_include("asm/cpuid/api.h")
#error "part of another header"
#endif
}

PROBE(FILE_OPEN_ROOT_MNT)
{
	file_open_root_mnt(NULL, "", 0, 0);
}

PROBE(FILE_USER_PATH)
{
	file_user_path(NULL);
}

PROBE(HRTIMER_SETUP)
{
	hrtimer_setup(NULL, NULL, 0, 0);
}

PROBE(IN_HARDIRQ)
{
	(void)in_hardirq();
}

PROBE(KTIME_GET_TAI_FAST_NS)
{
	ktime_get_tai_fast_ns();
}

PROBE(MEMCG_DATA_KMEM)
{
	(void)MEMCG_DATA_KMEM;
}

PROBE(PERF_COUNT_SW_CGROUP_SWITCHES)
{
	(void)PERF_COUNT_SW_CGROUP_SWITCHES;
}

PROBE(PERF_SAMPLE_PAGE_SIZES)
{
	(void)(PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE);
}

PROBE(PERF_SAMPLE_WEIGHT_STRUCT)
{
	(void)PERF_SAMPLE_WEIGHT_STRUCT;
}

PROBE(PF_USER_WORKER)
{
	(void)PF_USER_WORKER;
}

/* Since they wait by SRCU for the probes of all tracepoints, which are called with preemption on */
PROBE(PREEMPTIBLE_TRACEPOINTS)
{
	call_tracepoint_unregister_atomic(NULL, NULL);
}

PROBE(RDMSRQ)
{
#ifndef rdmsrq
#error "rdmsrl"
#endif
}

PROBE(SCHED_PROCESS_EXIT_GROUP_DEAD)
{
	void (*probe)(void *data, struct task_struct *task, bool group_dead) = NULL;

	check_trace_callback_type_sched_process_exit(probe);
}

PROBE(SCHED_SWITCH_PREV_STATE)
{
	void (*probe)(void *data, bool preempt, struct task_struct *prev,
		      struct task_struct *next, unsigned int prev_state) = NULL;

	check_trace_callback_type_sched_switch(probe);
}

PROBE(SYSCORE_DATA)
{
	register_syscore((struct syscore *)NULL);
}

PROBE(SYSTEM_PERCPU_WQ)
{
	(void)system_percpu_wq;
}

PROBE(TASK_EXEC_STATE)
{
	(void)current->exec_state;
}

PROBE(TASK_IS_RUNNING)
{
	(void)task_is_running(current);
}

PROBE(TASK_NEWTASK_U64)
{
	void (*probe)(void *data, struct task_struct *task, u64 clone_flags) = NULL;

	check_trace_callback_type_task_newtask(probe);
}

PROBE(TRACE_EVENTS_EXCEPTIONS)
{
#if !__has_include("trace/events/exceptions.h")
#error "a header of x86"
#endif
}

PROBE(VM_FLAGS_SET)
{
	vm_flags_set(NULL, 0);
}

PROBE(X86_FEATURE_HYBRID_CPU)
{
	(void)boot_cpu_has(X86_FEATURE_HYBRID_CPU);
}

PROBE(X86_FEATURE_RTM_ALWAYS_ABORT)
{
	(void)boot_cpu_has(X86_FEATURE_RTM_ALWAYS_ABORT);
}
