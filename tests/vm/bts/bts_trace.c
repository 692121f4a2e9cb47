// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch Trace Store of code whose branches are known: each one is there, in order, wherever
 * the program runs and however small the buffer is, or it is told that some are missing. For
 * --cpu intel-bts.
 */
#include "aux_busy.h"
#include "bts.h"

#include <sched.h>

TestSuite(bts_trace, .timeout = 300);

#define LONG_WAY	200

/* The program that has a way, as many times as there are arguments */
static struct traced start_program(void)
{
	const char *arguments[LONG_WAY + 2] = { TRACED };

	for (int i = 1; i <= LONG_WAY; i++)
		arguments[i] = "again";
	return traced_start(arguments);
}

/* ---- Known branches ---- */

static void trace_own_rounds(unsigned int rounds, size_t pages)
{
	union raw_attr a = bts_attr();
	const struct branch *b;
	struct trace t;
	size_t n;

	bts_open(&t, &a, 0, -1, pages, PROT_READ | PROT_WRITE);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (unsigned int i = 0; i < rounds; i++)
		bts_block();
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(t.starts, 1);
	cr_assert_eq(t.pid, (uint32_t)getpid());
	cr_assert_eq(t.bytes, head_of(&t), "the records tell of every byte");
	cr_assert_eq(t.bytes % BRANCH, 0);
	cr_assert_eq(raw_read(t.fd), t.bytes, "the value is how much was traced");
	b = (const struct branch *)t.aux;
	n = t.bytes / BRANCH;
	cr_assert_eq(bts_rounds(b, n), rounds);
	cr_assert_eq(bts_find_gap(b, n), 0);
	for (size_t i = 0; i < n; i++)
		cr_assert_not(KERNEL(b[i].from), "a branch of the kernel's, at %#lx", b[i].from);
	trace_close(&t);
}

Test(bts_trace, each_branch_of_known_code_in_order)
{
	trace_own_rounds(1, 1);
	trace_own_rounds(1000, 128);
}

/* For 14,000 branches of the kernel's in each round: with all its checks it takes thousands. */
#define KERNEL_PAGES	8192

/* A hundred times the block and a system call, and the records of that */
static void trace_blocks_and_calls(struct trace *t, union raw_attr *a)
{
	bts_open(t, a, 0, -1, KERNEL_PAGES, PROT_READ | PROT_WRITE);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (unsigned int i = 0; i < 100; i++) {
		bts_block();
		syscall(SYS_getppid);
	}
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(t);
}

/* The same with the kernel's, which knows no rounds */
Test(bts_trace, user_and_kernel)
{
	union raw_attr a = bts_attr();
	size_t n, kernel = 0, exits = 0;
	const struct branch *b;
	struct trace t;

	a.attr.exclude_kernel = 0;
	trace_blocks_and_calls(&t, &a);
	cr_assert_eq(t.truncated, 0);
	b = (const struct branch *)t.aux;
	n = t.bytes / BRANCH;
	cr_assert_eq(bts_rounds(b, n), 100);
	for (size_t i = 0; i < n; i++) {
		kernel += KERNEL(b[i].from) && KERNEL(b[i].to);
		exits += KERNEL(b[i].from) && !KERNEL(b[i].to);
	}
	cr_assert_geq(exits, 100);
	cr_assert_geq(kernel, 1000);
	trace_close(&t);
}

Test(bts_trace, the_kernel_alone)
{
	union raw_attr a = bts_attr();
	const struct branch *b;
	struct trace t;

	a.attr.exclude_kernel = 0;
	a.attr.exclude_user = 1;
	trace_blocks_and_calls(&t, &a);
	b = (const struct branch *)t.aux;
	cr_assert_geq(t.bytes / BRANCH, 1000);
	for (size_t i = 0; i < t.bytes / BRANCH; i++)
		cr_assert(KERNEL(b[i].from), "a branch at %#lx", b[i].from);
	trace_close(&t);
}

/* A CPU: whoever runs there */
Test(bts_trace, a_cpu)
{
	union raw_attr a = bts_attr();
	cpu_set_t set;
	struct trace t;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	bts_open(&t, &a, -1, 1, 1024, PROT_READ | PROT_WRITE);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (unsigned int i = 0; i < 100; i++)
		bts_block();
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(bts_rounds((const struct branch *)t.aux, t.bytes / BRANCH), 100);
	trace_close(&t);
}

/* ---- A program ---- */

static void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(pid, sizeof(set), &set), 0);
}

static union raw_attr program_attr(void)
{
	union raw_attr a = bts_attr();

	a.attr.enable_on_exec = 1;
	return a;
}

static struct bts_way follow_program(bool wander, unsigned int *pieces)
{
	union raw_attr a = program_attr();
	struct traced child = start_program();
	struct bts_way way = { 0 };
	int cpu = 0, status;
	struct trace t;

