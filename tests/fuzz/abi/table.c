// SPDX-License-Identifier: GPL-2.0-only
/*
 * What calls there are, their arguments and the values that are worth trying.
 */
#include <linux/perf_event.h>
#include <linux/pmuctl.h>
#include <signal.h>
#include <sys/mman.h>

#include "call.h"

#define END	{ NULL, 0, 0 }

const char *const who_names[WHOS] = { "t0", "t1", "t2", "c0", "c1", "c2" };

static const struct name events[] = {
	{ "ev0", 0, 6 }, { "ev1", 1, 6 }, { "ev2", 2, 5 }, { "ev3", 3, 4 }, { "ev4", 4, 2 },
	{ "ev5", 5, 1 }, { "ev6", 6, 1 }, { "ev7", 7, 1 }, { "ev8", 8, 1 }, { "ev9", 9, 1 },
	{ "ev10", 10, 1 }, { "ev11", 11, 1 }, { "none", -1, 1 }, { "device", FD_DEVICE, 1 },
	{ "foreign", FD_FOREIGN, 1 }, END
};

static const struct name maps[] = {
	{ "map0", 0, 8 }, { "map1", 1, 4 }, { "map2", 2, 2 }, { "map3", 3, 1 },
	{ "map4", 4, 1 }, END
};

static const struct name children[] = {
	{ "c0", 0, 8 }, { "c1", 1, 3 }, { "c2", 2, 1 }, END
};

static const struct name vias[] = {
	{ "pmuctl", VIA_PMUCTL, 30 }, { "perf", VIA_PERF, 1 }, END
};

static const struct name types[] = {
	{ "hw", PERF_TYPE_HARDWARE, 10 }, { "sw", PERF_TYPE_SOFTWARE, 10 },
	{ "trace", PERF_TYPE_TRACEPOINT, 4 }, { "cache", PERF_TYPE_HW_CACHE, 1 },
	{ "raw", PERF_TYPE_RAW, 2 }, { "breakpoint", PERF_TYPE_BREAKPOINT, 1 },
	{ "pt", PMUCTL_TYPE_DRIVERS, 2 }, { "bts", PMUCTL_TYPE_DRIVERS + 1, 1 },
	{ "core", PMUCTL_TYPE_CPU_CORE, 1 }, { "atom", PMUCTL_TYPE_CPU_ATOM, 1 }, END
};

static const struct name pids[] = {
	{ "self", 0, 8 }, { "all", -1, 3 }, { "c0", PID_WHO(C0), 10 },
	{ "c1", PID_WHO(C1), 2 }, { "c2", PID_WHO(C2), 1 }, { "t0", PID_WHO(T0), 1 },
	{ "t1", PID_WHO(T1), 4 }, { "t2", PID_WHO(T2), 1 }, { "parent", PID_PARENT, 1 },
	{ "gone", PID_GONE, 1 }, { "init", 1, 1 }, { "kthread", 2, 1 }, END
};

static const struct name cpus[] = {
	{ "any", -1, 8 }, { "0", 0, 3 }, { "1", 1, 3 }, { "2", 2, 1 }, END
};

static const struct name open_flags[] = {
	{ "no_group", PERF_FLAG_FD_NO_GROUP, 1 }, { "output", PERF_FLAG_FD_OUTPUT, 2 },
	{ "cgroup", PERF_FLAG_PID_CGROUP, 1 }, { "cloexec", PERF_FLAG_FD_CLOEXEC, 2 },
	{ "process", PMUCTL_OPEN_PROCESS, 5 }, END
};

#define BIT(name, n, often)	{ name, 1LL << (n), often }

static const struct name attr_bits[] = {
	BIT("disabled", 0, 8), BIT("inherit", 1, 8), BIT("pinned", 2, 3),
	BIT("exclusive", 3, 2), BIT("exclude_user", 4, 1), BIT("exclude_kernel", 5, 2),
	BIT("exclude_hv", 6, 1), BIT("exclude_idle", 7, 1), BIT("mmap", 8, 3),
	BIT("comm", 9, 3), BIT("freq", 10, 2), BIT("inherit_stat", 11, 3),
	BIT("enable_on_exec", 12, 4), BIT("task", 13, 3), BIT("watermark", 14, 2),
	BIT("precise1", 15, 1), BIT("precise2", 16, 1), BIT("mmap_data", 17, 2),
	BIT("sample_id_all", 18, 2), BIT("exclude_host", 19, 1),
	BIT("exclude_guest", 20, 1), BIT("exclude_callchain_kernel", 21, 1),
	BIT("exclude_callchain_user", 22, 1), BIT("mmap2", 23, 2), BIT("comm_exec", 24, 2),
	BIT("use_clockid", 25, 1), BIT("context_switch", 26, 2),
	BIT("write_backward", 27, 2), BIT("namespaces", 28, 1), BIT("ksymbol", 29, 1),
	BIT("bpf_event", 30, 1), BIT("aux_output", 31, 1), BIT("cgroup", 32, 1),
	BIT("text_poke", 33, 1), BIT("build_id", 34, 1), BIT("inherit_thread", 35, 4),
	BIT("remove_on_exec", 36, 6), BIT("sigtrap", 37, 1), END
};

