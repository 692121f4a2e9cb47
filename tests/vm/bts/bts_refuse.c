// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch Trace Store that is refused, each with its reason, and who else may use it when.
 * For --cpu intel-bts.
 */
#include "aux_busy.h"
#include "bound.h"
#include "bts.h"
#include "msrs.h"

#include <sys/resource.h>

#define THEIRS	"/sys/bus/event_source/devices/intel_bts/type"

#define THEIR_PT	"/sys/bus/event_source/devices/intel_pt/type"

#define MSR_DEBUGCTL	0x1d9
#define MSR_DS_AREA	0x600
/* TR, BTS, BTINT, BTS_OFF_OS, BTS_OFF_USR of IA32_DEBUGCTL */
#define BTS_BITS	0x7c0

Test(bts_refuse, bits_of_config)
{
	union raw_attr a = bts_attr();

	for (unsigned int bit = 0; bit < 64; bit += 7) {
		a.attr.config = 1ULL << bit;
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_BTS_CONFIG, "attr.config",
			      "config 0x%llx is not 0, and Branch Trace Store has nothing to choose: leave it 0",
			      a.attr.config);
	}
}

Test(bts_refuse, address_filters)
{
	union raw_attr a = bts_attr();

	check_refused(IOCTL(event_open(a), PERF_EVENT_IOC_SET_FILTER, "filter 0x401000/0x20"),
		      EOPNOTSUPP, PMUCTL_WHY_AUX_NO_FILTER, "filter",
		      "the trace of intel_bts events cannot be restricted to addresses: trace everything and choose when you decode");
}

/* The kernel's entries are in the records, so its addresses are. */
Test(bts_refuse, who_may_not_know_the_kernels_addresses)
{
	union raw_attr a = bts_attr();
	int status, pipe_fds[2];
	struct pmuctl_explanation why = { .size = 0 };
	pid_t pid;

	cr_assert_eq(pipe(pipe_fds), 0);
	raw_device();
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid) {
		if (raw_become(RAW_USER))
			_exit(1);
		if (raw_open(&a, 0, -1, 0, &why) != -EACCES)
			_exit(2);
		_exit(write(pipe_fds[1], &why, sizeof(why)) != sizeof(why));
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%#x", status);
	cr_assert_eq(read(pipe_fds[0], &why, sizeof(why)), (ssize_t)sizeof(why));
	check_why(&why, EACCES, PMUCTL_WHY_PERM_ADDRESSES, "attr.type",
		  "traces of intel_bts tell the kernel's addresses, even of user mode alone, and that is not allowed at level 2 without CAP_PERFMON: gain that, or set the module's parameter paranoid to 1 or less");
}

Test(bts_refuse, two_at_once)
{
	static const char *const format = "another event of pmuctl already traces %s, and a CPU can write only one trace at a time: close that event first";
	union raw_attr a = bts_attr(), pt = raw_attr(trace_type(), 0);
	int fd = event_open(a);

	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "this task");
	check_refused(OPEN(pt), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "this task");
	check_refused(OPEN(a, -1, 0), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "a task");
	close(fd);
	fd = event_open(pt);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "this task");
}

Test(bts_refuse, both_drivers_are_listed)
{
	cr_assert_eq(raw_read_number("/sys/class/misc/pmuctl/intel_bts/type"), bts_type());
	cr_assert_eq(raw_read_number("/sys/class/misc/pmuctl/intel_pt/type"), trace_type());
	cr_assert_neq(access("/sys/class/misc/pmuctl/intel_bts/format", F_OK), 0);
	cr_assert(raw_info().features & PMUCTL_FEATURE_AUX);
}

/* ---- The kernel's own driver ---- */

static int open_theirs_once(void)
{
	struct perf_event_attr attr = {
		.type = raw_read_number(THEIRS), .size = sizeof(attr), .disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	return fd < 0 ? -errno : fd;
}

/* The PMU may still be ours although nobody uses it. */
static int open_theirs(void)
{
	int fd = open_theirs_once();

	return fd == -EBUSY && !raw_give_back() ? open_theirs_once() : fd;
}

/* Whoever has the counters has the debug store: perf's driver takes these as ours does. */
Test(bts_refuse, one_of_ours_and_the_kernels_driver)
{
	union raw_attr a = bts_attr();
	int fd = open_theirs(), ours;

	cr_assert_geq(fd, 0, "%d", fd);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_PMU_BUSY, "attr.type",
		      "the kernel's NMI watchdog or perf holds the PMU: 'echo 0 > /proc/sys/kernel/nmi_watchdog' stops the watchdog; or end the perf sessions that count hardware events");
	close(fd);
	ours = event_open(a);
	cr_assert_eq(open_theirs(), -EBUSY);
	close(ours);
	fd = open_theirs();
	cr_assert_geq(fd, 0, "%d", fd);
}

