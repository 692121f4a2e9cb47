// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long an ordinary user can have interrupts off, with as many events as he may have: in
 * instructions. Every PERIOD-th is sampled on one CPU, where the user does
 * his worst, with the flag that says whether interrupts are on. So many samples in a row without
 * it are a stretch at most one period longer; or several, between which no sample fell, or with
 * interrupts by others, so the truth may be less but is never more: of TRIES measures the least
 * is the best. The user's own instructions are sampled too: without them interrupts that come one
 * after the other would be one stretch. In a guest whose time goes with its instructions, as on a
 * slow machine there is always some timer due.
 */
#include "bound.h"
#include "family.h"
#include "records.h"

#define PERIOD		5003
#define STRETCH_MAX	1000000ull
#define PAGES		1024
#define FLAGS		9		/* PERF_REG_X86_FLAGS */
#define FLAG_INTERRUPTS	(1 << 9)
#define CPU		0
#define TRIES		10
#define CLOCK_WEIGHT	4
#define SWITCH_WEIGHT	2

#define TASKS		1000
#define GROUP		20
#define GROUP_MAX	64

static void many_samples(void)
{
	set_max_rate(RATE_ENDLESS);
	raw_write_number("/sys/module/pmuctl/parameters/mlock_kb", 16384);
}

static void usual_samples(void)
{
	raw_write_number("/sys/module/pmuctl/parameters/mlock_kb", 516);
	set_max_rate(RATE_USUAL);
}

TestSuite(attack_stretch, .init = many_samples, .fini = usual_samples);

/* The name of what is at an address of the kernel */
static const char *symbol(uint64_t ip)
{
	static char name[160], line[256], each[128];
	uint64_t at, best = 0;
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx %*c %127s", &at, each) == 2 && at <= ip && at > best) {
			best = at;
			snprintf(name, sizeof(name), "%s+%#lx", each, ip - at);
		}
	if (f)
		fclose(f);
	return name;
}

/**
 * struct stretch - samples in a row without interrupts
 * @n: how many.
 * @first: where it begins, and
 * @last: ends.
 */
struct stretch {
	uint64_t n, first, last;
};

static struct stretch longest_stretch(struct ring *r, const struct perf_event_attr *attr)
{
	struct stretch now = { 0 }, longest = { 0 };
	struct perf_event_header *header;
	struct sample sample;

	while ((header = ring_next(r))) {
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE, "a record of type %u", header->type);
		take_sample(attr, header, &sample);
		if (sample.intr_regs[0] & FLAG_INTERRUPTS) {
			now.n = 0;
			continue;
		}
		if (!now.n++)
			now.first = sample.ip;
		now.last = sample.ip;
		if (now.n > longest.n)
			longest = now;
	}
	return longest;
}

/* For how many instructions interrupts are off while a user does something with many events */
static uint64_t measure(const char *name, struct attack a)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct stretch s;
	struct ring ring;
	int link, fd;
	pid_t user;

	pin_here(CPU);
	user = attack_start(&a, &link);
	hear(link);
	attr.exclude_idle = 1;
	attr.disabled = 1;
	attr.pinned = 1;
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1 << FLAGS;
	fd = event_open(attr, -1, CPU);
	ring_map(&ring, fd, PAGES);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	let_go(link);
	hear(link);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	s = longest_stretch(&ring, &attr);
	printf("%s: %lu instructions, %lu of them on end without interrupts, from %s", name,
	       event_value(fd), s.n * PERIOD, symbol(s.first));
	printf(" to %s\n", symbol(s.last));
	ring_unmap(&ring);
	close(fd);
	attack_end(user, link);
	return (s.n + 1) * PERIOD;
}

static void check_stretch(const char *name, struct attack a, uint64_t max)
{
	uint64_t least = UINT64_MAX, each;

	for (int i = 0; i < TRIES && least >= max; i++) {
		each = measure(name, a);
		if (each < least)
			least = each;
	}
	cr_expect_lt(least, max, "%s: %lu instructions without interrupts", name, least);
}

/* ---- One task with all that it may have ---- */

static struct perf_event_attr kind;

