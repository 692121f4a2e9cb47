// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a ring says is all that happened: each hit is a sample or is in a LOST record, what is
 * throttled goes on again and says so, and no sample's times are before another's.
 */
#include "tracepoint.h"

#define REGION		(64 * PAGE)
#define CPU		1
#define ROUNDS		200

static void run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

/* ---- Lost ---- */

/* user_loop() whose stack is somewhere else */
static void loop_on_stack(void *stack, uint64_t n)
{
	asm volatile("mov %%rsp, %%r12\n"
		     "	mov %[stack], %%rsp\n"
		     "1:	dec %[n]\n"
		     "	jnz 1b\n"
		     "	mov %%r12, %%rsp"
		     : [n] "+r" (n) : [stack] "r" (stack) : "r12", "cc", "memory");
}

/*
 * The stack of a program is copied in the NMI, its pages are not there, and an event of that
 * tracepoint is told of it in the midst of the other's sample.
 */
Test(sample_told, a_hit_inside_a_sample_is_told_or_lost)
{
	struct perf_event_attr outer = sampling_attr(1000);
	struct perf_event_attr faults = tracepoint_attr();
	struct tally t = { 0 };
	struct ring r, of_outer;
	int fd, outer_fd;
	uint64_t count;
	char *at;

	sampling_init();
	outer.sample_type = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_IP;
	outer.sample_stack_user = 1024;
	faults.sample_period = 1;
	faults.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_RAW;
	faults.sample_id_all = 1;
	outer_fd = event_open(outer);
	ring_map(&of_outer, outer_fd, 64);
	fd = event_open(faults, .tracepoint = "exceptions:page_fault_kernel");
	ring_map(&r, fd, 64);
	at = (char *)fresh_pages(REGION / PAGE);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	event_ioctl(outer_fd, PERF_EVENT_IOC_ENABLE);
	loop_on_stack(at + REGION / 2, 50000);
	event_ioctl(outer_fd, PERF_EVENT_IOC_DISABLE);
	/* One that has room, before which it is told what was lost */
	cr_assert_eq(syscall(__NR_uname, at), 0);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	count = sampling_value(fd);
	tally_ring(&faults, &r, &t);
	cr_assert_geq(count, 50, "%lu faults", count);
	cr_assert_eq(t.samples + t.lost, count, "%lu samples and %lu lost of %lu", t.samples,
		     t.lost, count);
	sampling_fini();
}

/* ---- Throttled ---- */

static uint64_t throttles, unthrottles;

static void count_throttles(struct ring *r)
{
	struct perf_event_header *header;

	while ((header = ring_next(r))) {
		throttles += header->type == PERF_RECORD_THROTTLE;
		unthrottles += header->type == PERF_RECORD_UNTHROTTLE;
	}
}

/* On a CPU of its own: sleep, wait as long as is said, touch pages, say so, and sleep. */
static void touch_when_told(int go, int done, char *at)
{
	unsigned int us;

	run_on(CPU);
	while (read(go, &us, sizeof(us)) == sizeof(us)) {
		usleep(us);
		for (int page = 0; page < 8; page++)
			at[page * PAGE] = 1;
		madvise(at, REGION, MADV_DONTNEED);
		if (write(done, "", 1) != 1)
			break;
	}
	_exit(0);
}

/*
 * Two events of an idle CPU, of which one may sample in a jiffy: the switches to the task
 * throttle the first, and its faults, late in the same tick of the timer, the second.
 */
