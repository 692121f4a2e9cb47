// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that is locked down for confidentiality tells nobody, root included, what is in its
 * registers. There is no way back from that: for the end of a guest.
 */
#include "perm.h"
#include "sampling.h"

#include <sys/mount.h>

#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define SENTENCE	"the kernel is locked down, and PERF_SAMPLE_REGS_INTR may tell what is in its registers: leave it out, or boot with lockdown=none"

static int try(uint64_t sample_type)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE,
						 PERF_COUNT_SW_CONTEXT_SWITCHES);
	int fd;

	attr.sample_period = 1;
	attr.sample_type = sample_type;
	attr.sample_regs_intr = attr.sample_regs_user = 1;
	if (!(sample_type & PERF_SAMPLE_REGS_INTR))
		attr.sample_regs_intr = 0;
	if (!(sample_type & PERF_SAMPLE_REGS_USER))
		attr.sample_regs_user = 0;
	fd = event_try(attr);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

Test(own_lockdown, nobody_is_told_the_kernels_registers)
{
	if (access(LOCKDOWN, F_OK))
		cr_assert_eq(mount("none", "/sys/kernel/security", "securityfs", 0, NULL), 0, "%m");
	cr_assert_eq(try(PERF_SAMPLE_REGS_INTR), 0);
	cr_assert_eq(raw_write_file(LOCKDOWN, "confidentiality"), 0);
	cr_assert_eq(try(PERF_SAMPLE_REGS_INTR), -EPERM);
	check_why(&event_why, EPERM, PMUCTL_WHY_LOCKED_DOWN, "attr.sample_type", SENTENCE);
	cr_assert_eq(try(PERF_SAMPLE_REGS_USER), 0);
	cr_assert_eq(try(PERF_SAMPLE_IP), 0);
}
