/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The ABI of /dev/pmuctl. The manual page pmuctl(4) is made of the comments here.
 *
 * Events are described by struct perf_event_attr and spoken of in the words of <linux/perf_event.h>:
 * its PERF_TYPE_*, PERF_COUNT_*, PERF_FORMAT_* and PERF_EVENT_IOC_* are used as they are.
 * <linux/pmuctl.h> adds what that one lacks: the ioctls of the device, and explanations of refusals.
 *
 * Rules for every structure:
 *
 *  - The first field is @size, set by the caller to sizeof() of the structure it was compiled
 *    with. A shorter (older) structure is extended by zeroes. A longer (newer) one is accepted
 *    if all that this module does not know is zero.
 *  - Fields are only ever appended; zero asks for the older behaviour.
 *  - Reserved fields and unknown flags must be zero.
 *
 * Errors that are common to all ioctls of the device:
 *
 *  - ENOTTY: the ioctl number is unknown.
 *  - EFAULT: a pointer cannot be read or written.
 *  - EINVAL: @size is smaller than the first version of the structure, or a reserved field or
 *    unknown flag is set.
 *  - E2BIG: @size is larger than what is known here, and what is beyond is not zero.
 *
 * Every refusal is explained. PMUCTL_IOC_OPEN fills the caller's buffer; PMUCTL_IOC_EXPLAIN,
 * on the device and on event file descriptors, fetches the explanation of the last refusal on
 * that file descriptor, that of PERF_EVENT_IOC_*, read() and mmap() included.
 */
#ifndef _UAPI_LINUX_PMUCTL_H
#define _UAPI_LINUX_PMUCTL_H

#include <linux/ioctl.h>
#include <linux/perf_event.h>
#include <linux/types.h>

/* The device. Everybody may open it; who may count what is decided for each event. */
#define PMUCTL_DEVICE		"/dev/pmuctl"

/* Grows when something is added; what was there keeps its meaning. */
#define PMUCTL_ABI_VERSION	1

/*
 * The largest struct perf_event_attr that the module knows (in the kernel's terms
 * PERF_ATTR_SIZE_VER8), whatever the kernel it runs on knows.
 */
#define PMUCTL_ATTR_SIZE	136

/**
 * struct pmuctl_explanation - why a request was refused
 * @size: sizeof(struct pmuctl_explanation); in PMUCTL_IOC_EXPLAIN set by the
 *	caller, in an open's buffer written by the module.
 * @error: the errno that was returned, positive; 0 if nothing was refused yet.
 * @code: what was wrong, PMUCTL_WHY_*; stable, for programs.
 * @entry: of a list, the number of the entry at fault, from 0 on; else zero.
 * @field: the field at fault, as in C: "attr.config", "pid", "size"; empty if no
 *	single field is. In an entry of a list: "[3].attr.config", or just "[3]".
 * @sentence: for people: what is wrong with which value, the limit, the remedy.
 *	One sentence of English without a newline.
 *
 * Both strings end with a NUL.
 */
struct pmuctl_explanation {
	__u32	size;
	__u32	error;
	__u32	code;
	__u32	entry;
	char	field[32];
	char	sentence[208];
};

/**
 * enum pmuctl_why - codes of explanations
 *
 * The errno that goes with each, and its sentence, are in module/explain/sentences.h.
 */
enum pmuctl_why {
	PMUCTL_WHY_NOTHING		= 0,	/* nothing was refused yet */

	/* The call itself */
	PMUCTL_WHY_SIZE_TOO_SMALL	= 1,	/* EINVAL */
	PMUCTL_WHY_SIZE_TOO_BIG		= 2,	/* E2BIG: unknown bytes are not 0 */
	PMUCTL_WHY_FLAGS_UNKNOWN	= 3,	/* EINVAL */
	PMUCTL_WHY_RESERVED_SET		= 4,	/* EINVAL */
	PMUCTL_WHY_BAD_POINTER		= 5,	/* EFAULT */
	PMUCTL_WHY_IOCTL_UNKNOWN	= 6,	/* ENOTTY */
	PMUCTL_WHY_NO_MEMORY		= 7,	/* ENOMEM */
	PMUCTL_WHY_NO_FD		= 8,	/* EMFILE */
	PMUCTL_WHY_INTERRUPTED		= 9,	/* EINTR */
	PMUCTL_WHY_NO_FILE		= 10,	/* ENFILE */

