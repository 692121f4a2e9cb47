// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user traces programs of their own, whether or not somebody privileged traces; is
 * told why if the kernel's driver cannot be kept away, and keeps nobody from it by what is left
 * open. For --cpu intel-pt.
 */
#include "aux.h"
#include "bound.h"
#include "loops.h"
#include "msrs.h"
#include "perm.h"

#include <sys/resource.h>
#include <sys/utsname.h>

TestSuite(aux_user, .timeout = 300);

#define RIVAL	"/sys/bus/event_source/devices/intel_pt/type"
#define MSR_RTIT_BASE	0x560
#define MSR_RTIT_MASK	0x561
#define MSR_RTIT_CTL	0x570

/* From here on we are an ordinary user, or again who may do everything. */
static void become_user(bool user)
{
	cr_assert_eq(setresuid(-1, user ? RAW_USER : 0, -1), 0, "%m");
	cr_assert_eq(prctl(PR_SET_DUMPABLE, 1), 0);
}

/* Trace what this task does: how many bytes that are. */
static uint64_t trace_self(void)
{
	union raw_attr a = trace_attr();
	volatile unsigned int n = 0;
	struct trace t;

	a.attr.enable_on_exec = 0;
	a.attr.disabled = 1;
	trace_open(&t, &a, 0, -1, 16, PROT_READ | PROT_WRITE);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	while (n < 1000)
		n++;
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(&t);
	cr_assert_eq(t.starts, 1);
	cr_assert_eq(t.bytes, t.page->aux_head);
	trace_close(&t);
	return t.bytes;
}

Test(aux_user, a_user_alone)
{
	become_user(true);
	for (int i = 0; i < 3; i++)
		cr_assert_gt(trace_self(), 0);
	become_user(false);
	cr_assert_gt(trace_self(), 0);
}

Test(aux_user, a_user_beside_others)
{
	union raw_attr a = trace_attr();
	pid_t pid = raw_sleeper();
	int fd = event_open(a, pid);

	become_user(true);
	cr_assert_gt(trace_self(), 0);
	become_user(false);
	close(fd);
	raw_reap(pid);
}

/* What a user may do does not grow by it: neither the kernel, nor a CPU, nor others' tasks. */
Test(aux_user, a_user_traces_nothing_else)
{
	union raw_attr a = trace_attr(), kernel = a;

	kernel.attr.exclude_kernel = 0;
	become_user(true);
	check_refusals(
		{ "all tasks of a CPU", OPEN(a, -1, 0), EACCES, PMUCTL_WHY_PERM_CPU, "pid",
		  "counting all tasks of a CPU needs CAP_PERFMON at paranoid level 2: count a task, gain CAP_PERFMON, or set the module's parameter paranoid to 0" },
		{ "somebody else's task", OPEN(a, 1), EACCES, PMUCTL_WHY_PERM_TASK, "pid",
		  "task 1 is not yours to inspect (the ptrace read check refused it): count a task of your own, or gain CAP_PERFMON" },
		{ "the kernel", OPEN(kernel), EACCES, PMUCTL_WHY_PERM_KERNEL, "attr.exclude_kernel",
		  "counting in the kernel needs CAP_PERFMON at paranoid level 2: count user space only (attr.exclude_kernel, modifier :u), gain CAP_PERFMON, or set the module's parameter paranoid to 1" }
	);
	become_user(false);
}

#define LOOPS		200

/* What an ordinary user does again and again on CPU 0 hardly calls the other. */
static void check_calls(const char *what, void (*once)(void *arg), void *arg)
{
	uint64_t before, calls;

	become_user(true);
	once(arg);
	before = calls_of_cpu(1);
	for (int i = 0; i < LOOPS; i++)
		once(arg);
	calls = calls_of_cpu(1) - before;
	become_user(false);
	expect_calls_of_others(what, calls, LOOPS);
}

static void open_and_close(void *attr)
{
	close(event_open(*(union raw_attr *)attr));
}

/* A user can't call other CPUs by opening and closing, with nobody beside or beside a holder. */
Test(aux_user, a_loop_calls_no_other_cpus)
{
	union raw_attr a = trace_attr();

	trace_pin(0, 0);
	check_calls("open and close", open_and_close, &a);
}