static pid_t prepare_kind(unsigned int n)
{
	struct perf_event_attr attr = inherited(kind);

	if (attr.pinned) { /* each of which looks at all that are not */
		open_many(attr, 0, 0, n / 2);
		attr.pinned = 0;
		n -= n / 2;
	}
	open_many(attr, 0, 0, n);
	return getpid();
}

static void work_fork(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		sleep_ms(1);
		_exit(0);
	}
	sleep_ms(1);
	die_if(waitpid(pid, &status, 0) != pid || status, "fork");
}

/* Of these there may be less. */
static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_TASK_CLOCK &&
		attr->sample_period;
}

static void check_kind(const char *name, struct perf_event_attr attr)
{
	kind = attr;
	kind.exclude_kernel = 1;
	check_stretch(name, (struct attack){ prepare_kind, work_fork,
		      PER_CONTEXT_DEFAULT / (is_clock(&kind) ? CLOCK_WEIGHT : 1) }, STRETCH_MAX);
}

static struct perf_event_attr soft(uint64_t config)
{
	return event_attr(PERF_TYPE_SOFTWARE, config);
}

Test(attack_stretch, forks_and_switches_of_dummies)
{
	check_kind("dummies", dummy());
}

Test(attack_stretch, forks_and_switches_of_hardware_events)
{
	check_kind("instructions", instructions_u());
}

Test(attack_stretch, forks_and_switches_of_pinned_events)
{
	struct perf_event_attr attr = instructions_u();

	attr.pinned = 1;
	check_kind("pinned", attr);
}

Test(attack_stretch, forks_and_switches_of_events_that_sample)
{
	struct perf_event_attr attr = instructions_u();

	attr.sample_period = 1000000007;
	check_kind("sampling", attr);
}

Test(attack_stretch, forks_and_switches_of_clocks)
{
	check_kind("clocks", soft(PERF_COUNT_SW_TASK_CLOCK));
}

Test(attack_stretch, forks_and_switches_of_clocks_that_sample)
{
	struct perf_event_attr attr = soft(PERF_COUNT_SW_TASK_CLOCK);

	attr.sample_period = 1000000000000;
	check_kind("sampling clocks", attr);
}

Test(attack_stretch, forks_and_switches_of_faults)
{
	check_kind("faults", soft(PERF_COUNT_SW_PAGE_FAULTS));
}

/* ---- Many tasks that have the same few events ---- */

static int family[GROUP];
static pthread_barrier_t ready;

static void *wait_for_ever(void *arg)
{
	pthread_barrier_wait(&ready);
	for (;;)
		pause();
	return arg;
}

static pid_t prepare_family(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy());
	pthread_attr_t small;
	pthread_t thread;

	attr.read_format |= PERF_FORMAT_GROUP;
	for (int i = 0; i < GROUP; i++) {
		family[i] = event_try(attr, .group = i ? family[0] : -1);
		die_if(family[i] < 0, "open");
	}
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 262144);
	pthread_barrier_init(&ready, NULL, n + 1);
	while (n--) {
		errno = pthread_create(&thread, &small, wait_for_ever, NULL);
		die_if(errno, "thread");
	}
	pthread_barrier_wait(&ready);
	return getpid();
}