static const struct name samples[] = {
	BIT("ip", 0, 4), BIT("tid", 1, 4), BIT("time", 2, 3), BIT("addr", 3, 2),
	BIT("read", 4, 4), BIT("callchain", 5, 3), BIT("id", 6, 2), BIT("cpu", 7, 2),
	BIT("period", 8, 2), BIT("stream_id", 9, 1), BIT("raw", 10, 2),
	BIT("branch", 11, 3), BIT("regs_user", 12, 2), BIT("stack_user", 13, 2),
	BIT("weight", 14, 1), BIT("data_src", 15, 1), BIT("identifier", 16, 2),
	BIT("transaction", 17, 1), BIT("regs_intr", 18, 2), BIT("phys_addr", 19, 1),
	BIT("aux", 20, 1), BIT("cgroup", 21, 1), END
};

static const struct name branches[] = {
	BIT("user", 0, 8), BIT("kernel", 1, 2), BIT("hv", 2, 1), BIT("any", 3, 5),
	BIT("any_call", 4, 2), BIT("any_ret", 5, 2), BIT("ind_call", 6, 2), BIT("abort_tx", 7, 1),
	BIT("in_tx", 8, 1), BIT("no_tx", 9, 1), BIT("cond", 10, 2), BIT("stack", 11, 3),
	BIT("ind_jmp", 12, 2), BIT("call", 13, 2), BIT("no_flags", 14, 1), BIT("no_cycles", 15, 1),
	BIT("save_type", 16, 3), BIT("hw_index", 17, 2), BIT("priv", 18, 1), BIT("counters", 19, 1),
	END
};

static const struct name formats[] = {
	{ "enabled", PERF_FORMAT_TOTAL_TIME_ENABLED, 3 },
	{ "running", PERF_FORMAT_TOTAL_TIME_RUNNING, 3 },
	{ "id", PERF_FORMAT_ID, 3 }, { "group", PERF_FORMAT_GROUP, 5 },
	{ "lost", PERF_FORMAT_LOST, 2 }, END
};

static const struct name actions[] = {
	{ "start_paused", PMUCTL_AUX_START_PAUSED, 1 }, { "pause", PMUCTL_AUX_PAUSE, 1 },
	{ "resume", PMUCTL_AUX_RESUME, 1 }, END
};

static const struct name pointers[] = {
	{ "good", POINTER_GOOD, 1 }, { "null", POINTER_NULL, 1 },
	{ "kernel", POINTER_KERNEL, 1 }, { "edge", POINTER_EDGE, 2 },
	{ "const", POINTER_CONST, 2 }, END
};

static const struct name ioctls[] = {
	{ "enable", PERF_EVENT_IOC_ENABLE, 8 }, { "disable", PERF_EVENT_IOC_DISABLE, 6 },
	{ "reset", PERF_EVENT_IOC_RESET, 4 }, { "refresh", PERF_EVENT_IOC_REFRESH, 4 },
	{ "period", PERF_EVENT_IOC_PERIOD, 4 }, { "set_output", PERF_EVENT_IOC_SET_OUTPUT, 6 },
	{ "set_filter", PERF_EVENT_IOC_SET_FILTER, 4 }, { "id", PERF_EVENT_IOC_ID, 1 },
	{ "pause_output", PERF_EVENT_IOC_PAUSE_OUTPUT, 2 },
	{ "modify", PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 1 },
	{ "set_bpf", PERF_EVENT_IOC_SET_BPF, 1 }, { "query_bpf", PERF_EVENT_IOC_QUERY_BPF, 1 },
	{ "read_cpus", PMUCTL_IOC_READ_CPUS, 2 }, { "aux_status", PMUCTL_IOC_AUX_STATUS, 2 },
	{ "explain", PMUCTL_IOC_EXPLAIN, 1 }, END
};