	/* The attr */
	PMUCTL_WHY_ATTR_TOO_SMALL	= 16,	/* E2BIG, as perf has it */
	PMUCTL_WHY_ATTR_TOO_BIG		= 17,	/* E2BIG: unknown bytes are not 0 */
	PMUCTL_WHY_ATTR_BITS_UNKNOWN	= 18,	/* EINVAL */
	PMUCTL_WHY_ATTR_UNSUPPORTED	= 19,	/* EINVAL: a feature pmuctl lacks */
	PMUCTL_WHY_TYPE_UNKNOWN		= 20,	/* ENOENT */
	PMUCTL_WHY_TYPE_UNSUPPORTED	= 21,	/* ENOENT */
	PMUCTL_WHY_EVENT_UNKNOWN	= 22,	/* EINVAL: no such generic event */
	PMUCTL_WHY_EVENT_NOT_HERE	= 23,	/* ENOENT: this CPU cannot count it */
	PMUCTL_WHY_RAW_BITS		= 24,	/* EINVAL */
	PMUCTL_WHY_PRECISE		= 26,	/* EOPNOTSUPP */
	PMUCTL_WHY_FREQ_TOO_HIGH	= 27,	/* EINVAL */
	PMUCTL_WHY_SAMPLE_UNSUPPORTED	= 28,	/* EINVAL */
	PMUCTL_WHY_STACK_DEPTH		= 29,	/* EOVERFLOW */
	PMUCTL_WHY_STACK_USER		= 30,	/* EINVAL */
	PMUCTL_WHY_REGS			= 31,	/* EINVAL */

	/* The target */
	PMUCTL_WHY_PID_INVALID		= 32,	/* ESRCH */
	PMUCTL_WHY_NO_SUCH_TASK		= 33,	/* ESRCH */
	PMUCTL_WHY_TASK_EXITING		= 34,	/* ESRCH */
	PMUCTL_WHY_CPU_INVALID		= 35,	/* EINVAL */
	PMUCTL_WHY_CPU_OFFLINE		= 36,	/* ENODEV */
	PMUCTL_WHY_NOT_BY_CPU		= 37,	/* EINVAL: a task's event */
	PMUCTL_WHY_GROUP_FD		= 38,	/* EBADF */
	PMUCTL_WHY_FLAG_UNSUPPORTED	= 39,	/* EINVAL */
	PMUCTL_WHY_GROUP_NOT_LEADER	= 40,	/* EINVAL */
	PMUCTL_WHY_GROUP_OTHER_TARGET	= 41,	/* EINVAL */
	PMUCTL_WHY_GROUP_OTHER_CPU	= 42,	/* EINVAL */
	PMUCTL_WHY_GROUP_TOO_BIG	= 43,	/* EINVAL */
	PMUCTL_WHY_SIBLING_FLAG		= 44,	/* EINVAL: pinned, exclusive */
	PMUCTL_WHY_SIBLING_INHERIT	= 47,	/* EINVAL */
	PMUCTL_WHY_CLOCK		= 45,	/* EINVAL: attr.clockid */
	PMUCTL_WHY_CLOCK_UNUSED		= 46,	/* EINVAL: it has no effect */

	/* Permission */
	PMUCTL_WHY_PERM_KERNEL		= 48,	/* EACCES */
	PMUCTL_WHY_PERM_CPU		= 49,	/* EACCES */
	PMUCTL_WHY_PERM_TASK		= 50,	/* EACCES */
	PMUCTL_WHY_PERM_ANY		= 51,	/* EACCES: paranoid 3 */
	PMUCTL_WHY_PERM_KTHREAD		= 52,	/* EACCES */
	PMUCTL_WHY_PERM_CLAIM		= 53,	/* EACCES: the PMU is not ours yet */
	PMUCTL_WHY_PERM_THREADS		= 54,	/* EACCES: AnyThread */
	PMUCTL_WHY_LOCKED_DOWN		= 55,	/* EPERM: the kernel's registers */

	/* PMUCTL_OPEN_PROCESS */
	PMUCTL_WHY_PROCESS_PID		= 56,	/* EINVAL */
	PMUCTL_WHY_PROCESS_INHERIT	= 57,	/* EINVAL */
	PMUCTL_WHY_SIBLING_PROCESS	= 58,	/* EINVAL */
	PMUCTL_WHY_EXEC_BOTH		= 59,	/* EINVAL: enabled and removed by an exec */
	PMUCTL_WHY_GROUP_ENDED		= 60,	/* ESRCH: by an exec of its task */
	PMUCTL_WHY_INHERIT_THREAD	= 61,	/* EINVAL: without inherit */

