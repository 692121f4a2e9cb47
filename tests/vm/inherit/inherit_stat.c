// SPDX-License-Identifier: GPL-2.0-only
/*
 * attr.inherit_stat: when a child ends, PERF_RECORD_READ tells what it has counted itself.
 * And the other record that comes then: EXIT. What is demanded is what perf did: its kernels since
 * 5.13 forget whose child it was before they come to write the record, and write none.
 */
#include "family.h"
#include "records.h"

#define N		10000ull
#define CHILDREN	5
#define ID_TYPE		(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |	\
			 PERF_SAMPLE_IDENTIFIER)

struct read_record {
	struct perf_event_header header;
	uint32_t pid, tid;
};

/* What such a record says, and the trailer at its end */
struct told {
	uint32_t pid, tid;
	struct sample_read read;
	struct sample end;
};

static struct perf_event_attr stat_attr(uint64_t format)
{
	struct perf_event_attr attr = inherited(sampling_attr(0));

	attr.disabled = 0;
	attr.inherit_stat = 1;
	attr.task = 1;
	attr.sample_type = ID_TYPE;
	attr.sample_id_all = 1;
	attr.read_format = format;
	return attr;
}

/* perf maps no buffer for an event that is inherited and of any CPU. */
static int open_here(const struct perf_event_attr *attr)
{
	pin_here(0);
	return event_open(attr, 0, 0);
}

static void take_told(const struct perf_event_attr *attr,
		      const struct perf_event_header *header, struct told *t)
{
	const struct read_record *r = (const void *)header;
	struct cursor c = {
		.at = (const uint64_t *)(r + 1),
		.end = (const uint64_t *)header + header->size / 8,
	};

	t->pid = r->pid;
	t->tid = r->tid;
	take_read(&c, attr->read_format, &t->read);
	take_sample_id(attr, header, (const char *)c.at - (const char *)header, &t->end);
	cr_expect_eq(t->end.pid, t->pid);
	cr_expect_eq(t->end.tid, t->tid);
	cr_expect_eq(header->misc, 0);
}

/* The READ records in a ring, in their order; the EXIT of the task comes right before. */
static unsigned int take_all(const struct perf_event_attr *attr, struct ring *r,
			     struct told *all, unsigned int max)
{
	struct perf_event_header *header;
	uint32_t exited = 0, type = 0;
	unsigned int n = 0;

	for (; (header = ring_next(r)); type = header->type) {
		if (header->type == PERF_RECORD_EXIT)
			exited = ((uint32_t *)(header + 1))[2];
		if (header->type != PERF_RECORD_READ)
			continue;
		cr_assert_lt(n, max, "too many records");
		take_told(attr, header, &all[n]);
		cr_expect_eq(type, PERF_RECORD_EXIT, "%u comes before", type);
		cr_expect_eq(exited, all[n].tid);
		n++;
	}
	return n;
}

/* Children that loop 1, 2, ... times as long; their ids */
static void make_children(pid_t *pid)
{
	by_fork(1); /* what is done the first time only */
	for (unsigned int i = 0; i < CHILDREN; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			user_loop((i + 1) * N);
			_exit(0);
		}
		reap(pid[i]);
	}
}

static void check_values(const struct told *t, const pid_t *pid, unsigned int which,
			 uint64_t id)
{
	for (unsigned int i = 0; i < CHILDREN; i++) {
		cr_expect_eq(t[i].pid, (uint32_t)pid[i]);
		cr_expect_eq(t[i].tid, (uint32_t)pid[i]);
		cr_expect_eq(t[i].read.each[which].value - t[0].read.each[which].value,
			     i * N * LOOP_INSTRUCTIONS, "child %u", i);
		cr_expect_geq(t[i].read.each[which].value, N * LOOP_INSTRUCTIONS);
		cr_expect_eq(t[i].read.each[which].id, id);
		cr_expect_eq(t[i].read.each[which].lost, 0);
	}
}

TestSuite(inherit_stat, .init = sampling_init, .fini = sampling_fini);

