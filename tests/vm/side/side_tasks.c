// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events are told of tasks: names, beginnings and ends, and when they run. Each field
 * of each record, and the order: after its EXIT nothing comes from a task.
 */
#include "side.h"
#include "userpage.h"

#include <sys/prctl.h>
#include <sys/syscall.h>

TestSuite(side_tasks, .init = sampling_init, .fini = sampling_fini);

static struct perf_event_attr with_comm(void)
{
	struct perf_event_attr attr = side_attr();

	attr.comm = 1;
	return attr;
}

static struct perf_event_attr with_task(void)
{
	struct perf_event_attr attr = side_attr();

	attr.task = 1;
	return attr;
}

static struct perf_event_attr with_switches(void)
{
	struct perf_event_attr attr = side_attr();

	attr.context_switch = 1;
	return attr;
}

static void check_end(const struct sample *end, int fd, uint32_t pid, uint32_t tid)
{
	cr_assert_eq(end->pid, pid, "%u, not %u", end->pid, pid);
	cr_assert_eq(end->tid, tid, "%u, not %u", end->tid, tid);
	cr_assert_eq(end->identifier, event_id(fd));
}

/* ---- Names ---- */

static void expect_comm(const struct perf_event_attr *attr, struct ring *r, int fd,
			uint32_t tid, const char *name)
{
	struct sample end;
	struct comm_record *comm = side_expect(attr, r, PERF_RECORD_COMM, &end);

	cr_assert_eq(comm->header.misc & MISC_COMM_EXEC, 0);
	cr_assert_eq(comm->pid, (uint32_t)getpid());
	cr_assert_eq(comm->tid, tid);
	cr_assert_str_eq(comm->name, name);
	check_end(&end, fd, getpid(), gettid());
	side_expect_none(attr, r);
}

Test(side_tasks, names_of_every_length)
{
	static const char longest[] = "abcdefghijklmnopqrstu";
	struct perf_event_attr attr = with_comm();
	int fd = event_open(attr);
	char name[32], wanted[16];
	uint64_t before, after;
	struct sample end;
	struct ring r;

	ring_map(&r, fd, 1);
	for (unsigned int n = 0; n < sizeof(longest); n++) {
		snprintf(name, sizeof(name), "%.*s", n, longest);
		snprintf(wanted, sizeof(wanted), "%.15s", name);
		cr_assert_eq(prctl(PR_SET_NAME, name), 0);
		expect_comm(&attr, &r, fd, gettid(), wanted);
	}
	before = clock_ns(CLOCK_MONOTONIC);
	cr_assert_eq(prctl(PR_SET_NAME, "timed"), 0);
	after = clock_ns(CLOCK_MONOTONIC);
	side_expect(&attr, &r, PERF_RECORD_COMM, &end);
	cr_assert(end.time >= before && end.time <= after);
}

/* What the TSC is in ns, as a page says */
static uint64_t page_clock(const user_page *page, uint64_t cycles)
{
	uint64_t rest = cycles & ((1ull << page->time_shift) - 1);

	return page->time_zero + (cycles >> page->time_shift) * page->time_mult +
	       (rest * page->time_mult >> page->time_shift);
}

static void expect_between(const user_page *page, uint64_t before, uint64_t time, uint64_t after)
{
	uint64_t from, to;

	/* Either may be rounded. */
	from = page_clock(page, before) - 1;
	to = page_clock(page, after) + 1;
	cr_expect_eq(page->cap_user_time_zero, 1);
	cr_expect(from <= time && time <= to, "%lu <= %lu <= %lu", from, time, to);
}

/* With the ring's page as with the one for reading, whether the event is enabled or not. */
Test(side_tasks, pages_turn_the_tsc_into_their_time)
{
	struct perf_event_attr attr = with_comm(), off = disabled(instructions_u()), dummy = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .size = sizeof(dummy),
	};
	int fd, idle = event_open(off), perf = syscall(SYS_perf_event_open, &dummy, 0, -1, -1, 0);
	user_page *theirs, *page;
	uint64_t before, after;
	struct sample end;
	struct ring r;

	theirs = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, perf, 0);
	cr_assert_neq(theirs, MAP_FAILED);
	if (!theirs->cap_user_time_zero)
		return;
	page = page_map(idle);
	cr_assert_eq(page->cap_user_time_zero, 1);
	attr.use_clockid = 0;
	attr.clockid = 0;
	fd = event_open(attr);
	ring_map(&r, fd, 1);
	before = __builtin_ia32_rdtsc();
	cr_assert_eq(prctl(PR_SET_NAME, "timed"), 0);
	after = __builtin_ia32_rdtsc();
	side_expect(&attr, &r, PERF_RECORD_COMM, &end);
	expect_between(theirs, before, end.time, after);
	expect_between(page, before, end.time, after);
	expect_between(r.page, before, end.time, after);
	cr_expect_eq(page->time_mult, theirs->time_mult);
	cr_expect_eq(page->time_shift, theirs->time_shift);
	event_ioctl(idle, PERF_EVENT_IOC_ENABLE);
	expect_between(page, before, end.time, after);
	munmap(theirs, PAGE);
	close(perf);
}

