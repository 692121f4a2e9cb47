// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of one system call, syscalls:*, beside the kernel's perf: counted, filtered, inherited,
 * all of them at once. What their samples tell is compared in trace_record.c.
 */
#include "perm.h"
#include "tracepoint.h"

#include <sys/stat.h>

#define CALLS	500ull

TestSuite(trace_syscalls, .init = sampling_init, .fini = sampling_fini);

/* ---- Counts ---- */

static void calls(void)
{
	struct stat about;

	syscall_loop(CALLS);
	for (int i = 0; i < 7; i++)
		syscall(__NR_read, -1, NULL, 0);
	for (int i = 0; i < 3; i++)
		syscall(__NR_newfstatat, AT_FDCWD, "/", &about, 0);
	syscall(4000);	/* there is none of this number */
}

static const struct {
	const char *event;
	uint64_t count;
} counted[] = {
	{ "syscalls:sys_enter_getppid", CALLS },
	{ "syscalls:sys_exit_getppid", CALLS },
	{ "syscalls:sys_enter_read", 7 },
	{ "syscalls:sys_exit_read", 7 },
	{ "syscalls:sys_enter_newfstatat", 3 },
	{ "syscalls:sys_exit_newfstatat", 3 },
	{ "syscalls:sys_enter_write", 0 },
};

Test(trace_syscalls, are_counted_as_perf_does)
{
	tracepoint_mount();
	for (size_t i = 0; i < RAW_ARRAY_SIZE(counted); i++) {
		struct tracepoint_pair pair = tracepoint_pair_open(tracepoint_attr(), counted[i].event, 0);

		tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
		calls();
		tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
		cr_expect_eq(sampling_value(pair.ours), counted[i].count, "%s: %lu",
			     counted[i].event, sampling_value(pair.ours));
		cr_expect_eq(sampling_value(pair.perfs), counted[i].count, "%s: %lu",
			     counted[i].event, sampling_value(pair.perfs));
	}
}

/* Each is told of its own call only, whatever else there is on the tracepoint. */
Test(trace_syscalls, are_counted_side_by_side)
{
	int all = event_open(tracepoint_attr(), .tracepoint = "raw_syscalls:sys_enter");
	int fds[RAW_ARRAY_SIZE(counted)], again;

	for (size_t i = 0; i < RAW_ARRAY_SIZE(counted); i++)
		fds[i] = event_open(tracepoint_attr(), .tracepoint = counted[i].event);
	again = event_open(tracepoint_attr(), .tracepoint = counted[0].event);
	event_ioctl(all, PERF_EVENT_IOC_ENABLE);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(counted); i++)
		event_ioctl(fds[i], PERF_EVENT_IOC_ENABLE);
	event_ioctl(again, PERF_EVENT_IOC_ENABLE);
	calls();
	event_ioctl(all, PERF_EVENT_IOC_DISABLE);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(counted); i++)
		event_ioctl(fds[i], PERF_EVENT_IOC_DISABLE);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(counted); i++)
		cr_expect_eq(sampling_value(fds[i]), counted[i].count, "%s", counted[i].event);
	cr_expect_eq(sampling_value(again), CALLS);
	/* Those of the rest, and one that disables */
	cr_expect_eq(sampling_value(all), CALLS + 7 + 3 + 1 + RAW_ARRAY_SIZE(counted) + 1 + 1);
}

Test(trace_syscalls, those_of_32_bit_programs_are_none)
{
	struct tracepoint_pair enter, leave;
	int all = event_open(tracepoint_attr(), .tracepoint = "raw_syscalls:sys_enter");

	tracepoint_mount();
	/* Number 110 is getppid of 64-bit programs, and iopl of others. */
	enter = tracepoint_pair_open(tracepoint_attr(), "syscalls:sys_enter_getppid", 0);
	leave = tracepoint_pair_open(tracepoint_attr(), "syscalls:sys_exit_getppid", 0);
	tracepoint_pair_ioctl(&enter, PERF_EVENT_IOC_ENABLE);
	tracepoint_pair_ioctl(&leave, PERF_EVENT_IOC_ENABLE);
	event_ioctl(all, PERF_EVENT_IOC_ENABLE);
	syscall_loop(5);
	for (int i = 0; i < 10; i++) {
		long ret;

		asm volatile("int $0x80" : "=a" (ret) : "a" (__NR_getppid), "b" (0L)
			     : "memory", "r8", "r9", "r10", "r11");
	}
	event_ioctl(all, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(all), 5 + 10 + 1);
	cr_expect_eq(sampling_value(enter.ours), 5);
	cr_expect_eq(sampling_value(enter.perfs), 5);
	cr_expect_eq(sampling_value(leave.ours), 5);
	cr_expect_eq(sampling_value(leave.perfs), 5);
}