static void map_and_unmap(void *arg)
{
	struct trace *t = arg;
	void *map = mmap(NULL, t->size, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd,
			 t->page->aux_offset);

	cr_assert_neq(map, MAP_FAILED, "%m");
	cr_assert_eq(munmap(map, t->size), 0);
}

/* Nor by mapping and unmapping the buffer of a trace that does not run, or runs here. */
Test(aux_user, a_loop_of_mappings_calls_no_other_cpus)
{
	union raw_attr a = trace_attr();
	struct trace t;

	trace_pin(0, 0);
	a.attr.enable_on_exec = 0;
	a.attr.disabled = 1;
	become_user(true);
	trace_open(&t, &a, 0, -1, 16, PROT_READ | PROT_WRITE);
	become_user(false);
	cr_assert_eq(munmap((void *)t.aux, t.size), 0);
	check_calls("not enabled", map_and_unmap, &t);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	check_calls("enabled", map_and_unmap, &t);
	cr_assert_gt(t.page->aux_head, 0);
	close(t.fd);
}

/* The kernel's driver is somebody's: that is what is said, and it is true. */
Test(aux_user, a_user_beside_perf)
{
	struct perf_event_attr theirs = { .type = raw_read_number(RIVAL), .size = sizeof(theirs),
		.disabled = 1 };
	union raw_attr a = trace_attr();
	int fd;

	cr_assert_eq(raw_give_back(), 0);
	fd = syscall(SYS_perf_event_open, &theirs, -1, 1, -1, 0);
	cr_assert_geq(fd, 0, "%m");
	become_user(true);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_FOREIGN, "attr.type",
		      "somebody else is tracing on this machine's CPUs, as 'perf record -e intel_pt//' does: end that first");
	close(fd);
	cr_assert_gt(trace_self(), 0);
	become_user(false);
}

static void open_in_vain(void *attr)
{
	cr_assert_eq(event_try(*(union raw_attr *)attr), -EBUSY);
}

/* While it is, a loop of opens calls no other CPUs either; nor while somebody traces past perf. */
Test(aux_user, a_loop_of_refusals_calls_no_other_cpus)
{
	struct perf_event_attr theirs = { .type = raw_read_number(RIVAL), .size = sizeof(theirs),
		.disabled = 1 };
	union raw_attr a = trace_attr();
	int fd;

	trace_pin(0, 0);
	cr_assert_eq(raw_give_back(), 0);
	fd = syscall(SYS_perf_event_open, &theirs, -1, 1, -1, 0);
	cr_assert_geq(fd, 0, "%m");
	check_calls("perf traces CPU 1", open_in_vain, &a);
	close(fd);
	open_and_close(&a);

	cr_assert_eq(raw_give_back(), 0);
	msrs_load_driver();
	/* Where ours wrote may be anybody's memory by now: this is the firmware's. */
	msr_write(0, MSR_RTIT_BASE, 0x1000);
	msr_write(0, MSR_RTIT_MASK, 0x7f);
	msr_write(0, MSR_RTIT_CTL, 1);
	check_calls("somebody traces CPU 0", open_in_vain, &a);
	msr_write(0, MSR_RTIT_CTL, 0);
	open_and_close(&a);
}

/* ---- What is left open holds nothing ---- */

static int holder_open(void)
{
	union raw_attr a = raw_instructions();

	return event_open(a);
}

/* perf's event on a CPU: with it the unit is perf's. */
static int rival_try(void)
{
	struct perf_event_attr theirs = { .type = raw_read_number(RIVAL), .size = sizeof(theirs),
		.disabled = 1 };
	int fd = syscall(SYS_perf_event_open, &theirs, -1, 1, -1, 0);

	return fd < 0 ? -errno : fd;
}

static uint64_t traced_so_far(const struct trace *t)
{
	return __atomic_load_n(&t->page->aux_head, __ATOMIC_ACQUIRE);
}

/* This task is traced: that becomes more, if it takes its time. */
static void wait_for_more(const struct trace *t)
{
	uint64_t before = traced_so_far(t);

	while (traced_so_far(t) == before)
		usleep(1000);
}