	bts_open(&t, &a, child.pid, -1, 1024, PROT_READ | PROT_WRITE);
	traced_go(&child);
	while (!waitpid(child.pid, &status, WNOHANG))
		if (wander)
			pin(child.pid, cpu ^= 1);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(t.bytes, head_of(&t));
	bts_follow(&way, (const struct branch *)t.aux, t.bytes / BRANCH);
	*pieces = t.records;
	trace_close(&t);
	return way;
}

/* It may come to its end before it has been moved. */
Test(bts_trace, a_program_that_wanders)
{
	unsigned int pieces, moved = 0;
	struct bts_way still = follow_program(false, &pieces), way;

	cr_assert_gt(still.branches, 10000, "%lu", still.branches);
	for (int i = 0; i < 200 && moved < 3; i++) {
		way = follow_program(true, &pieces);
		cr_assert_eq(way.branches, still.branches);
		cr_assert_eq(way.hash, still.hash);
		moved += pieces > 1;
	}
	cr_assert_eq(moved, 3, "of 200 programs %u were switched", moved);
}

/* A piece of the buffer, whose records are not cut in two */
static void follow_piece(struct bts_way *way, const struct trace *t, uint64_t tail, uint64_t head)
{
	uint64_t from = tail % t->size, n = head - tail;
	uint64_t first = n < t->size - from ? n : t->size - from;

	bts_follow(way, (const struct branch *)(t->aux + from), first / BRANCH);
	bts_follow(way, (const struct branch *)t->aux, (n - first) / BRANCH);
}

/* Small buffers, and a reader that takes what there is: every branch, in order, or it is told */
Test(bts_trace, a_reader_behind_a_program_gets_all_or_is_told)
{
	union raw_attr a = program_attr();
	unsigned int pieces;
	struct bts_way all = follow_program(false, &pieces);

	a.attr.aux_watermark = 4096;
	for (unsigned int tries = 0; tries < 20; tries++) {
		struct traced child = start_program();
		struct bts_way way = { 0 };
		bool ended = false;
		struct trace t;

		bts_open(&t, &a, child.pid, -1, 32, PROT_READ | PROT_WRITE);
		traced_go(&child);
		while (!ended || head_of(&t) != t.page->aux_tail) {
			uint64_t tail = t.page->aux_tail, head = head_of(&t);

			ended = ended || waitpid(child.pid, NULL, WNOHANG);
			follow_piece(&way, &t, tail, head);
			__atomic_store_n(&t.page->aux_tail, head, __ATOMIC_RELEASE);
			trace_records(&t);
		}
		if (t.truncated) {
			cr_assert_leq(way.branches, all.branches);
		} else {
			cr_assert_gt(head_of(&t), t.size, "it went round");
			cr_assert_eq(way.branches, all.branches);
			cr_assert_eq(way.hash, all.hash);
		}
		trace_close(&t);
	}
}

#define STEPS	60
#define ROUNDS	100

