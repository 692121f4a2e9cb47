// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user has samples of tracepoints, of his own tasks, told with the kernel's records.
 * The kernel makes none for what others do; and none is missing of what his tasks do.
 */
#include "bound.h"
#include "family.h"
#include "loops.h"
#include "module.h"
#include "perm.h"
#include "tracepoint.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define EVENTS		4
#define CALLS		1000
/* What our probe and perf's do to find out that nobody wants to be told, of what perf's does */
#define PROBES		4
/* Interrupts, and what the kernel frees in them, are extra: the least of so many is right. */
#define LEAST_OF	10
#define LEAST_OF_HITS	5

static void prepare_kernel(void)
{
	sampling_init();
	tracepoint_mount();
}

TestSuite(attack_records, .init = prepare_kernel, .fini = sampling_fini, .timeout = 300);

/* The last one is in the kernel: only at level 1. */
static const char *const tracepoints[] = {
	"syscalls:sys_enter_getppid", "syscalls:sys_exit_getppid", "raw_syscalls:sys_enter",
	NULL
};

static const char *tracepoint = "syscalls:sys_enter_getppid";

static struct perf_event_attr record_attr(void)
{
	struct perf_event_attr attr = tracepoint_attr();

	attr.disabled = 0;
	attr.exclude_kernel = tracepoint[0] == 's';
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	return attr;
}

/* What the kernel does for a call of this task, of which nobody has an event */
static double cost_of_call(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t least = UINT64_MAX;

	attr.exclude_user = 1;
	for (int i = 0; i < LEAST_OF; i++) {
		AUTO_CLOSE int fd = event_open(attr);
		uint64_t before = event_value(fd), cost;

		syscall_loop(CALLS);
		cost = event_value(fd) - before;
		least = cost < least ? cost : least;
	}
	return (double)least / CALLS;
}

static pid_t prepare(unsigned int n)
{
	struct perf_event_attr attr = record_attr();

	for (unsigned int i = 0; i < n; i++)
		die_if(event_try(attr, .tracepoint = tracepoint) < 0, "open");
	return getpid();
}

static void work(void)
{
	syscall_loop(CALLS);
}

/* Before it has run, and afterwards */
static double cost_beside(unsigned int events)
{
	struct attack a = { prepare, work, events };
	double before, after;
	pid_t user;
	int link;

	user = attack_start(&a, &link);
	hear(link);
	before = cost_of_call();
	let_go(link);
	hear(link);
	after = cost_of_call();
	attack_end(user, link);
	return before > after ? before : after;
}

/* That of one of perf, of a task that does not run */
static double cost_beside_perf(void)
{
	struct perf_event_attr attr = record_attr();
	pid_t other = fork_child();
	double cost;
	int fd;

	if (!other)
		for (;;)
			pause();
	attr.config = tracepoint_id(tracepoint);
	fd = perf_try(&attr, other, -1);
	cr_assert_geq(fd, 0, "%s", strerror(-fd));
	cost = cost_of_call();
	close(fd);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	return cost;
}

/* perf's makes none either, so what it costs is the call of its probe. */
Test(attack_records, none_are_made_of_what_others_do)
{
	const char *const *each;
	double none, perf, ours;

	pin_here(0);
	for (each = tracepoints; *each; each++) {
		tracepoint = *each;
		/* What others had stays set for a while. */
		module_reload();
		perm_set_level(1);
		none = cost_of_call();
		perf = cost_beside_perf();
		ours = cost_beside(EVENTS);
		printf("%s: %.0f instructions, beside perf's event %.0f, beside ours %.0f\n",
		       tracepoint, none, perf, ours);
		cr_expect_lt(ours - none, PROBES * (perf - none), "%s: %.0f, beside perf's event %.0f",
			     tracepoint, ours, perf);
	}
}

/* ---- Filters ---- */

#define FILTERED	500
#define HITS		10
/* Of the kernel for one call, with IRQs off: instructions; it has more if it checks itself. */
#define MOST_OF_A_HIT	(is_debug_kernel() ? 10e6 : 1e6)
static const char *const terms[] = {
	"comm ~ '%s'", "comm == '[[[[[[[[[[[[[[x%s'", "common_pid != 0%s", "!common_pid == 0%s",
	"comm ~ '%s'", "comm ~ '?%s'", "comm ~ '*%s'", "common_type==1%s",
};

/* Of as many filters as one may have: @kind of @parts parts */
static void write_filter(char *text, size_t size, int kind, int parts)
{
	char pattern[256] = "";
	size_t n = 0;

	for (int i = 0; i < 127 && kind == 0; i++)
		strcat(pattern, "*a");
	/* Each bracket is looked for the end of, to the end of the pattern. */
	if (kind == 4) {
		memset(pattern, '[', sizeof(pattern) - 1);
		pattern[0] = '*';
		pattern[14] = 'x';
	}
	/* Classes, of which each range or character is looked at, once, or from each of the name */
	for (int i = 0; i < 13 && kind == 5; i++)
		strcat(pattern, "[b-cb-cb-ca-a]");
	if (kind == 6)
		sprintf(pattern, "[%0248da]", 0);
	for (int i = 0; i < parts && n < size - 300; i++) {
		n += snprintf(text + n, size - n, i ? " || " : "");
		n += snprintf(text + n, size - n, terms[kind], pattern);
	}
}

