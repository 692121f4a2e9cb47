// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readers of a trace that stop, are killed, or map less than they should: nothing hangs,
 * nothing is left behind, and what is lost is told of. For --cpu intel-pt.
 */
#include "aux_busy.h"
#include "memory.h"
#include "module.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/uio.h>

TestSuite(aux_reader, .timeout = 300);

/* What the task that is traced does: some branches */
static void branches(void)
{
	static volatile unsigned long n = 27;

	n = n & 1 ? 3 * n + 1 : n / 2;
}

static union raw_attr busy_attr(void)
{
	union raw_attr a = trace_attr();

	a.attr.enable_on_exec = 0;
	a.attr.disabled = 0;
	return a;
}

/* Full: the trace stands still until the reader goes on; so does nobody else. */
Test(aux_reader, one_that_stops_and_goes_on)
{
	union raw_attr a = busy_attr();
	pid_t pid = traced_task_start(branches);
	struct trace t;
	uint64_t head;

	trace_open(&t, &a, pid, -1, 4, PROT_READ | PROT_WRITE);
	for (unsigned int round = 1; round <= 5; round++) {
		while (!(trace_status(t.fd).state & PMUCTL_AUX_IS_STALLED))
			nap();
		trace_records(&t);
		cr_assert_geq(t.truncated, round);
		head = head_of(&t);
		cr_assert_eq(head, t.bytes);
		cr_assert_eq(head - t.page->aux_tail, t.size, "it was full");
		cr_assert_eq(raw_read(t.fd), t.bytes, "a trace that is still on counts them");
		__atomic_store_n(&t.page->aux_tail, head, __ATOMIC_RELEASE);
		while (head_of(&t) == head)
			nap();
	}
	traced_task_end(pid);
	trace_records(&t);
	cr_assert_eq(head_of(&t), t.bytes);
	cr_assert_eq(raw_read(t.fd), t.bytes);
	trace_close(&t);
}

/* ---- Killed ---- */

#define AUX_PAGES	256

/* What 30 of them would leave is 30 MiB. */
Test(aux_reader, killed_ones_leave_nothing)
{
	pid_t pid = traced_task_start(branches);
	unsigned int seed = 1;
	long before, lost = LONG_MAX;
	union raw_attr a = busy_attr();

	for (int i = 0; i < 5; i++)
		trace_kill_reader(&a, pid, AUX_PAGES, &seed);
	/* The kernel keeps pages for itself now and then; a leak shows each time. */
	for (int tries = 0; tries < 5 && lost > 8000; tries++) {
		before = free_kib();
		for (int i = 0; i < 30; i++)
			trace_kill_reader(&a, pid, AUX_PAGES, &seed);
		lost = before - free_kib();
		for (int i = 0; i < 50 && lost > 8000; i++) {
			nap();
			lost = before - free_kib();
		}
	}
	cr_assert_leq(lost, 8000, "%ld KiB were not given back", lost);
	/* Neither this task nor a CPU is taken. */
	close(event_open(a, pid));
	close(event_open(a, -1, 0));
	traced_task_end(pid);
}

/* ---- Pages that are kept ---- */

#define KEPT_TRACE	1024	/* pages, in 16 chunks */

/* Give a page of each chunk of a trace to a pipe, and close the trace. */
static void keep_pages(int to, pid_t pid)
{
	union raw_attr a = busy_attr();
	struct trace t;

	trace_open(&t, &a, pid, -1, KEPT_TRACE, PROT_READ | PROT_WRITE);
	for (size_t i = 0; i < PIPE_PAGES; i++) {
		struct iovec page = {
			.iov_base = (void *)(t.aux + i * (t.size / PIPE_PAGES)),
			.iov_len = TRACE_PAGE,
		};

		cr_assert_eq(vmsplice(to, &page, 1, SPLICE_F_NONBLOCK), TRACE_PAGE);
	}
	trace_close(&t);
}

/* Who holds 512 KiB in pipes keeps no more: with their chunks it would be 32 MiB. */
Test(aux_reader, a_page_in_a_pipe_keeps_no_chunk)
{
	pid_t pid = traced_task_start(branches);
	long kept = kept_in_pipes(keep_pages, pid);

	cr_assert_leq(kept, 8000, "%ld KiB are kept", kept);
	traced_task_end(pid);
}