/* Who does it is told, and the record says of whom. */
Test(side_tasks, thread_is_named_by_another)
{
	struct perf_event_attr attr = with_comm();
	int fd = event_open(attr);
	struct worker w;
	char path[64];
	struct ring r;

	ring_map(&r, fd, 1);
	worker_start(&w, true);
	ring_drain(&r, PERF_RECORD_FORK);
	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", w.tid);
	cr_assert_eq(raw_write_file(path, "other"), 0);
	expect_comm(&attr, &r, fd, w.tid, "other");
	worker_end(&w);
}

static int rename_once(void *name)
{
	return prctl(PR_SET_NAME, name);
}

/* An event that has ended, or is on another CPU, or is not enabled, is told nothing. */
Test(side_tasks, only_events_that_are_there)
{
	struct perf_event_attr attr = with_comm(), off = with_comm();
	struct ring rings[3], gone;
	struct side_child c;
	int fds[3], closed;

	off.disabled = 1;
	side_start(&c, rename_once, "named");
	pin_task(c.pid, 0);
	closed = event_open(attr, c.pid);
	fds[0] = event_open(attr, c.pid, 0);
	fds[1] = event_open(attr, c.pid, 1);
	fds[2] = event_open(off, c.pid);
	for (int i = 0; i < 3; i++)
		ring_map(&rings[i], fds[i], 1);
	ring_map(&gone, closed, 1);
	close(closed);
	side_go(&c);
	side_end(&c);
	cr_assert_eq(ring_drain(&rings[0], PERF_RECORD_COMM), 1);
	cr_assert_eq(ring_drain(&rings[1], PERF_RECORD_COMM), 0);
	cr_assert_eq(ring_drain(&rings[2], PERF_RECORD_COMM), 0);
}

/* ---- Programs ---- */

static int run_true(void *arg)
{
	execl("/bin/bash", "bash", "-c", "true", NULL);
	return arg ? 126 : 127;
}

/* The new name first, by which what is mapped afterwards is known to be the new program's. */
static void check_exec(bool on_exec)
{
	struct perf_event_attr attr = with_comm();
	unsigned int mappings = 0;
	struct perf_event_header *header;
	struct comm_record *comm;
	struct side_child c;
	struct sample end;
	struct ring r;
	int fd;

	attr.comm_exec = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	attr.disabled = on_exec;
	attr.enable_on_exec = on_exec;
	side_start(&c, run_true, NULL);
	fd = event_open(attr, c.pid);
	ring_map(&r, fd, 64);
	side_go(&c);
	side_end(&c);

	/* What the child mapped before the exec is also told, unless it was disabled. */
	do {
		header = side_next(&attr, &r, &end);
		cr_assert_not_null(header);
		cr_assert(!on_exec || header->type == PERF_RECORD_COMM);
	} while (header->type != PERF_RECORD_COMM);
	comm = (void *)header;
	cr_assert_eq(comm->header.misc & MISC_COMM_EXEC, MISC_COMM_EXEC);
	cr_assert_str_eq(comm->name, "bash");
	cr_assert_eq(comm->pid, (uint32_t)c.pid);
	while ((header = side_next(&attr, &r, &end)) && header->type == PERF_RECORD_MMAP2)
		mappings++;
	cr_assert_geq(mappings, 6);
	cr_assert_eq(header->type, PERF_RECORD_EXIT);
	side_expect_none(&attr, &r);
	close(fd);
}

Test(side_tasks, exec_tells_the_name_before_mappings)
{
	check_exec(false);
}

Test(side_tasks, exec_tells_the_name_to_what_it_enables)
{
	check_exec(true);
}

/* ---- Beginnings and ends ---- */

static void *nothing(void *arg)
{
	return arg;
}

