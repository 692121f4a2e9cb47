// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that pause and resume a trace, by what the trace's descriptor tells of it: each
 * transition is counted, those by every n-th hit, and those that were missed. For --cpu
 * intel-pt.
 */
#include "aux_busy.h"

#define SYSCALL	"raw_syscalls:sys_enter"

TestSuite(aux_trigger, .timeout = 300);

/* A trace of this task, paused, with room for nothing: nobody maps it. */
static int open_leader(void)
{
	union raw_attr a = trace_attr();

	a.attr.enable_on_exec = 0;
	a.attr.disabled = 0;
	a = trace_with_action(a, PMUCTL_AUX_START_PAUSED);
	return event_open(a);
}

static void call_getppid(unsigned int n)
{
	for (; n; n--)
		syscall(SYS_getppid);
}

Test(aux_trigger, each_transition_is_counted)
{
	int leader = open_leader();
	struct pmuctl_aux_status s;

	trace_open_trigger(SYSCALL, PMUCTL_AUX_RESUME, 1, leader, "id == 110");
	trace_open_trigger(SYSCALL, PMUCTL_AUX_PAUSE, 1, leader, "id == 102"); /* getuid */
	s = trace_status(leader);
	cr_assert_eq(s.state, PMUCTL_AUX_IS_PAUSED);
	cr_assert_eq(s.pauses + s.resumes + s.idle + s.missed, 0);
	call_getppid(1);
	s = trace_status(leader);
	cr_assert_eq(s.resumes, 1);
	cr_assert_eq(s.state & PMUCTL_AUX_IS_PAUSED, 0);
	for (int i = 0; i < 100; i++) {
		syscall(SYS_getuid);
		call_getppid(3);
	}
	s = trace_status(leader);
	cr_assert_eq(s.resumes, 101, "%llu", s.resumes);
	cr_assert_eq(s.pauses, 100, "%llu", s.pauses);
	cr_assert_eq(s.idle, 200, "%llu found it as they wanted it", s.idle);
	cr_assert_eq(s.missed, 0);
}

Test(aux_trigger, every_nth_hit)
{
	int leader = open_leader();
	struct pmuctl_aux_status s;

	trace_open_trigger(SYSCALL, PMUCTL_AUX_RESUME, 10, leader, "id == 110");
	trace_open_trigger(SYSCALL, PMUCTL_AUX_PAUSE, 3, leader, "id == 102");
	for (unsigned int n = 1; n <= 1000; n++) {
		call_getppid(1);
		s = trace_status(leader);
		cr_assert_eq(s.resumes + s.idle, n / 10, "after %u hits", n);
	}
	for (unsigned int n = 1; n <= 30; n++) {
		syscall(SYS_getuid);
		s = trace_status(leader);
		cr_assert_eq(s.state & PMUCTL_AUX_IS_PAUSED, n >= 3, "after %u hits", n);
	}
	cr_assert_eq(s.pauses, 1);
	cr_assert_eq(s.resumes, 1);
	cr_assert_eq(s.idle, 99 + 9);
}

/* A system call with a frame pointer that leads to memory that is not there */
static void call_with_frame(const void *frame)
{
	register long result asm("rax") = SYS_getppid;

	asm volatile("push %%rbp\n"
		     "mov %1, %%rbp\n"
		     "syscall\n"
		     "pop %%rbp\n"
		     : "+r"(result) : "r"(frame) : "rcx", "r11", "memory");
}

/*
 * The call chain of a sample is read from the stack. The page fault of that comes in the midst
 * of the hit of the system call, and is nobody's hit; the trace is told of it.
 */
