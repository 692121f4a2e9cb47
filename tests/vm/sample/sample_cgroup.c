// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of the events of a cgroup, and the records that they are told of beside; and the field
 * of a sample that tells in which cgroup its task is.
 */
#include "cgroups.h"
#include "perm.h"
#include "side.h"
#include "soft.h"

#include <sys/stat.h>

static void begin(void)
{
	sampling_init();
	cgroups_begin();
}

static void end(void)
{
	cgroups_end();
	sampling_fini();
}

TestSuite(sample_cgroup, .init = begin, .fini = end);

#define N	100000ull
#define PERIOD	10007

static uint64_t number_of(const char *path)
{
	AUTO_CLOSE int fd = cgroup_fd(path);
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st.st_ino;
}

/* All samples are of its task, one for each period of what it has executed. */
Test(sample_cgroup, are_of_its_tasks)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t samples = 0, count;
	struct perf_event_header *header;
	struct worker one, other;
	struct sample s;
	struct ring r;
	int fd;

	cgroup_add("a");
	cgroup_add("a/below");
	cgroup_add("b");
	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_CGROUP;
	fd = cgroup_event(&counting_ours, &attr, "a", 1);
	ring_map(&r, fd, 64);
	worker_start(&one, false);
	worker_start(&other, false);
	pin_task(one.tid, 1);
	pin_task(other.tid, 1);
	cgroup_put("a/below", one.tid);
	cgroup_put("b", other.tid);
	worker_order(&one, 10 * N);
	worker_order(&other, 10 * N);
	worker_wait(&one);
	worker_wait(&other);
	count = event_value(fd);
	while ((header = ring_next(&r))) {
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
		take_sample(&attr, header, &s);
		cr_assert_eq(s.pid, (uint32_t)one.tid);
		cr_assert_eq(s.cpu, 1);
		cr_assert_eq(s.cgroup, number_of("a/below"));
		samples++;
	}
	cr_expect_eq(samples, count / PERIOD);
	worker_end(&one);
	worker_end(&other);
}

/* ---- The field ---- */

static uint64_t cgroup_told(int fd, const struct perf_event_attr *attr)
{
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	uint8_t *map;

	ring_map(&r, fd, 8);
	map = fresh_pages(1);
	touch_pages(map, 1);
	header = ring_next(&r);
	cr_assert_not_null(header);
	take_sample(attr, header, &s);
	ring_unmap(&r);
	return s.cgroup;
}

/* The same as perf's, wherever it is */
Test(sample_cgroup, the_field_is_as_perfs)
{
	static const char *const paths[] = { "", "a", "a/b" };
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	cgroup_add("a");
	cgroup_add("a/b");
	attr.sample_period = 1;
	attr.exclude_kernel = 1;
	attr.sample_type = PERF_SAMPLE_CGROUP | PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(paths); i++) {
		AUTO_CLOSE int ours = event_open(attr);
		AUTO_CLOSE int perfs = perf_try(&attr, 0, -1);

		cr_assert(perfs >= 0);
		cgroup_put(paths[i], getpid());
		cr_expect_eq(cgroup_told(ours, &attr), number_of(paths[i]), "%s", paths[i]);
		cr_expect_eq(cgroup_told(perfs, &attr), number_of(paths[i]), "%s", paths[i]);
	}
	cgroup_put("", getpid());
}

/* ---- Records beside samples ---- */

static void live(const char *path)
{
	pid_t child;

	pin_here(1);
	cgroup_put(path, getpid());
	raise(SIGSTOP);
	prctl(PR_SET_NAME, path);
	usleep(1000);
	munmap(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096);
	child = fork();
	if (!child) {
		usleep(1000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	raise(SIGSTOP);
	_exit(0);
}

static pid_t start_life(const char *path)
{
	pid_t pid = fork_child();

	if (!pid)
		live(path);
	wait_stopped(pid);
	return pid;
}

/* How many records of each type there are, of which tasks */
struct told {
	unsigned int number[32];
	uint64_t pids;
	bool slept;
};

static bool is_sleep(const struct perf_event_header *header)
{
	return header->type == RECORD_SWITCH_CPU_WIDE &&
	       (header->misc & (PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)) ==
		       PERF_RECORD_MISC_SWITCH_OUT;
}

/*
 * From the first name on, as one that is stopped may not have left its CPU when the ring is mapped;
 * and switches from when it sleeps on, as between ours and perf's of the name it may be preempted.
 */
static void read_told(struct ring *r, struct told *told)
{
	struct perf_event_header *header;

	while ((header = ring_next(r))) {
		cr_assert_lt(header->type, 32);
		if (header->type != PERF_RECORD_COMM && !told->number[PERF_RECORD_COMM])
			continue;
		told->slept |= is_sleep(header);
		if (header->type == RECORD_SWITCH_CPU_WIDE && !told->slept)
			continue;
		told->number[header->type]++;
		told->pids += *(const uint32_t *)(header + 1);
	}
}

/* The last switches of a task come after its parent has been told of its end, or of its stop. */
static void read_both_told(struct ring r[2], struct told told[2])
{
	for (int i = 0; i < 500; i++) {
		read_told(&r[0], &told[0]);
		read_told(&r[1], &told[1]);
		if (!memcmp(told[0].number, told[1].number, sizeof(told[0].number)))
			break;
		usleep(10000);
	}
}

Test(sample_cgroup, records_are_those_that_perf_tells)
{
	static const uint32_t types[] = {
		PERF_RECORD_COMM, PERF_RECORD_FORK, PERF_RECORD_EXIT, PERF_RECORD_MMAP2,
		RECORD_SWITCH_CPU_WIDE,
	};
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	struct told told[2] = { };
	int fd[2], directory;
	struct ring r[2];
	pid_t pids[2];

	cgroup_add("a");
	cgroup_add("b");
	pin_here(0);
	attr.comm = 1;
	attr.task = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.context_switch = 1;
	directory = cgroup_fd("a");
	fd[0] = cgroup_event(&counting_ours, &attr, "a", 1);
	fd[1] = counting_perfs.try(&attr, directory, 1, -1);
	cr_assert(fd[1] >= 0, "%s", strerror(-fd[1]));
	pids[0] = start_life("a");
	pids[1] = start_life("b");
	for (int i = 0; i < 2; i++) {
		ring_map(&r[i], fd[i], 64);
		event_ioctl(fd[i], PERF_EVENT_IOC_RESET);
	}
	for (int i = 0; i < 2; i++)
		kill(pids[i], SIGCONT);
	for (int i = 0; i < 2; i++)
		wait_stopped(pids[i]);
	read_both_told(r, told);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(types); i++) {
		cr_expect_eq(told[0].number[types[i]], told[1].number[types[i]],
			     "type %u: %u of ours, %u of perf's", types[i],
			     told[0].number[types[i]], told[1].number[types[i]]);
		cr_expect_gt(told[0].number[types[i]], 0, "type %u", types[i]);
	}
	cr_expect_eq(told[0].number[PERF_RECORD_COMM], 1);
	cr_expect_eq(told[0].number[PERF_RECORD_FORK], 1);
	cr_expect_eq(told[0].number[PERF_RECORD_EXIT], 1);
	cr_expect_eq(told[0].pids, told[1].pids);
	for (int i = 0; i < 2; i++) {
		kill(pids[i], SIGCONT);
		perm_join(pids[i]);
	}
	read_told(&r[0], &told[0]);
	read_told(&r[1], &told[1]);
	cr_expect_eq(told[0].number[PERF_RECORD_EXIT], 2);
	cr_expect_eq(told[1].number[PERF_RECORD_EXIT], 2);
}