/* A child, whose id is left in shared memory, and a thread; both do nothing. */
static int have_family(void *arg)
{
	pid_t *id = arg, child;
	pthread_t thread;
	int status;

	child = fork();
	if (!child)
		_exit(0);
	*id = child;
	waitpid(child, &status, 0);
	pthread_create(&thread, NULL, nothing, NULL);
	return pthread_join(thread, NULL);
}

Test(side_tasks, forks_and_the_end)
{
	pid_t *child = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr attr = with_task();
	uint64_t before = clock_ns(CLOCK_MONOTONIC);
	struct task_record *t;
	struct side_child c;
	struct sample end;
	struct ring r;
	uint32_t pid;
	int fd;

	side_start(&c, have_family, child);
	pid = c.pid;
	fd = event_open(attr, pid);
	ring_map(&r, fd, 1);
	side_go(&c);
	side_end(&c);

	t = side_expect(&attr, &r, PERF_RECORD_FORK, &end);
	check_end(&end, fd, pid, pid);
	cr_assert_eq(t->pid, (uint32_t)*child);
	cr_assert_eq(t->tid, (uint32_t)*child);
	cr_assert_eq(t->ppid, pid);
	cr_assert_eq(t->ptid, pid);
	cr_assert(t->time > before && end.time > before);
	before = t->time;

	t = side_expect(&attr, &r, PERF_RECORD_FORK, &end);
	cr_assert_eq(t->pid, pid);
	cr_assert_neq(t->tid, pid);
	cr_assert_eq(t->ppid, pid);
	cr_assert_eq(t->ptid, pid);

	t = side_expect(&attr, &r, PERF_RECORD_EXIT, &end);
	check_end(&end, fd, pid, pid);
	cr_assert_eq(t->pid, pid);
	cr_assert_eq(t->tid, pid);
	cr_assert_eq(t->ppid, (uint32_t)getpid());
	cr_assert_eq(t->ptid, (uint32_t)getpid());
	cr_assert(t->time > before && t->time <= clock_ns(CLOCK_MONOTONIC));
	side_expect_none(&attr, &r);
}

/* ---- Nothing after the end ---- */

static int loop_for(void *arg)
{
	user_loop(*(uint64_t *)arg);
	return 0;
}

/* Samples of the kernel too: a task runs on in it after it has ended. */
Test(side_tasks, no_sample_after_the_end, .timeout = 1800)
{
	struct perf_event_attr attr = with_task();
	unsigned int samples, ends;
	uint64_t rounds = kernel_period(10000);
	struct perf_event_header *header;
	struct side_child c;
	struct ring r;
	int fd;

	attr.sample_period = kernel_period(5000);
	attr.exclude_kernel = 0;
	for (int i = 0; i < 30; i++) {
		side_start(&c, loop_for, &rounds);
		fd = event_open(attr, c.pid);
		ring_map(&r, fd, 64);
		side_go(&c);
		side_end(&c);
		for (samples = 0, ends = 0; (header = ring_next(&r));) {
			cr_assert_eq(ends, 0, "a record of type %u after the end",
				     header->type);
			samples += header->type == PERF_RECORD_SAMPLE;
			ends += header->type == PERF_RECORD_EXIT;
		}
		cr_assert_eq(ends, 1);
		cr_assert_geq(samples, 2 * rounds / attr.sample_period);
		ring_unmap(&r);
		close(fd);
	}
}

/* The one who waits for it has the EXIT record in hand. */
Test(side_tasks, end_is_told_before_it_can_be_waited_for)
{
	struct perf_event_attr attr = with_task();
	uint64_t rounds = 100;
	struct side_child c;
	struct ring r;
	int fd;

	for (int i = 0; i < 50; i++) {
		side_start(&c, loop_for, &rounds);
		fd = event_open(attr, c.pid);
		ring_map(&r, fd, 1);
		side_go(&c);
		side_end(&c);
		cr_assert_eq(ring_drain(&r, PERF_RECORD_EXIT), 1);
		ring_unmap(&r);
		close(fd);
	}
}

/* ---- Switches ---- */

/* Of a task: how often it was switched out, of these against its will. */
static void count_switches(pid_t tid, unsigned long *all, unsigned long *forced)
{
	char path[64], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "nonvoluntary_ctxt_switches: %lu", forced);
	fclose(f);
	*all = task_switches(tid);
}