Test(trace_syscalls, of_children_and_of_all_cpus)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct tracepoint_pair pair;
	int everywhere, children = 4;

	tracepoint_mount();
	everywhere = event_open(attr, -1, .tracepoint = "syscalls:sys_enter_getppid");
	attr.inherit = 1;
	pair = tracepoint_pair_open(attr, "syscalls:sys_enter_getppid", 0);
	cr_assert_eq(tracepoint_filter(everywhere, "__syscall_nr == 110"), 0);
	event_ioctl(everywhere, PERF_EVENT_IOC_ENABLE);
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < children; i++) {
		pid_t pid = fork();

		if (!pid) {
			pin_here(i & 1);
			syscall_loop(CALLS);
			_exit(0);
		}
		perm_join(pid);
	}
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
	event_ioctl(everywhere, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(pair.ours), children * CALLS);
	cr_expect_eq(sampling_value(pair.perfs), children * CALLS);
	cr_expect_geq(sampling_value(everywhere), children * CALLS);
}

/* ---- Filters ---- */

Test(trace_syscalls, filters_have_the_names_of_arguments)
{
	static const struct {
		const char *event, *text;
		uint64_t count;
	} filters[] = {
		{ "syscalls:sys_enter_read", "fd == 1000 && count == 5", 5 },
		{ "syscalls:sys_enter_read", "fd < 1000", 0 },
		{ "syscalls:sys_enter_read", "count > 2 && count <= 4", 7 },
		{ "syscalls:sys_enter_read", "fd == 1001 || __syscall_nr != 0", 10 },
		{ "syscalls:sys_exit_read", "ret == -9", 20 },
		{ "syscalls:sys_exit_read", "ret < -9 || ret > -9", 0 },
		{ "syscalls:sys_exit_read", "__syscall_nr == 0", 20 },
	};

	tracepoint_mount();
	for (size_t i = 0; i < RAW_ARRAY_SIZE(filters); i++) {
		struct tracepoint_pair pair = tracepoint_pair_open(tracepoint_attr(), filters[i].event, 0);

		cr_assert_eq(tracepoint_filter(pair.ours, filters[i].text), 0, "%s",
			     filters[i].text);
		cr_assert_eq(tracepoint_filter(pair.perfs, filters[i].text), 0, "%s",
			     filters[i].text);
		tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
		for (int n = 0; n < 10; n++) {
			syscall(__NR_read, 1000, 0xabcdef0123, n & 1 ? 5 : 4);
			syscall(__NR_read, 1001, 0xabcdef0123, n < 2 ? 3 : 2);
		}
		tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
		cr_expect_eq(sampling_value(pair.perfs), filters[i].count, "%s: perf %lu",
			     filters[i].text, sampling_value(pair.perfs));
		cr_expect_eq(sampling_value(pair.ours), filters[i].count, "%s: %lu",
			     filters[i].text, sampling_value(pair.ours));
		close(pair.ours);
		close(pair.perfs);
	}
}

/* ---- Samples ---- */

/* Where the user made it: without the kernel they are the same. */
Test(trace_syscalls, samples_are_of_the_user)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct ring rings[2];
	struct tracepoint_pair pair;

	tracepoint_mount();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
		PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD;
	attr.exclude_kernel = 1;
	pair = tracepoint_pair_open(attr, "syscalls:sys_exit_getppid", 0);
	ring_map(&rings[0], pair.perfs, 64);
	ring_map(&rings[1], pair.ours, 64);
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
	syscall_loop(50);
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
	for (int i = 0; i < 50; i++) {
		const struct perf_event_header *theirs = ring_next(&rings[0]);
		const struct perf_event_header *header = ring_next(&rings[1]);
		struct sample s;

		cr_assert_not_null(theirs);
		cr_assert_not_null(header);
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
		cr_expect_eq(header->misc & PERF_RECORD_MISC_CPUMODE_MASK,
			     PERF_RECORD_MISC_USER);
		cr_assert_eq(header->size, theirs->size);
		cr_assert_eq(memcmp(header, theirs, header->size), 0);
		take_sample(&attr, header, &s);
		cr_expect_lt(s.ip, 1ull << 47);
	}
	cr_expect_null(ring_next(&rings[0]));
	cr_expect_null(ring_next(&rings[1]));
}

/* The kernel makes two records of one call, of which each goes to who asked for it. */
Test(trace_syscalls, samples_beside_those_of_all_calls)
{
	static const char *const events[] = {
		"syscalls:sys_enter_getppid", "raw_syscalls:sys_enter",
		"syscalls:sys_exit_getppid", "raw_syscalls:sys_exit",
	};
	struct ring r[RAW_ARRAY_SIZE(events)];
	struct perf_event_attr attr = tracepoint_attr();

	tracepoint_mount();
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(events); i++) {
		int fd = event_open(attr, .tracepoint = events[i]);

		if (i & 1)
			cr_assert_eq(tracepoint_filter(fd, "id == 110"), 0);
		ring_map(&r[i], fd, 64);
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	}
	syscall_loop(CALLS);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(events); i++) {
		const uint16_t id = (uint16_t)tracepoint_id(events[i]);
		const struct perf_event_header *header;
		uint64_t n = 0;

		while ((header = ring_next(&r[i]))) {
			struct sample s;

			cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
			take_sample(&attr, header, &s);
			cr_assert_eq(memcmp(s.raw, &id, sizeof(id)), 0, "%s", events[i]);
			n++;
		}
		cr_expect_eq(n, CALLS, "%s: %lu", events[i], n);
	}
}