static void work_family(void)
{
	uint64_t counts[3 + 2 * GROUP];

	die_if(read(family[0], counts, sizeof(counts)) <= 0, "read");
	die_if(ioctl(family[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), "disable");
	die_if(ioctl(family[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), "enable");
	die_if(ioctl(family[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), "reset");
	for (int i = 0; i < GROUP; i++)
		close(family[i]);
}

Test(attack_stretch, families)
{
	check_stretch("a family", (struct attack){ prepare_family, work_family, TASKS }, STRETCH_MAX);
}

/* ---- One group of all that a task may have ---- */

static pid_t prepare_group(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy());

	attr.remove_on_exec = 1;
	family[0] = event_try(attr);
	die_if(family[0] < 0, "open");
	while (--n)
		die_if(event_try(attr, .group = family[0]) < 0, "open");
	return getpid();
}

static void work_group(void)
{
	work_fork();
	by_vfork_and_exec(1);
	die_if(ioctl(family[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP), "disable");
	die_if(ioctl(family[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), "enable");
	close(family[0]);
}

Test(attack_stretch, the_largest_group)
{
	check_stretch("the largest group", (struct attack){ prepare_group, work_group,
		      PER_CONTEXT_DEFAULT }, STRETCH_MAX);
}

/* ---- One hit that many events sample, each with as much of the user's stack as it may ---- */

#define DEPTH		140
#define STACK		65528
#define RING_PAGES	32

static int device;
static volatile char *fresh;

/* As many samples as there are events, into one buffer that is never full */
static void open_deep(struct perf_event_attr attr, unsigned int n)
{
	struct ring ring;
	int first;

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = STACK;
	device = raw_device();
	first = event_try(attr);
	die_if(first < 0, "open");
	die_if(ring_try_map(&ring, first, RING_PAGES, PROT_READ), "mmap");
	while (--n)
		die_if(event_try(attr, .group = first,
				 .flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT) < 0, "open");
	fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	die_if(fresh == MAP_FAILED, "mmap");
}

static pid_t prepare_faults(unsigned int n)
{
	struct perf_event_attr attr = soft(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	open_deep(attr, n);
	return getpid();
}

static pid_t prepare_clocks(unsigned int n)
{
	struct perf_event_attr attr = soft(PERF_COUNT_SW_TASK_CLOCK);

	attr.sample_period = 5000000;
	open_deep(attr, n);
	return getpid();
}

/* With a chain of frames on a stack that is as deep as a sample tells */
static __attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
void call_deep(unsigned int depth, void (*func)(void))
{
	char room[512];

	asm volatile("" : : "r"(room) : "memory");
	if (depth)
		call_deep(depth - 1, func);
	else
		func();
	asm volatile("" : : "r"(room) : "memory");
}

static __attribute__((optimize("no-omit-frame-pointer"))) void touch_fresh(void)
{
	die_if(ioctl(device, PMUCTL_IOC_TASK_ENABLE), "enable");
	fresh[0] = 1;
	die_if(ioctl(device, PMUCTL_IOC_TASK_DISABLE), "disable");
}

static __attribute__((optimize("no-omit-frame-pointer"))) void wait_for_clocks(void)
{
	die_if(ioctl(device, PMUCTL_IOC_TASK_ENABLE), "enable");
	for (volatile int i = 0; i < 10000000; i++)
		;
	die_if(ioctl(device, PMUCTL_IOC_TASK_DISABLE), "disable");
}

static void work_fault(void)
{
	call_deep(DEPTH, touch_fresh);
}

static void work_clocks(void)
{
	call_deep(DEPTH, wait_for_clocks);
}

Test(attack_stretch, a_fault_that_many_sample)
{
	check_stretch("samples of a fault", (struct attack){ prepare_faults, work_fault,
		      PER_CONTEXT_DEFAULT }, STRETCH_MAX);
}

Test(attack_stretch, clocks_that_many_sample)
{
	check_stretch("samples of clocks", (struct attack){ prepare_clocks, work_clocks,
		      PER_CONTEXT_DEFAULT / CLOCK_WEIGHT }, STRETCH_MAX);
}

/* ---- Groups of as many as there may be, of which each tells of all ---- */

static void open_groups(struct perf_event_attr attr, unsigned int n)
{
	int first = -1, leader = -1, fd;
	struct ring ring;

	attr.exclude_kernel = 1;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | READ_LOST;
	for (unsigned int i = 0; i < n; i++) {
		if (i % GROUP_MAX == 0)
			leader = -1;
		fd = event_try(attr, .group = leader);
		die_if(fd < 0, "open");
		if (leader < 0)
			leader = fd;
		if (i)
			die_if(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first), "output");
		else
			die_if(ring_try_map(&ring, fd, RING_PAGES, PROT_READ), "mmap");
		if (!i)
			first = fd;
	}
}

static pid_t prepare_sampled_groups(unsigned int n)
{
	struct perf_event_attr attr = soft(PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_READ;
	open_groups(attr, n);
	fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	die_if(fresh == MAP_FAILED, "mmap");
	return getpid();
}

static void touch(void)
{
	fresh[0] = 1;
}

static pid_t prepare_told_groups(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy());

	attr.inherit_stat = 1;
	open_groups(attr, n);
	return getpid();
}

Test(attack_stretch, groups_that_all_members_sample)
{
	check_stretch("samples of groups", (struct attack){ prepare_sampled_groups, touch,
		      PER_CONTEXT_DEFAULT }, STRETCH_MAX);
}

Test(attack_stretch, groups_that_all_members_tell_of_at_an_exit)
{
	check_stretch("records of groups", (struct attack){ prepare_told_groups, work_fork,
		      PER_CONTEXT_DEFAULT }, STRETCH_MAX);
}

/* ---- Many events that are told of all that happens to their task ---- */

static pid_t prepare_told(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy());
	struct ring ring;
	int first;

	attr.comm = 1;
	attr.task = 1;
	attr.mmap2 = 1;
	attr.mmap = 1;
	attr.context_switch = 1;
	attr.sample_id_all = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			   PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	first = event_try(attr);
	die_if(first < 0, "open");
	die_if(ring_try_map(&ring, first, RING_PAGES, PROT_READ), "mmap");
	while (--n)
		die_if(event_try(attr, .group = first,
				 .flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT) < 0, "open");
	return getpid();
}

Test(attack_stretch, told_forks_and_switches)
{
	check_stretch("told forks and switches", (struct attack){ prepare_told, work_fork,
		      PER_CONTEXT_DEFAULT / SWITCH_WEIGHT }, STRETCH_MAX);
}

/* ---- Many events that write to one buffer ---- */

static pid_t prepare_outputs(unsigned int n)
{
	struct perf_event_attr attr = soft(PERF_COUNT_SW_PAGE_FAULTS), other = dummy();
	const unsigned int tasks = (n + PER_CONTEXT_DEFAULT - 1) / PER_CONTEXT_DEFAULT;
	pid_t sleeper[tasks];
	struct ring ring;
	int first;

	for (unsigned int i = 0; i < tasks; i++)
		sleeper[i] = raw_sleeper();
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	other.disabled = 1;
	device = raw_device();
	first = event_try(attr);
	die_if(first < 0, "open");
	die_if(ring_try_map(&ring, first, 1, PROT_READ), "mmap");
	while (--n)
		die_if(event_try(other, sleeper[n / PER_CONTEXT_DEFAULT], .group = first,
				 .flags = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT) < 0, "open");
	fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	die_if(fresh == MAP_FAILED, "mmap");
	return getpid();
}

Test(attack_stretch, a_buffer_of_many)
{
	check_stretch("a buffer of many", (struct attack){ prepare_outputs, touch_fresh,
		      PER_USER_DEFAULT }, STRETCH_MAX);
}

/* ---- Many events that were in one group ---- */

#define AGAIN	"echo; read x; exec sh -c \"$0\" \"$0\""

static int old_leader;

/* A program that executes itself anew each time it is told to, whose old events end then */
static pid_t prepare_old(unsigned int n)
{
	struct perf_event_attr attr = inherited(dummy()), stays = attr;
	char *args[] = { "sh", "-c", AGAIN, AGAIN, NULL };
	int in[2], out[2];
	char c;
	pid_t pid;

	die_if(pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC), "pipe");
	pid = fork_child();
	if (!pid) {
		die_if(dup2(in[0], 0) < 0 || dup2(out[1], 1) < 0, "dup");
		execv("/bin/sh", args);
		die("sh");
	}
	die_if(read(out[0], &c, 1) != 1, "sh");
	stays.read_format |= PERF_FORMAT_GROUP;
	old_leader = event_try(stays, pid);
	die_if(old_leader < 0, "open");
	attr.remove_on_exec = 1;
	for (unsigned int i = 1; i < n; i++) {
		if (i % GROUP_MAX == 0)
			die_if(write(in[1], "\n", 1) != 1 || read(out[0], &c, 1) != 1, "sh");
		else
			die_if(event_try(attr, pid, .group = old_leader) < 0, "open");
	}
	return getpid();
}

static void work_old(void)
{
	static uint64_t counts[3 + 3 * GROUP_MAX];

	die_if(read(old_leader, counts, sizeof(counts)) <= 0, "read");
	die_if(counts[0] != GROUP_MAX, "members");
	die_if(ioctl(old_leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP), "enable");
	die_if(ioctl(old_leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP), "reset");
}

Test(attack_stretch, a_group_that_had_many)
{
	check_stretch("a group that had many", (struct attack){ prepare_old, work_old,
		      PER_USER_DEFAULT }, STRETCH_MAX);
}
