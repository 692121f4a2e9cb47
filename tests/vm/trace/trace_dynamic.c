// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dynamic events, kprobes and uprobes that are made in tracefs, beside the kernel's perf: what
 * they count, what their samples tell, and how they are made and taken away.
 */
#include "perm.h"
#include "tracepoint.h"

#include <sys/resource.h>

#define CALLS	100ull

#define KPROBES	TRACEFS "/kprobe_events"
#define UPROBES	TRACEFS "/uprobe_events"

/* ---- Their making ---- */

static int tell_tracefs(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), err = 0;

	cr_assert_geq(fd, 0, "%s: %m", path);
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static void make(const char *path, const char *text)
{
	int err = tell_tracefs(path, text);

	cr_assert_eq(err, 0, "%s: %s", text, strerror(-err));
}

static void make_kprobe(void)
{
	make(KPROBES, "p:pmutest/call __x64_sys_getppid regs=%di:x64 word=%ax:u32");
}

static uint64_t words;

__attribute__((noinline)) static void called(uint64_t n)
{
	asm volatile("" : "+r" (n));
	words += n;
}

/* Where in its file a function of this program is */
static void make_uprobe(void)
{
	const uintptr_t address = (uintptr_t)called;
	unsigned long from, to, offset;
	char line[512], text[600], path[256];
	FILE *maps = fopen("/proc/self/maps", "re");

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &offset, path) == 4 &&
		    address >= from && address < to)
			break;
	fclose(maps);
	cr_assert(address >= from && address < to);
	snprintf(text, sizeof(text), "p:pmutest/called %s:%#lx n=%%di:u64", path,
		 address - from + offset);
	make(UPROBES, text);
}

static void call_function(void)
{
	for (uint64_t i = 0; i < CALLS; i++)
		called(i);
}

static void make_calls(void)
{
	syscall_loop(CALLS);
}

/* An event of an ordinary user keeps it for a second after it was closed. */
static void take_away(const char *path, const char *text)
{
	while (tell_tracefs(path, text) == -EBUSY)
		usleep(10000);
}

/* What the test before has made: its end has closed its descriptors. */
static void init(void)
{
	sampling_init();
	tracepoint_mount();
	if (access(TRACEFS "/events/pmutest", F_OK))
		return;
	take_away(KPROBES, "-:pmutest/call");
	take_away(KPROBES, "-:pmutest/back");
	take_away(KPROBES, "-:pmutest/sched_switch");
	take_away(UPROBES, "-:pmutest/called");
}

TestSuite(trace_dynamic, .init = init, .fini = sampling_fini);

/* ---- Counts ---- */

static void expect_counts(const char *event, void (*work)(void), uint64_t count)
{
	struct tracepoint_pair pair = tracepoint_pair_open(tracepoint_attr(), event, 0);

	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
	work();
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(pair.ours), count, "%s: %lu", event, sampling_value(pair.ours));
	cr_expect_eq(sampling_value(pair.perfs), count, "%s: %lu", event,
		     sampling_value(pair.perfs));
	close(pair.ours);
	close(pair.perfs);
}

Test(trace_dynamic, are_counted_as_perf_does)
{
	make_kprobe();
	make(KPROBES, "r:pmutest/back __x64_sys_getppid value=$retval:s64");
	make_uprobe();
	expect_counts("pmutest:call", make_calls, CALLS);
	expect_counts("pmutest:back", make_calls, CALLS);
	expect_counts("pmutest:called", call_function, CALLS);
	expect_counts("pmutest:called", make_calls, 0);
}

Test(trace_dynamic, of_children_and_of_all_cpus)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct tracepoint_pair pair;
	int everywhere;

	make_uprobe();
	everywhere = event_open(attr, -1, .tracepoint = "pmutest:called");
	attr.inherit = 1;
	pair = tracepoint_pair_open(attr, "pmutest:called", 0);
	event_ioctl(everywhere, PERF_EVENT_IOC_ENABLE);
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			pin_here(i & 1);
			call_function();
			_exit(0);
		}
		perm_join(pid);
	}
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
	event_ioctl(everywhere, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(pair.ours), 4 * CALLS);
	cr_expect_eq(sampling_value(pair.perfs), 4 * CALLS);
	cr_expect_eq(sampling_value(everywhere), 4 * CALLS);
}

/* perf takes its events off a CPU that goes. */
Test(trace_dynamic, on_a_cpu_that_comes_back, .fini = all_online)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd, before;

	make_uprobe();
	fd = event_open(attr, 0, .tracepoint = "pmutest:called");
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	set_online(1, false);
	set_online(1, true);
	pin_here(1);
	/* A worker gives the CPU its event back. */
	do {
		before = sampling_value(fd);
		call_function();
	} while (sampling_value(fd) - before != CALLS);
}

/* ---- Samples ---- */

#define HITS_MAX	256

