// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user who has the kernel walk over all children of his events, in a thread that gets
 * no time (SCHED_IDLE, beside loops of his): what ends meanwhile is not kept until that is through,
 * and nobody waits for it who closes one of these events.
 */
#include "bound.h"
#include "event.h"
#include "family.h"
#include "module.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

TestSuite(attack_walk, .timeout = 300);

#define SLOW_CPU	0
#define CPU		1
#define EVENTS		48
#define CHILDREN	40
#define LOOPS		6
/* Kept until the walk ends, these would be 70 MB. */
#define FORKS		2000
#define FORKS_KB	24576
#define RT_LIMIT	"/proc/sys/kernel/sched_rt_runtime_us"
/* Of a loop that nobody on its CPU gets past: seconds */
#define PATIENCE	2000000000ull

static struct state {
	unsigned int walks;
	unsigned int children;
	bool walks_on, loops_on, loop_runs, has_closed, gave_up, nobody_walks, walks_meanwhile;
	pid_t walker;
	int open_while_left, why, open_later;
} *state;

static int events[EVENTS];

static void wait_for(const bool *on)
{
	while (!__atomic_load_n(on, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static void set(bool *on)
{
	__atomic_store_n(on, true, __ATOMIC_RELEASE);
}

static unsigned int walks(void)
{
	return __atomic_load_n(&state->walks, __ATOMIC_ACQUIRE);
}

static void *walk(void *arg)
{
	(void)arg;
	pin_here(SLOW_CPU);
	state->walker = gettid();
	wait_for(&state->walks_on);
	for (;;) {
		ioctl(events[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
		__atomic_add_fetch(&state->walks, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* Without the descriptors, of which the last is to be closed */
static void live(void)
{
	for (int i = 0; i < EVENTS; i++)
		close(events[i]);
	__atomic_add_fetch(&state->children, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
}

static void share_state(void)
{
	state = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(state, MAP_FAILED);
}

/* They have inherited what there is, and are there. */
static void make_children(void)
{
	for (int i = 0; i < CHILDREN; i++)
		if (!fork_child())
			live();
	while (__atomic_load_n(&state->children, __ATOMIC_ACQUIRE) < CHILDREN)
		usleep(1000);
}

/* What is made before there are events has none. */
static void make_loops(int n, void (*loop)(void))
{
	while (n--) {
		if (fork_child())
			continue;
		pin_here(SLOW_CPU);
		wait_for(&state->loops_on);
		loop();
	}
}

/* From now on a thread walks, and gets no time for it. */
static void begin_walk(void)
{
	const struct perf_event_attr attr = inherited(dummy());
	const struct sched_param none = { 0 };
	pthread_t walker;

	cr_assert_eq(pthread_create(&walker, NULL, walk, NULL), 0);
	pin_here(CPU);
	for (int i = 0; i < EVENTS; i++)
		events[i] = event_open(attr, .group = i ? events[0] : -1);
	make_children();
	set(&state->walks_on);
	while (walks() < 2)
		usleep(1000);
	/* It is within one, as it nearly always is. */
	set(&state->loops_on);
	cr_assert_eq(sched_setscheduler(state->walker, SCHED_IDLE, &none), 0);
	usleep(50000);
}

static void begin(int loops, void (*loop)(void))
{
	share_state();
	make_loops(loops, loop);
	begin_walk();
}

static void loop_for_ever(void)
{
	for (;;)
		;
}

Test(attack_walk, who_ends_during_a_walk_is_not_kept)
{
	long before, grown;

	begin(LOOPS, loop_for_ever);
	before = meminfo("SUnreclaim");
	for (int i = 0; i < FORKS; i++) {
		pid_t child = vfork();

		if (!child)
			_exit(0);
		cr_assert_eq(waitpid(child, NULL, 0), child);
	}
	/* What has ended is freed when all CPUs have been elsewhere since, walk or not. */
	for (int i = 0; i < 200; i++) {
		grown = meminfo("SUnreclaim") - before;
		if (grown < FORKS_KB)
			break;
		usleep(10000);
	}
	cr_assert_lt(grown, FORKS_KB, "%ld kB more, %u walks", grown, walks());
}

/* Nothing else runs on this CPU until the event is closed. */
static void loop_until_closed(void)
{
	const struct sched_param first = { .sched_priority = 1 };
	uint64_t left = PATIENCE;

	if (sched_setscheduler(0, SCHED_FIFO, &first))
		_exit(1);
	set(&state->loop_runs);
	while (left && !__atomic_load_n(&state->has_closed, __ATOMIC_ACQUIRE))
		left--;
	if (!left)
		set(&state->gave_up);
	_exit(0);
}

Test(attack_walk, a_close_waits_for_no_walk)
{
	cr_assert_eq(raw_write_file(RT_LIMIT, "-1"), 0);
	begin(1, loop_until_closed);
	wait_for(&state->loop_runs);
	usleep(50000);
	close(events[1]);
	set(&state->has_closed);
	raw_write_file(RT_LIMIT, "950000");
	cr_assert(!__atomic_load_n(&state->gave_up, __ATOMIC_ACQUIRE));
}

static void *wait_for_walk(void *arg)
{
	ioctl(events[2], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
	set(&state->nobody_walks);
	return arg;
}

/* He has as many as he may. */
static void close_and_open(void)
{
	pthread_t waiter;

	become_ordinary();
	begin_walk();
	wait_for(&state->loop_runs);
	/* It may be just between two. */
	die_if(pthread_create(&waiter, NULL, wait_for_walk, NULL), "pthread_create");
	usleep(50000);
	state->walks_meanwhile = !__atomic_load_n(&state->nobody_walks, __ATOMIC_ACQUIRE);
	close(events[1]);
	state->open_while_left = event_try(dummy());
	state->why = event_why.code;
	if (state->open_while_left >= 0)
		close(state->open_while_left);
	set(&state->has_closed);
	while ((state->open_later = event_try(dummy())) == -EMFILE)
		usleep(1000);
	_exit(0);
}

/* One that waits for a walk to end still has its place in the user's limit. */
Test(attack_walk, a_close_gives_its_place_back_when_it_has_ended, .fini = set_default_limits)
{
	pid_t user;

	share_state();
	set_limit(PER_USER, EVENTS);
	cr_assert_eq(raw_write_file(RT_LIMIT, "-1"), 0);
	make_loops(1, loop_until_closed);
	user = fork_child();
	if (!user)
		close_and_open();
	cr_assert_eq(waitpid(user, NULL, 0), user);
	raw_write_file(RT_LIMIT, "950000");
	cr_assert(!__atomic_load_n(&state->gave_up, __ATOMIC_ACQUIRE));
	if (state->walks_meanwhile) {
		cr_expect_eq(state->open_while_left, -EMFILE, "%d", state->open_while_left);
		cr_expect_eq(state->why, PMUCTL_WHY_EVENTS_USER);
	}
	cr_expect_geq(state->open_later, 0, "%d", state->open_later);
}

/* ---- What a thread has opened ---- */

static int alone;

/* Its own events, over and over */
static void *switch_own(void *arg)
{
	const struct perf_event_attr attr = inherited(dummy());
	int device = raw_device();

	pin_here(SLOW_CPU);
	state->walker = gettid();
	for (int i = 0; i < EVENTS; i++)
		events[i] = event_open(attr, .group = i ? events[0] : -1);
	make_children();
	/* No child has a copy of its descriptor. */
	alone = event_open(dummy());
	set(&state->walks_on);
	for (;;) {
		cr_assert_eq(ioctl(device, PMUCTL_IOC_TASK_ENABLE), 0);
		__atomic_add_fetch(&state->walks, 1, __ATOMIC_RELEASE);
	}
	return arg;
}

/* It is in no group, and nobody's child; the thread that has opened it is busy with its others. */
Test(attack_walk, a_close_waits_for_no_thread_that_enables_its_own)
{
	const struct sched_param none = { 0 };
	pthread_t thread;

	share_state();
	cr_assert_eq(raw_write_file(RT_LIMIT, "-1"), 0);
	pin_here(CPU);
	make_loops(1, loop_until_closed);
	cr_assert_eq(pthread_create(&thread, NULL, switch_own, NULL), 0);
	wait_for(&state->walks_on);
	while (walks() < 2)
		usleep(1000);
	set(&state->loops_on);
	cr_assert_eq(sched_setscheduler(state->walker, SCHED_IDLE, &none), 0);
	wait_for(&state->loop_runs);
	usleep(50000);
	close(alone);
	set(&state->has_closed);
	raw_write_file(RT_LIMIT, "950000");
	cr_assert(!__atomic_load_n(&state->gave_up, __ATOMIC_ACQUIRE));
}

/* ---- A member that goes ---- */

#define MEMBERS		6
#define CLOSES		150

static void *read_group(void *arg)
{
	uint64_t values[1 + MEMBERS];

	for (;;) {
		cr_assert_gt(read(events[0], values, sizeof(values)), 0);
		for (uint64_t i = 1; i <= values[0]; i++)
			cr_assert_eq(values[i], 0, "an event that counts nothing has counted %lx",
				     values[i]);
	}
	return arg;
}

static void *open_and_close(void *arg)
{
	const struct perf_event_attr attr = dummy();

	for (;;)
		close(event_open(attr));
	return arg;
}

/*
 * What a member had of its children is freed when it is closed, not when the next read of its group
 * has come to an end: that must not look at it, nor write there.
 */
Test(attack_walk, a_member_is_closed_while_its_group_is_read)
{
	struct perf_event_attr attr = inherited(dummy());
	pthread_t thread;

	attr.read_format = PERF_FORMAT_GROUP;
	share_state();
	for (int i = 0; i < EVENTS; i++)
		events[i] = -1;
	for (int i = 0; i < MEMBERS; i++)
		events[i] = event_open(attr, .group = i ? events[0] : -1);
	make_children();
	cr_assert_eq(pthread_create(&thread, NULL, read_group, NULL), 0);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread, NULL, open_and_close, NULL), 0);
	for (int closes = 0; closes < CLOSES; closes += MEMBERS - 1) {
		for (int i = 1; i < MEMBERS; i++)
			close(events[i]);
		for (int i = 1; i < MEMBERS; i++)
			events[i] = event_open(attr, .group = events[0]);
	}
}
