// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a sample tells of the others of its group: their values never fall from one sample to the
 * next, also not where the sample comes while one of them is being stopped.
 */
#include "loops.h"
#include "records.h"

TestSuite(sample_siblings, .init = sampling_init, .fini = sampling_fini);

static struct perf_event_attr leader_attr(uint64_t period)
{
	struct perf_event_attr attr = sampling_attr(kernel_period(period));

	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_READ;
	attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	return attr;
}

/* Of the second of the group; how many samples there are */
static unsigned int check_values(const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	uint64_t last = 0;
	unsigned int n = 0;
	struct sample s;

	while ((header = ring_next(r))) {
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE, "record %u", header->type);
		take_sample(attr, header, &s);
		cr_assert_eq(s.read.nr, 2);
		cr_assert_geq(s.read.each[1].value, last, "sample %u", n);
		last = s.read.each[1].value;
		n++;
	}
	return n;
}

#define TURNS	3000

/* Waits for its turn, and gives it back, as often as there are turns. */
static pid_t start_taking_turns(const int turn[2], const int back[2])
{
	pid_t pid = fork_child();
	char word;

	if (pid)
		return pid;
	pin_here(0);
	for (unsigned int i = 0; i < TURNS; i++)
		if (read(turn[0], &word, 1) != 1 || write(back[1], &word, 1) != 1)
			_exit(1);
	_exit(0);
}

/* The scheduler counts a switch before the event that follows it is stopped. */
Test(sample_siblings, of_a_task_that_is_switched)
{
	const struct perf_event_attr switches = event_attr(PERF_TYPE_SOFTWARE,
							   PERF_COUNT_SW_CONTEXT_SWITCHES);
	const struct perf_event_attr attr = leader_attr(997);
	int turn[2], back[2], fd;
	struct ring r;
	char word = 0;
	pid_t pid;

	cr_assert_eq(pipe(turn), 0);
	cr_assert_eq(pipe(back), 0);
	pin_here(0);
	pid = start_taking_turns(turn, back);
	fd = event_open(attr, pid);
	event_open(switches, pid, .group = fd);
	ring_map(&r, fd, 1024);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < TURNS; i++) {
		cr_assert_eq(write(turn[1], &word, 1), 1);
		cr_assert_eq(read(back[0], &word, 1), 1);
	}
	cr_assert_eq(waitpid(pid, NULL, 0), pid);
	cr_assert_gt(check_values(&attr, &r), 0);
}

/* The leader goes on, and its period may end at any instruction of the kernel's. */
static void check_stopped_alone(const struct perf_event_attr of_sibling)
{
	const struct perf_event_attr attr = leader_attr(997);
	int fd = event_open(attr), sibling = event_open(of_sibling, .group = fd);
	const unsigned int times = 300;
	struct ring r;

	ring_map(&r, fd, 2048);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < times; i++) {
		event_ioctl(sibling, PERF_EVENT_IOC_ENABLE);
		user_loop(2000);
		event_ioctl(sibling, PERF_EVENT_IOC_DISABLE);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_gt(check_values(&attr, &r), 0);
}

Test(sample_siblings, of_one_that_is_stopped_alone)
{
	check_stopped_alone(event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS));
}

Test(sample_siblings, of_a_clock_that_is_stopped_alone)
{
	check_stopped_alone(event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK));
}

/* A migration is found out at the switch, and counted and sampled right after it. */
Test(sample_siblings, of_migrations_that_are_sampled)
{
	const struct perf_event_attr attr = leader_attr(997);
	struct perf_event_attr migrations = event_attr(PERF_TYPE_SOFTWARE,
						       PERF_COUNT_SW_CPU_MIGRATIONS);
	struct ring r;
	int fd;

	migrations.sample_period = 1000000;
	fd = event_open(attr);
	event_open(migrations, .group = fd);
	ring_map(&r, fd, 2048);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < TURNS; i++)
		pin_here(i % 2);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_gt(check_values(&attr, &r), 0);
}
