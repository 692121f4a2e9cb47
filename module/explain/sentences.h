/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every sentence that explains a refusal, with the errno that goes with it.
 * PMUCTL_SAY_X belongs to PMUCTL_WHY_X of the ABI. A sentence names the value, the
 * limit and the remedy, starts in lower case and has no full stop: programs print
 * it after a prefix of their own. It must fit pmuctl_explanation.sentence with
 * the longest arguments it can get.
 */
#ifndef PMUCTL_SENTENCES_H
#define PMUCTL_SENTENCES_H

/* The call itself */
#define PMUCTL_SAY_SIZE_TOO_SMALL EINVAL, \
	"size %u is less than the %zu bytes of the structure's first version: set it to sizeof()"
#define PMUCTL_SAY_SIZE_TOO_BIG E2BIG, \
	"size %u is more than the %zu bytes that this module knows, and what is beyond is not zero: leave the newer fields 0 or update the module"
#define PMUCTL_SAY_FLAGS_UNKNOWN EINVAL, \
	"flags 0x%x has bits that this module does not know: only 0x%x may be set"
#define PMUCTL_SAY_RESERVED_SET EINVAL, \
	"a reserved field is 0x%llx: it must be 0"
#define PMUCTL_SAY_BAD_POINTER EFAULT, \
	"the memory at this address cannot be read or written: pass a pointer into your own address space"
#define PMUCTL_SAY_IOCTL_UNKNOWN ENOTTY, \
	"ioctl number 0x%x is not one of pmuctl's: see <linux/pmuctl.h>"
#define PMUCTL_SAY_NO_MEMORY ENOMEM, \
	"the kernel has no memory left for the event: close other events or free memory"
#define PMUCTL_SAY_NO_FD EMFILE, \
	"no file descriptor is free: close some, or raise the limit (ulimit -n)"
#define PMUCTL_SAY_NO_FILE ENFILE, \
	"the system's limit of open files is reached: raise it (sysctl fs.file-max) or close some"
#define PMUCTL_SAY_INTERRUPTED EINTR, \
	"a fatal signal arrived before the event was opened"
#define PMUCTL_SAY_EVENTS_USER EMFILE, \
	"the user has %u events open and may have %u: close some, gain CAP_PERFMON, or raise /sys/module/pmuctl/parameters/max_events_per_user"
#define PMUCTL_SAY_EVENTS_CONTEXT ENOSPC, \
	"the %s may have %u events (a clock that samples is %u), as every switch goes through them: close some, gain CAP_PERFMON, or raise /sys/module/pmuctl/parameters/max_events_per_context"

/* Lists */
#define PMUCTL_SAY_LIST_LENGTH EINVAL, \
	"nr %u is no length of a list: it has 1 to %u entries, split it into several"
#define PMUCTL_SAY_LIST_ENTRY_SIZE EINVAL, \
	"the size of an entry is %u, but should be %zu: set it to sizeof(struct %s)"
#define PMUCTL_SAY_LIST_LEADER EINVAL, \
	"%d is no earlier entry of the list: a leader comes before its siblings, and entries are counted from 0 on"
#define PMUCTL_SAY_LIST_REQUEST EINVAL, \
	"request 0x%x is not for lists: use PERF_EVENT_IOC_ENABLE, _DISABLE or _RESET"
#define PMUCTL_SAY_LIST_FD EBADF, \
	"%d is not an event of pmuctl: pass descriptors that PMUCTL_IOC_OPEN or PMUCTL_IOC_OPEN_LIST gave"

/* The attr */
#define PMUCTL_SAY_ATTR_TOO_SMALL E2BIG, \
	"attr.size %u is less than %u, the size of the first struct perf_event_attr: set it to sizeof(), or to 0 for that first size"
#define PMUCTL_SAY_ATTR_TOO_BIG E2BIG, \
	"attr.size %u is more than the %u bytes that this module knows, and what is beyond is not zero: attr.size now holds the size that it knows"
#define PMUCTL_SAY_ATTR_BITS_UNKNOWN EINVAL, \
	"0x%llx has bits that no struct perf_event_attr known to this module defines: only 0x%llx may be set"
#define PMUCTL_SAY_ATTR_UNSUPPORTED EINVAL, \
	"%s is not supported by this version of pmuctl: leave it 0"
#define PMUCTL_SAY_TYPE_UNKNOWN ENOENT, \
	"event type %u does not exist here: use PERF_TYPE_HARDWARE (0), _SOFTWARE (1), _TRACEPOINT (2), _HW_CACHE (3) or _RAW (4)"
