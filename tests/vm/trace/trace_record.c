// SPDX-License-Identifier: GPL-2.0-only
/*
 * What samples of tracepoints tell (PERF_SAMPLE_RAW), beside the kernel's own: an event of perf and
 * one of ours are told of the same hits, and the records must be the same byte for byte.
 */
#include "kapi.h"
#include "perm.h"
#include "tracepoint.h"

#include <sys/resource.h>
#include <sys/wait.h>

#define RECORDS_MAX	4096
#define PERF_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define PERF_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"

TestSuite(trace_record, .init = sampling_init, .fini = sampling_fini);

/* ---- Records ---- */

struct record {
	uint32_t size;
	uint8_t data[256];
};

struct records {
	unsigned int n;
	uint64_t lost;
	struct record of[RECORDS_MAX];
};

static struct records perfs, ours;

static struct perf_event_attr record_attr(void)
{
	struct perf_event_attr attr = tracepoint_attr();

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW |
		PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
	attr.sample_stack_user = 64;
	attr.sample_regs_user = 1;
	return attr;
}

static void take_records(struct records *to, const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	struct sample s;

	while ((header = ring_next(r))) {
		if (header->type == PERF_RECORD_LOST)
			to->lost += ((struct lost_record *)header)->lost;
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(attr, header, &s);
		cr_assert_lt(to->n, RECORDS_MAX);
		cr_assert_leq(s.raw_size, sizeof(to->of[0].data));
		to->of[to->n].size = s.raw_size;
		memcpy(to->of[to->n++].data, s.raw, s.raw_size);
	}
}