static const struct name device_ioctls[] = {
	{ "info", PMUCTL_IOC_INFO, 2 }, { "explain", PMUCTL_IOC_EXPLAIN, 1 },
	{ "task_enable", PMUCTL_IOC_TASK_ENABLE, 3 },
	{ "task_disable", PMUCTL_IOC_TASK_DISABLE, 3 }, { "driver", PMUCTL_IOC_DRIVER, 1 },
	END
};

static const struct name list_ioctls[] = {
	{ "open", PMUCTL_IOC_OPEN_LIST, 6 }, { "read", PMUCTL_IOC_READ_LIST, 3 },
	{ "control", PMUCTL_IOC_CONTROL_LIST, 4 }, END
};

static const struct name list_requests[] = {
	{ "enable", PERF_EVENT_IOC_ENABLE, 4 }, { "disable", PERF_EVENT_IOC_DISABLE, 3 },
	{ "reset", PERF_EVENT_IOC_RESET, 2 }, END
};

static const struct name areas[] = {
	{ "ring", AREA_RING, 4 }, { "aux", AREA_AUX, 1 }, END
};

static const struct name prots[] = {
	{ "rw", PROT_READ | PROT_WRITE, 6 }, { "r", PROT_READ, 3 }, { "none", PROT_NONE, 1 },
	{ "rx", PROT_READ | PROT_EXEC, 1 }, END
};

static const struct name map_flags[] = {
	{ "shared", MAP_SHARED, 20 }, { "private", MAP_PRIVATE, 1 },
	{ "populate", MAP_SHARED | MAP_POPULATE, 1 }, END
};

static const struct name ring_works[] = {
	{ "consume", RING_CONSUME, 6 }, { "garbage", RING_GARBAGE, 2 },
	{ "aux_consume", RING_AUX_CONSUME, 3 }, { "aux_garbage", RING_AUX_GARBAGE, 1 },
	{ "protect", RING_PROTECT, 1 }, END
};

static const struct name signals[] = {
	{ "kill", SIGKILL, 4 }, { "stop", SIGSTOP, 1 }, { "cont", SIGCONT, 1 },
	{ "usr1", SIGUSR1, 2 }, END
};

static const struct name works[] = {
	{ "spin", WORK_SPIN, 6 }, { "fault", WORK_FAULT, 3 }, { "yield", WORK_YIELD, 2 },
	{ "sleep", WORK_SLEEP, 3 }, { "comm", WORK_COMM, 2 }, { "map_code", WORK_MAP_CODE, 2 },
	{ "thread", WORK_THREAD, 4 }, { "fork", WORK_FORK, 4 },
	{ "fork_stays", WORK_FORK_STAYS, 3 }, { "vfork", WORK_VFORK, 2 },
	{ "signal", WORK_SIGNAL, 1 }, { "exec", WORK_EXEC, 6 },
	{ "exec_suid", WORK_EXEC_SUID, 2 }, { "exec_unreadable", WORK_EXEC_UNREADABLE, 1 },
	{ "exit", WORK_EXIT, 4 }, { "drop", WORK_DROP, 1 }, END
};

static const struct name admins[] = {
	{ "offline", ADMIN_OFFLINE, 4 }, { "online", ADMIN_ONLINE, 3 },
	{ "paranoid", ADMIN_PARANOID, 3 }, { "overcommit", ADMIN_OVERCOMMIT, 2 },
	{ "rotation", ADMIN_ROTATION, 2 }, { "rate", ADMIN_RATE, 2 },
	{ "claim", ADMIN_CLAIM, 3 }, { "reload", ADMIN_RELOAD, 1 }, END
};

#define NUMBER(name, standard, percent)	{ name, KIND_NUMBER, NULL, standard, percent }
#define CHOICE(name, names, standard, percent)	\
	{ name, KIND_CHOICE, names, standard, percent }
#define FLAGS(name, names, percent)	{ name, KIND_FLAGS, names, 0, percent }
#define TEXT(name, percent)		{ name, KIND_TEXT, NULL, 0, percent }
#define EVENT				CHOICE("ev", events, 0, 70)
#define POINTER				CHOICE("pointer", pointers, POINTER_GOOD, 2)

