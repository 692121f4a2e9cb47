// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads of which each does nothing but start the next one, and ends. Whoever looks for all meets
 * few of them; what joins meanwhile must count all that come later.
 *
 * Beside them many sleep, so that to look for all takes about as long as one lives.
 */
#include "family.h"
#include "loops.h"
#include "soft.h"

#include <sys/mman.h>

#define SLEEPERS	60
#define JOINS		250
/* What each task does, and how many are looked at */
#define PAGES		4
#define LINKS		4

/**
 * struct relay - shared memory
 * @links: how many tasks there have been.
 * @hold: who comes next is to wait until it is false.
 * @held: somebody does so.
 */
static struct relay {
	unsigned int links;
	bool hold, held;
} *relay;

static void relay_make(void)
{
	relay = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(relay, MAP_FAILED);
}

static unsigned int links(void)
{
	return __atomic_load_n(&relay->links, __ATOMIC_ACQUIRE);
}

static bool is_on(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(bool *flag, bool on)
{
	__atomic_store_n(flag, on, __ATOMIC_RELEASE);
}

/* A task's turn */
static void take_turn(void)
{
	uint8_t *pages;

	while (is_on(&relay->hold)) {
		set(&relay->held, true);
		usleep(200);
	}
	pages = fresh_pages(PAGES);
	touch_pages(pages, PAGES);
	munmap(pages, PAGES * 4096);
	__atomic_add_fetch(&relay->links, 1, __ATOMIC_RELEASE);
}

static void wait_links(unsigned int n)
{
	n += links();
	while ((int)(links() - n) < 0)
		usleep(200);
}

/* From now on nothing is counted but by those who look. */
static void stop(void)
{
	set(&relay->held, false);
	set(&relay->hold, true);
	while (!is_on(&relay->held))
		usleep(200);
}

static void go_on(void)
{
	set(&relay->hold, false);
}

static void *asleep(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start_sleepers(unsigned int n)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	while (n--)
		if (pthread_create(&thread, &small, asleep, NULL))
			abort();
	pthread_attr_destroy(&small);
}

static void start_next(void);

/* It is made on one CPU, and makes the next one on the other. */
static void *run_thread(void *arg)
{
	pin_here(links() % 2);
	take_turn();
	start_next();
	return arg;
}

static void start_next(void)
{
	pthread_attr_t detached;
	pthread_t next;

	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&next, &detached, run_thread, NULL))
		abort();
	pthread_attr_destroy(&detached);
}

/* When told to */
static void begin(int go)
{
	char c;

	pin_here(1);
	if (read(go, &c, 1) != 1)
		_exit(1);
	start_sleepers(SLEEPERS);
	start_next();
	asleep(NULL);
}

static void read_pair(int leader, uint64_t value[2])
{
	uint64_t words[3];

	cr_assert_eq(read(leader, words, sizeof(words)), (ssize_t)sizeof(words), "%m");
	cr_assert_eq(words[0], 2);
	memcpy(value, words + 1, 2 * sizeof(*value));
}

/* A sibling that joins while the tasks go on counts from then on what its leader counts. */
Test(inherit_relay, a_sibling_misses_nobody_who_began_while_it_joined)
{
	struct perf_event_attr attr =
		inherited(event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS));
	uint64_t before[2], after[2];
	int go[2], leader, sibling;
	pid_t first;

	relay_make();
	cr_assert_eq(pipe(go), 0);
	first = fork_child();
	if (!first)
		begin(go[0]);
	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open(attr, first);
	cr_assert_eq(write(go[1], "x", 1), 1);
	for (int i = 0; i < JOINS; i++) {
		wait_links(2);
		sibling = event_open(attr, .group = leader, .pid = first);
		stop();
		read_pair(leader, before);
		go_on();
		wait_links(LINKS);
		stop();
		read_pair(leader, after);
		cr_assert_geq(after[0] - before[0], LINKS * PAGES);
		cr_assert_eq(after[1] - before[1], after[0] - before[0], "join %d: %lu of %lu", i,
			     after[1] - before[1], after[0] - before[0]);
		go_on();
		close(sibling);
	}
	raw_reap(first);
}