#define PMUCTL_SAY_TYPE_UNSUPPORTED ENOENT, \
	"events of type %u (%s) are not supported by this version of pmuctl: use PERF_TYPE_HARDWARE, _SOFTWARE, _TRACEPOINT, _HW_CACHE or _RAW"
#define PMUCTL_SAY_EVENT_UNKNOWN EINVAL, \
	"config 0x%llx is not an event of type %u: see PERF_COUNT_* in <linux/perf_event.h>"
#define PMUCTL_SAY_EVENT_NOT_HERE ENOENT, \
	"this CPU (%s) has no event for %s: use a raw event of this CPU, 'pmuctl list' shows them"
#define PMUCTL_SAY_EVENT_OTHER_CPUS ENOENT, \
	"CPU %d (%s) cannot count this, CPUs of another type can: open it on these, or for a task with cpu -1, which is counted while it is there"
#define PMUCTL_SAY_EVENT_ALIKE ENOENT, \
	"the event is for one type of a hybrid processor's CPUs (%s), and those of this one are alike, or none is of that type: leave the type out"
#define PMUCTL_SAY_EVENT_SILENT ENOENT, \
	"no counter of this machine counts it: tried when the PMU was taken, the count stayed 0, as when a hypervisor filters events: have it allow this one"
#define PMUCTL_SAY_EVENT_MERGED EOPNOTSUPP, \
	"event 0x%x of this CPU is for counters that are merged in pairs, to count more than 15 in a cycle, which pmuctl does not do: perf can count it"
#define PMUCTL_SAY_EVENT_ZERO ENOENT, \
	"raw event 0x%llx has the number 0, which no counter of this CPU counts by itself: use 0xc0 for instructions, 0x3c for cycles, 0x300 for reference cycles"
#define PMUCTL_SAY_EVENT_REGISTER ENOENT, \
	"raw event 0x%llx of this CPU counts only what MSR 0x%x selects besides, which this version of pmuctl does not set: perf can count it"
#define PMUCTL_SAY_EXTRA_BITS EINVAL, \
	"config1 0x%llx has bits outside of 0x%llx, those that MSR 0x%x of this CPU has for this event: clear 0x%llx"
#define PMUCTL_SAY_EXTRA_ABSENT ENXIO, \
	"this event needs MSR 0x%x, which this machine does not have, as a virtual machine may lack it: have the hypervisor provide it, or count another event"
#define PMUCTL_SAY_EVENT_NO_TABLE ENOENT, \
	"raw event 0x%llx: which counters of this CPU (family 0x%x, model 0x%x) can count it is not known, and others would count nothing: use a generic event, or perf"
#define PMUCTL_SAY_EVENT_SPOILS ENOENT, \
	"raw event 0x%llx of this CPU spoils what the core's other hyperthread counts (errata BJ122, BV98, HSD29): turn hyperthreading off in the firmware, or use perf"
#define PMUCTL_SAY_EVENT_NORTH_BRIDGE ENOENT, \
	"event 0x%x of this CPU is the north bridge's, which all cores share, so a count would be nobody's: perf can count it"
#define PMUCTL_SAY_CPU_OF_NEW_TYPE ENODEV, \
	"CPU %d is of a type that no CPU was when pmuctl was loaded, and nothing counts there: load the module again"
#define PMUCTL_SAY_RAW_BITS EINVAL, \
	"raw config 0x%llx has bits outside of 0x%llx, the event-select bits that may be set on this CPU: clear 0x%llx"
#define PMUCTL_SAY_SOFT_UNKNOWN ENOENT, \
	"config 0x%llx is no software event: see PERF_COUNT_SW_* in <linux/perf_event.h>"
#define PMUCTL_SAY_SOFT_UNSUPPORTED ENOENT, \
	"software event %llu (%s) is told of by parts of the kernel that modules cannot hear: use another, 'pmuctl list' shows them"
#define PMUCTL_SAY_NO_SOFT_HOOK EOPNOTSUPP, \
	"this kernel lets nobody listen to %s, without which this event cannot be sampled or counted so: count it without a period, in user mode and the kernel"
#define PMUCTL_SAY_NAME_MISSING EINVAL, \
	"a tracepoint is opened by its name, not by a number: let pmuctl_open.tracepoint point to it, as 'sched:sched_switch'"
#define PMUCTL_SAY_NAME_UNUSED EINVAL, \
	"the name of a tracepoint is given, but attr.type is another: set it to PERF_TYPE_TRACEPOINT, or leave the name 0"
#define PMUCTL_SAY_NAME_LONG EINVAL, \
	"the name of the tracepoint has more than %u characters, and none is so long: end it with a NUL"
