// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints: counted, sampled, filtered, in groups and children, on CPUs, of modules that go
 * away. System calls and switches are counted one by one. No PMU is needed.
 */
#include "tracepoint.h"

#include <sys/stat.h>

#define CALLS	500ull

TestSuite(trace_count, .init = sampling_init, .fini = sampling_fini);

/* ---- Counting ---- */

/* ENABLE is not seen when it begins, but DISABLE is. */
Test(trace_count, system_calls)
{
	struct perf_event_attr attr = tracepoint_attr();
	int enter = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	int leave = event_open(attr, .tracepoint = "sys_exit");

	cr_expect_eq(tracepoint_count_getppid(enter, CALLS), CALLS + 1);
	cr_expect_eq(tracepoint_count_getppid(leave, CALLS), CALLS + 1);
	cr_expect_eq(tracepoint_count_getppid(enter, 1), 2);
}

Test(trace_count, one_of_the_system_calls)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	char text[40];

	snprintf(text, sizeof(text), "id == %d", __NR_getppid);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), CALLS);
	snprintf(text, sizeof(text), "id == %d", __NR_ioctl);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), 1);
	snprintf(text, sizeof(text), "id != %d && id != %d", __NR_ioctl, __NR_getppid);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), 0);
	snprintf(text, sizeof(text), "arg1 == %d || id < 0", __NR_getppid);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), CALLS);
	cr_assert_eq(tracepoint_filter(fd, ""), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), CALLS + 1);
}

/* ENABLE is not seen when it begins, and DISABLE is call 16, 0x10; getppid is 110, 0x6e. */
Test(trace_count, each_comparison_of_a_filter)
{
	static const struct {
		const char *text;
		uint64_t calls;
	} filters[] = {
		{ "id >= 110 && id <= 110", CALLS },
		{ "id > 109 && id < 111", CALLS },
		{ "id > 110 || id < 16", 0 },
		{ "id < 110 && id > 15", 1 },
		{ "arg1 & 0x40", CALLS },
		{ "arg1 & 0x10", 1 },
		{ "arg1 >= 0X6E", CALLS },
		{ "arg1 < 0x6e", 1 },
		{ "arg1 > -1", CALLS + 1 },
		{ "arg1 <= -1", 0 },
		{ "id == -1", 0 },
		{ "arg1 < 18446744073709551615", CALLS + 1 },
		{ "(id == 110 || id == 16) && id != 16", CALLS },
		{ "id == 110 || id == 16 && id != 16", CALLS },
		{ "(id == 110) && (id == 16)", 0 },
	};
	struct perf_event_attr attr = tracepoint_attr();
	int fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");

	for (size_t i = 0; i < RAW_ARRAY_SIZE(filters); i++) {
		uint64_t calls;

		cr_assert_eq(tracepoint_filter(fd, filters[i].text), 0, "%s", filters[i].text);
		calls = tracepoint_count_getppid(fd, CALLS);
		cr_expect_eq(calls, filters[i].calls, "%s: %lu", filters[i].text, calls);
	}
	close(fd);
	/* The end of a call knows which it is, by the registers. */
	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_exit");
	cr_assert_eq(tracepoint_filter(fd, "id == 110"), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), CALLS);
	cr_assert_eq(tracepoint_filter(fd, "id != 110"), 0);
	cr_expect_eq(tracepoint_count_getppid(fd, CALLS), 1);
}

/* An int, which may be negative */
Test(trace_count, signals_by_their_number)
{
	static const struct {
		const char *text;
		uint64_t times;
	} filters[] = {
		{ "sig == 10", CALLS }, { "sig > -1", CALLS }, { "sig < 0", 0 }, { "sig == 12", 0 },
	};
	struct perf_event_attr attr = tracepoint_attr();
	int fd = event_open(attr, .tracepoint = "signal:signal_generate");

	signal(SIGUSR1, SIG_IGN);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(filters); i++) {
		uint64_t before = sampling_value(fd);

		cr_assert_eq(tracepoint_filter(fd, filters[i].text), 0);
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		for (unsigned int n = 0; n < CALLS; n++)
			kill(getpid(), SIGUSR1);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		cr_expect_eq(sampling_value(fd) - before, filters[i].times, "%s: %lu",
			     filters[i].text, sampling_value(fd) - before);
	}
}