Test(side_tasks, every_switch_of_a_task)
{
	struct perf_event_attr attr = with_switches();
	unsigned long all[2], forced[2], outs = 0, preempted = 0;
	uint64_t time = 0, n = 0;
	struct perf_event_header *h;
	struct worker w, rival;
	struct sample end;
	struct ring r;
	int fd;

	worker_start(&w, false);
	worker_start(&rival, false);
	pin_task(w.tid, 1);
	pin_task(rival.tid, 1);
	worker_run(&w, 1);
	fd = event_open(attr, w.tid);
	ring_map(&r, fd, 64);
	count_switches(w.tid, &all[0], &forced[0]);
	/* Both at once, on one CPU, until one has had to wait for the other. */
	do {
		worker_order(&rival, 20000000);
		worker_run(&w, 10000000);
		worker_wait(&rival);
		count_switches(w.tid, &all[1], &forced[1]);
		cr_assert_lt(++n, 100);
	} while (forced[1] < forced[0] + 2);

	for (n = 0; (h = side_next(&attr, &r, &end)); n++) {
		/* It was asleep: in, out, in, out. */
		cr_assert_eq(h->type, RECORD_SWITCH);
		cr_assert_eq(!!(h->misc & MISC_SWITCH_OUT), n % 2, "record %lu", n);
		check_end(&end, fd, w.tid, w.tid);
		cr_assert_eq(end.cpu, 1);
		cr_assert_geq(end.time, time);
		time = end.time;
		outs += n % 2;
		preempted += !!(h->misc & MISC_SWITCH_PREEMPT);
	}
	cr_assert_eq(n % 2, 0);
	cr_assert_eq(outs, all[1] - all[0], "%lu, not %lu", outs, all[1] - all[0]);
	cr_assert_eq(preempted, forced[1] - forced[0], "%lu, not %lu", preempted,
		     forced[1] - forced[0]);
	close(fd);
	worker_end(&w);
	worker_end(&rival);
}

/* Of a CPU: who goes and who comes are told twice, and who came is who goes next. */
Test(side_tasks, chain_of_switches_of_a_cpu)
{
	struct perf_event_attr attr = with_switches();
	int fd = event_open(attr, -1, 1);
	unsigned int n = 0, of_worker = 0;
	unsigned long before;
	uint32_t on_cpu = 0, next = 0;
	struct switch_record *s;
	struct sample end;
	struct worker w;
	struct ring r;

	worker_start(&w, false);
	pin_task(w.tid, 1);
	ring_map(&r, fd, 256);
	/* It does not go if it is asked again at once. */
	before = task_switches(w.tid);
	do {
		worker_run(&w, 1000);
	} while (task_switches(w.tid) < before + 20);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((s = (void *)side_next(&attr, &r, &end))) {
		cr_assert_eq(s->header.type, RECORD_SWITCH_CPU_WIDE);
		cr_assert_eq(end.cpu, 1);
		of_worker += end.tid == (uint32_t)w.tid;
		if (s->header.misc & MISC_SWITCH_OUT) {
			cr_assert(!n || end.tid == on_cpu || end.tid == -1u,
				  "%u goes, but %u was there", end.tid, on_cpu);
			next = s->tid;
			on_cpu = end.tid;
		} else if (n) {
			cr_assert_eq(end.tid, next);
			cr_assert(s->tid == on_cpu || s->tid == -1u);
			on_cpu = end.tid;
		}
		n++;
	}
	/* It may have been about to go at first. */
	cr_assert_geq(of_worker, 2 * 20 - 1);
	close(fd);
	worker_end(&w);
}

/* ---- Namespaces ---- */

/* In a namespace of its own everybody is told of by the ids there. */
static int work_in_namespace(void *arg)
{
	struct perf_event_attr attr = with_comm();
	struct comm_record *comm;
	struct task_record *t;
	struct sample end;
	struct ring r;
	int fd, status;
	pid_t child;

	attr.task = 1;
	fd = event_open(attr);
	ring_map(&r, fd, 1);
	if (getpid() != 1 || prctl(PR_SET_NAME, arg))
		return 1;
	comm = side_expect(&attr, &r, PERF_RECORD_COMM, &end);
	if (comm->pid != 1 || comm->tid != 1 || end.pid != 1 || end.tid != 1)
		return 2;
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, &status, 0);
	t = side_expect(&attr, &r, PERF_RECORD_FORK, &end);
	if (t->ppid != 1 || t->pid != (uint32_t)child || t->tid != (uint32_t)child)
		return 3;
	return 0;
}

Test(side_tasks, ids_of_the_openers_namespace)
{
	int status;
	pid_t pid;

	cr_assert_eq(unshare(CLONE_NEWPID), 0, "%m");
	pid = fork();
	if (!pid)
		_exit(work_in_namespace("inside"));
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "status %#x", status);
}