	/* The PMU */
	PMUCTL_WHY_NO_PMU		= 64,	/* ENOENT: none, or not a usable one */
	PMUCTL_WHY_PMU_BUSY		= 65,	/* EBUSY: held by somebody else */
	PMUCTL_WHY_COUNTERS_TAKEN	= 66,	/* EBUSY: more events than counters */
	PMUCTL_WHY_COUNTERS_RESERVED	= 68,	/* EBUSY: all are kept for CPUs */
	PMUCTL_WHY_NO_HOOK		= 67,	/* EOPNOTSUPP: a kernel tracepoint lacks */
	PMUCTL_WHY_NO_MMAP_HOOK		= 69,	/* EOPNOTSUPP: a kernel probe cannot be set */
	PMUCTL_WHY_EVENT_MERGED		= 70,	/* EOPNOTSUPP: it takes two counters */
	PMUCTL_WHY_CPU_OF_NEW_TYPE	= 71,	/* ENODEV: no CPU was when the module was loaded */

	/* Events without hardware */
	PMUCTL_WHY_SOFT_UNSUPPORTED	= 128,	/* ENOENT */
	PMUCTL_WHY_NO_SOFT_HOOK		= 129,	/* EOPNOTSUPP: a hook lacks */
	PMUCTL_WHY_GROUP_LONG		= 130,	/* E2BIG: too many events */
	PMUCTL_WHY_NAME_MISSING		= 131,	/* EINVAL: of the tracepoint */
	PMUCTL_WHY_NAME_UNUSED		= 132,	/* EINVAL */
	PMUCTL_WHY_NAME_LONG		= 133,	/* EINVAL */
	PMUCTL_WHY_TRACEPOINT_UNKNOWN	= 134,	/* ENOENT */
	PMUCTL_WHY_TRACEPOINT_KERNEL	= 135,	/* EINVAL: it excludes the kernel */
	PMUCTL_WHY_FILTER_TEXT		= 136,	/* EINVAL: at which character */
	PMUCTL_WHY_FILTER_LONG		= 137,	/* EINVAL */
	PMUCTL_WHY_FILTER_UNUSED	= 138,	/* EINVAL: it is no tracepoint */
	PMUCTL_WHY_PERM_RAW		= 139,	/* EPERM */
	PMUCTL_WHY_SOFT_UNKNOWN		= 140,	/* ENOENT: no such event */

	/* Event file descriptors */
	PMUCTL_WHY_BUFFER_TOO_SMALL	= 80,	/* ENOSPC */
	PMUCTL_WHY_IOCTL_UNSUPPORTED	= 81,	/* EINVAL */
	PMUCTL_WHY_NR_TOO_SMALL		= 82,	/* ENOSPC */
	PMUCTL_WHY_ENTRY_SIZE		= 83,	/* EINVAL */
	PMUCTL_WHY_MMAP_SIZE		= 84,	/* EINVAL: not 1, nor 1 + 2^n pages */
	PMUCTL_WHY_MMAP_OFFSET		= 85,	/* EINVAL: not 0 */
	PMUCTL_WHY_MMAP_PRIVATE		= 86,	/* EINVAL */
	PMUCTL_WHY_MMAP_OTHER_SIZE	= 87,	/* EINVAL: not that of its buffer */
	PMUCTL_WHY_MEMLOCK		= 88,	/* EPERM: locked memory */
	PMUCTL_WHY_NO_BUFFER		= 89,	/* EINVAL */
	PMUCTL_WHY_NOT_SAMPLED		= 90,	/* EINVAL: it only counts */
	PMUCTL_WHY_PERIOD_RANGE		= 91,	/* EINVAL */
	PMUCTL_WHY_REFRESH_MANY		= 92,	/* EINVAL: of all CPUs */
	PMUCTL_WHY_OUTPUT_FD		= 93,	/* EBADF */
	PMUCTL_WHY_OUTPUT_ITSELF	= 94,	/* EINVAL */
	PMUCTL_WHY_OUTPUT_NO_BUFFER	= 95,	/* EINVAL */
	PMUCTL_WHY_OUTPUT_MAPPED	= 96,	/* EINVAL */
	PMUCTL_WHY_OUTPUT_OTHER		= 97,	/* EINVAL: clockid, write_backward */
	PMUCTL_WHY_NOT_MODIFIED		= 98,	/* EOPNOTSUPP */
	PMUCTL_WHY_MMAP_TOO_LARGE	= 99,	/* ENOMEM */

	/* Counters of other kernel modules */
	PMUCTL_WHY_KERNEL_TARGET	= 112,	/* EINVAL: neither task nor CPU */
	PMUCTL_WHY_KERNEL_CPU		= 113,	/* ENODEV: no such CPU */
	PMUCTL_WHY_KERNEL_ATTR		= 114,	/* EINVAL: records, groups, AUX */
	PMUCTL_WHY_KERNEL_HANDLER	= 115,	/* EINVAL: a handler without a period */
	PMUCTL_WHY_KERNEL_IN_HANDLER	= 116,	/* EDEADLK */
	PMUCTL_WHY_KERNEL_TRACEPOINT	= 117,	/* EOPNOTSUPP */