/* A bool and an unsigned int: each switch is of one kind or of the other. */
Test(trace_count, switches_by_their_kind)
{
	static const char *const kinds[] = {
		"preempt == 0", "preempt != 0", "prev_state == 0", "prev_state > 0",
	};
	/* Older tracepoints do not tell of the state. */
	const size_t n = raw_kernel_before(5, 18) ? 2 : RAW_ARRAY_SIZE(kinds);
	struct perf_event_attr attr = tracepoint_attr();
	uint64_t of_kind[RAW_ARRAY_SIZE(kinds)];
	int all, fds[RAW_ARRAY_SIZE(kinds)];
	struct worker w;

	attr.disabled = 0;
	worker_start(&w, false);
	all = event_open(attr, w.tid, .tracepoint = "sched:sched_switch");
	for (size_t i = 0; i < RAW_ARRAY_SIZE(kinds); i++) {
		struct perf_event_attr off = tracepoint_attr();

		fds[i] = event_try(off, w.tid, .group = all, .tracepoint = "sched:sched_switch");
		cr_assert_geq(fds[i], 0, "%s", event_why.sentence);
		cr_assert_eq(tracepoint_filter(fds[i], kinds[i]), i < n ? 0 : -EINVAL);
	}
	event_ioctl(all, PERF_EVENT_IOC_DISABLE);
	event_ioctl(all, PERF_EVENT_IOC_RESET);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(kinds); i++)
		event_ioctl(fds[i], PERF_EVENT_IOC_ENABLE);
	event_ioctl(all, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 100; i++)
		worker_run(&w, 1000);
	worker_end(&w);
	/* The task has ended: this is all that it did. */
	for (size_t i = 0; i < RAW_ARRAY_SIZE(kinds); i++)
		of_kind[i] = sampling_value(fds[i]);
	cr_expect_eq(of_kind[0] + of_kind[1], sampling_value(all));
	if (n < RAW_ARRAY_SIZE(kinds))
		return;
	cr_expect_geq(of_kind[3], 90);
	cr_expect_eq(of_kind[2] + of_kind[3], sampling_value(all));
}

Test(trace_count, switches_are_those_of_the_tasks_status)
{
	struct perf_event_attr attr = tracepoint_attr();
	uint64_t before, value;
	char text[40];
	struct worker w;
	int all, some;

	attr.disabled = 0;
	worker_start(&w, false);
	all = event_open(attr, w.tid, .tracepoint = "sched:sched_switch");
	some = event_open(attr, w.tid, .tracepoint = "sched:sched_switch");
	snprintf(text, sizeof(text), "prev_pid != %d", w.tid);
	cr_assert_eq(tracepoint_filter(some, text), 0);
	for (int round = 0; round < 5; round++) {
		before = task_switches(w.tid);
		value = sampling_value(all);
		for (int i = 0; i < 20; i++)
			worker_run(&w, 1000);
		cr_expect_eq(sampling_value(all) - value,
			     task_switches(w.tid) - before);
	}
	cr_expect_geq(sampling_value(all), 100);
	/* What a task tells of its own switches is that it goes. */
	cr_expect_eq(sampling_value(some), 0);
	worker_end(&w);
}

Test(trace_count, of_all_cpus_through_one_descriptor)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd = event_open(attr, -1, .tracepoint = "sys_enter");
	char text[40];

	snprintf(text, sizeof(text), "id == %d", __NR_getppid);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 6; i++) {
		pin_here(i & 1);
		syscall_loop(CALLS);
	}
	cr_expect_eq(sampling_value(fd), 6 * CALLS, "%lu", sampling_value(fd));
}

Test(trace_count, in_a_group_with_software_events)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct perf_event_attr leader = soft_attr(PERF_COUNT_SW_DUMMY);
	struct group_read got;
	int fd;

	leader.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID |
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = event_open(leader);
	attr.disabled = 0;
	attr.read_format = leader.read_format;
	cr_assert_geq(event_try(attr, .group = fd, .tracepoint = "sys_enter"), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	syscall_loop(CALLS);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_gt(read(fd, &got, sizeof(got)), 0);
	cr_expect_eq(got.nr, 2);
	cr_expect_eq(got.each[1].value, CALLS + 1);
}

Test(trace_count, children_count_too_and_share_the_filter)
{
	struct perf_event_attr attr = tracepoint_attr();
	char text[40];
	int fd;

	attr.inherit = 1;
	fd = event_open(attr, .tracepoint = "sys_enter");
	snprintf(text, sizeof(text), "id == %d", __NR_getppid);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 3; i++) {
		pid_t child = fork();

		if (!child) {
			syscall_loop(CALLS);
			_exit(0);
		}
		cr_assert_eq(waitpid(child, NULL, 0), child);
	}
	cr_expect_eq(sampling_value(fd), 3 * CALLS, "%lu", sampling_value(fd));
}