struct hit {
	uint64_t ip;
	uint32_t size;
	uint8_t data[128];
};

struct hits {
	unsigned int n;
	struct hit of[HITS_MAX];
};

static struct hits ours, perfs;

static struct perf_event_attr sample_attr(void)
{
	struct perf_event_attr attr = tracepoint_attr();

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_RAW;
	return attr;
}

static void take_hits(struct hits *to, const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	struct sample s;

	while ((header = ring_next(r))) {
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
		take_sample(attr, header, &s);
		cr_assert(to->n < HITS_MAX && s.raw_size <= sizeof(to->of[0].data));
		to->of[to->n].ip = s.ip;
		to->of[to->n].size = s.raw_size;
		memcpy(to->of[to->n++].data, s.raw, s.raw_size);
	}
}

static void expect_same_hits(const char *event, void (*work)(void))
{
	struct perf_event_attr attr = sample_attr();
	struct tracepoint_pair pair = tracepoint_pair_open(attr, event, 0);
	struct ring r[2];

	ring_map(&r[0], pair.ours, 32);
	ring_map(&r[1], pair.perfs, 32);
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_ENABLE);
	work();
	tracepoint_pair_ioctl(&pair, PERF_EVENT_IOC_DISABLE);
	ours.n = perfs.n = 0;
	take_hits(&ours, &attr, &r[0]);
	take_hits(&perfs, &attr, &r[1]);
	cr_assert_eq(ours.n, CALLS, "%s: %u", event, ours.n);
	cr_assert_eq(perfs.n, CALLS, "%s: %u", event, perfs.n);
	for (unsigned int i = 0; i < ours.n; i++) {
		cr_assert_eq(ours.of[i].ip, perfs.of[i].ip, "%s: %#lx, %#lx", event, ours.of[i].ip,
			     perfs.of[i].ip);
		cr_assert_eq(ours.of[i].size, perfs.of[i].size, "%s", event);
		cr_assert_arr_eq(ours.of[i].data, perfs.of[i].data, ours.of[i].size);
	}
	close(pair.ours);
	close(pair.perfs);
}

Test(trace_dynamic, samples_tell_what_perfs_tell)
{
	make_kprobe();
	make(KPROBES, "r:pmutest/back __x64_sys_getppid value=$retval:s64");
	make_uprobe();
	expect_same_hits("pmutest:call", make_calls);
	expect_same_hits("pmutest:back", make_calls);
	expect_same_hits("pmutest:called", call_function);
}

/* Each fifth, with a chain from where it was */
Test(trace_dynamic, samples_of_a_period)
{
	struct perf_event_attr attr = sample_attr();
	struct perf_event_header *header;
	unsigned int n = 0;
	struct sample s;
	struct ring r;
	int fd;

	make_uprobe();
	attr.sample_period = 5;
	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr.exclude_callchain_kernel = 1;
	fd = event_open(attr, .tracepoint = "pmutest:called");
	ring_map(&r, fd, 32);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	call_function();
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		uint64_t argument;

		take_sample(&attr, header, &s);
		/* Behind the fields that all have, and the address */
		memcpy(&argument, s.raw + 16, sizeof(argument));
		cr_expect_eq(argument, 5 * n + 4);
		cr_expect_eq(s.ip, (uintptr_t)called);
		cr_assert_geq(s.nr_chain, 2);
		cr_expect_eq(s.chain[1], (uintptr_t)called);
		n++;
	}
	cr_expect_eq(n, CALLS / 5);
}

/* ---- Whose they are ---- */

/* As long as somebody has it open it cannot be taken away, afterwards at once. */
Test(trace_dynamic, are_taken_away_when_they_are_closed)
{
	for (int i = 0; i < 3; i++) {
		int fd;

		make_kprobe();
		fd = event_open(tracepoint_attr(), .tracepoint = "pmutest:call");
		cr_expect_eq(tell_tracefs(KPROBES, "-:pmutest/call"), -EBUSY);
		cr_expect_eq(tracepoint_count_getppid(fd, 10), 10);
		close(fd);
		make(KPROBES, "-:pmutest/call");
	}
	check_refused(OPEN(tracepoint_attr(), .tracepoint = "pmutest:call"), ENOENT,
		      PMUCTL_WHY_TRACEPOINT_UNKNOWN, "tracepoint",
		      "this kernel has no tracepoint %s: 'pmuctl list tracepoints' shows them; a module's are there while it is loaded, and kprobes and uprobes are for CAP_PERFMON",
		      "call");
}

/* The name of an event is that of a place as long as it is there. */
Test(trace_dynamic, another_of_the_same_name)
{
	int fd;

	make_kprobe();
	fd = event_open(tracepoint_attr(), .tracepoint = "pmutest:call");
	cr_expect_eq(tracepoint_count_getppid(fd, 10), 10);
	close(fd);
	make(KPROBES, "-:pmutest/call");
	make(KPROBES, "p:pmutest/call __x64_sys_getpgid");
	fd = event_open(tracepoint_attr(), .tracepoint = "pmutest:call");
	cr_expect_eq(tracepoint_count_getppid(fd, 10), 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 7; i++)
		syscall(__NR_getpgid, 0);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(fd), 7);
}