	/* AUX area tracing */
	PMUCTL_WHY_AUX_NONE		= 144,	/* ENOENT: this CPU cannot trace */
	PMUCTL_WHY_AUX_INHERIT		= 145,	/* EINVAL */
	PMUCTL_WHY_AUX_ALL_CPUS		= 146,	/* EINVAL: pid -1, cpu -1 */
	PMUCTL_WHY_AUX_BUSY		= 147,	/* EBUSY: another event of ours traces */
	PMUCTL_WHY_AUX_FOREIGN		= 148,	/* EBUSY: somebody else does */
	PMUCTL_WHY_AUX_OFFSET		= 149,	/* EINVAL: not that of the metadata page */
	PMUCTL_WHY_AUX_SIZE		= 150,	/* EINVAL: likewise */
	PMUCTL_WHY_AUX_OVERLAP		= 151,	/* EINVAL: within the ring */
	PMUCTL_WHY_AUX_POWER		= 152,	/* EINVAL: not 2^n pages */
	PMUCTL_WHY_AUX_NO_RING		= 153,	/* EINVAL: the ring is not mapped */
	PMUCTL_WHY_AUX_ONLY		= 154,	/* EOPNOTSUPP: of events that trace only */
	PMUCTL_WHY_PT_BITS		= 155,	/* EINVAL: config */
	PMUCTL_WHY_PT_CHOICE		= 156,	/* EINVAL: a period that this CPU lacks */
	PMUCTL_WHY_AUX_NO_DRIVER	= 157,	/* ENOENT: not so many */
	PMUCTL_WHY_AUX_BOTH		= 158,	/* EINVAL: pause and resume */
	PMUCTL_WHY_AUX_ITSELF		= 159,	/* EINVAL: it traces */
	PMUCTL_WHY_AUX_LEADER		= 160,	/* EINVAL: its leader does not */
	PMUCTL_WHY_AUX_STATUS		= 161,	/* EINVAL: it does not trace */
	PMUCTL_WHY_PT_RANGES		= 162,	/* EINVAL: more than this CPU has */
	PMUCTL_WHY_PT_RANGE		= 163,	/* EINVAL: no addresses */
	PMUCTL_WHY_PT_RANGE_LEVEL	= 164,	/* EINVAL: what is not traced */
	PMUCTL_WHY_PT_RANGE_FILE	= 165,	/* EOPNOTSUPP: of a file, for a CPU */
	PMUCTL_WHY_EVENT_OTHER_CPUS	= 166,	/* ENOENT: this CPU lacks it */
	PMUCTL_WHY_GROUP_OTHER_CPUS	= 167,	/* EINVAL: no CPU has them all */
	PMUCTL_WHY_PT_FILE		= 170,	/* ENOENT: no file that can be mapped */
	PMUCTL_WHY_PT_START		= 171,	/* EOPNOTSUPP: it can only stop */
	PMUCTL_WHY_AUX_NO_FILTER	= 180,	/* EOPNOTSUPP: no address filters */
	PMUCTL_WHY_BTS_CONFIG		= 181,	/* EINVAL: there is nothing to choose */
	PMUCTL_WHY_PERM_ADDRESSES	= 182,	/* EACCES: it tells the kernel's addresses */
	PMUCTL_WHY_AUX_RIVAL		= 183,	/* EIO: perf's driver cannot be kept away */
	PMUCTL_WHY_PERM_NAMESPACES	= 184,	/* EACCES: of all tasks that are told of */
	PMUCTL_WHY_NO_SIDE_HOOK		= 185,	/* EOPNOTSUPP: a kernel probe cannot be set */
	PMUCTL_WHY_PERM_TEXT_POKE	= 186,	/* EACCES: it tells the kernel's code */
	PMUCTL_WHY_EVENT_ZERO		= 200,	/* ENOENT: no event has number 0 */
	PMUCTL_WHY_EVENT_REGISTER	= 201,	/* ENOENT: another register is needed */
	PMUCTL_WHY_EVENT_NO_TABLE	= 202,	/* ENOENT: this model is not known */
	PMUCTL_WHY_EVENT_SPOILS		= 203,	/* ENOENT: another CPU's counts */
	PMUCTL_WHY_EVENT_NORTH_BRIDGE	= 204,	/* ENOENT: it is no core's */
	PMUCTL_WHY_EVENT_SILENT		= 205,	/* ENOENT: a hypervisor filters it */
	PMUCTL_WHY_EXTRA_BITS		= 206,	/* EINVAL: config1's register lacks them */
	PMUCTL_WHY_EXTRA_ABSENT		= 207,	/* ENXIO: its register is not there */
	PMUCTL_WHY_GROUP_EXTRA		= 208,	/* EINVAL: other values of config1 */
	PMUCTL_WHY_EXTRA_TAKEN		= 209,	/* EBUSY: likewise, with overcommit 0 */