static bool is_same(const struct record *a, const struct record *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static void print(const char *whose, const struct record *r)
{
	fprintf(stderr, "%s: %u bytes:", whose, r->size);
	for (uint32_t i = 0; i < r->size; i++)
		fprintf(stderr, " %02x", r->data[i]);
	fprintf(stderr, "\n");
}

/* All that perf was told, in its order and in one piece; we were told before and afterwards, too. */
static void compare(const char *event)
{
	unsigned int before = 0, same = 0;

	for (; before + perfs.n <= ours.n; before++) {
		for (same = 0; same < perfs.n; same++)
			if (!is_same(&perfs.of[same], &ours.of[before + same]))
				break;
		if (same == perfs.n)
			return;
	}
	for (unsigned int i = 0; i < 4 && i < perfs.n; i++)
		print("perf", &perfs.of[i]);
	for (unsigned int i = 0; i < 6 && i < ours.n; i++)
		print("ours", &ours.of[i]);
	cr_assert_fail("%s: %u records of perf are not among our %u", event, perfs.n, ours.n);
}

/* ---- Actions ---- */

static void call(void)
{
	for (int i = 0; i < 20; i++)
		syscall(__NR_getppid, i);
}

static long sleeps(void)
{
	struct rusage usage;

	cr_assert_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_nvcsw;
}

/* A timer that is over before the task has gone to sleep lets it go on: that is none. */
static void sleep_often(void)
{
	const long end = sleeps() + 20;

	while (sleeps() < end)
		usleep(1000);
}

static void fault(void)
{
	touch_pages(fresh_pages(20), 20);
}

static void fork_often(void)
{
	for (int i = 0; i < 5; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

static void make_timers(void)
{
	for (int i = 0; i < 20; i++)
		tracepoint_set_timer();
}

static const struct {
	const char *event;
	void (*act)(void);
	unsigned int least;
} actions[] = {
	{ "raw_syscalls:sys_enter", call, 20 },
	{ "raw_syscalls:sys_exit", call, 20 },
	{ "syscalls:sys_enter_getppid", call, 20 },
	{ "syscalls:sys_exit_getppid", call, 20 },
	{ "syscalls:sys_enter_wait4", fork_often, 5 },
	{ "syscalls:sys_exit_wait4", fork_often, 5 },
	{ "syscalls:sys_enter_mmap", fault, 1 },
	{ "syscalls:sys_enter_timerfd_create", make_timers, 20 },
	{ "sched:sched_switch", sleep_often, 20 },
	{ "timer:hrtimer_start", sleep_often, 20 },
	{ "timer:hrtimer_cancel", make_timers, 20 },
	{ "exceptions:page_fault_user", fault, 20 },
	{ "task:task_newtask", fork_often, 5 },
	{ "sched:sched_process_fork", fork_often, 5 },
	{ "kmem:kmem_cache_alloc", fork_often, 5 },
};

static void run(unsigned int i)
{
	struct perf_event_attr attr = record_attr(), perf_attr = attr;
	struct ring r, of_perf;
	int fd, perf;

	perfs.n = ours.n = 0;
	perfs.lost = ours.lost = 0;
	perf_attr.config = tracepoint_id(actions[i].event);
	perf = perf_try(&perf_attr, 0, -1);
	cr_assert_geq(perf, 0, "%s: %s", actions[i].event, strerror(-perf));
	ring_map(&of_perf, perf, 256);
	fd = event_open(attr, .tracepoint = actions[i].event);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	event_ioctl(perf, PERF_EVENT_IOC_ENABLE);
	actions[i].act();
	event_ioctl(perf, PERF_EVENT_IOC_DISABLE);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	take_records(&perfs, &perf_attr, &of_perf);
	take_records(&ours, &attr, &r);
	cr_expect_eq(perfs.lost, 0);
	cr_expect_eq(ours.lost, 0);
	cr_expect_eq(sampling_value(fd), ours.n);
	cr_assert_geq(perfs.n, actions[i].least, "%s: %u", actions[i].event, perfs.n);
	compare(actions[i].event);
	ring_unmap(&r);
	ring_unmap(&of_perf);
	close(fd);
	close(perf);
}

Test(trace_record, is_the_one_of_the_kernel)
{
	raw_device();
	tracepoint_mount();
	tracepoint_not_preempted();
	for (size_t i = 0; i < RAW_ARRAY_SIZE(actions); i++)
		run(i);
}

/* ---- Which hits ---- */

#define NUMBER_AT	8	/* of a system call, behind the fields that all events have */

static uint64_t number_of(const struct record *r)
{
	uint64_t number;

	memcpy(&number, r->data + NUMBER_AT, sizeof(number));
	return number;
}

/* A filter looks at arguments, and a period counts what passes it. */
Test(trace_record, is_of_the_hit_that_is_sampled)
{
	struct perf_event_attr attr = record_attr();
	struct ring r;
	int fd;

	attr.sample_period = 3;
	tracepoint_not_preempted();
	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	cr_assert_eq(tracepoint_filter(fd, "id == 110"), 0);
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (uint64_t i = 0; i < 30; i++) {
		syscall(__NR_getpid);
		syscall(__NR_getppid, i);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(fd), 30);
	take_records(&ours, &attr, &r);
	cr_assert_eq(ours.n, 10);
	for (unsigned int i = 0; i < ours.n; i++) {
		uint64_t argument;

		memcpy(&argument, ours.of[i].data + NUMBER_AT + 8, sizeof(argument));
		cr_expect_eq(number_of(&ours.of[i]), __NR_getppid);
		cr_expect_eq(argument, 3 * i + 2);
	}
}

/* As often as it happens, also where perf's own limit of samples in a tick is passed. */
Test(trace_record, has_no_limit_of_its_own)
{
	struct perf_event_attr attr = record_attr();
	long percent, rate;
	struct ring r;
	int fd;

	attr.sample_type = PERF_SAMPLE_RAW;
	tracepoint_not_preempted();
	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	ring_map(&r, fd, 256);
	percent = raw_read_number(PERF_PERCENT);
	rate = raw_read_number(PERF_RATE);
	cr_assert_eq(raw_write_number(PERF_PERCENT, 50), 0);
	cr_assert_eq(raw_write_number(PERF_RATE, 1000), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 3000; i++)
		syscall(__NR_getppid);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_eq(raw_write_number(PERF_RATE, rate), 0);
	cr_assert_eq(raw_write_number(PERF_PERCENT, percent), 0);
	take_records(&ours, &attr, &r);
	cr_expect_eq(ours.n, 3001);
	cr_expect_eq(ours.lost, 0);
}

/* Of one that tells nothing on the same tracepoint the counts are as ever. */
Test(trace_record, does_not_change_what_is_counted)
{
	struct perf_event_attr attr = record_attr();
	struct ring r;
	int plain = event_open(tracepoint_attr(), .tracepoint = "raw_syscalls:sys_enter");
	int fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");

	tracepoint_not_preempted();
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	event_ioctl(plain, PERF_EVENT_IOC_ENABLE);
	call();
	event_ioctl(plain, PERF_EVENT_IOC_DISABLE);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(plain), 21);
	cr_expect_eq(sampling_value(fd), 23);
	take_records(&ours, &attr, &r);
	cr_expect_eq(ours.n, 23);
}

static void in_children(int depth)
{
	pid_t pid = fork();

	if (!pid) {
		call();
		if (depth)
			in_children(depth - 1);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

Test(trace_record, is_told_of_children)
{
	struct perf_event_attr attr = record_attr();
	unsigned int calls = 0;
	struct ring r;
	int fd;

	attr.inherit = 1;
	tracepoint_not_preempted();
	fd = event_open(attr, 0, 0, .tracepoint = "raw_syscalls:sys_enter");
	ring_map(&r, fd, 256);
	pin_here(0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	in_children(3);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	take_records(&ours, &attr, &r);
	for (unsigned int i = 0; i < ours.n; i++)
		calls += number_of(&ours.of[i]) == __NR_getppid;
	cr_expect_eq(calls, 4 * 20);
	cr_expect_eq(ours.lost, 0);
}

/* ---- CPUs ---- */

#define CPU1_ONLINE	"/sys/devices/system/cpu/cpu1/online"

/* Of each hit there is a record, or it is said to be lost, until all 21 of a round are told. */
static void expect_told(int fd, const struct perf_event_attr *attr, struct ring *r)
{
	pin_here(1);
	do {
		uint64_t before = sampling_value(fd), counted;

		ours.n = ours.lost = 0;
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		call();
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		take_records(&ours, attr, r);
		counted = sampling_value(fd) - before;
		/* What is lost in the end is said with the next one that is told. */
		cr_assert_leq(ours.n, counted);
		cr_assert_eq(counted, 21, "%lu counted, %u told, %lu lost", counted, ours.n,
			     (unsigned long)ours.lost);
	} while (ours.n < 21);
	pin_here(0);
}

/*
 * perf's events of a CPU are gone when it comes back, and others have to be made: until then what
 * is sampled there is lost, and said to be. It may go while they are being made.
 */
Test(trace_record, is_told_of_a_cpu_that_comes_back, .fini = all_online)
{
	struct perf_event_attr attr = record_attr();
	struct ring r;
	int fd;

	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	ring_map(&r, fd, 256);
	for (int times = 1; times <= 4; times++) {
		for (int i = 0; i < times; i++) {
			set_online(1, false);
			set_online(1, true);
		}
		expect_told(fd, &attr, &r);
	}
}

/* ---- Whom it is told ---- */

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

static const struct {
	const char *event;
	uint64_t sample_type;
	int cpu;	/* of all tasks there, or -1 */
} asked[] = {
	{ "raw_syscalls:sys_enter", PERF_SAMPLE_RAW, -1 },
	{ "raw_syscalls:sys_exit", PERF_SAMPLE_RAW, -1 },
	{ "raw_syscalls:sys_enter", PERF_SAMPLE_RAW, 0 },
	{ "raw_syscalls:sys_enter", PERF_SAMPLE_IP, 0 },
	{ "syscalls:sys_enter_read", PERF_SAMPLE_RAW, -1 },
	{ "syscalls:sys_exit_read", PERF_SAMPLE_RAW, -1 },
	{ "syscalls:sys_enter_read", PERF_SAMPLE_RAW, 0 },
	{ "sched:sched_switch", PERF_SAMPLE_RAW, -1 },
	{ "sched:sched_switch", PERF_SAMPLE_IP, -1 },
	{ "kmem:kmalloc", PERF_SAMPLE_RAW, -1 },
};

/* An ordinary user may have what perf lets him have. Returns how often that is not so. */
static int ask_both(const uint64_t *id)
{
	int wrong = 0;

	if (raw_become(RAW_USER))
		return 100;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(asked); i++) {
		struct perf_event_attr attr = tracepoint_attr(), perf_attr;
		pid_t pid = asked[i].cpu < 0 ? 0 : -1;
		int fd, perf;

		attr.sample_period = 1;
		attr.sample_type = asked[i].sample_type;
		perf_attr = attr;
		perf_attr.config = id[i];
		perf = perf_try(&perf_attr, pid, asked[i].cpu);
		fd = event_try(attr, pid, asked[i].cpu, .tracepoint = asked[i].event);
		if (fd == perf || (fd >= 0 && perf >= 0))
			continue;
		fprintf(stderr, "%s %#lx cpu %d: %d, perf %d: %s\n", asked[i].event,
			asked[i].sample_type, asked[i].cpu, fd, perf, event_why.sentence);
		wrong++;
	}
	return wrong;
}

static void default_levels(void)
{
	perm_default_level();
	raw_write_number(PARANOID, 2);
}

Test(trace_record, is_told_whom_perf_tells, .fini = default_levels)
{
	uint64_t id[RAW_ARRAY_SIZE(asked)];

	raw_device();
	tracepoint_mount();
	for (size_t i = 0; i < RAW_ARRAY_SIZE(asked); i++)
		id[i] = tracepoint_id(asked[i].event);
	for (int level = -1; level <= 1; level++) {
		pid_t pid;
		int status;

		perm_set_level(level);
		cr_assert_eq(raw_write_number(PARANOID, level), 0);
		pid = fork();
		if (!pid)
			_exit(ask_both(id));
		cr_assert_eq(waitpid(pid, &status, 0), pid);
		cr_assert_eq(status, 0, "level %d: status %#x", level, status);
	}
}

/* ---- A record that nobody took ---- */

#define BETWEEN		"/sys/module/record_between/parameters/"
#define BYTES_AT	24	/* what kmem:kmalloc says was asked for */
#define HELD		1234

static void be_woken(int signal)
{
	(void)signal;
}

static void wait_for(const int *step, int n)
{
	while (__atomic_load_n(step, __ATOMIC_ACQUIRE) < n)
		usleep(1000);
}

static void come_to(int *step, int n)
{
	__atomic_store_n(step, n, __ATOMIC_RELEASE);
}

/* Two hits, if told to: one that is held behind the kernel's record of it, and one without a record. */
static void hit_twice(int *step)
{
	uint8_t *pages = fresh_pages(2);

	signal(SIGUSR2, be_woken);
	pin_here(1);
	touch_pages(pages, 1);
	raw_write_file(BETWEEN "nest", "1");
	wait_for(step, 1);
	raw_write_file(BETWEEN "hold", "1");
	come_to(step, 2);
	wait_for(step, 3);
	touch_pages(pages + sysconf(_SC_PAGESIZE), 1);
	come_to(step, 4);
	pause();
}

/*
 * The event goes off between the record of a hit and our probe, and the next hit has none: that one
 * is told nothing, and not what the other was, which may have been a hit of somebody else.
 */
Test(trace_record, is_not_that_of_another_hit)
{
	struct perf_event_attr attr = record_attr();
	int *step = perm_shared(sizeof(*step));
	sigset_t held;
	uint64_t value;
	struct ring r;
	int fd, signal;
	pid_t pid;

	raw_device();
	cr_assert_eq(kmod_load("record_between", ""), 0);
	sigemptyset(&held);
	sigaddset(&held, SIGUSR1);
	sigprocmask(SIG_BLOCK, &held, NULL);
	come_to(step, 0);
	pid = fork_child();
	if (!pid)
		hit_twice(step);
	fd = event_open(attr, pid, .tracepoint = "kmem:kmalloc");
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	come_to(step, 1);
	cr_assert_eq(sigwait(&held, &signal), 0);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	kill(pid, SIGUSR2);
	wait_for(step, 2);
	value = sampling_value(fd);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	come_to(step, 3);
	wait_for(step, 4);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_gt(sampling_value(fd), value);
	take_records(&ours, &attr, &r);
	for (unsigned int i = 0; i < ours.n; i++) {
		uint64_t bytes;

		memcpy(&bytes, ours.of[i].data + BYTES_AT, sizeof(bytes));
		cr_expect_neq(bytes, HELD);
	}
	raw_reap(pid);
	raw_write_file(BETWEEN "nest", "0");
	cr_expect_eq(kmod_unload("record_between"), 0);
}

/* ---- Races ---- */

static void open_and_close(void)
{
	struct perf_event_attr attr = record_attr();

	for (;;)
		close(event_open(attr, -1, 0, .tracepoint = "raw_syscalls:sys_enter"));
}

/* Somebody opens and closes, CPUs go and come, and each record is one of this task's calls. */
Test(trace_record, while_others_come_and_go, .fini = all_online)
{
	struct perf_event_attr attr = record_attr();
	pid_t pid = fork_child();
	struct ring r;
	int fd;

	if (!pid)
		open_and_close();
	attr.disabled = 1;
	for (int round = 0; round < 40; round++) {
		uint64_t value, pids = 0;

		ours.n = ours.lost = 0;
		fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
		ring_map(&r, fd, 64);
		if (round % 4 == 0)
			raw_write_file(CPU1_ONLINE, round % 8 ? "1" : "0");
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		call();
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		value = sampling_value(fd);
		take_records(&ours, &attr, &r);
		for (unsigned int i = 0; i < ours.n; i++) {
			uint32_t whose;

			memcpy(&whose, ours.of[i].data + 4, sizeof(whose));
			pids += whose == (uint32_t)getpid();
		}
		cr_assert_eq(value, 21);
		cr_assert_eq(pids, ours.n);
		ring_unmap(&r);
		close(fd);
	}
	raw_reap(pid);
}