/* ---- All of them ---- */

#define EVENTS_MAX	1000

/* "syscalls:PREFIX...", of all that there are; returns how many were opened. */
static unsigned int open_all(const char *prefix, const struct perf_event_attr *attr, pid_t pid,
			     int *fds)
{
	FILE *list = fopen(TRACEFS "/available_events", "re");
	unsigned int n = 0;
	char line[200];

	cr_assert_not_null(list);
	while (fgets(line, sizeof(line), list)) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, prefix, strlen(prefix)))
			continue;
		cr_assert_lt(n, EVENTS_MAX);
		fds[n++] = event_open(*attr, pid, .tracepoint = line);
	}
	fclose(list);
	return n;
}

static uint64_t sum(const int *fds, unsigned int n)
{
	uint64_t total = 0;

	while (n--)
		total += sampling_value(fds[n]);
	return total;
}

static void work(void)
{
	struct stat about;

	syscall_loop(CALLS);
	for (int i = 0; i < 20; i++) {
		int fd = open("/proc/self/status", O_RDONLY);
		char text[100];

		if (read(fd, text, sizeof(text)) < 0 || fstat(fd, &about))
			_exit(1);
		close(fd);
		usleep(100);
	}
}

/* One by one they are as many as those of the tracepoint, when they begin and when they end. */
Test(trace_syscalls, all_of_them_are_all_calls)
{
	static int enter[EVENTS_MAX], leave[EVENTS_MAX];
	struct perf_event_attr attr = tracepoint_attr();
	unsigned int entered, left;
	int all, ends, go[2];
	char byte;
	pid_t pid;

	tracepoint_mount();
	cr_assert_eq(pipe(go), 0);
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			work();
		_exit(0);
	}
	attr.disabled = 0;
	entered = open_all("syscalls:sys_enter_", &attr, pid, enter);
	left = open_all("syscalls:sys_exit_", &attr, pid, leave);
	cr_expect_gt(entered, 300);
	cr_expect_eq(entered, left);
	all = event_open(attr, pid, .tracepoint = "raw_syscalls:sys_enter");
	ends = event_open(attr, pid, .tracepoint = "raw_syscalls:sys_exit");
	cr_assert_eq(write(go[1], "x", 1), 1);
	perm_join(pid);
	cr_expect_geq(sampling_value(all), CALLS + 5 * 20);
	cr_expect_eq(sum(enter, entered), sampling_value(all));
	cr_expect_eq(sum(leave, left), sampling_value(ends));
}

/* ---- Who may ---- */

static int ask_as_user(const uint64_t *ids)
{
	int wrong = 0;

	if (raw_become(RAW_USER))
		return 100;
	for (unsigned int i = 0; i < 16; i++) {
		struct perf_event_attr attr = tracepoint_attr(), perf_attr;
		int fd, perf, cpu = i & 8 ? 0 : -1;
		pid_t pid = i & 8 ? -1 : 0;

		attr.exclude_kernel = !(i & 1);
		attr.sample_period = !!(i & 2);
		attr.sample_type = i & 4 ? PERF_SAMPLE_RAW | PERF_SAMPLE_IP : PERF_SAMPLE_IP;
		perf_attr = attr;
		perf_attr.config = ids[0];
		perf = perf_try(&perf_attr, pid, cpu);
		fd = event_try(attr, pid, cpu, .tracepoint = "syscalls:sys_enter_getppid");
		if (fd == perf || (fd >= 0 && perf >= 0))
			continue;
		fprintf(stderr, "case %u: %d, perf %d: %s\n", i, fd, perf, event_why.sentence);
		wrong++;
	}
	return wrong;
}

static void default_levels(void)
{
	perm_default_level();
	raw_write_number("/proc/sys/kernel/perf_event_paranoid", 2);
}

/* At the default level too, as long as the kernel is left out */
Test(trace_syscalls, who_may_have_them_is_perfs_matter, .fini = default_levels)
{
	uint64_t id;

	raw_device();
	tracepoint_mount();
	id = tracepoint_id("syscalls:sys_enter_getppid");
	for (int level = -1; level <= 2; level++) {
		pid_t pid;

		perm_set_level(level);
		cr_assert_eq(raw_write_number("/proc/sys/kernel/perf_event_paranoid", level), 0);
		pid = fork();
		if (!pid)
			_exit(ask_as_user(&id));
		perm_join(pid);
	}
}

/* A probe that somebody has given the name is none of them. */
Test(trace_syscalls, a_probe_of_that_name_is_none)
{
	struct perf_event_attr attr = tracepoint_attr();

	tracepoint_mount();
	cr_assert_eq(raw_write_file(TRACEFS "/kprobe_events",
				    "p:syscalls/sys_enter_nothing do_exit"), 0);
	cr_expect_eq(event_try(attr, .tracepoint = "syscalls:sys_enter_nothing"), -ENOENT);
	cr_expect_eq(raw_write_file(TRACEFS "/kprobe_events", "-:syscalls/sys_enter_nothing"), 0);
}
