// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user has one page fault wake and signal as many as he may have: interrupts do so in
 * a share of the time, and a worker the others. By the clock, in a guest whose time goes with its
 * instructions: what a fault takes with all of it is little more than without.
 */
#include "bound.h"
#include "sampling.h"

#include <fcntl.h>
#include <signal.h>

#define EVENTS		512	/* of one task, that sample each fault */
#define PROCESSES	200	/* of the group that is signalled */
#define RINGS		8
/* What 512 samples and their interrupts take, and twice what interrupts may wake in a row */
#define FAULT_NS_MAX	1000000

enum work { SIGNALS, WAKES };

static struct perf_event_attr each_fault(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);

	attr.exclude_kernel = 1;
	attr.disabled = 1;
	attr.sample_period = 1;
	attr.wakeup_events = 1;
	return attr;
}

/* A group of which this process is one, and which does not mind being signalled */
static void make_group(void)
{
	signal(SIGIO, SIG_IGN);
	die_if(setpgid(0, 0), "setpgid");
	for (unsigned int i = 0; i < PROCESSES; i++)
		raw_sleeper();
}

static void have_signalled(int fd)
{
	die_if(fcntl(fd, F_SETOWN, -getpid()), "F_SETOWN");
	die_if(fcntl(fd, F_SETFL, O_ASYNC), "O_ASYNC");
}

static void open_all(enum work work)
{
	const struct perf_event_attr attr = each_fault();
	struct ring ring;
	int first = -1;

	for (unsigned int i = 0; i < EVENTS; i++) {
		bool leads = i % (EVENTS / RINGS) == 0;
		int fd = event_try(attr);

		die_if(fd < 0, "open");
		if (work == SIGNALS) {
			have_signalled(fd);
		} else if (leads) {
			first = fd;
			die_if(ring_try_map(&ring, fd, 1, PROT_READ), "mmap");
		} else {
			die_if(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, first), "output");
		}
	}
}

/* How long a fault takes, in ns, by the slower of two */
static uint64_t fault_ns(void)
{
	volatile char *fresh = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t longest = 0;

	die_if(fresh == MAP_FAILED, "mmap");
	die_if(ioctl(raw_device(), PMUCTL_IOC_TASK_ENABLE), "enable");
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t begin = clock_ns(CLOCK_MONOTONIC), took;

		fresh[i * PAGE] = 1;
		took = clock_ns(CLOCK_MONOTONIC) - begin;
		if (took > longest)
			longest = took;
	}
	die_if(ioctl(raw_device(), PMUCTL_IOC_TASK_DISABLE), "disable");
	return longest;
}

static uint64_t measure(enum work work)
{
	uint64_t ns = 0;
	int link[2];
	pid_t user;

	cr_assert_eq(pipe(link), 0);
	user = fork_child();
	if (!user) {
		become_ordinary();
		if (work == SIGNALS)
			make_group();
		open_all(work);
		ns = fault_ns();
		die_if(write(link[1], &ns, sizeof(ns)) != sizeof(ns), "write");
		pause();
	}
	close(link[1]);
	cr_assert_eq(read(link[0], &ns, sizeof(ns)), (ssize_t)sizeof(ns), "the user has ended");
	kill(-user, SIGKILL);
	raw_reap(user);
	printf("%s: a fault took %lu ns\n", work == SIGNALS ? "signals" : "wakes", ns);
	return ns;
}

Test(attack_signals, to_a_group_of_many_for_each_of_many_events)
{
	cr_assert_leq(measure(SIGNALS), FAULT_NS_MAX);
}

Test(attack_signals, wakes_of_full_buffers_for_each_of_many_events)
{
	cr_assert_leq(measure(WAKES), FAULT_NS_MAX);
}