	/* Limits */
	PMUCTL_WHY_EVENTS_USER		= 210,	/* EMFILE: the user has so many */
	PMUCTL_WHY_EVENTS_CONTEXT	= 211,	/* ENOSPC: the task or the CPU has */

	/* Lists */
	PMUCTL_WHY_LIST_LENGTH		= 220,	/* EINVAL: none, or more than there may be */
	PMUCTL_WHY_LIST_ENTRY_SIZE	= 221,	/* EINVAL */
	PMUCTL_WHY_LIST_LEADER		= 222,	/* EINVAL: group_fd is no earlier entry */
	PMUCTL_WHY_LIST_REQUEST		= 223,	/* EINVAL */
	PMUCTL_WHY_LIST_FD		= 224,	/* EBADF */

	/* Cgroups */
	PMUCTL_WHY_CGROUP_PID		= 230,	/* EINVAL: it is no descriptor */
	PMUCTL_WHY_CGROUP_PROCESS	= 231,	/* EINVAL: PMUCTL_OPEN_PROCESS too */
	PMUCTL_WHY_CGROUP_FD		= 232,	/* EBADF */
	PMUCTL_WHY_CGROUP_NONE		= 233,	/* ENOENT: removed, or without perf's controller */
	PMUCTL_WHY_CGROUP_EVENT		= 234,	/* EOPNOTSUPP: traces, cpu-migrations */

	/* Branches in samples */
	PMUCTL_WHY_NO_LBR		= 240,	/* EOPNOTSUPP: no records that can be read */
	PMUCTL_WHY_BRANCH_UNUSED	= 241,	/* EINVAL: without PERF_SAMPLE_BRANCH_STACK */
	PMUCTL_WHY_BRANCH_NO_KIND	= 242,	/* EINVAL */
	PMUCTL_WHY_BRANCH_CALL_STACK	= 243,	/* EINVAL: with other kinds */
	PMUCTL_WHY_BRANCH_TYPE		= 244,	/* EOPNOTSUPP: no hardware event */
	PMUCTL_WHY_BRANCH_TRACED	= 245,	/* EBUSY: a trace is open */
	PMUCTL_WHY_AUX_BRANCHES		= 246,	/* EBUSY: the reverse */
	PMUCTL_WHY_PERM_BRANCHES	= 247,	/* EACCES: of the kernel */
	PMUCTL_WHY_GROUP_BRANCHES	= 248,	/* EINVAL: others than the group's */
	PMUCTL_WHY_EVENT_ALIKE		= 249,	/* ENOENT: for one type of CPU */
	PMUCTL_WHY_PT_RANGE_LATE	= 250,	/* EOPNOTSUPP: it is inherited already */
	PMUCTL_WHY_FILTER_WORK		= 251,	/* ENOSPC: of all of a user's */
	PMUCTL_WHY_PT_BRANCHES		= 252,	/* EINVAL: a trace without them */
	PMUCTL_WHY_BPF_FD		= 253,	/* EBADF */
	PMUCTL_WHY_BPF_IDS		= 254,	/* E2BIG */
	PMUCTL_WHY_PERM_BPF		= 255,	/* EPERM */
};

/*
 * attr.type of raw events of one type of a hybrid processor's CPUs, perf's cpu_core and cpu_atom;
 * in a generic event's attr.config the upper half. Of a task they count while it is there.
 */
#define PMUCTL_TYPE_CPU_CORE	900
#define PMUCTL_TYPE_CPU_ATOM	901

/* attr.type of the drivers of AUX area tracing, and above: PMUCTL_IOC_DRIVER tells which are there */
#define PMUCTL_TYPE_DRIVERS	1000

/*
 * attr.aux_action, which older <linux/perf_event.h> do not have: the u32 at this offset.
 * START_PAUSED is for events that trace; PAUSE and RESUME, for events of such a one's
 * group: each of their overflows lets the trace stand still, or go on.
 */
#define PMUCTL_ATTR_AUX_ACTION	116
#define PMUCTL_AUX_START_PAUSED	(1U << 0)
#define PMUCTL_AUX_PAUSE	(1U << 1)
#define PMUCTL_AUX_RESUME	(1U << 2)