/* It is in our own way: each of its hits is what we do. */
Test(trace_count, what_our_own_work_does)
{
	static const char *const names[] = { "timer:hrtimer_start", "irq_vectors:irq_work_entry",
		"exceptions:page_fault_kernel", "sched:sched_waking", "kmem:kmalloc",
		"msr:write_msr", "irq_vectors:local_timer_entry", "timer:hrtimer_expire_entry" };
	struct perf_event_attr attr = tracepoint_attr(), clock;
	struct ring r[RAW_ARRAY_SIZE(names)];

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
		PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 512;
	attr.disabled = 0;
	attr.wakeup_events = 1;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(names); i++)
		ring_map(&r[i], event_open(attr, -1, 0, .tracepoint = names[i]), 4);
	clock = soft_attr(PERF_COUNT_SW_CPU_CLOCK);
	clock.sample_period = 100000;
	clock.sample_type = attr.sample_type;
	clock.sample_stack_user = 512;
	clock.disabled = 0;
	ring_map(&r[0], event_open(clock, -1, 0), 4);
	pin_here(0);
	for (int i = 0; i < 50; i++) {
		touch_pages(fresh_pages(20), 20);
		sleep_ms(1);
		user_loop(100000);
	}
}

/* ---- Samples ---- */

/*
 * Without its system it is not an event of tracefs, only a tracepoint: its arguments are told, also
 * while that event is open.
 */
Test(trace_count, samples_tell_the_arguments)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct perf_event_header *header;
	uint64_t n = 0;
	struct ring r;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	fd = event_open(attr, .tracepoint = "sys_enter");
	ring_map(&r, fd, 16);
	cr_assert_eq(tracepoint_count_getppid(fd, 30), 31);
	for (; (header = ring_next(&r)); n++) {
		const uint64_t *words = (const uint64_t *)(header + 1);
		const uint32_t *raw = (const uint32_t *)(words + 2);
		uint64_t arg;

		cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
		/* The header, IP, TID, the size, regs and id, 4 bytes to fill up */
		cr_assert_eq(header->size, 8 + 8 + 8 + 4 + 16 + 4);
		cr_expect_eq(header->misc & PERF_RECORD_MISC_CPUMODE_MASK,
			     PERF_RECORD_MISC_KERNEL);
		cr_expect_gt(words[0], 1ull << 63);
		cr_expect_eq(raw[0], 2 * 8 + 4);
		memcpy(&arg, raw + 1 + 2, sizeof(arg));
		cr_expect_eq(arg, n < 30 ? __NR_getppid : __NR_ioctl);
		cr_expect_eq(raw[5], 0);
	}
	cr_expect_eq(n, 31);
}

/* Of one that is not known all that there could be is told. */
Test(trace_count, samples_of_any_tracepoint)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct perf_event_header *header;
	struct sample s;
	uint64_t n = 0;
	struct ring r;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN;
	fd = event_open(attr, .tracepoint = "hrtimer_cancel");
	ring_map(&r, fd, 16);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 10; i++)
		tracepoint_set_timer();
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	for (; (header = ring_next(&r)); n++) {
		take_sample(&attr, header, &s);
		cr_expect_eq(s.raw_size, 12 * 8 + 4);
		cr_expect_gt(s.nr_chain, 3);
	}
	cr_expect_geq(n, 10);
	cr_expect_eq(n, sampling_value(fd));
}

/* The kernel's part of the first call chain, and the address of that sample behind it */
static size_t first_place(struct perf_event_attr attr, const char *tracepoint, uint64_t *place,
			  size_t room)
{
	struct sample s;
	struct ring r;
	size_t n = 0;
	int fd;

	attr.sample_period = 1;
	attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	fd = event_open(attr, .tracepoint = tracepoint);
	ring_map(&r, fd, 16);
	cr_assert_eq(tracepoint_count_getppid(fd, 2), 3);
	take_sample(&attr, ring_next(&r), &s);
	cr_assert_eq(s.chain[0], PERF_CONTEXT_KERNEL);
	for (; n < s.nr_chain && s.chain[n] != PERF_CONTEXT_USER && n < room - 1; n++)
		place[n] = s.chain[n];
	place[n++] = s.ip;
	ring_unmap(&r);
	close(fd);
	return n;
}

/* Also where several probes are called one after the other, as with the kernel's record */
Test(trace_count, samples_tell_the_place_of_the_hit)
{
	struct perf_event_attr attr = tracepoint_attr();
	uint64_t alone[32] = { }, beside[32] = { };
	size_t n;

	n = first_place(attr, "sys_enter", alone, RAW_ARRAY_SIZE(alone));
	cr_expect_gt(n, 3);
	attr.sample_type = PERF_SAMPLE_RAW;
	cr_expect_eq(first_place(attr, "raw_syscalls:sys_enter", beside, RAW_ARRAY_SIZE(beside)), n);
	cr_expect_arr_eq(alone, beside, sizeof(alone));
}

Test(trace_count, every_kth_is_sampled)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct ring r;
	int fd;

	attr.sample_period = 7;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = event_open(attr, .tracepoint = "sys_enter");
	ring_map(&r, fd, 16);
	cr_assert_eq(tracepoint_count_getppid(fd, 69), 70);
	cr_expect_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 10);
}