/* ---- Too little ---- */

Test(aux_reader, one_that_unmaps_half)
{
	union raw_attr a = busy_attr();
	pid_t pid = traced_task_start(branches);
	struct trace t;
	uint64_t head;

	trace_open(&t, &a, pid, -1, 16, PROT_READ);
	while (!head_of(&t))
		nap();
	cr_assert_eq(munmap((void *)(t.aux + t.size / 2), t.size / 2), 0);
	head = head_of(&t);
	while (head_of(&t) == head)
		nap();
	cr_assert_eq(munmap((void *)t.aux, t.size / 2), 0);
	/* The trace has no buffer any more, and its event can have another one. */
	t.aux = mmap(NULL, t.size, PROT_READ, MAP_SHARED, t.fd, (1 + RING_PAGES) * TRACE_PAGE);
	cr_assert_neq(t.aux, MAP_FAILED);
	head = head_of(&t);
	while (head_of(&t) == head)
		nap();
	trace_close(&t);
	traced_task_end(pid);
}

/* Of pages from @first on, each of which has its number, after madvise() has dropped them */
static void check_again(uint8_t *at, uint64_t first, uint64_t n)
{
	cr_assert_eq(madvise(at, n * PAGE, MADV_DONTNEED), 0, "%m");
	for (uint64_t i = 0; i < n; i++)
		cr_assert_eq(*(volatile uint64_t *)(at + i * PAGE), first + i + 1);
}

/* Wherever they are mapped, and whatever is left of that */
Test(aux_reader, pages_that_were_dropped_come_again)
{
	union raw_attr a = trace_attr();
	uint8_t *aux, *second, *moved;
	const size_t half = 8 * PAGE;
	struct trace t;

	a.attr.enable_on_exec = 0;
	trace_open(&t, &a, 0, -1, 16, PROT_READ | PROT_WRITE);
	aux = (uint8_t *)t.aux;
	for (uint64_t i = 0; i < 16; i++)
		*(uint64_t *)(aux + i * PAGE) = i + 1;
	check_again(aux, 0, 16);
	second = mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, t.page->aux_offset);
	cr_assert_neq(second, MAP_FAILED, "%m");
	cr_assert_eq(munmap(aux, half), 0);
	check_again(aux + half, 8, 8);
	moved = mmap(NULL, half, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_eq(mremap(aux + half, half, half, MREMAP_MAYMOVE | MREMAP_FIXED, moved), moved, "%m");
	check_again(moved, 8, 8);
	cr_assert_eq(munmap(moved, half), 0);
	check_again(second, 0, 16);
	munmap(second, t.size);
	trace_close(&t);
}

Test(aux_reader, one_page)
{
	union raw_attr a = busy_attr();
	pid_t pid = traced_task_start(branches);
	struct trace t;

	trace_open(&t, &a, pid, -1, 1, PROT_READ | PROT_WRITE);
	while (!(trace_status(t.fd).state & PMUCTL_AUX_IS_STALLED))
		nap();
	cr_assert_eq(head_of(&t), TRACE_PAGE);
	trace_close(&t);
	traced_task_end(pid);
}

static uint64_t count_lost(const struct trace *t, size_t ring, unsigned int *aux)
{
	const uint8_t *data = (const uint8_t *)t->page + TRACE_PAGE;
	uint64_t lost = 0, words[3];
	struct perf_event_header h;

	for (uint64_t at = 0; at < t->page->data_head; at += h.size) {
		for (int i = 0; i < 3; i++)
			memcpy(&words[i], data + (at + 8 * i) % ring, 8);
		memcpy(&h, words, sizeof(h));
		*aux += h.type == PERF_RECORD_AUX;
		if (h.type == PERF_RECORD_LOST)
			lost += words[2];
	}
	return lost;
}