/* Bits of pmuctl_info.features: what this module can do. */
#define PMUCTL_FEATURE_COUNTING		(1ULL << 0)	/* hardware counting */
#define PMUCTL_FEATURE_TASK		(1ULL << 1)	/* events that follow a task */
#define PMUCTL_FEATURE_CPU		(1ULL << 2)	/* events of one CPU */
#define PMUCTL_FEATURE_ENABLE_ON_EXEC	(1ULL << 3)	/* attr.enable_on_exec */
#define PMUCTL_FEATURE_GROUPS		(1ULL << 4)	/* groups, pinned, exclusive */
#define PMUCTL_FEATURE_MULTIPLEXING	(1ULL << 5)	/* more events than counters */
#define PMUCTL_FEATURE_ALL_CPUS		(1ULL << 6)	/* pid -1, cpu -1 */
#define PMUCTL_FEATURE_USER_READ	(1ULL << 7)	/* mmap, and rdpmc in user space */
#define PMUCTL_FEATURE_SAMPLING		(1ULL << 8)	/* records in a mapped buffer */
#define PMUCTL_FEATURE_SOFTWARE		(1ULL << 9)	/* events without hardware */
#define PMUCTL_FEATURE_TRACEPOINT	(1ULL << 10)	/* of the kernel and its modules */
#define PMUCTL_FEATURE_AUX		(1ULL << 16)	/* AUX area tracing on this CPU */
#define PMUCTL_FEATURE_LISTS		(1ULL << 17)	/* many events in one call */
#define PMUCTL_FEATURE_CGROUP		(1ULL << 18)	/* events of a cgroup */

/* Values of pmuctl_info.pmu_kind: which PMU is driven */
#define PMUCTL_PMU_NONE			0	/* none; pmu_reason says why */
#define PMUCTL_PMU_INTEL		1	/* architectural, version in pmu_version */
#define PMUCTL_PMU_AMD			2	/* AMD's or Hygon's */

/* Values of pmuctl_info.pmu_owner: who holds the PMU now */
#define PMUCTL_OWNER_NOBODY		0	/* it is free */
#define PMUCTL_OWNER_PMUCTL		1	/* this module */
#define PMUCTL_OWNER_OTHER		2	/* the NMI watchdog, or in-tree perf */
#define PMUCTL_OWNER_UNKNOWN		3	/* not pmuctl; more is told with CAP_PERFMON */

/**
 * struct pmuctl_info - what the module and the PMU are
 * @size: in: sizeof(struct pmuctl_info); out: the size that was filled.
 * @flags: in: zero.
 * @abi_version: PMUCTL_ABI_VERSION of the module.
 * @attr_size: the largest attr it knows.
 * @features: PMUCTL_FEATURE_*.
 * @pmu_kind: PMUCTL_PMU_*.
 * @pmu_version: Intel: version of architectural performance monitoring; AMD: 2 if it has
 *	PerfMonV2, else 1.
 * @nr_counters: general-purpose counters of a CPU. If CPUs differ, here and in what
 *	follows: what all of them have.
 * @nr_fixed: fixed counters of a CPU.
 * @counter_width: bits of a general-purpose counter.
 * @fixed_width: bits of a fixed counter.
 * @pmu_owner: PMUCTL_OWNER_*, at the time of the call.
 * @hw_events: hardware events that are open now, of all users.
 * @generic_events: bit n is set if PERF_COUNT_HW_n can be counted.
 * @paranoid: the level of the permission checks, -1 to 3.
 * @not_inherited: how often, since the module was loaded, a new task did not get an event
 *	that it inherits, as there was no memory: then the task and what it starts are not
 *	counted.
 * @pmu_name: for people, "Intel architectural PMU version 2"; empty if none.
 * @pmu_reason: if there is no usable PMU, a sentence that says why not, and what
 *	to do; else empty.
 * @module_version: version of the module.
 */
struct pmuctl_info {
	__u32		size;
	__u32		flags;
	__u32		abi_version;
	__u32		attr_size;
	__aligned_u64	features;
	__u32		pmu_kind;
	__u32		pmu_version;
	__u32		nr_counters;
	__u32		nr_fixed;
	__u32		counter_width;
	__u32		fixed_width;
	__u32		pmu_owner;
	__u32		hw_events;
	__aligned_u64	generic_events;
	__s32		paranoid;
	__u32		not_inherited;
	char		pmu_name[48];
	char		pmu_reason[208];
	char		module_version[32];
};