Test(sample_told, what_is_throttled_goes_on_though_the_cpu_is_idle)
{
	struct perf_event_attr switches = event_attr(PERF_TYPE_SOFTWARE,
						     PERF_COUNT_SW_CONTEXT_SWITCHES);
	struct perf_event_attr faults = event_attr(PERF_TYPE_SOFTWARE,
						   PERF_COUNT_SW_PAGE_FAULTS);
	int go[2], done[2], fd[2];
	struct timespec jiffy;
	struct ring r[2];
	pid_t pid;
	char byte;

	set_max_rate(1);
	cr_assert_eq(pipe(go), 0);
	cr_assert_eq(pipe(done), 0);
	run_on(0);
	pid = fork_child();
	if (!pid) {
		close(go[1]);
		touch_when_told(go[0], done[1], (char *)fresh_pages(REGION / PAGE));
	}
	switches.sample_period = faults.sample_period = 1;
	switches.sample_type = faults.sample_type = PERF_SAMPLE_IP;
	switches.disabled = faults.disabled = 1;
	fd[0] = event_open(switches, -1, CPU);
	fd[1] = event_open(faults, -1, CPU);
	for (int i = 0; i < 2; i++)
		ring_map(&r[i], fd[i], 16);
	/* Not before: what is throttled then is released into the ring, and never balanced. */
	for (int i = 0; i < 2; i++)
		event_ioctl(fd[i], PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(clock_getres(CLOCK_MONOTONIC_COARSE, &jiffy), 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		/* From three quarters of a jiffy on: to its end, and beyond */
		unsigned int us = jiffy.tv_nsec / 4000 * (3 * ROUNDS + 2 * round) / ROUNDS;

		cr_assert_eq(write(go[1], &us, sizeof(us)), (ssize_t)sizeof(us));
		cr_assert_eq(read(done[0], &byte, 1), 1);
		/* A tick or two; that long only if it never comes */
		for (int wait = 0; wait < 3000; wait++) {
			for (int i = 0; i < 2; i++)
				count_throttles(&r[i]);
			if (throttles == unthrottles)
				break;
			usleep(10000);
		}
		cr_assert_eq(unthrottles, throttles, "after %u us", us);
	}
	cr_assert_geq(throttles, 10, "%lu times", throttles);
	set_max_rate(RATE_USUAL);
	close(go[1]);
	waitpid(pid, NULL, 0);
}

/* ---- Times ---- */

/*
 * The event's times are brought up to date at each ENABLE and DISABLE of its sibling, and its
 * samples come in the midst of that, as anywhere in the kernel. What is added twice is the time
 * since they were last right, in which there is a sample or more.
 */
Test(sample_told, times_of_samples_do_not_go_back)
{
	struct perf_event_attr attr = sampling_attr(kernel_period(1999));
	struct perf_event_attr other_attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	uint64_t enabled = 0, running = 0, samples = 0;
	const uint64_t work = 3 * attr.sample_period / LOOP_INSTRUCTIONS;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fd, other;

	sampling_init();
	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = event_open(attr);
	ring_map(&r, fd, 64);
	other_attr.disabled = 1;
	other = event_open(other_attr, .group = fd);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int round = 0; round < (is_debug_kernel() ? 500 : 5000); round++) {
		event_ioctl(other, round % 2 ? PERF_EVENT_IOC_DISABLE : PERF_EVENT_IOC_ENABLE);
		user_loop(work);
		while ((header = ring_next(&r))) {
			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&attr, header, &s);
			samples++;
			cr_assert_geq(s.read.enabled, enabled, "sample %lu: %lu ns enabled, before %lu",
				      samples, s.read.enabled, enabled);
			cr_assert_geq(s.read.running, running, "sample %lu: %lu ns running, before %lu",
				      samples, s.read.running, running);
			cr_assert_leq(s.read.running, s.read.enabled);
			enabled = s.read.enabled;
			running = s.read.running;
		}
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_geq(samples, 1000);
	sampling_fini();
}

/* On the CPU of the one who asks: answer, and sleep */
static void answer(int go, int done)
{
	char byte;

	while (read(go, &byte, 1) == 1 && write(done, &byte, 1) == 1)
		;
	_exit(0);
}

/*
 * A sample that comes when a switch away has read the clock, and before it has stopped the
 * counter, tells of a later instant: what a read gives then is no less.
 */