/* ---- Processor Trace of the kernel's own driver, which cannot be used beside it ---- */

static int open_their_pt(void)
{
	struct perf_event_attr attr = {
		.type = raw_read_number(THEIR_PT), .size = sizeof(attr), .disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 1, -1, 0);

	return fd < 0 ? -errno : fd;
}

static int wait_for_their_pt(void)
{
	int fd;

	while ((fd = open_their_pt()) == -EBUSY)
		nap();
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	return fd;
}

Test(bts_refuse, processor_trace_of_the_kernels_driver)
{
	union raw_attr a = bts_attr();
	int ours, theirs;

	cr_assert_eq(raw_give_back(), 0);
	theirs = wait_for_their_pt();
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_FOREIGN, "attr.type",
		      "somebody else is tracing on this machine's CPUs, as 'perf record -e intel_pt//' does: end that first");
	close(theirs);
	ours = event_open(a);
	cr_assert_eq(open_their_pt(), -EBUSY);
	close(ours);
	close(wait_for_their_pt());
}

static int open_holder(void)
{
	union raw_attr a = raw_instructions();

	return event_open(a);
}

static void become_user(bool user)
{
	cr_assert_eq(setresuid(-1, user ? RAW_USER : 0, -1), 0, "%m");
	cr_assert_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

/* A user's trace that is left open while perf has its own: it goes on when that has ended. */
Test(bts_refuse, processor_trace_that_came_meanwhile)
{
	union raw_attr a = bts_attr();
	int holder = open_holder(), theirs;
	struct trace t;
	uint64_t head;

	cr_assert_eq(raw_write_file(RAW_PARANOID, "1"), 0);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "privileged"), 0);
	/* 64 KiB on Linux 5.10 */
	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 8 << 20, 8 << 20 }), 0);
	become_user(true);
	bts_open(&t, &a, 0, -1, 1024, PROT_READ | PROT_WRITE);
	become_user(false);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	close(holder);
	theirs = wait_for_their_pt();
	head = head_of(&t);
	holder = open_holder();
	for (int i = 0; i < 100; i++)
		usleep(1000);
	cr_assert_eq(head_of(&t), head);
	close(theirs);
	while (head_of(&t) == head)
		nap();
	close(holder);
	trace_close(&t);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "anyone"), 0);
	cr_assert_eq(raw_write_file(RAW_PARANOID, "2"), 0);
}

/* They are given back as they were found, and while they are ours, it is seen that they are. */
Test(bts_refuse, registers_are_given_back)
{
	uint64_t before[MSRS_MAX], during[MSRS_MAX], after[MSRS_MAX];
	struct msrs m = msrs_find();
	union raw_attr a = bts_attr();
	int fd;

	m = (struct msrs){ .n = 2, .addr = { MSR_DS_AREA, MSR_DEBUGCTL } };
	cr_assert_eq(raw_give_back(), 0);
	msr_write(1, MSR_DS_AREA, 0x123456789000);
	msr_write(1, MSR_DEBUGCTL, 1 << 14);
	a.attr.disabled = 0;
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		msrs_read(&m, cpu, before);
		fd = event_open(a, -1, cpu);
		msrs_read(&m, cpu, during);
		cr_assert(during[0] >> 63 && during[0] != before[0], "%#lx", during[0]);
		close(fd);
		cr_assert_eq(raw_give_back(), 0);
		msrs_read(&m, cpu, after);
		cr_assert_eq(before[0], after[0], "%#lx", after[0]);
		cr_assert_eq(before[1], after[1], "%#lx", after[1]);
	}
	msr_write(1, MSR_DS_AREA, 0);
	msr_write(1, MSR_DEBUGCTL, 0);
}