/* An ordinary user's trace, which was open while somebody who may have the PMU had it */
static void open_left(struct trace *t)
{
	/* Up to 5.15 a user may lock no more than 64 KiB by himself. */
	const struct rlimit enough = { 16 << 20, 16 << 20 };
	union raw_attr a = trace_attr();
	AUTO_CLOSE int holder = holder_open();

	a.attr.enable_on_exec = 0;
	a.attr.disabled = 0;
	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &enough), 0);
	become_user(true);
	trace_open(t, &a, 0, -1, 1024, PROT_READ | PROT_WRITE);
	become_user(false);
	wait_for_more(t);
}

Test(aux_user, what_is_left_open_keeps_perf_from_nothing)
{
	struct trace t;
	uint64_t before;
	int perf, holder;

	cr_assert_eq(raw_write_file(RAW_CLAIM, "privileged"), 0);
	open_left(&t);
	while ((perf = rival_try()) == -EBUSY)
		usleep(10000);
	cr_assert_geq(perf, 0, "%s", strerror(-perf));

	/* While perf has the unit we can have the PMU, and no trace goes on. */
	holder = holder_open();
	before = traced_so_far(&t);
	for (int i = 0; i < 100; i++)
		usleep(1000);
	cr_assert_eq(traced_so_far(&t), before);
	close(perf);
	close(holder);
	cr_assert_eq(raw_give_back(), 0);

	holder = holder_open();
	wait_for_more(&t);
	cr_assert_eq(rival_try(), -EBUSY);
	trace_close(&t);
	close(holder);
	cr_assert_eq(raw_write_file(RAW_CLAIM, "anyone"), 0);
	perf = rival_try();
	cr_assert_geq(perf, 0, "%s", strerror(-perf));
	close(perf);
}

/* After the last trace others are let soon, though the PMU stays ours. */
Test(aux_user, what_is_closed_keeps_perf_from_nothing)
{
	int holder = holder_open(), perf;
	union raw_attr a = trace_attr();

	close(event_open(a));
	while ((perf = rival_try()) == -EBUSY)
		usleep(10000);
	cr_assert_geq(perf, 0, "%s", strerror(-perf));
	close(perf);
	close(holder);
}

/* On a CPU that comes while a trace is open perf may trace for a moment, but not for long. */
Test(aux_user, a_cpu_that_comes_is_kept_from_perf)
{
	union raw_attr a = trace_attr();
	int holder = holder_open(), fd = event_open(a), perf = 0;

	for (int i = 0; i < 3; i++) {
		cr_assert_eq(rival_try(), -EBUSY);
		set_online(1, false);
		set_online(1, true);
		for (int j = 0; j < 2000 && (perf = rival_try()) >= 0; j++) {
			close(perf);
			usleep(10000);
		}
		cr_assert_eq(perf, -EBUSY, "%s", strerror(-perf));
	}
	close(fd);
	close(holder);
}

/* perf's driver can't be had for another reason, which has nothing to do with somebody else. */
Test(aux_user, perf_refuses)
{
	union raw_attr a = trace_attr();
	char path[256], type[32];
	struct utsname name;
	int fd;

	cr_assert_eq(raw_give_back(), 0);
	cr_assert_eq(uname(&name), 0);
	snprintf(path, sizeof(path), "/pmuctl/tests/kmod/%s/refuse_perf.ko", name.release);
	snprintf(type, sizeof(type), "type=%ld error=%d", raw_read_number(RIVAL), ENXIO);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0, "%s: %m", path);
	cr_assert_eq(syscall(__NR_finit_module, fd, type, 0), 0, "%m");
	close(fd);
	check_refused(OPEN(a), EIO, PMUCTL_WHY_AUX_RIVAL, "attr.type",
		      "the kernel's own driver of intel_pt cannot be kept from tracing meanwhile: perf refuses an event of it with errno 6, the kernel's log may tell why");
	cr_assert_eq(syscall(__NR_delete_module, "refuse_perf", O_NONBLOCK), 0, "%m");
	cr_assert_gt(trace_self(), 0);
}