/* A task that goes through the block, and then waits to be told to do it again */
static pid_t start_steps(int go, int done)
{
	pid_t pid = fork();
	char byte;

	cr_assert_geq(pid, 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(go, &byte, 1) == 1) {
		for (int i = 0; i < ROUNDS; i++)
			bts_block();
		if (write(done, "d", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* Add what there is to @all; returns how many records these are. */
static size_t take_all(struct trace *t, struct branch *all)
{
	uint64_t tail = t->page->aux_tail, head = head_of(t), from = tail % t->size;
	uint64_t n = head - tail, first = n < t->size - from ? n : t->size - from;
	size_t count = first / BRANCH;

	memcpy(all, t->aux + from, count * BRANCH);
	memcpy(all + count, t->aux, (n - first) / BRANCH * BRANCH);
	__atomic_store_n(&t->page->aux_tail, head, __ATOMIC_RELEASE);
	return count + (n - first) / BRANCH;
}

/* The buffer goes round many times, and nothing is lost: nobody writes while it is read. */
Test(bts_trace, round_and_round)
{
	struct branch *all = malloc(STEPS * ROUNDS * 2 * BTS_KNOWN * BRANCH);
	union raw_attr a = bts_attr();
	int go[2], done[2];
	size_t n = 0;
	struct trace t;
	char byte;
	pid_t pid;

	cr_assert(!pipe2(go, O_CLOEXEC) && !pipe2(done, O_CLOEXEC));
	pid = start_steps(go[0], done[1]);
	a.attr.disabled = 0;
	a.attr.aux_watermark = 4096;
	bts_open(&t, &a, pid, -1, 16, PROT_READ | PROT_WRITE);
	for (int step = 0; step < STEPS; step++) {
		cr_assert_eq(write(go[1], "g", 1), 1);
		cr_assert_eq(read(done[0], &byte, 1), 1);
		/* What it does until it waits again comes with the next step. */
		n += take_all(&t, all + n);
		trace_records(&t);
		cr_assert_eq(t.truncated, 0);
	}
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	n += take_all(&t, all + n);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_gt(head_of(&t), 10 * t.size, "it went round");
	cr_assert_eq(bts_rounds(all, n), STEPS * ROUNDS);
	kill(pid, SIGKILL);
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	trace_close(&t);
	free(all);
}

/* ---- Full ---- */

Test(bts_trace, full_is_told_and_goes_on_when_there_is_room)
{
	union raw_attr a = bts_attr();
	pid_t pid = traced_task_start(bts_block);
	struct trace t;

	a.attr.disabled = 0;
	bts_open(&t, &a, pid, -1, 4, PROT_READ | PROT_WRITE);
	for (unsigned int round = 1; round <= 5; round++) {
		uint64_t tail = t.page->aux_tail, head;
		const struct branch *b = (const struct branch *)(t.aux + tail % t.size);

		while (!(trace_status(t.fd).state & PMUCTL_AUX_IS_STALLED))
			nap();
		trace_records(&t);
		cr_assert_geq(t.truncated, round);
		head = head_of(&t);
		cr_assert_leq(head - tail, t.size);
		cr_assert_geq(head - tail, t.size / 2, "only %lu bytes", head - tail);
		/* Of what is in one piece, no branch is missing. */
		if (head - tail <= t.size - tail % t.size)
			cr_assert_eq(bts_find_gap(b, (head - tail) / BRANCH), 0);
		__atomic_store_n(&t.page->aux_tail, head, __ATOMIC_RELEASE);
		while (head_of(&t) == head)
			nap();
	}
	traced_task_end(pid);
	trace_records(&t);
	cr_assert_eq(raw_read(t.fd), t.bytes);
	trace_close(&t);
}

/* The newest part of a trace that is overwritten for ever */
Test(bts_trace, a_snapshot)
{
	union raw_attr a = bts_attr();
	const struct branch *b;
	struct trace t;
	size_t lap, oldest;

	bts_open(&t, &a, 0, -1, 4, PROT_READ);
	lap = t.size / BRANCH;
	for (unsigned int rounds = 1; rounds < 5000; rounds += rounds / 3 + 7) {
		cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		for (unsigned int i = 0; i < rounds; i++)
			bts_block();
		cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	}
	trace_records(&t);
	cr_assert_gt(t.overwritten, 1);
	cr_assert_eq(t.truncated, 0);
	oldest = head_of(&t) / BRANCH;
	cr_assert_leq(oldest, lap);
	b = (const struct branch *)t.aux;
	cr_assert_eq(bts_find_gap(b, oldest), 0);
	cr_assert_eq(bts_find_gap(b + oldest, lap - oldest), 0);
	/* The last one is the system call that disabled it. */
	cr_assert(KERNEL(b[(oldest ? oldest : lap) - 1].to));
	cr_assert_not(KERNEL(b[(oldest ? oldest : lap) - 1].from));
	trace_close(&t);
}

/* ---- Pauses ---- */

Test(bts_trace, only_between_resume_and_pause)
{
	union raw_attr a = trace_with_action(bts_attr(), PMUCTL_AUX_START_PAUSED);
	const char *name = "raw_syscalls:sys_enter";
	struct pmuctl_aux_status s;
	int resume, pause;
	struct trace t;

	a.attr.disabled = 0;
	bts_open(&t, &a, 0, -1, 256, PROT_READ | PROT_WRITE);
	resume = trace_open_trigger(name, PMUCTL_AUX_RESUME, 1, t.fd, "id == 110"); /* getppid */
	pause = trace_open_trigger(name, PMUCTL_AUX_PAUSE, 1, t.fd, "id == 102"); /* getuid */
	for (unsigned int i = 0; i < 50; i++) {
		bts_block();
		syscall(SYS_getppid);
		bts_block();
		bts_block();
		syscall(SYS_getuid);
		for (unsigned int j = 0; j < i; j++)
			bts_block();
	}
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	s = trace_status(t.fd);
	cr_assert_eq(s.resumes, 50);
	cr_assert_eq(s.pauses, 50);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(bts_rounds((const struct branch *)t.aux, t.bytes / BRANCH), 100);
	close(pause);
	close(resume);
	trace_close(&t);
}

/* ---- Readers that are killed ---- */

Test(bts_trace, killed_readers_leave_nothing_on)
{
	pid_t pid = traced_task_start(bts_block);
	unsigned int seed = 1;
	union raw_attr a = bts_attr();

	a.attr.disabled = 0;
	for (int i = 0; i < 30; i++)
		trace_kill_reader(&a, pid, 64, &seed);
	/* Neither this task nor a CPU is taken. */
	close(event_open(a, pid));
	close(event_open(a, -1, 0));
	traced_task_end(pid);
}