#define PMUCTL_SAY_TRACEPOINT_UNKNOWN ENOENT, \
	"this kernel has no tracepoint %s: 'pmuctl list tracepoints' shows them; a module's are there while it is loaded, and kprobes and uprobes are for CAP_PERFMON"
#define PMUCTL_SAY_TRACEPOINT_KERNEL EINVAL, \
	"tracepoints are in the kernel, which attr.exclude_kernel leaves out, so nothing could ever be counted: clear it"
#define PMUCTL_SAY_FILTER_TEXT EINVAL, \
	"the filter cannot be understood at character %u: %s"
#define PMUCTL_SAY_FILTER_WORK ENOSPC, \
	"this filter takes %u steps for a hit, beside %u of the user's other filters, and all may take %u: shorten it, its patterns first, close events that have others, or gain CAP_PERFMON"
#define PMUCTL_SAY_FILTER_LONG EINVAL, \
	"the filter has more than %u characters: shorten it"
#define PMUCTL_SAY_FILTER_UNUSED EINVAL, \
	"only events of tracepoints have filters, and those that trace: open one of these"
#define PMUCTL_SAY_PERM_RAW EPERM, \
	"seeing what tracepoints tell needs CAP_PERFMON: do without PERF_SAMPLE_RAW, or arguments by number in filters; gain it, or set the module's parameter paranoid to -1"
#define PMUCTL_SAY_PERM_NAMESPACES EACCES, \
	"being told of namespaces needs CAP_PERFMON: gain it, or clear attr.namespaces"
#define PMUCTL_SAY_PERM_TEXT_POKE EACCES, \
	"being told what is changed in the kernel's code needs CAP_PERFMON at paranoid level %d: clear attr.text_poke, gain CAP_PERFMON, or set the module's parameter paranoid to 1"
#define PMUCTL_SAY_PRECISE EOPNOTSUPP, \
	"precise_ip %u asks for precise sampling, which this version of pmuctl lacks: set it to 0 (no modifier :p)"

#define PMUCTL_SAY_FREQ_TOO_HIGH EINVAL, \
	"%llu samples a second are above the limit %u: ask for less, or raise /sys/module/pmuctl/parameters/max_sample_rate"
#define PMUCTL_SAY_SAMPLE_UNSUPPORTED EINVAL, \
	"attr.sample_type has %s, which this version of pmuctl cannot tell: clear it"
#define PMUCTL_SAY_STACK_DEPTH EOVERFLOW, \
	"sample_max_stack %u is above the limit %u: ask for less, or for 0, the limit"
#define PMUCTL_SAY_STACK_USER EINVAL, \
	"sample_stack_user %u must be a multiple of 8 up to 65528: round it"
#define PMUCTL_SAY_REGS EINVAL, \
	"register mask 0x%llx must name at least one register of 0x%llx, and no other: set these bits only"
#define PMUCTL_SAY_CLOCK EINVAL, \
	"clock %d cannot be read in an NMI: use CLOCK_MONOTONIC (1), _MONOTONIC_RAW (4), _BOOTTIME (7), _REALTIME (0) or _TAI (11)"

#define PMUCTL_SAY_CLOCK_UNUSED EINVAL, \
	"attr.clockid %d has no effect without attr.use_clockid: set that, or leave it 0"
#define PMUCTL_SAY_INHERIT_THREAD EINVAL, \
	"attr.inherit_thread says which children inherit the event, and attr.inherit is not set: set both"
#define PMUCTL_SAY_EXEC_BOTH EINVAL, \
	"an exec cannot both enable an event and remove it: clear attr.enable_on_exec or attr.remove_on_exec"

/* The target */
#define PMUCTL_SAY_PID_INVALID ESRCH, \
	"pid %d is not a target: use 0 for the calling task, a thread id, or -1 with a cpu"
#define PMUCTL_SAY_NO_SUCH_TASK ESRCH, \
	"no task has the id %d in your pid namespace: it may have ended"
#define PMUCTL_SAY_TASK_EXITING ESRCH, \
	"task %d is exiting: there is nothing left to count"
#define PMUCTL_SAY_CPU_INVALID EINVAL, \
	"cpu %d does not exist: this machine has the CPUs 0 to %u, and -1 means any"
#define PMUCTL_SAY_CPU_OFFLINE ENODEV, \
	"cpu %d is offline: bring it online (/sys/devices/system/cpu/cpu%d/online) or choose another"
#define PMUCTL_SAY_NOT_BY_CPU EINVAL, \
	"this event counts a task, not CPUs: read it with read(), or open an event with pid -1"
#define PMUCTL_SAY_GROUP_FD EBADF, \
	"group_fd %d is not an event of pmuctl: pass the descriptor of the group's leader, or -1"
