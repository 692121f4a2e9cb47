/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For refuse_perf: where the kernel's own perf and we refuse with another errno, or one of both does
 * not refuse.
 */
#ifndef VM_REFUSE_DIFFERENCES_H
#define VM_REFUSE_DIFFERENCES_H

#include <errno.h>
#include <stddef.h>

enum where { EVERY, LINUX_5_10, SINCE_6_1, LINUX_6_1, LINUX_6_12, LATER, INTEL };

/*
 * Where the two differ, and why. @base NULL is each; @change is a shell pattern. Of the kernels and
 * processors that there are tests of, @where has them; others may. What is refused here and opens there
 * has an errno with which programs try without it.
 */
static const struct difference {
	const char *base, *change;
	int perfs, ours;
	enum where where;
	const char *reason;
} differences[] = {
	/* What programs leave out when kernels do not know it */
	{ NULL, "*aux_output", EOPNOTSUPP, EINVAL, EVERY, "not supported" },
	{ NULL, "type = * and aux_output", ENOENT, EINVAL, INTEL, "not supported" },
	{ NULL, "*remove_on_exec and sigtrap", 0, EINVAL, SINCE_6_1, "not supported" },
	{ NULL, "aux_sample_size = * and precise_ip ?", EOPNOTSUPP, EINVAL, EVERY, "neither is supported" },
	{ NULL, "sample_type = *", 0, EINVAL, EVERY, "a field that is not supported" },
	{ NULL, "branch_sample_type = *", EOPNOTSUPP, EINVAL, LINUX_6_12, "events of branches are not known" },
	{ NULL, "type = 0x5", EINVAL, ENOENT, EVERY, "breakpoints are not supported" },
	{ NULL, "type = *", 0, ENOENT, EVERY, "a PMU of the kernel's own" },
	{ NULL, "type = *", EINVAL, ENOENT, EVERY, "a PMU of the kernel's own" },
	{ NULL, "config = 0xa", 0, ENOENT, EVERY, "bpf-output is not supported" },
	{ NULL, "an unknown bit", 0, EINVAL, LATER, "Linux 7.3 knows two bits more" },
	/* What has no effect is refused here, and ignored there */
	{ NULL, "type = 0x2*", 0, EINVAL, EVERY, "a tracepoint, with exclude_kernel: nothing is counted" },
	{ "tracepoint", "exclude_kernel", 0, EINVAL, EVERY, "nothing is counted" },
	{ NULL, "bp_type = *", 0, EINVAL, EVERY, "of breakpoints" },
	{ NULL, "config1 = *", 0, EINVAL, EVERY, "of hardware events only" },
	{ NULL, "type = 0x1 and config1 = *", 0, EINVAL, EVERY, "of hardware events only" },
	{ NULL, "config2 = *", 0, EINVAL, EVERY, "no event here has it" },
	{ NULL, "config3 = *", 0, EINVAL, LINUX_6_12, "no event here has it" },
	{ NULL, "branch_sample_type = *", 0, EINVAL, EVERY, "without branch stacks" },
	{ NULL, "clockid = *", 0, EINVAL, EVERY, "without use_clockid" },
	{ NULL, "sig_data = *", 0, EINVAL, SINCE_6_1, "without sigtrap" },
	{ NULL, "aux_watermark = *", 0, EOPNOTSUPP, EVERY, "of events that trace" },
	/* The same in other words */
	{ NULL, "config3 = *", E2BIG, EINVAL, LINUX_6_1, "Linux 6.1 does not know it" },
	{ NULL, "__reserved_3 = *", EINVAL, EOPNOTSUPP, EVERY, "Linux 6.1 does not know aux_action" },
	{ NULL, "* and __reserved_3 = *", EINVAL, ENOENT, LINUX_6_1, "likewise" },
	{ NULL, "sample_regs_* = *", EOPNOTSUPP, EINVAL, EVERY, "registers that there are not" },
	{ "sampling", "freq", 0, EINVAL, EVERY, "this module's limit of samples a second" },
	{ "instructions", "config = *", ENOENT, EINVAL, EVERY, "perf finds a PMU's type in it" },
	{ "sampling", "config = *", ENOENT, EINVAL, EVERY, "perf finds a PMU's type in it" },
	{ "instructions", "config = *", 0, EINVAL, SINCE_6_1, "perf finds no PMU's type in it" },
	{ "sampling", "config = *", 0, EINVAL, SINCE_6_1, "perf finds no PMU's type in it" },
	{ NULL, "ioctl MODIFY_* zeroes*", EINVAL, EOPNOTSUPP, EVERY, "the type is not looked at" },
	/* What came after Linux 5.10, and is here on each kernel */
	{ NULL, "build_id", EINVAL, 0, LINUX_5_10, "of Linux 5.12" },
	{ NULL, "inherit and inherit_thread", EINVAL, 0, LINUX_5_10, "of Linux 5.13" },
	{ NULL, "remove_on_exec", EINVAL, 0, LINUX_5_10, "of Linux 5.13" },
	{ NULL, "config = 0xb", ENOENT, 0, LINUX_5_10, "cgroup-switches, of Linux 5.13" },
	{ NULL, "branch_sample_type = 0x40000", EINVAL, EOPNOTSUPP, LINUX_5_10, "of Linux 6.1" },
	{ NULL, "sig_data = *", E2BIG, EINVAL, LINUX_5_10, "of Linux 5.13" },
	/* Two that are wrong, of which the other is looked at first */
	{ NULL, "* and __reserved_3 = *", EINVAL, EOPNOTSUPP, LINUX_6_12, "aux_action is early" },
	{ NULL, "* and __reserved_3 = *", ENOENT, EOPNOTSUPP, LINUX_6_12, "aux_action is early" },
	{ NULL, "* and __reserved_3 = *", EOPNOTSUPP, EINVAL, LINUX_6_12, "aux_sample_size is earlier" },
	{ NULL, "* and aux_sample_size = *", ENOENT, EINVAL, EVERY, "not supported, whatever the type" },
	/* Ignored here, as no sample has them */
	{ NULL, "sample_regs_* = *", EINVAL, 0, EVERY, "registers that there are not" },
	{ NULL, "sample_regs_* = *", EOPNOTSUPP, 0, EVERY, "registers that there are not" },
	/* More than perf has */
	{ NULL, "use_clockid", EINVAL, 0, EVERY, "CLOCK_REALTIME can be read in an NMI here" },
	{ "tracepoint", "ioctl SET_FILTER empty*", EINVAL, 0, EVERY, "an empty filter lets all through" },
	{ NULL, "pid -1 cpu -1", EINVAL, 0, EVERY, "all CPUs through one descriptor" },
	{ NULL, "flags 0x4", EINVAL, EBADF, EVERY, "the same of a cgroup, and pid is none" },
};

#endif /* VM_REFUSE_DIFFERENCES_H */