Test(inherit_stat, each_child_is_told_with_its_own_values)
{
	struct perf_event_attr attr =
		stat_attr(PERF_FORMAT_TOTAL_TIME_ENABLED |
			  PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID | READ_LOST);
	struct told t[CHILDREN + 2];
	uint64_t sum = 0, words[5];
	int fd = open_here(&attr);
	pid_t pid[CHILDREN];
	struct ring r;

	ring_map(&r, fd, 8);
	make_children(pid);
	cr_assert_eq(take_all(&attr, &r, t, CHILDREN + 2), CHILDREN + 1);
	check_values(t + 1, pid, 0, event_id(fd));
	for (unsigned int i = 0; i <= CHILDREN; i++) {
		cr_expect_gt(t[i].read.running, 0);
		cr_expect_eq(t[i].read.running, t[i].read.enabled);
		sum += t[i].read.each[0].value;
	}
	cr_assert_eq(read(fd, words, sizeof(words)), (ssize_t)sizeof(words));
	cr_expect_gt(words[0], sum, "the event has them all, and its own");
	ring_unmap(&r);
}

/* The leader's record has all of them, in their order; a member that asks for none has none. */
Test(inherit_stat, a_group_is_told_as_one)
{
	struct perf_event_attr attr =
		stat_attr(PERF_FORMAT_GROUP | PERF_FORMAT_ID | READ_LOST);
	struct perf_event_attr quiet = attr;
	struct told t[CHILDREN + 2];
	int fd = open_here(&attr), member;
	pid_t pid[CHILDREN];
	struct ring r;

	quiet.inherit_stat = 0;
	member = event_open(&quiet, 0, 0, .group = fd);
	ring_map(&r, fd, 8);
	make_children(pid);
	cr_assert_eq(take_all(&attr, &r, t, CHILDREN + 2), CHILDREN + 1);
	for (unsigned int i = 0; i <= CHILDREN; i++)
		cr_expect_eq(t[i].read.nr, 2, "%llu members", (unsigned long long)t[i].read.nr);
	check_values(t + 1, pid, 0, event_id(fd));
	check_values(t + 1, pid, 1, event_id(member));
	ring_unmap(&r);
}

Test(inherit_stat, threads_have_ids_of_their_own)
{
	struct perf_event_attr attr = stat_attr(0);
	struct told t[2];
	int fd = open_here(&attr);
	struct ring r;

	ring_map(&r, fd, 8);
	by_thread(N);
	while (!take_all(&attr, &r, t, 2))
		usleep(1000); /* who waits for a thread is told before it is quite at its end */
	cr_expect_eq(t[0].pid, (uint32_t)getpid());
	cr_expect_neq(t[0].tid, (uint32_t)getpid());
	cr_expect_geq(t[0].read.each[0].value, N * LOOP_INSTRUCTIONS);
	ring_unmap(&r);
}

/* One that ends with an exec, before its task does */
Test(inherit_stat, a_child_that_an_exec_removes_is_told)
{
	struct perf_event_attr attr = stat_attr(PERF_FORMAT_ID);
	struct perf_event_header *header;
	unsigned int told = 0;
	uint64_t counted;
	struct told t;
	struct ring r;
	pid_t child;
	int fd;

	attr.remove_on_exec = 1;
	fd = open_here(&attr);
	ring_map(&r, fd, 8);
	child = fork();
	if (!child) {
		user_loop(N);
		execl(EXEC_PROGRAM, EXEC_PROGRAM, NULL);
		_exit(1);
	}
	reap(child);
	while ((header = ring_next(&r))) {
		if (header->type == PERF_RECORD_EXIT)
			cr_expect_eq(told, 1, "the task ends after that");
		if (header->type != PERF_RECORD_READ)
			continue;
		take_told(&attr, header, &t);
		told++;
	}
	cr_assert_eq(told, 1);
	counted = t.read.each[0].value;
	cr_expect_eq(t.pid, (uint32_t)child);
	cr_expect_eq(t.read.each[0].id, event_id(fd));
	cr_expect(counted >= N * LOOP_INSTRUCTIONS && counted < 2 * N * LOOP_INSTRUCTIONS, "%lu",
		  counted);
	ring_unmap(&r);
}

Test(inherit_stat, nothing_is_told_if_it_is_not_asked_for)
{
	struct perf_event_attr attr = stat_attr(0);
	struct told t[1];
	struct ring r;
	int fd;

	attr.inherit_stat = 0;
	fd = open_here(&attr);
	ring_map(&r, fd, 8);
	by_fork(N);
	cr_expect_eq(take_all(&attr, &r, t, 1), 0);
	ring_unmap(&r);
}