#define PMUCTL_SAY_GROUP_NOT_LEADER EINVAL, \
	"group_fd is itself a member of a group: pass the descriptor of that group's leader"
#define PMUCTL_SAY_GROUP_ENDED ESRCH, \
	"the event of group_fd has ended with an exec of its task (remove_on_exec, or a program with more rights): open a new leader"
#define PMUCTL_SAY_GROUP_OTHER_TARGET EINVAL, \
	"group_fd counts another task, CPU or cgroup: a group's events count the same one"
#define PMUCTL_SAY_GROUP_OTHER_CPU EINVAL, \
	"cpu is %d but the group's is %d: a group's events have the same cpu"
#define PMUCTL_SAY_GROUP_TOO_BIG EINVAL, \
	"this event and the %u already in its group can never be on the PMU at once (%u general and %u fixed counters, not every event can use each): open it in another group"
#define PMUCTL_SAY_GROUP_EXTRA EINVAL, \
	"the events of this group want more values of config1 at once than the registers for them can hold, one each: use the same value, or open it in another group"
#define PMUCTL_SAY_GROUP_OTHER_CPUS EINVAL, \
	"no type of CPU can count both this event and all that its group has: open it in another group"
#define PMUCTL_SAY_GROUP_LONG E2BIG, \
	"its group already has %u events, and no group%s has more: open it in another group"
#define PMUCTL_SAY_SIBLING_FLAG EINVAL, \
	"only a group's leader can be %s, for the whole group: set it there"
#define PMUCTL_SAY_SIBLING_INHERIT EINVAL, \
	"a group is inherited as a whole or not at all: set attr.inherit as its leader has it"
#define PMUCTL_SAY_PROCESS_PID EINVAL, \
	"pid %d with PMUCTL_OPEN_PROCESS is no process: give the id of one, or 0 for the calling one"
#define PMUCTL_SAY_PROCESS_INHERIT EINVAL, \
	"PMUCTL_OPEN_PROCESS counts what a process starts too: set attr.inherit, and attr.inherit_thread for its threads alone"
#define PMUCTL_SAY_SIBLING_PROCESS EINVAL, \
	"a group counts a process or a single task: set PMUCTL_OPEN_PROCESS as it was for its leader"
#define PMUCTL_SAY_FLAG_UNSUPPORTED EINVAL, \
	"flags 0x%x has PERF_FLAG_%s, and this kernel is built without CONFIG_CGROUP_PERF: clear it"
#define PMUCTL_SAY_CGROUP_PID EINVAL, \
	"with PERF_FLAG_PID_CGROUP pid is a descriptor of the cgroup's directory, and -1 is none: open that"
#define PMUCTL_SAY_CGROUP_PROCESS EINVAL, \
	"flags 0x%x has PERF_FLAG_PID_CGROUP and PMUCTL_OPEN_PROCESS: an event counts a cgroup or a process"
#define PMUCTL_SAY_CGROUP_FD EBADF, \
	"pid %d is no descriptor of a cgroup's directory: open one of cgroup2, or of cgroup v1's perf_event, and not with O_PATH"
#define PMUCTL_SAY_CGROUP_NONE ENOENT, \
	"the cgroup has been removed, or perf's controller is not in it: a cgroup2 hierarchy has it below its root as soon as cgroup.subtree_control there names any controller"
#define PMUCTL_SAY_CGROUP_EVENT EOPNOTSUPP, \
	"%s is not for cgroups in this version of pmuctl: open it for a task of the cgroup, or for the CPU"

/* Permission */
#define PMUCTL_SAY_PERM_KERNEL EACCES, \
	"counting in the kernel needs CAP_PERFMON at paranoid level %d: count user space only (attr.exclude_kernel, modifier :u), gain CAP_PERFMON, or set the module's parameter paranoid to 1"
#define PMUCTL_SAY_PERM_CPU EACCES, \
	"counting all tasks of a CPU needs CAP_PERFMON at paranoid level %d: count a task, gain CAP_PERFMON, or set the module's parameter paranoid to 0"
#define PMUCTL_SAY_PERM_THREADS EACCES, \
	"config bit 21 (any thread) counts the other hyperthread's tasks too, which needs CAP_PERFMON at paranoid level %d: clear it, gain CAP_PERFMON, or set the module's parameter paranoid to 0"
#define PMUCTL_SAY_LOCKED_DOWN EPERM, \
	"the kernel is locked down, and PERF_SAMPLE_REGS_INTR may tell what is in its registers: leave it out, or boot with lockdown=none"