/* In the order of the enumerations in call.h */
const struct op ops[OPS] = {
	[OP_OPEN] = { "open", 30, {
		EVENT,
		CHOICE("via", vias, VIA_PMUCTL, 10),
		CHOICE("type", types, PERF_TYPE_HARDWARE, 80),
		NUMBER("config", 1, 70),
		CHOICE("pid", pids, 0, 70),
		CHOICE("cpu", cpus, -1, 20),
		CHOICE("group", events, -1, 40),
		FLAGS("flags", open_flags, 20),
		FLAGS("bits", attr_bits, 80),
		NUMBER("period", 0, 50),
		FLAGS("sample", samples, 40),
		FLAGS("format", formats, 50),
		NUMBER("wakeup", 0, 15),
		NUMBER("clockid", 0, 4),
		NUMBER("stack", 0, 4),
		NUMBER("regs_user", 0, 4),
		NUMBER("regs_intr", 0, 4),
		NUMBER("depth", 0, 4),
		FLAGS("action", actions, 5),
		NUMBER("aux_mark", 0, 4),
		FLAGS("branch", branches, 10),
		NUMBER("config1", 0, 2),
		NUMBER("config2", 0, 2),
		TEXT("trace", 0),
		NUMBER("attr_size", PMUCTL_ATTR_SIZE, 2),
		NUMBER("size", sizeof(struct pmuctl_open), 2),
		POINTER,
		NUMBER("aux_size", 0, 2),
	} },
	[OP_CLOSE] = { "close", 8, { EVENT } },
	[OP_DUP] = { "dup", 1, { EVENT, CHOICE("to", events, 1, 80) } },
	[OP_IOCTL] = { "ioctl", 20, {
		EVENT,
		CHOICE("cmd", ioctls, PERF_EVENT_IOC_ENABLE, 90),
		NUMBER("arg", 0, 50),
		CHOICE("to", events, 0, 80),
		TEXT("text", 80),
		POINTER,
	} },
	[OP_DEVICE] = { "device", 3, {
		CHOICE("cmd", device_ioctls, PMUCTL_IOC_INFO, 90),
		NUMBER("arg", 0, 20),
		NUMBER("size", 0, 10),
		POINTER,
	} },
	[OP_READ] = { "read", 8, { EVENT, NUMBER("size", 4096, 20), POINTER } },
	[OP_POLL] = { "poll", 3, { EVENT, NUMBER("time", 0, 20) } },
	[OP_ASYNC_IO] = { "async_io", 1, {
		EVENT, NUMBER("on", 1, 30), CHOICE("signal", signals, SIGUSR1, 0) } },
	[OP_MMAP] = { "mmap", 10, {
		CHOICE("map", maps, 0, 50),
		EVENT,
		CHOICE("area", areas, AREA_RING, 20),
		NUMBER("pages", 3, 50),
		CHOICE("prot", prots, PROT_READ | PROT_WRITE, 30),
		CHOICE("flags", map_flags, MAP_SHARED, 10),
		NUMBER("offset", 0, 2),
	} },
	[OP_MUNMAP] = { "munmap", 4, {
		CHOICE("map", maps, 0, 50), NUMBER("from", 0, 10), NUMBER("pages", 0, 10) } },
	[OP_MREMAP] = { "mremap", 1, {
		CHOICE("map", maps, 0, 50), CHOICE("to", maps, 1, 50), NUMBER("pages", 0, 30) } },
	[OP_RING] = { "ring", 3, {
		CHOICE("map", maps, 0, 50), CHOICE("what", ring_works, RING_CONSUME, 50),
		NUMBER("value", 0, 50) } },
	[OP_FORK] = { "fork", 6, { CHOICE("child", children, 0, 40) } },
	[OP_KILL] = { "kill", 2, {
		CHOICE("child", children, 0, 40), CHOICE("signal", signals, SIGKILL, 40) } },
	[OP_WORK] = { "work", 16, {
		CHOICE("what", works, WORK_SPIN, 90), NUMBER("n", 1, 40) } },
	[OP_AFFINITY] = { "affinity", 2, { CHOICE("cpu", cpus, -1, 60) } },
	[OP_ADMIN] = { "admin", 1, {
		CHOICE("what", admins, ADMIN_OFFLINE, 90), NUMBER("n", 0, 60) } },
	[OP_LIST] = { "list", 4, {
		CHOICE("cmd", list_ioctls, PMUCTL_IOC_OPEN_LIST, 80),
		NUMBER("nr", 3, 30),
		EVENT,
		CHOICE("ev2", events, 1, 60),
		CHOICE("pid", pids, 0, 50),
		FLAGS("bits", attr_bits, 50),
		FLAGS("format", formats, 40),
		NUMBER("leader", 0, 10),
		CHOICE("request", list_requests, PERF_EVENT_IOC_ENABLE, 60),
		NUMBER("flags", 0, 30),
		NUMBER("entry_size", 0, 3),
		POINTER,
	} },
};