Test(trace_dynamic, that_is_called_like_a_tracepoint)
{
	struct rusage before, after;
	int fd;

	make(KPROBES, "p:pmutest/sched_switch __x64_sys_getppid");
	fd = event_open(tracepoint_attr(), .tracepoint = "pmutest:sched_switch");
	cr_expect_eq(tracepoint_count_getppid(fd, 10), 10);
	close(fd);
	fd = event_open(tracepoint_attr(), .tracepoint = "sched:sched_switch");
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	getrusage(RUSAGE_SELF, &before);
	/* One may be over before it has begun. */
	do {
		usleep(1000);
		getrusage(RUSAGE_SELF, &after);
	} while (after.ru_nvcsw < before.ru_nvcsw + 5);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_geq(sampling_value(fd), 5);
}

/* ---- Rights ---- */

/* Asserts nothing, as it runs in a child; errno of each. */
static void as_a_user(int *answers)
{
	struct perf_event_attr attr = tracepoint_attr();

	attr.exclude_kernel = 1;
	answers[0] = event_try(attr, .tracepoint = "pmutest:called");
	answers[1] = event_try(attr, .tracepoint = "pmutest:call");
	answers[2] = event_try(attr, .tracepoint = "pmutest:nothing");
	answers[3] = event_try(attr, .tracepoint = "pmutest:sched_switch");
}

/*
 * A breakpoint in a program is there for all who run it, and setting it walks all that maps its
 * file: so they are for who may see what tracepoints tell, and to others they do not exist.
 */
Test(trace_dynamic, an_ordinary_user_has_none)
{
	int *answers = perm_shared(4 * sizeof(*answers));
	struct perf_event_attr attr = tracepoint_attr();
	pid_t pid;

	make_uprobe();
	make_kprobe();
	make(KPROBES, "p:pmutest/sched_switch __x64_sys_getppid");
	pid = fork();
	if (!pid) {
		if (!perm_become(PERM_USER))
			as_a_user(answers);
		_exit(0);
	}
	perm_join(pid);
	for (int i = 0; i < 4; i++)
		cr_expect_eq(answers[i], -ENOENT, "%d: %d", i, answers[i]);
	attr.exclude_kernel = 1;
	check_refused(OPEN(attr, .tracepoint = "pmutest:call"), EINVAL,
		      PMUCTL_WHY_TRACEPOINT_KERNEL, "attr.exclude_kernel",
		      "tracepoints are in the kernel, which attr.exclude_kernel leaves out, so nothing could ever be counted: clear it");
	cr_expect_geq(event_try(attr, .tracepoint = "pmutest:called"), 0);
}

/* Whatever tracing has made of a name that a tracepoint has in another system */
Test(trace_dynamic, what_is_neither_is_refused)
{
	const char *const path = TRACEFS "/dynamic_events";

	if (raw_kernel_before(5, 15))
		return; /* There are no such events yet. */
	make(path, "e:pmuother/sched_switch sched.sched_wakeup");
	check_refused(OPEN(tracepoint_attr(), .tracepoint = "pmuother:sched_switch"), ENOENT,
		      PMUCTL_WHY_TRACEPOINT_UNKNOWN, "tracepoint",
		      "this kernel has no tracepoint %s: 'pmuctl list tracepoints' shows them; a module's are there while it is loaded, and kprobes and uprobes are for CAP_PERFMON",
		      "sched_switch");
	make(path, "-:pmuother/sched_switch");
}

/* They have their records, whatever their samples tell. */
Test(trace_dynamic, filters_know_their_fields)
{
	static const struct {
		const char *filter;
		uint64_t count;
	} filters[] = {
		{ "regs != 0", 10 }, { "regs == 0", 0 }, { "word == 110 || word != 110", 10 },
		{ "__probe_ip > 0x7fffffffffffffff && !regs == 0", 10 },
	};
	int fd;

	make_kprobe();
	fd = event_open(tracepoint_attr(), .tracepoint = "pmutest:call");
	for (size_t i = 0; i < RAW_ARRAY_SIZE(filters); i++) {
		uint64_t count;

		cr_assert_eq(tracepoint_filter(fd, filters[i].filter), 0, "%s", filters[i].filter);
		count = tracepoint_count_getppid(fd, 10);
		cr_expect_eq(count, filters[i].count, "%s: %lu", filters[i].filter, count);
	}
	cr_expect_eq(tracepoint_filter(fd, "arg0 != 0"), -EINVAL);
	cr_expect_eq(tracepoint_filter(fd, "nonesuch != 0"), -EINVAL);
}