#define PMUCTL_SAY_PERM_TASK EACCES, \
	"task %d is not yours to inspect (the ptrace read check refused it): count a task of your own, or gain CAP_PERFMON"
#define PMUCTL_SAY_PERM_ANY EACCES, \
	"paranoid level %d forbids every event without CAP_PERFMON: gain it, or set the module's parameter paranoid to 2"
#define PMUCTL_SAY_PERM_KTHREAD EACCES, \
	"task %d is a kernel thread: counting it needs CAP_PERFMON"
#define PMUCTL_SAY_PERM_CLAIM EACCES, \
	"only who has CAP_PERFMON may take the PMU from perf: gain it, wait until somebody who has it counts, or write anyone or always to /sys/module/pmuctl/parameters/claim (for good: modprobe.d)"

/* The PMU */
#define PMUCTL_SAY_NO_PMU ENOENT, \
	"hardware events cannot be counted: %s"
#define PMUCTL_SAY_PMU_BUSY EBUSY, \
	"the kernel's NMI watchdog or perf holds the PMU: 'echo 0 > /proc/sys/kernel/nmi_watchdog' stops the watchdog; or end the perf sessions that count hardware events"
#define PMUCTL_SAY_COUNTERS_TAKEN EBUSY, \
	"no counter is left: %u events of a task and %u of CPU %d are open, on %u general and %u fixed counters that not every event can use: close some, or allow overcommit"
#define PMUCTL_SAY_EXTRA_TAKEN EBUSY, \
	"no register is left for this value of config1 beside those of the %u events of a task and %u of CPU %d that are open: close some, use the same value, or allow overcommit"
#define PMUCTL_SAY_COUNTERS_RESERVED EBUSY, \
	"all counters that this event could use are kept for events of CPUs: lower the module's parameter reserve_percpu, now %u, or count a CPU"
#define PMUCTL_SAY_NO_HOOK EOPNOTSUPP, \
	"this kernel has no tracepoint %s, without which events cannot follow a task: count a CPU (pid -1)"
#define PMUCTL_SAY_NO_MMAP_HOOK EOPNOTSUPP, \
	"this kernel lets no probe be set on %s that can tell of mappings: clear attr.mmap, mmap2 and mmap_data, and give filters addresses without a file"
#define PMUCTL_SAY_NO_SIDE_HOOK EOPNOTSUPP, \
	"this kernel lets no probe be set on %s, without which there are no such records: clear the field"

/* Why there is no PMU: what PMUCTL_SAY_NO_PMU and pmuctl_info.pmu_reason say */
#define PMUCTL_NO_PMU_VENDOR \
	"pmuctl does not know the PMU of this CPU's vendor"
#define PMUCTL_NO_PMU_AMD \
	"AMD processors before the K7 have no performance counters that pmuctl could drive"
#define PMUCTL_NO_PMU_AMD_NONE \
	"CPUID leaf 0x80000022 describes no core counter: the hypervisor may offer none"
#define PMUCTL_NO_PMU_HIDDEN \
	"this is a virtual machine whose hypervisor offers no PMU: enable it there (QEMU/KVM: -cpu host,pmu=on)"
#define PMUCTL_NO_PMU_XEN_PV \
	"this is a paravirtualized guest of Xen, which has the PMU only by calls of Xen's: run it as a PVH or HVM guest"
#define PMUCTL_NO_PMU_ABSENT \
	"CPUID leaf 0xA says that this CPU has no architectural PMU: it may be disabled in the firmware"
#define PMUCTL_NO_PMU_VERSION6 \
	"the CPU has version 6 or later of the architectural PMU, which the kernel's reservation does not protect from perf"
#define PMUCTL_NO_PMU_COUNTERS \
	"CPUID leaf 0xA describes no general-purpose counter"
#define PMUCTL_NO_PMU_WIDTH \
	"CPUID leaf 0xA describes counters of less than 32 or more than 64 bits"
#define PMUCTL_NO_PMU_MSR \
	"the PMU's registers cannot be accessed, although CPUID describes them: the hypervisor may filter them"

/* Event file descriptors */
#define PMUCTL_SAY_BUFFER_TOO_SMALL ENOSPC, \
	"a read of this event gives %zu bytes, but the buffer has %zu: enlarge it"
#define PMUCTL_SAY_NR_TOO_SMALL ENOSPC, \
	"there are %u CPUs to read, but room for %u: nr now holds their number"
#define PMUCTL_SAY_ENTRY_SIZE EINVAL, \
	"entry_size %u is not the %zu bytes of struct pmuctl_cpu_count: set it to sizeof()"
#define PMUCTL_SAY_MMAP_SIZE EINVAL, \
	"%lu bytes cannot be mapped: map one page to read a counter, or one and a power of two more for a buffer"