/* ---- Hits that count for more than one ---- */

/* Where the kernel's record has how long a task has run: kernels differ. */
static unsigned int runtime_at(void)
{
	FILE *file = fopen(TRACEFS "/events/sched/sched_stat_runtime/format", "re");
	char line[200];
	unsigned int at = 0;

	cr_assert_not_null(file);
	while (!at && fgets(line, sizeof(line), file))
		sscanf(line, " field:u64 runtime; offset:%u;", &at);
	fclose(file);
	cr_assert_neq(at, 0);
	return at;
}

static uint64_t runtime_of(const struct sample *s, unsigned int at)
{
	uint64_t runtime;

	cr_assert_geq(s->raw_size, at + sizeof(runtime));
	memcpy(&runtime, (const char *)s->raw + at, sizeof(runtime));
	return runtime;
}

/*
 * Until perf has recorded so much. There is a hit for each sleep, unless the scheduler's clock has
 * stood still meanwhile: it does not go further than a tick while that is late.
 */
static void run_and_sleep(struct ring *of_perf)
{
	while (ring_head(of_perf) < 2000) {
		user_loop(100000);
		usleep(1000);
	}
}

struct told {
	uint64_t samples, sum, lost;
};

static struct told read_runtimes(const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	unsigned int at = runtime_at();
	struct told told = { 0 };
	struct sample s;

	while ((header = ring_next(r))) {
		told.lost += header->type != PERF_RECORD_SAMPLE;
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(attr, header, &s);
		told.samples++;
		told.sum += s.period;
		cr_expect_eq(s.period, runtime_of(&s, at));
	}
	return told;
}

/* The time that tasks have run: as perf, it is counted in ns, and told with each hit. */
static void check_runtime(uint64_t period)
{
	struct perf_event_attr attr = tracepoint_attr(), perf_attr;
	struct ring r, of_perf;
	struct told told, perfs;
	int fd, perf;

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
	perf_attr = attr;
	perf_attr.config = tracepoint_id("sched:sched_stat_runtime");
	perf = perf_try(&perf_attr, 0, -1);
	cr_assert_geq(perf, 0);
	ring_map(&of_perf, perf, 16);
	fd = event_open(attr, .tracepoint = "sched:sched_stat_runtime");
	ring_map(&r, fd, 16);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	event_ioctl(perf, PERF_EVENT_IOC_ENABLE);
	run_and_sleep(&of_perf);
	event_ioctl(perf, PERF_EVENT_IOC_DISABLE);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	told = read_runtimes(&attr, &r);
	perfs = read_runtimes(&perf_attr, &of_perf);
	cr_expect_eq(told.lost, 0);
	cr_expect_eq(perfs.lost, 0);
	cr_expect_geq(perfs.samples, 20);
	/* Ours is on for longer. */
	cr_expect_geq(told.samples, perfs.samples);
	cr_expect_geq(told.sum, perfs.sum);
	cr_expect_eq(told.sum, sampling_value(fd));
	cr_expect_eq(perfs.sum, sampling_value(perf));
}

Test(trace_count, hits_that_count_for_more)
{
	tracepoint_mount();
	/* Before 5.16 only tasks of the fair scheduler have such hits. */
	if (!raw_kernel_before(5, 16))
		tracepoint_not_preempted();
	check_runtime(1);
	check_runtime(1000000);
}

/* ---- All of them ---- */

/* Each tracepoint that there is can be opened, counts for a while, and is closed. */
Test(trace_count, every_tracepoint_of_the_kernel)
{
	struct perf_event_attr attr = tracepoint_attr();
	unsigned int opened = 0, lines = 0;
	char line[200];
	FILE *list;

	mkdir("/tmp/tracefs", 0700);
	if (system("mount -t tracefs none /tmp/tracefs"))
		cr_assert_fail("tracefs");
	list = fopen("/tmp/tracefs/available_events", "re");
	cr_assert_not_null(list);
	attr.disabled = 0;
	while (fgets(line, sizeof(line), list)) {
		int fd;

		line[strcspn(line, "\n")] = '\0';
		/* What has no tracepoint of its own */
		if (!strncmp(line, "syscalls:", 9) || !strncmp(line, "ftrace:", 7))
			continue;
		lines++;
		if (lines % 8)
			continue;
		fd = event_try(attr, -1, 0, .tracepoint = line);
		opened += fd >= 0;
		if (fd >= 0)
			close(fd);
		else
			cr_expect_eq(fd, -ENOENT, "%s: %s", line, event_why.sentence);
	}
	fclose(list);
	if (system("umount /tmp/tracefs"))
		cr_assert_fail("umount");
	cr_expect_gt(lines, 300);
	cr_expect_gt(opened, lines / 8 * 9 / 10, "%u of %u", opened, lines / 8);
}