Test(aux_trigger, what_is_missed_is_counted)
{
	void *nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int leader = open_leader();
	union raw_attr a = raw_attr(PERF_TYPE_TRACEPOINT, 0);
	struct pmuctl_aux_status s;
	int fd;

	trace_open_trigger("exceptions:page_fault_kernel", PMUCTL_AUX_RESUME, 1, leader, NULL);
	a.attr.disabled = 0;
	a.attr.exclude_kernel = 0;
	a.attr.sample_period = 1;
	a.attr.sample_type = PERF_SAMPLE_CALLCHAIN;
	fd = event_open(a, .tracepoint = SYSCALL);
	cr_assert_neq(mmap(NULL, 9 * TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0),
		      MAP_FAILED);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "id == 110"), 0);
	call_getppid(10);
	cr_assert_eq(trace_status(leader).missed, 0);
	for (int i = 0; i < 10; i++)
		call_with_frame(nothing);
	s = trace_status(leader);
	/* The memory may be tried more than once. */
	cr_assert_geq(s.missed, 10);
	cr_assert_eq(s.missed % 10, 0, "%llu", s.missed);
	cr_assert_eq(s.resumes, 0);
}

#define RATE	"/sys/module/pmuctl/parameters/max_sample_rate"

/*
 * One that is throttled does not look at hits until the next tick of the clock: each is told of as
 * missed, and none is lost.
 */
static void check_throttled(int leader, int fd, void (*hit)(unsigned int n))
{
	long rate = raw_read_number(RATE);
	struct pmuctl_aux_status s;
	unsigned long long hits;

	cr_assert_eq(raw_write_file(RATE, "1"), 0);
	hit(50);
	s = trace_status(leader);
	hits = s.resumes + s.idle + s.missed;
	while (s.missed < 100) {
		hit(50);
		hits += 50;
		s = trace_status(leader);
		cr_assert_eq(s.resumes + s.idle + s.missed, hits, "%llu, %llu, %llu of %llu",
			     s.resumes, s.idle, s.missed, hits);
	}
	cr_assert_eq(s.resumes, 1);
	cr_assert_eq(raw_write_number(RATE, rate), 0);
	close(fd);
	close(leader);
}

Test(aux_trigger, what_is_missed_while_a_tracepoint_is_throttled)
{
	int leader = open_leader();

	check_throttled(leader,
			trace_open_trigger(SYSCALL, PMUCTL_AUX_RESUME, 1, leader, "id == 110"),
			call_getppid);
}

static void touch_fresh(unsigned int n)
{
	static uint8_t *map;

	if (!map) {
		map = mmap(NULL, n * TRACE_PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		cr_assert_neq(map, MAP_FAILED);
	}
	/* They are taken away, and come as they are touched. */
	cr_assert_eq(madvise(map, n * TRACE_PAGE, MADV_DONTNEED), 0);
	for (unsigned int i = 0; i < n; i++)
		*(volatile uint8_t *)(map + i * TRACE_PAGE) = 1;
}

Test(aux_trigger, what_is_missed_while_page_faults_are_throttled)
{
	union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	int leader = open_leader(), fd;

	for (int i = 0; i < 3; i++) { /* what is touched the first time only */
		touch_fresh(50);
		trace_status(leader);
	}
	a.attr.sample_period = 1;
	a.attr.disabled = 0;
	a = trace_with_action(a, PMUCTL_AUX_RESUME);
	fd = event_open(a, .group = leader);
	check_throttled(leader, fd, touch_fresh);
}

Test(aux_trigger, only_what_traces_has_a_status)
{
	struct pmuctl_aux_status s = { .size = sizeof(s) };
	union raw_attr a = raw_instructions();
	struct pmuctl_aux_status with_flags = { .size = sizeof(s), .flags = 1 };
	int fd = event_open(a);

	check_refusals(
		{ "an event that counts", IOCTL(fd, PMUCTL_IOC_AUX_STATUS, &s), EINVAL,
		  PMUCTL_WHY_AUX_STATUS, "",
		  "this event does not trace: ask the leader of its group, if that is one of intel_pt or intel_bts" },
		{ "unknown flags", IOCTL(fd, PMUCTL_IOC_AUX_STATUS, &with_flags), EINVAL,
		  PMUCTL_WHY_FLAGS_UNKNOWN, "flags",
		  "flags 0x1 has bits that this module does not know: only 0x0 may be set" }
	);
}