#define PMUCTL_SAY_MMAP_TOO_LARGE ENOMEM, \
	"%lu MiB are more than a buffer can have, which is %lu MiB: map less"
#define PMUCTL_SAY_MMAP_OTHER_SIZE EINVAL, \
	"a buffer of %lu pages is wanted, but this event already has one of %lu: map as many, or unmap that first"
#define PMUCTL_SAY_MEMLOCK EPERM, \
	"%lu KiB of buffer exceed the %lu KiB left of your allowance (parameter mlock_kb) and ulimit -l, %lu KiB: map less, raise one, or gain CAP_IPC_LOCK"
#define PMUCTL_SAY_NO_BUFFER EINVAL, \
	"this event has no buffer: map one first"
#define PMUCTL_SAY_NOT_SAMPLED EINVAL, \
	"this event only counts: open it with attr.sample_period or attr.sample_freq"
#define PMUCTL_SAY_NOT_MODIFIED EOPNOTSUPP, \
	"only a breakpoint can be modified while it is open: change a period with PERF_EVENT_IOC_PERIOD, or open another event"
#define PMUCTL_SAY_PERIOD_RANGE EINVAL, \
	"%llu is not a period: it is from 1 to 2^63 - 1"
#define PMUCTL_SAY_REFRESH_MANY EINVAL, \
	"an event of all CPUs, or one that is inherited, overflows in many places: open one for each CPU or task to have it end after a number of overflows"
#define PMUCTL_SAY_OUTPUT_FD EBADF, \
	"%d is not an event of pmuctl: pass the descriptor of one that has a buffer, or -1"
#define PMUCTL_SAY_OUTPUT_ITSELF EINVAL, \
	"an event cannot be redirected to itself: map a buffer for it"
#define PMUCTL_SAY_OUTPUT_NO_BUFFER EINVAL, \
	"the event to write to has no buffer: map one for it first"
#define PMUCTL_SAY_OUTPUT_MAPPED EINVAL, \
	"this event's own buffer is mapped: unmap it first"
#define PMUCTL_SAY_OUTPUT_OTHER EINVAL, \
	"the two events differ in attr.%s, so their records cannot be in one buffer: open them alike"
#define PMUCTL_SAY_MMAP_OFFSET EINVAL, \
	"an event is mapped from its beginning: the offset is %llu and must be 0"
#define PMUCTL_SAY_MMAP_PRIVATE EINVAL, \
	"a private copy of an event's pages would never change: map them with MAP_SHARED"
#define PMUCTL_SAY_IOCTL_UNSUPPORTED EINVAL, \
	"%s is not supported by this version of pmuctl"

#define PMUCTL_SAY_BPF_FD EBADF, \
	"%d is no open descriptor: pass that of a BPF program, to an event of the kernel's perf, as pmuctl runs none"
#define PMUCTL_SAY_BPF_IDS E2BIG, \
	"%u ids are too many: pass room for %u at most"
#define PMUCTL_SAY_PERM_BPF EPERM, \
	"asking for the BPF programs of an event needs CAP_PERFMON: gain it"

/* Counters of other kernel modules */
#define PMUCTL_SAY_KERNEL_TARGET EINVAL, \
	"neither a task nor a CPU is given: pass a task, or create a counter for each CPU"
#define PMUCTL_SAY_KERNEL_CPU ENODEV, \
	"cpu %d does not exist: this machine has the CPUs 0 to %u, and -1 means any, for a task"
#define PMUCTL_SAY_KERNEL_ATTR EINVAL, \
	"%s is 0x%llx, but a kernel module's counter has no records, group, children or AUX data: leave it 0, or open an event descriptor"
#define PMUCTL_SAY_KERNEL_HANDLER EINVAL, \
	"attr.sample_period is %llu, and a handler is called when a period is over: give both or neither"
#define PMUCTL_SAY_KERNEL_TRACEPOINT EOPNOTSUPP, \
	"a tracepoint is opened by its name, for which a kernel module's counter has no place: register a probe of your own, or open an event descriptor"
#define PMUCTL_SAY_KERNEL_IN_HANDLER EDEADLK, \
	"a handler cannot wait: return false to stop the counter, or leave the rest to an irq_work"

/* AUX area tracing */
#define PMUCTL_SAY_AUX_NONE ENOENT, \
	"this machine has no %s events: %s"
#define PMUCTL_SAY_AUX_INHERIT EINVAL, \
	"one buffer cannot take the traces of several tasks at once: open an inherited event for each CPU, or clear inherit"