/* A ring of one page that nobody reads: the trace goes on, and the value has all of it. */
Test(aux_reader, a_ring_that_is_too_small)
{
	union raw_attr a = busy_attr();
	pid_t pid = traced_task_start(branches);
	struct trace t = { 0 };
	unsigned int aux = 0;
	uint64_t tail = 0;
	void *map;

	a.attr.aux_watermark = TRACE_PAGE;
	t.fd = event_open(a, pid);
	t.size = 16 * TRACE_PAGE;
	t.page = mmap(NULL, 2 * TRACE_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 0);
	cr_assert_neq(t.page, MAP_FAILED);
	t.page->aux_offset = 2 * TRACE_PAGE;
	t.page->aux_size = t.size;
	map = mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd, 2 * TRACE_PAGE);
	cr_assert_neq(map, MAP_FAILED);
	for (int rounds = 0; rounds < 200; rounds++) {
		while (head_of(&t) == tail)
			nap();
		tail = head_of(&t);
		__atomic_store_n(&t.page->aux_tail, tail, __ATOMIC_RELEASE);
	}
	traced_task_end(pid);
	cr_assert_eq(raw_read(t.fd), head_of(&t));
	cr_assert_leq(t.page->data_head - t.page->data_tail, TRACE_PAGE);
	/* What was lost is told of in the next record that finds room. */
	count_lost(&t, TRACE_PAGE, &aux);
	cr_assert_lt(aux, 200);
	munmap(map, t.size);
	munmap(t.page, 2 * TRACE_PAGE);
}

/* ---- The kernel's own driver ---- */

static int open_theirs(pid_t pid, int cpu)
{
	static const char *const path = "/sys/bus/event_source/devices/intel_pt/type";
	struct perf_event_attr attr = {
		.type = raw_read_number(path), .size = sizeof(attr), .disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, 0);

	return fd < 0 ? -errno : fd;
}

static void check_theirs(int want)
{
	int fd = open_theirs(0, -1);

	cr_assert_eq(fd < 0 ? fd : 0, want, "perf of a task: %d", fd);
	if (fd >= 0)
		close(fd);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		fd = open_theirs(-1, cpu);
		cr_assert_eq(fd < 0 ? fd : 0, want, "perf of CPU %d: %d", cpu, fd);
		if (fd >= 0)
			close(fd);
	}
}

/* A moment after our last one theirs may trace. */
static void wait_for_theirs(void)
{
	int fd;

	while ((fd = open_theirs(0, -1)) == -EBUSY)
		nap();
	if (fd >= 0)
		close(fd);
	check_theirs(0);
}

Test(aux_reader, the_kernels_driver_waits_for_ours)
{
	union raw_attr a = busy_attr(), instructions = raw_instructions();
	uint64_t before;
	int count, fd;

	instructions.attr.disabled = 0;
	count = event_open(instructions);
	wait_for_theirs();
	fd = event_open(a);
	check_theirs(-EBUSY);
	before = raw_read(count);
	user_loop(1000000);
	cr_assert_geq(raw_read(count) - before, 1000000, "counting goes on");
	close(fd);
	wait_for_theirs();
	fd = event_open(a, -1, 0);
	check_theirs(-EBUSY);
	close(fd);
	wait_for_theirs();
}

/* A CPU that comes back while we trace is kept, too, a moment later. */
Test(aux_reader, the_kernels_driver_waits_on_a_cpu_that_comes_back)
{
	union raw_attr a = busy_attr();
	int fd, theirs;

	fd = event_open(a);
	for (int i = 0; i < 3; i++) {
		set_online(1, false);
		check_theirs(-EBUSY);
		set_online(1, true);
		while ((theirs = open_theirs(-1, 1)) >= 0) {
			close(theirs);
			nap();
		}
		cr_assert_eq(theirs, -EBUSY);
		check_theirs(-EBUSY);
	}
	close(fd);
	wait_for_theirs();
	/* It went before, and comes while we trace. */
	set_online(1, false);
	fd = event_open(a);
	set_online(1, true);
	while ((theirs = open_theirs(-1, 1)) >= 0) {
		close(theirs);
		nap();
	}
	check_theirs(-EBUSY);
	close(fd);
	wait_for_theirs();
}