static int filter_kind;

static pid_t prepare_filters(unsigned int n)
{
	struct perf_event_attr attr = record_attr();
	static char text[4096], name[16];
	int parts = 1000;

	attr.sample_period = 0;
	memset(name, filter_kind && filter_kind < 5 ? '[' : 'a', sizeof(name) - 1);
	die_if(prctl(PR_SET_NAME, name), "prctl");
	for (unsigned int i = 0; i < n; i++) {
		int fd = event_try(attr, .tracepoint = tracepoint);

		die_if(fd < 0, "open");
		do {
			write_filter(text, sizeof(text), filter_kind, parts);
		} while (tracepoint_filter(fd, text) == -ENOSPC && (parts /= 2));
	}
	/* All that may be is there. */
	die_if(parts, "parts");
	return getpid();
}

static void make_hits(void)
{
	syscall_loop(HITS);
}

/* Of the kernel, for all that the user does then */
static double cost_of(const struct attack *a)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t before, cost;
	int link, fd;
	pid_t user;

	attr.exclude_user = 1;
	attr.inherit = 1;
	user = attack_start(a, &link);
	fd = event_open(attr, hear(link));
	before = event_value(fd);
	let_go(link);
	hear(link);
	cost = event_value(fd) - before;
	attack_end(user, link);
	close(fd);
	return cost;
}

static double least_cost_of(const struct attack *a)
{
	double least = cost_of(a), cost;

	for (int i = 1; i < LEAST_OF_HITS; i++) {
		cost = cost_of(a);
		if (cost < least)
			least = cost;
	}
	return least;
}

static double cost_of_a_hit(void)
{
	return cost_of(&(struct attack){ prepare_filters, make_hits, FILTERED }) / HITS;
}

/* What they are for one hit is bounded, however many events there are, and whatever they look for. */
Test(attack_records, filters_of_a_hit_are_bounded)
{
	tracepoint = "syscalls:sys_enter_getppid";
	perm_set_level(2);
	for (filter_kind = 0; filter_kind < (int)RAW_ARRAY_SIZE(terms); filter_kind++) {
		double cost = cost_of_a_hit();

		printf("filters of kind %d: %.0f instructions for a hit\n", filter_kind, cost);
		cr_expect_lt(cost, MOST_OF_A_HIT, "%d: %.0f", filter_kind, cost);
	}
}

/* Each is set, and what is not told of the name must not count. */
static void look_behind_the_name(void)
{
	static const char *const patterns[] = {
		"???????????????[!x]", "aaaaaaaaaaaaaaa[!\001]*", "*[!a]", "*[!\001][!a]",
	};
	struct perf_event_attr attr = record_attr();
	char text[300] = "comm ~ '*";
	uint64_t count;
	int fd;

	become_ordinary();
	attr.sample_period = attr.sample_type = 0;
	fd = event_try(attr, .tracepoint = tracepoint);
	die_if(fd < 0, "open");
	for (int i = 0; i < 33; i++)
		strcat(text, "[!\001-\377]");
	strcat(text, "'");
	die_if(prctl(PR_SET_NAME, "aaaaaaaaaaaaaaa"), "prctl");
	for (size_t i = 0; i <= RAW_ARRAY_SIZE(patterns); i++) {
		die_if(tracepoint_filter(fd, text), text);
		/* What is in registers goes onto the stack. */
		for (int n = 0; n < HITS; n++)
			syscall(SYS_getppid, -1l, -1l, -1l, -1l, -1l, -1l);
		die_if(read(fd, &count, sizeof(count)) != sizeof(count) || count, text);
		if (i < RAW_ARRAY_SIZE(patterns))
			snprintf(text, sizeof(text), "comm ~ '%s'", patterns[i]);
	}
	_exit(0);
}

/* What is behind it is the kernel's stack. */
Test(attack_records, patterns_end_where_the_name_does)
{
	pid_t user;
	int status;

	tracepoint = "syscalls:sys_enter_getppid";
	perm_set_level(2);
	user = fork_child();
	if (!user)
		look_behind_the_name();
	cr_assert_eq(waitpid(user, &status, 0), user);
	cr_expect_eq(status, 0);
}

/* At level -1 there are longer strings than names: the path of a program, which may be this one. */
static char long_path[3800];
static const char *long_filter;

static pid_t prepare_long(unsigned int n)
{
	struct perf_event_attr attr = record_attr();
	char brackets[300] = "filename ~ '*", *end = brackets + strlen(brackets);
	int fd;

	attr.sample_period = 0;
	attr.exclude_kernel = 0;
	attr.inherit = 1;
	fd = event_try(attr, .tracepoint = tracepoint);
	die_if(fd < 0, "open");
	strcpy(end + 254, "'");
	memset(end, '[', 254);
	die_if(tracepoint_filter(fd, brackets) != -ENOSPC, "255 brackets");
	die_if(n && tracepoint_filter(fd, long_filter), long_filter);
	return getpid();
}