#define PMUCTL_SAY_AUX_ALL_CPUS EINVAL, \
	"one buffer cannot take the traces of all CPUs at once: open an event for each CPU"
#define PMUCTL_SAY_AUX_BUSY EBUSY, \
	"another event of pmuctl already traces %s, and a CPU can write only one trace at a time: close that event first"
#define PMUCTL_SAY_AUX_FOREIGN EBUSY, \
	"somebody else is tracing on this machine's CPUs, as 'perf record -e %s//' does: end that first"
#define PMUCTL_SAY_AUX_RIVAL EIO, \
	"the kernel's own driver of %s cannot be kept from tracing meanwhile: perf refuses an event of it with errno %d, the kernel's log may tell why"
#define PMUCTL_SAY_AUX_OFFSET EINVAL, \
	"aux_offset of the metadata page is %llu, and the mapping is at %llu: write the offset there before you map"
#define PMUCTL_SAY_AUX_SIZE EINVAL, \
	"the AUX buffer is to have %llu bytes, and the mapping has %llu: write aux_size to the metadata page before you map, and map all of it"
#define PMUCTL_SAY_AUX_OVERLAP EINVAL, \
	"aux_offset %llu is within the ring of records: it must be %llu or above"
#define PMUCTL_SAY_AUX_POWER EINVAL, \
	"an AUX buffer of %llu bytes is not possible: it must have 2^n pages"
#define PMUCTL_SAY_AUX_NO_RING EINVAL, \
	"the ring of records is not mapped through this descriptor: map that first, at offset 0"
#define PMUCTL_SAY_AUX_ONLY EOPNOTSUPP, \
	"%s is for events that trace, and this one does not: leave it 0"
#define PMUCTL_SAY_AUX_NO_DRIVER ENOENT, \
	"there is no driver number %u: count from 0 until there is none"
#define PMUCTL_SAY_AUX_BOTH EINVAL, \
	"aux_pause and aux_resume are both set, and an overflow cannot do both: clear one, and open another event for it"
#define PMUCTL_SAY_AUX_ITSELF EINVAL, \
	"an event that traces has no overflows that could pause or resume it: set aux_pause or aux_resume of an event of its group"
#define PMUCTL_SAY_AUX_LEADER EINVAL, \
	"aux_pause and aux_resume are for the trace of the group's leader, and this leader does not trace: open the event that traces first, with group_fd -1"
#define PMUCTL_SAY_AUX_STATUS EINVAL, \
	"this event does not trace: ask the leader of its group, if that is one of intel_pt or intel_bts"
#define PMUCTL_SAY_PT_BITS EINVAL, \
	"config 0x%llx has bits outside of 0x%llx, those that Processor Trace of this CPU has: clear 0x%llx"
#define PMUCTL_SAY_PT_BRANCHES EINVAL, \
	"this CPU traces nothing without branches (erratum BDM106), and config 0x%llx has them left out: set bit 13 (branch=1), or clear bit 0 (pt=0)"
#define PMUCTL_SAY_PT_CHOICE EINVAL, \
	"this CPU has no %s of %u: those that it has are the bits of 0x%x"

#define PMUCTL_SAY_PT_RANGES EINVAL, \
	"this CPU has %u address ranges for its trace, and the filter has more: give fewer, or trace everything and choose when you decode"
#define PMUCTL_SAY_PT_RANGE EINVAL, \
	"from 0x%llx on there are no %llu addresses of one kind: give a range in user space or in the kernel, with a size above 0"
#define PMUCTL_SAY_PT_RANGE_LEVEL EINVAL, \
	"the range at 0x%llx is the %s's, which the event excludes: clear attr.exclude_%s, or choose another range"
#define PMUCTL_SAY_PT_RANGE_FILE EOPNOTSUPP, \
	"a file is somewhere else in each process, and this event traces a CPU, with all that run there: trace a task, or give addresses"
#define PMUCTL_SAY_PT_RANGE_LATE EOPNOTSUPP, \
	"what inherits this trace has begun, and may have the file somewhere else: set the filter before, or give addresses"
#define PMUCTL_SAY_PT_FILE ENOENT, \
	"the filter names a file that is not there, or that nobody can map: give the path of a program or a library"
#define PMUCTL_SAY_PT_START EOPNOTSUPP, \
	"a trace cannot start at an address on this CPU: use 'filter' with a range, or a tracepoint that resumes the trace"

#define PMUCTL_SAY_AUX_NO_FILTER EOPNOTSUPP, \
	"the trace of %s events cannot be restricted to addresses: trace everything and choose when you decode"
#define PMUCTL_SAY_BTS_CONFIG EINVAL, \
	"config 0x%llx is not 0, and Branch Trace Store has nothing to choose: leave it 0"