/*
 * pmuctl_open.flags: count the process that @pid is a thread of: all the threads that it
 * has, and as attr.inherit, which must be set, says, all that they start from then on. A
 * thread id of the process is enough. All events of a group have the flag, or none has.
 * The descriptor hangs up (POLLHUP) when the process has ended.
 */
#define PMUCTL_OPEN_PROCESS	(1U << 16)

/**
 * struct pmuctl_open - open an event
 * @size: sizeof(struct pmuctl_open).
 * @flags: PERF_FLAG_FD_CLOEXEC; PERF_FLAG_FD_NO_GROUP: @group_fd is no leader;
 *	PERF_FLAG_FD_OUTPUT: the event writes to the buffer of @group_fd, as after
 *	PERF_EVENT_IOC_SET_OUTPUT; PMUCTL_OPEN_PROCESS; and in a list
 *	PMUCTL_OPEN_GROUP_ENTRY. PERF_FLAG_PID_CGROUP: @pid is a descriptor of the directory
 *	of a cgroup, and the event counts on @cpu while that runs a task of it, or of a
 *	cgroup below it; with @cpu -1 on all CPUs, as with @pid -1.
 * @attr: address of a struct perf_event_attr; its own field "size" versions it. If it
 *	is shorter than PERF_ATTR_SIZE_VER0, or longer than what is known here and not zero
 *	beyond, the size that is known is written to its "size" (E2BIG).
 * @pid: whom to count: 0 the calling task, > 0 that task (its thread id, in the
 *	caller's pid namespace), -1 every task.
 * @cpu: -1 any CPU, >= 0 only this CPU. With @pid -1, -1 means all CPUs through this one
 *	descriptor, those that come online later too: a read gives the sums over all CPUs,
 *	PMUCTL_IOC_READ_CPUS each CPU's own.
 * @group_fd: the leader of the group to join; -1 for a group of its own.
 * @explanation_size: size in bytes of the buffer at @explanation; 0 if none.
 * @explanation: address of a struct pmuctl_explanation that is filled if the
 *	open is refused, else left alone; as much of it as fits, with its strings
 *	always ended by a NUL.
 * @tracepoint: address of the name of a tracepoint, "sched:sched_switch" or just
 *	"sched_switch", for PERF_TYPE_TRACEPOINT, where attr.config does not matter; else 0.
 *
 * A refusal whose explanation cannot be written is EFAULT.
 */
struct pmuctl_open {
	__u32		size;
	__u32		flags;
	__aligned_u64	attr;
	__s32		pid;
	__s32		cpu;
	__s32		group_fd;
	__u32		explanation_size;
	__aligned_u64	explanation;
	__aligned_u64	tracepoint;
};

/* sizeof(struct pmuctl_open) of its first version, which ends before its field tracepoint */
#define PMUCTL_OPEN_SIZE_VER0	40

/**
 * struct pmuctl_cpu_count - what an event counted on one CPU
 * @cpu: which.
 * @online: 1 if it is online now, 0 if not: it keeps its counts.
 * @value: events counted there since the last reset.
 * @time_enabled: ns for which the event was enabled there and the CPU online.
 * @time_running: ns of these for which it had a counter.
 */
struct pmuctl_cpu_count {
	__u32		cpu;
	__u32		online;
	__aligned_u64	value;
	__aligned_u64	time_enabled;
	__aligned_u64	time_running;
};

/**
 * struct pmuctl_read_cpus - read an event CPU by CPU
 * @size: sizeof(struct pmuctl_read_cpus).
 * @flags: zero.
 * @nr: in: room at @counts, in entries; out: how many CPUs there are.
 * @entry_size: sizeof(struct pmuctl_cpu_count).
 * @counts: address of an array of struct pmuctl_cpu_count; it gets the first @nr CPUs, in
 *	the order of their numbers: all that can ever be online for an event of all CPUs,
 *	its one CPU for an event of one.
 *
 * Refused for events of tasks, which are not counted CPU by CPU (EINVAL), and with ENOSPC, @nr
 * being set, if the room is not enough: then as many as there was room for are filled.
 */
struct pmuctl_read_cpus {
	__u32		size;
	__u32		flags;
	__u32		nr;
	__u32		entry_size;
	__aligned_u64	counts;
};

/**
 * struct pmuctl_driver - a driver of AUX area tracing
 * @size: sizeof(struct pmuctl_driver).
 * @flags: zero.
 * @index: in: which, from 0 on.
 * @type: attr.type of its events.
 * @config: bits of attr.config that this CPU has; 0 if it cannot use it.
 * @name: as perf calls it, "intel_pt" or "intel_bts".
 * @reason: why this CPU cannot use it, a sentence; empty if it can.
 *
 * ENOENT if there are not so many.
 */