Test(sample_told, what_samples_told_of_times_is_read_then)
{
	struct perf_event_attr attr = sampling_attr(kernel_period(1999));
	uint64_t value[3], enabled = 0, running = 0, samples = 0;
	struct perf_event_header *header;
	int go[2], done[2], fd;
	struct sample s;
	struct ring r;
	pid_t pid;
	char byte = 0;

	sampling_init();
	run_on(0);
	cr_assert_eq(pipe(go), 0);
	cr_assert_eq(pipe(done), 0);
	pid = fork_child();
	if (!pid) {
		close(go[1]);
		answer(go[0], done[1]);
	}
	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = event_open(attr, pid);
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int round = 0; round < 5000; round++) {
		cr_assert_eq(write(go[1], &byte, 1), 1);
		cr_assert_eq(read(done[0], &byte, 1), 1);
		/* Here is who asks, so the other one has been switched away; not for long, maybe. */
		while ((header = ring_next(&r))) {
			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&attr, header, &s);
			samples++;
			enabled = s.read.enabled;
			running = s.read.running;
		}
		cr_assert_eq(read(fd, value, sizeof(value)), (ssize_t)sizeof(value));
		cr_assert_geq(value[1], enabled, "%lu ns enabled, told %lu, sample %lu", value[1],
			      enabled, samples);
		cr_assert_geq(value[2], running, "%lu ns running, told %lu, sample %lu", value[2],
			      running, samples);
	}
	cr_assert_geq(samples, 100);
	close(go[1]);
	waitpid(pid, NULL, 0);
	sampling_fini();
}

/* ---- The time that samples take ---- */

/*
 * Samples of every 200 instructions take many times as long as these. Without a limit each is
 * told; with one of a hundredth of the time the event stands still most of it, says when, and
 * goes on: the loop comes to its end, and the last that is told is that it counts.
 */
Test(sample_told, samples_take_their_share_of_the_time_only)
{
	struct perf_event_attr attr = sampling_attr(200);
	uint64_t samples[2] = { 0 }, value[2];
	struct perf_event_header *header;
	struct ring r;
	int fd;

	sampling_init();
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	for (int limited = 0; limited < 2; limited++) {
		cr_assert_eq(raw_write_number(TIME_SHARE, limited), 0);
		throttles = unthrottles = 0;
		fd = event_open(attr);
		ring_map(&r, fd, 256);
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		for (int round = 0; round < 100; round++) {
			user_loop(10000);
			while ((header = ring_next(&r))) {
				samples[limited] += header->type == PERF_RECORD_SAMPLE;
				throttles += header->type == PERF_RECORD_THROTTLE;
				unthrottles += header->type == PERF_RECORD_UNTHROTTLE;
			}
		}
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		value[limited] = sampling_value(fd);
		ring_unmap(&r);
		close(fd);
		if (limited) {
			cr_assert_geq(throttles, 1);
			cr_assert_geq(unthrottles + 1, throttles);
		} else {
			cr_assert_eq(throttles, 0);
		}
	}
	cr_assert_eq(raw_write_number(TIME_SHARE, 0), 0);
	cr_assert_leq(samples[1], samples[0] / 2, "%lu samples, and %lu with a limit", samples[0],
		      samples[1]);
	cr_assert_leq(value[1], value[0] / 2, "%lu instructions, and %lu with a limit", value[0],
		      value[1]);
	cr_assert_geq(samples[1], 1);
	sampling_fini();
}

#define JIFFIES		400
#define LONGER		6000	/* than a jiffy of 4 ms, in us */

/*
 * One sample in each of many jiffies takes far less than a quarter of any, and all together take
 * many times that. Now and then a busy machine stops a CPU in the midst of one.
 */
Test(sample_told, each_jiffy_is_judged_by_itself)
{
	struct perf_event_attr attr = sampling_attr(2000);
	struct perf_event_header *header;
	uint64_t samples = 0;
	struct ring r;
	int fd;

	sampling_init();
	cr_assert_eq(raw_write_number(TIME_SHARE, 25), 0);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 8192;
	fd = event_open(attr);
	ring_map(&r, fd, 64);
	throttles = 0;
	for (int i = 0; i < JIFFIES; i++) {
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		user_loop(1200);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		usleep(LONGER);
		while ((header = ring_next(&r))) {
			samples += header->type == PERF_RECORD_SAMPLE;
			throttles += header->type == PERF_RECORD_THROTTLE;
		}
	}
	cr_assert_eq(raw_write_number(TIME_SHARE, 0), 0);
	cr_expect_geq(samples, JIFFIES / 2, "%lu samples", samples);
	cr_expect_lt(throttles, JIFFIES / 4, "%lu times throttled", (unsigned long)throttles);
	sampling_fini();
}