#define PMUCTL_SAY_PERM_ADDRESSES EACCES, \
	"traces of %s tell the kernel's addresses, even of user mode alone, and that is not allowed at level %d without CAP_PERFMON: gain that, or set the module's parameter paranoid to 1 or less"

/* Branches in samples */
#define PMUCTL_SAY_NO_LBR EOPNOTSUPP, \
	"no branches can be sampled here: %s"
#define PMUCTL_SAY_BRANCH_UNUSED EINVAL, \
	"attr.branch_sample_type 0x%llx has no effect without PERF_SAMPLE_BRANCH_STACK in attr.sample_type: set that, or leave it 0"
#define PMUCTL_SAY_BRANCH_NO_KIND EINVAL, \
	"attr.branch_sample_type 0x%llx names no kind of branch: add PERF_SAMPLE_BRANCH_ANY, or a kind"
#define PMUCTL_SAY_BRANCH_CALL_STACK EINVAL, \
	"PERF_SAMPLE_BRANCH_CALL_STACK has the CPU note calls and take them away again at returns, and no other branches: choose that or other kinds"
#define PMUCTL_SAY_BRANCH_TYPE EOPNOTSUPP, \
	"only hardware events can sample branches: clear PERF_SAMPLE_BRANCH_STACK of attr.sample_type, or count cycles or another of the CPU's events"
#define PMUCTL_SAY_BRANCH_TRACED EBUSY, \
	"an event is open that traces, and the CPU does not note branches beside: close it first"
#define PMUCTL_SAY_AUX_BRANCHES EBUSY, \
	"an event is open that samples branches, and the CPU does not trace beside: close it first"
#define PMUCTL_SAY_PERM_BRANCHES EACCES, \
	"sampling the kernel's branches needs CAP_PERFMON at paranoid level %d: sample those of user space only (PERF_SAMPLE_BRANCH_USER), gain CAP_PERFMON, or set the module's parameter paranoid to 1"
#define PMUCTL_SAY_GROUP_BRANCHES EINVAL, \
	"another event of the group samples other branches, and the CPU can note only one choice at a time: choose the same, or open it in another group"

/* Why no branches can be sampled: what PMUCTL_SAY_NO_LBR says */
#define PMUCTL_NO_LBR_VENDOR \
	"pmuctl reads the last branch records (LBR) of Intel's CPUs only"
#define PMUCTL_NO_LBR_ARCHITECTURAL \
	"this CPU has architectural last branch records (Arch LBR), which pmuctl cannot read yet"
#define PMUCTL_NO_LBR_ABSENT \
	"this CPU has no last branch records (LBR), or the hypervisor hides them"
#define PMUCTL_NO_LBR_FORMAT \
	"the last branch records (LBR) of this CPU have another format than those since Skylake, which pmuctl cannot read yet"
#define PMUCTL_NO_LBR_MSR \
	"the CPU tells of last branch records (LBR), but their registers cannot be read: the hypervisor keeps them from this machine"

/* Why there is no tracing unit: what PMUCTL_SAY_AUX_NONE and pmuctl_driver.reason say */
#define PMUCTL_NO_PT_ABSENT \
	"this CPU has no Intel Processor Trace, or the hypervisor hides it"
#define PMUCTL_NO_PT_TOPA \
	"this CPU writes its trace to a single region of memory only (no ToPA with many entries), which pmuctl cannot use"
#define PMUCTL_NO_TRACE_PMU \
	"its interrupts come with those of the performance counters, and these cannot be used: 'pmuctl doctor' says why"
#define PMUCTL_NO_PT_MSR \
	"CPUID tells of Intel Processor Trace, but its registers cannot be read: the hypervisor keeps them from this machine"

#define PMUCTL_NO_BTS_ABSENT \
	"this CPU has no Branch Trace Store in the 64-bit format, or the hypervisor hides it"
#define PMUCTL_NO_BTS_LEVELS \
	"Branch Trace Store of this CPU cannot tell the kernel from user mode (no DS-CPL), which pmuctl needs"
#define PMUCTL_NO_BTS_OFF \
	"CPUID tells of a debug store, but Branch Trace Store is switched off (IA32_MISC_ENABLE): the firmware or the hypervisor did that"
#define PMUCTL_NO_BTS_ISOLATED \
	"page table isolation hides from user mode the memory that the CPU would write branches to: boot with nopti, if Meltdown is no danger here"
#define PMUCTL_NO_BTS_MSR \
	"CPUID tells of Branch Trace Store, but its registers cannot be read: the hypervisor keeps them from this machine"

#endif /* PMUCTL_SENTENCES_H */