static void exec_long_path(void)
{
	char *const args[] = { EXEC_PROGRAM, NULL };
	pid_t child = fork();
	int status;

	if (!child) {
		execv(long_path, args);
		_exit(1);
	}
	die_if(child < 0 || waitpid(child, &status, 0) != child || status, "exec");
}

Test(attack_records, filters_of_long_strings_are_bounded)
{
	/* As long as they may be */
	static const char *const filters[] = {
		"filename ~ '*/////x'", "filename ~ '*[!x]/x'", "filename ~ '*[[/-/]'",
		"filename ~ '*/[[[['", "filename ~ '[/]?*?*?*'", "filename ~ '////*//?[x'",
	};
	double none, cost;

	tracepoint = "sched:sched_process_exec";
	perm_set_level(-1);
	memset(long_path, '/', sizeof(long_path) - 1);
	strcpy(long_path + sizeof(long_path) - sizeof(EXEC_PROGRAM), EXEC_PROGRAM);
	none = least_cost_of(&(struct attack){ prepare_long, exec_long_path, 0 });
	for (size_t i = 0; i < RAW_ARRAY_SIZE(filters); i++) {
		long_filter = filters[i];
		cost = least_cost_of(&(struct attack){ prepare_long, exec_long_path, 1 });
		printf("%s: %.0f instructions for an exec, %.0f without\n", long_filter, cost,
		       none);
		cr_expect_lt(cost - none, MOST_OF_A_HIT, "%s: %.0f", long_filter, cost - none);
	}
}

/* ---- Taken off and put on again ---- */

#define ROUNDS		300
#define CALLS_A_ROUND	10

/* Each of two tasks on a CPU lets the other go on. */
static void take_turns(const int *in, const int *out, bool first)
{
	char c = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (i || !first)
			cr_assert_eq(read(*in, &c, 1), 1);
		syscall_loop(CALLS_A_ROUND);
		cr_assert_eq(write(*out, &c, 1), 1);
	}
}

/* Whatever makes perf take all events of a CPU off, and put them on again */
static void disturb(void)
{
	struct perf_event_attr clock = soft_attr(PERF_COUNT_SW_CPU_CLOCK), record = record_attr();
	int fd[3];

	clock.disabled = 0;
	clock.pinned = 1;
	record.exclude_kernel = 0;
	record.config = tracepoint_id(tracepoint);
	pin_here(1);
	for (;;) {
		fd[0] = perf_try(&clock, -1, 0);
		fd[1] = perf_try(&record, -1, 0);
		fd[2] = perf_try(&clock, -1, 0);
		die_if(fd[0] < 0 || fd[1] < 0 || fd[2] < 0, "perf");
		for (int i = 0; i < 3; i++)
			close(fd[i]);
	}
}

/* Samples with a record */
static uint64_t count_records(const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	uint64_t records = 0;
	struct sample s;

	while ((header = ring_next(r))) {
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(attr, header, &s);
		records += s.raw_size > 0;
	}
	return records;
}

/*
 * From 7.3 on this task may be preempted between the kernel's probe, which makes the record,
 * and ours: then the sample is lost.
 */
static uint64_t most_lost(void)
{
	struct rusage used;

	cr_assert_eq(getrusage(RUSAGE_THREAD, &used), 0);
	return raw_kernel_before(7, 3) ? 0 : used.ru_nivcsw;
}

Test(attack_records, none_is_missing_of_ones_own)
{
	struct perf_event_attr attr = record_attr();
	uint64_t records, counts[2];	/* all, and lost ones */
	pid_t other, disturber;
	int a[2], b[2], fd;
	struct ring r;

	attr.exclude_kernel = 0;
	attr.read_format = READ_LOST;
	cr_assert_eq(pipe(a), 0);
	cr_assert_eq(pipe(b), 0);
	disturber = fork_child();
	if (!disturber)
		disturb();
	pin_here(0);
	other = fork_child();
	if (!other) {
		take_turns(&a[0], &b[1], false);
		_exit(0);
	}
	fd = event_open(attr, .tracepoint = tracepoint);
	ring_map(&r, fd, 128);
	take_turns(&b[0], &a[1], true);
	waitpid(other, NULL, 0);
	raw_reap(disturber);
	records = count_records(&attr, &r);
	cr_assert_eq(read(fd, counts, sizeof(counts)), (ssize_t)sizeof(counts));
	cr_expect_eq(counts[0], ROUNDS * CALLS_A_ROUND);
	cr_expect_eq(records + counts[1], counts[0], "%lu, %lu lost", records, counts[1]);
	cr_expect_leq(counts[1], most_lost(), "%lu lost, preempted %lu times", counts[1], most_lost());
	printf("%lu lost of %lu\n", counts[1], counts[0]);
}