/* Somebody who traces past perf is not disturbed. */
Test(bts_refuse, somebody_else_traces)
{
	union raw_attr a = bts_attr();
	uint64_t before[MSRS_MAX], values[MSRS_MAX];
	struct msrs m = msrs_find();

	m = (struct msrs){ .n = 2, .addr = { MSR_DS_AREA, MSR_DEBUGCTL } };
	cr_assert_eq(raw_give_back(), 0);
	/* Messages on the bus, which nobody sees */
	msrs_read(&m, 1, before);
	msr_write(1, MSR_DEBUGCTL, 1 << 6);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_FOREIGN, "attr.type",
		      "somebody else is tracing on this machine's CPUs, as 'perf record -e intel_bts//' does: end that first");
	msrs_read(&m, 1, values);
	cr_assert_eq(values[0], before[0]);
	cr_assert_eq(values[1], 1 << 6);
	msr_write(1, MSR_DEBUGCTL, 0);
	close(event_open(a));
}

#define LOOPS	200

/* Whoever opens in a loop meanwhile does not make all CPUs look each time. */
Test(bts_refuse, refusals_call_no_other_cpus)
{
	union raw_attr a = bts_attr();
	uint64_t before, calls;

	trace_pin(0, 0);
	cr_assert_eq(raw_give_back(), 0);
	msrs_load_driver();
	msr_write(0, MSR_DEBUGCTL, 1 << 6);
	cr_assert_eq(event_try(a), -EBUSY);
	before = calls_of_cpu(1);
	for (int i = 0; i < LOOPS; i++)
		cr_assert_eq(event_try(a), -EBUSY);
	calls = calls_of_cpu(1) - before;
	msr_write(0, MSR_DEBUGCTL, 0);
	expect_calls_of_others("a refusal", calls, LOOPS);
	close(event_open(a));
}

static void branch(void)
{
	static volatile unsigned int n;

	n++;
}

/* The same while the trace is open already: it waits, and goes on when they have ended. */
Test(bts_refuse, somebody_else_begins_to_trace)
{
	pid_t pid = traced_task_start(branch);
	union raw_attr a = bts_attr();
	struct trace t;

	msrs_find();
	trace_pin(pid, 1);
	bts_open(&t, &a, pid, -1, 16, PROT_READ);
	msr_write(1, MSR_DEBUGCTL, 1 << 6);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	while (!(trace_status(t.fd).state & PMUCTL_AUX_IS_STALLED))
		nap();
	cr_assert_eq(head_of(&t), 0);
	cr_assert_eq(raw_read(t.fd), 0);
	msr_write(1, MSR_DEBUGCTL, 0);
	while (!raw_read(t.fd))
		nap();
	cr_assert_eq(trace_status(t.fd).state & PMUCTL_AUX_IS_STALLED, 0);
	trace_close(&t);
	traced_task_end(pid);
}

/* A CPU that comes while branches are traced is ours as well, one that goes is not. */
Test(bts_refuse, a_cpu_that_goes_and_comes)
{
	uint64_t before[MSRS_MAX], values[MSRS_MAX], ours;
	struct msrs m = msrs_find();
	union raw_attr a = bts_attr();
	int fd;

	m = (struct msrs){ .n = 2, .addr = { MSR_DS_AREA, MSR_DEBUGCTL } };
	a.attr.disabled = 0;
	cr_assert_eq(raw_give_back(), 0);
	msrs_read(&m, 0, before);
	fd = event_open(a, -1, 0);
	msrs_read(&m, 1, values);
	ours = values[0];
	set_online(1, false);
	set_online(1, true);
	msrs_read(&m, 1, values);
	cr_assert_eq(values[0], ours, "%#lx, not %#lx", values[0], ours);
	set_online(1, false);
	close(fd);
	cr_assert_eq(raw_give_back(), 0);
	set_online(1, true);
	msrs_read(&m, 1, values);
	cr_assert_neq(values[0], ours);
	cr_assert_eq(values[1] & BTS_BITS, 0, "%#lx", values[1]);
	msrs_read(&m, 0, values);
	cr_assert_eq(values[0], before[0], "%#lx, not %#lx", values[0], before[0]);
	cr_assert_eq(values[1], before[1], "%#lx", values[1]);
}