struct pmuctl_driver {
	__u32		size;
	__u32		flags;
	__u32		index;
	__u32		type;
	__aligned_u64	config;
	char		name[32];
	char		reason[208];
};

/* Bits of pmuctl_aux_status.state */
#define PMUCTL_AUX_IS_PAUSED	(1U << 0)	/* by an event of its group, or from its start */
#define PMUCTL_AUX_IS_STALLED	(1U << 1)	/* there is no room for its trace */

/**
 * struct pmuctl_aux_status - what has become of an event that traces
 * @size: sizeof(struct pmuctl_aux_status).
 * @flags: zero.
 * @state: PMUCTL_AUX_IS_*.
 * @reserved: zero.
 * @pauses: how often events of its group have paused it.
 * @resumes: how often they have let it go on.
 * @idle: how often they found it as they wanted it.
 * @missed: hits of such events that were dropped: in the midst of another hit, in the same
 *	context, or because the event was throttled. Each might have been one of those above.
 *
 * EINVAL if the event does not trace.
 */
struct pmuctl_aux_status {
	__u32		size;
	__u32		flags;
	__u32		state;
	__u32		reserved;
	__aligned_u64	pauses;
	__aligned_u64	resumes;
	__aligned_u64	idle;
	__aligned_u64	missed;
};

/*
 * The numbers of the ioctls. The size of the structure is not part of the number: it is in the
 * structure.
 */
#define PMUCTL_IOC_MAGIC	0xe7

/**
 * define PMUCTL_IOC_INFO - ask what the module and the PMU are
 *
 * On the device, with a struct pmuctl_info.
 */
#define PMUCTL_IOC_INFO		_IO(PMUCTL_IOC_MAGIC, 0x10)

/**
 * define PMUCTL_IOC_OPEN - open an event
 *
 * On the device, with a struct pmuctl_open. Returns a new event file descriptor.
 */
#define PMUCTL_IOC_OPEN		_IO(PMUCTL_IOC_MAGIC, 0x11)

/**
 * define PMUCTL_IOC_EXPLAIN - fetch the explanation of the last refusal
 *
 * On the device or an event file descriptor, with a struct pmuctl_explanation.
 */
#define PMUCTL_IOC_EXPLAIN	_IO(PMUCTL_IOC_MAGIC, 0x12)

/**
 * define PMUCTL_IOC_TASK_ENABLE - enable all events that the calling thread has opened
 *
 * On the device, without an argument: through whichever descriptor of the device they were
 * opened.
 */
#define PMUCTL_IOC_TASK_ENABLE	_IO(PMUCTL_IOC_MAGIC, 0x13)

/**
 * define PMUCTL_IOC_TASK_DISABLE - disable all events that the calling thread has opened
 *
 * On the device, likewise.
 */
#define PMUCTL_IOC_TASK_DISABLE	_IO(PMUCTL_IOC_MAGIC, 0x14)

/**
 * define PMUCTL_IOC_READ_CPUS - read an event CPU by CPU
 *
 * On an event file descriptor, with a struct pmuctl_read_cpus.
 */
#define PMUCTL_IOC_READ_CPUS	_IO(PMUCTL_IOC_MAGIC, 0x15)

/**
 * define PMUCTL_IOC_DRIVER - ask which drivers of AUX area tracing there are
 *
 * On the device, with a struct pmuctl_driver.
 */
#define PMUCTL_IOC_DRIVER	_IO(PMUCTL_IOC_MAGIC, 0x18)

/**
 * define PMUCTL_IOC_AUX_STATUS - ask what has become of an event that traces
 *
 * On an event file descriptor, with a struct pmuctl_aux_status.
 */
#define PMUCTL_IOC_AUX_STATUS	_IO(PMUCTL_IOC_MAGIC, 0x1a)

#if defined(__cplusplus)
# define PMUCTL_ABI_ASSERT(expr)	static_assert(expr, #expr)
#else
# define PMUCTL_ABI_ASSERT(expr)	_Static_assert(expr, #expr)
#endif
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_explanation) == 256);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_info) == 360);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_open) == 48);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_cpu_count) == 32);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_read_cpus) == 24);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_driver) == 264);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_aux_status) == 48);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_info, features) == 16);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_info, generic_events) == 56);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_info, pmu_name) == 72);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_open, attr) == 8);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_open, explanation) == 32);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_open, tracepoint) == 40);

/* Beside this header, also in the kernel, where <linux/pmuctl.h> is another one */
#include "pmuctl_list.h"

#endif /* _UAPI_LINUX_PMUCTL_H */
