// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that children inherit: what these count, while they live and afterwards. An event
 * that is inherited and one that is not are on the same task, so the difference of the two
 * is what its children have counted, up to the few instructions between two system calls
 * on them, which are always the same.
 */
#include "family.h"
#include "module.h"
#include "records.h"

#define N		10000ull
#define EXEC_STEP	2000	/* instructions for each argument */

TestSuite(inherit_count, .init = sampling_init, .fini = sampling_fini);

/* Each round of each child costs @step, and k children cost k times one. */
static void check_cost(void (*make)(uint64_t), uint64_t rounds, uint64_t step)
{
	struct pair p = pair_open(inherited(instructions_u()));
	uint64_t none, one;

	cost(&p, make, 2, 1); /* what is done the first time only */
	none = cost(&p, make, 0, 1);
	one = cost(&p, make, 1, 1) - none;
	for (unsigned int k = 1; k <= 6; k++) {
		cr_expect_eq(cost(&p, make, k, 1) - none, k * one, "%u children", k);
		cr_expect_eq(cost(&p, make, k, rounds + 1) - none,
			     k * (one + rounds * step), "%u children that loop", k);
	}
	pair_close(&p);
}

/* ---- How many, of which kind ---- */

Test(inherit_count, children_cost_as_often_as_there_are_some)
{
	check_cost(by_fork, N, LOOP_INSTRUCTIONS);
}

Test(inherit_count, grandchildren)
{
	check_cost(by_fork_twice, N, 2 * LOOP_INSTRUCTIONS);
}

Test(inherit_count, threads)
{
	check_cost(by_thread, N, LOOP_INSTRUCTIONS);
}

Test(inherit_count, programs_after_vfork)
{
	check_cost(by_vfork_and_exec, 9, EXEC_STEP);
}

Test(inherit_count, threads_only_if_that_is_asked_for)
{
	struct perf_event_attr attr = inherited(instructions_u());
	struct pair p;
	uint64_t none;

	attr.inherit_thread = 1;
	p = pair_open(attr);
	cost(&p, by_fork, 1, 1);
	cost(&p, by_thread, 1, 1);
	none = cost(&p, by_fork, 0, 1);
	cr_expect_eq(cost(&p, by_fork, 5, N), none);
	cr_expect_eq(cost(&p, by_vfork_and_exec, 5, 9), none);
	cr_expect_eq(cost(&p, by_thread, 3, N + 1) - cost(&p, by_thread, 3, 1),
		     3 * N * LOOP_INSTRUCTIONS);
	pair_close(&p);
}

/* Its leader has a child in another process already: that gets no child of this event. */
static uint64_t of_worker(bool is_thread, bool thread_only)
{
	struct perf_event_attr attr = inherited(instructions_u());
	AUTO_CLOSE int leader = event_open(attr);
	uint64_t before, one, many;
	struct worker w;
	struct pair p;

	worker_start(&w, is_thread);
	worker_run(&w, 1);
	attr.inherit_thread = thread_only;
	p.own = event_open(instructions_u());
	p.all = event_open(attr, .group = leader);
	worker_run(&w, 1);
	before = of_children(&p);
	worker_run(&w, 1);
	one = of_children(&p) - before;
	before = of_children(&p);
	worker_run(&w, N + 1);
	many = of_children(&p) - before;
	worker_end(&w);
	pair_close(&p);
	return many - one;
}

Test(inherit_count, a_sibling_for_threads_joins_threads_alone)
{
	cr_expect_eq(of_worker(false, false), N * LOOP_INSTRUCTIONS);
	cr_expect_eq(of_worker(true, true), N * LOOP_INSTRUCTIONS);
	cr_expect_eq(of_worker(false, true), 0);
}

Test(inherit_count, nobody_if_it_is_not_asked_for)
{
	struct pair p = pair_open(instructions_u());
	uint64_t none;

	cost(&p, by_thread, 1, 1); /* read() takes another way from then on */
	none = cost(&p, by_fork, 0, 1);
	cr_expect_eq(cost(&p, by_fork, 5, N), none);
	cr_expect_eq(cost(&p, by_thread, 5, N), none);
	pair_close(&p);
}

/* ---- Children that live ---- */

#define WORKERS	4

static uint64_t cost_of_orders(const struct pair *p, struct worker *w, uint64_t rounds)
{
	uint64_t before = of_children(p);

	for (int i = 0; i < WORKERS; i++)
		worker_run(&w[i], rounds);
	return of_children(p) - before;
}

/* A read sums them; a reset is one for all of them, on whatever CPU they are. */
Test(inherit_count, those_that_live_are_summed_and_reset)
{
	struct pair p = pair_open(inherited(instructions_u()));
	struct worker w[WORKERS];
	uint64_t one, none, ended;

	for (int i = 0; i < WORKERS; i++) {
		worker_start(&w[i], i % 2);
		pin_task(w[i].tid, i / 2);
	}
	cost_of_orders(&p, w, 1);
	one = cost_of_orders(&p, w, 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(cost_of_orders(&p, w, N + 1) - one,
			     WORKERS * N * LOOP_INSTRUCTIONS);

	event_ioctl(p.all, PERF_EVENT_IOC_DISABLE);
	event_ioctl(p.all, PERF_EVENT_IOC_RESET);
	cr_expect_eq(event_value(p.all), 0);
	for (int i = 0; i < WORKERS; i++)
		worker_run(&w[i], N);
	cr_expect_eq(event_value(p.all), 0, "it is disabled for all");
	event_ioctl(p.all, PERF_EVENT_IOC_ENABLE);
	cr_expect_eq(cost_of_orders(&p, w, N + 1) - one,
		     WORKERS * N * LOOP_INSTRUCTIONS);

	/* What has ended is not forgotten, but can be reset too. */
	none = cost(&p, by_fork, 0, 1);
	ended = of_children(&p);
	for (int i = 0; i < WORKERS; i++)
		worker_end(&w[i]);
	cr_expect_geq(of_children(&p) - ended, none);
	event_ioctl(p.all, PERF_EVENT_IOC_DISABLE);
	event_ioctl(p.all, PERF_EVENT_IOC_RESET);
	cr_expect_eq(event_value(p.all), 0);
	pair_close(&p);
}

/* The task that the event is of makes a child, tells its id, and ends. */
static void leave_a_child(int orders[2], const int id[2], int go)
{
	char byte;
	pid_t child;

	if (read(go, &byte, 1) != 1)
		_exit(1);
	child = fork();
	if (!child) {
		close(orders[1]);
		worker_work(orders[0]);
		_exit(0);
	}
	_exit(write(id[1], &child, sizeof(child)) != sizeof(child));
}

Test(inherit_count, children_outlive_the_task_of_the_event)
{
	struct perf_event_attr attr = inherited(instructions_u());
	int orders[2], id[2], go[2], fd;
	struct worker w = { 0 };
	uint64_t at_end, zero = 0;
	pid_t parent;

	cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	cr_assert_eq(pipe(orders) | pipe(id) | pipe(go), 0);
	parent = fork_child();
	if (!parent)
		leave_a_child(orders, id, go[0]);
	fd = event_open(attr, parent);
	cr_assert_eq(write(go[1], "x", 1), 1);
	cr_assert_eq(read(id[0], &w.tid, sizeof(w.tid)), (ssize_t)sizeof(w.tid));
	reap(parent);
	close(orders[0]);
	w.orders = orders[1];
	worker_run(&w, 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(worker_count_loop(&w, fd, N), N * LOOP_INSTRUCTIONS);
	at_end = event_value(fd);
	cr_assert_eq(write(w.orders, &zero, sizeof(zero)), (ssize_t)sizeof(zero));
	reap(w.tid);
	cr_expect_gt(event_value(fd), at_end, "its last instructions are kept");
	cr_expect_lt(event_value(fd), at_end + N, "and nothing twice");
	cr_expect_eq(event_value(fd), event_value(fd));
}

/* ---- Children that run meanwhile ---- */

#define ROUND		1000ull	/* of a loop, between two signs of life */
#define ROUND_MAX	(ROUND * LOOP_INSTRUCTIONS + 200)

/* How often each runner has looped */
static volatile uint64_t *shared_progress(void)
{
	void *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	cr_assert(map != MAP_FAILED, "%m");
	return map;
}

static pid_t run_on(int cpu, volatile uint64_t *progress)
{
	pid_t child = fork_child();

	if (!child) {
		close_range(3, ~0u, 0); /* an event lives while anybody has a descriptor */
		pin_here(cpu);
		for (;;) {
			user_loop(ROUND);
			++*progress;
		}
	}
	return child;
}

static void wait_for_rounds(volatile uint64_t *progress, uint64_t n)
{
	uint64_t end = *progress + n;

	while (*progress < end)
		usleep(1000);
}

static void kill_runner(pid_t child)
{
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(inherit_count, a_child_on_the_other_cpu_is_switched_and_reset)
{
	struct pair p = pair_open(disabled(inherited(instructions_u())));
	volatile uint64_t *progress = shared_progress();
	uint64_t value, rounds, own;
	pid_t child;

	pin_here(0);
	child = run_on(1, progress);
	wait_for_rounds(progress, 10);
	cr_expect_eq(event_value(p.all), 0, "it began disabled");
	for (int i = 0; i < 5; i++) {
		event_ioctl(p.all, PERF_EVENT_IOC_ENABLE);
		wait_for_rounds(progress, 1000);
		event_ioctl(p.all, PERF_EVENT_IOC_DISABLE);
		value = event_value(p.all);
		cr_expect_geq(value, 999 * ROUND * LOOP_INSTRUCTIONS);
		wait_for_rounds(progress, 10);
		cr_expect_eq(event_value(p.all), value, "it counts while disabled");

		event_ioctl(p.all, PERF_EVENT_IOC_ENABLE);
		own = event_value(p.own);
		rounds = *progress;
		event_ioctl(p.all, PERF_EVENT_IOC_RESET);
		value = event_value(p.all);
		own = event_value(p.own) - own;
		rounds = *progress - rounds;
		cr_expect_leq(value, own + (rounds + 1) * ROUND_MAX,
			      "%lu after a reset, in %lu rounds", value, rounds);
		event_ioctl(p.all, PERF_EVENT_IOC_DISABLE);
		event_ioctl(p.all, PERF_EVENT_IOC_RESET);
	}
	kill_runner(child);
	cr_expect_eq(event_value(p.all), 0);
	pair_close(&p);
}

Test(inherit_count, closed_while_children_run)
{
	volatile uint64_t *progress = shared_progress();
	pid_t child[4];
	int fd[3];

	fd[0] = event_open(inherited(instructions_u()));
	fd[1] = event_open(inherited(branches_u()), .group = fd[0]);
	fd[2] = event_open(inherited(instructions_u()));
	for (int i = 0; i < 4; i++)
		child[i] = run_on(i % 2, &progress[i]);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 4; k++)
			wait_for_rounds(&progress[k], 10);
		close(fd[i]);
	}
	cr_expect_eq(module_info().hw_events, 0);
	cr_expect_eq(module_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
	for (int k = 0; k < 4; k++)
		wait_for_rounds(&progress[k], 10);
	for (int k = 0; k < 4; k++)
		kill_runner(child[k]);
}

/* ---- Groups ---- */

#define FORKS	150

/* Make children until there are enough, each on one of the CPUs. */
static pid_t fork_on(int cpu, volatile uint64_t *forks)
{
	pid_t child = fork_child();

	if (child)
		return child;
	pin_here(cpu);
	while (*forks < FORKS) {
		pid_t next = fork();

		if (!next) {
			if (*forks % 3 == 0)
				pin_here(!cpu);
			user_loop(*forks * 10 + 1);
			_exit(0);
		}
		if (next < 0 || waitpid(next, NULL, 0) != next)
			_exit(1);
		++*forks;
	}
	_exit(0);
}

static bool reads_equal(int leader)
{
	struct {
		uint64_t nr, value[2];
	} r;

	cr_assert_eq(read(leader, &r, sizeof(r)), (ssize_t)sizeof(r), "%m");
	cr_assert_eq(r.nr, 2);
	cr_expect_eq(r.value[0], r.value[1], "%lu, %lu", r.value[0], r.value[1]);
	return r.value[0] == r.value[1];
}

/* A group counts at the same time, in children too, so two equal events always agree. */
Test(inherit_count, a_group_agrees_in_every_read)
{
	struct perf_event_attr attr = inherited(instructions_u());
	volatile uint64_t *forks = shared_progress();
	unsigned int reads = 0;
	pid_t child[2];
	int leader;

	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open(disabled(attr));
	event_open(attr, .group = leader);
	event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
	child[0] = fork_on(0, &forks[0]);
	child[1] = fork_on(1, &forks[1]);
	do {
		if (!reads_equal(leader))
			break;
	} while (++reads < 100 || forks[0] < FORKS || forks[1] < FORKS);
	forks[0] = FORKS;
	forks[1] = FORKS;
	reap(child[0]);
	reap(child[1]);
	reads_equal(leader);
}

/*
 * A child is read at one instant: kernel instructions too, so that every one that the interrupt on
 * its CPU takes between two counters would show.
 */
Test(inherit_count, a_child_that_runs_is_read_at_one_instant)
{
	struct perf_event_attr attr = inherited(event_attr(PERF_TYPE_RAW, 0xc0));
	volatile uint64_t *progress = shared_progress();
	pid_t child;
	int leader;

	pin_here(0);
	attr.read_format = PERF_FORMAT_GROUP;
	leader = event_open(disabled(attr));
	event_open(attr, .group = leader);
	child = run_on(1, progress);
	wait_for_rounds(progress, 1);
	event_ioctl(leader, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < 1000 && reads_equal(leader); i++)
		;
	kill_runner(child);
	reads_equal(leader);
}

/* ---- Many ---- */

#define CHILDREN	2000
/* That kernel keeps what was freed, as if it were in use; it looks for leaks by itself. */
#define CHILDREN_DEBUG	200
/* What a cache may show more in use; it keeps some that are free. */
#define OBJECTS_MAX	500
#define TRIES		200

/* Objects of a slab cache in use, or of those that are merged with it */
static long objects(const char *cache)
{
	char path[96];
	long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/shrink", cache);
	cr_assert_eq(raw_write_number(path, 1), 0, "%s", path);
	snprintf(path, sizeof(path), "/sys/kernel/slab/%s/objects", cache);
	f = fopen(path, "re");
	cr_assert_not_null(f, "%s: %m", path);
	cr_assert_eq(fscanf(f, "%ld", &n), 1);
	fclose(f);
	return n;
}

static void check_objects(const char *cache, long before)
{
	long after = objects(cache);

	for (int i = 0; i < TRIES && after - before >= OBJECTS_MAX; i++) {
		sleep_ms(100); /* RCU frees them */
		after = objects(cache);
	}
	cr_expect_lt(after - before, OBJECTS_MAX, "%s: %+ld", cache, after - before);
}

/* Ten at a time; exit status 0 each */
static void many(uint64_t rounds)
{
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		cr_assert_geq(child, 0, "%m");
		if (!child) {
			user_loop(rounds);
			_exit(0);
		}
	}
	for (int i = 0; i < 10; i++)
		cr_assert_gt(wait(NULL), 0);
}

Test(inherit_count, thousands_leave_nothing_behind_and_lose_nothing)
{
	uint64_t none, ten, all, children = is_debug_kernel() ? CHILDREN_DEBUG : CHILDREN;
	struct pair p = pair_open(inherited(instructions_u()));
	long events, tasks;

	cost(&p, many, 20, 1);
	none = cost(&p, many, 0, 1);
	ten = cost(&p, many, 1, 1) - none;
	events = objects("pmuctl_event");
	tasks = objects("task_struct");
	all = cost(&p, many, children / 10, N + 1) - none;
	cr_expect_eq(all, children / 10 * ten + children * N * LOOP_INSTRUCTIONS,
		     "%lu, ten are %lu", all, ten);
	/* The events are still open: what is left now is left until they are closed. */
	check_objects("pmuctl_event", events);
	check_objects("task_struct", tasks);
	pair_close(&p);
}

/* ---- Samples ---- */

#define PERIOD		1009
#define SAMPLED		7

static struct perf_event_attr sampled(void)
{
	struct perf_event_attr attr = inherited(sampling_attr(PERIOD));

	attr.sample_type = PERF_SAMPLE_TID;
	attr.read_format = READ_LOST;
	return attr;
}

/* What one child of by_fork() counts */
static uint64_t count_one(uint64_t rounds)
{
	struct pair p = pair_open(inherited(instructions_u()));
	uint64_t one;

	cost(&p, by_fork, 1, rounds);
	one = cost(&p, by_fork, 1, rounds) - cost(&p, by_fork, 0, rounds);
	pair_close(&p);
	return one;
}

/* Runs children; returns how often they and this task must have overflowed. */
static uint64_t run_sampled(int fd, uint64_t rounds, uint64_t one, uint64_t *lost)
{
	struct {
		uint64_t value, lost;
	} r;

	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < SAMPLED; i++)
		by_fork(rounds);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_assert_eq(read(fd, &r, sizeof(r)), (ssize_t)sizeof(r), "%m");
	*lost = r.lost;
	return (r.value - SAMPLED * one) / PERIOD + SAMPLED * (one / PERIOD);
}

/* Samples of children in the ring, each of which must have @each */
static uint64_t check_samples(struct ring *r, uint64_t each)
{
	const struct perf_event_attr attr = sampled();
	struct perf_event_header *header;
	uint64_t n = 0, of_task = 0, tasks = 0;
	struct sample s;
	pid_t last = 0;

	while ((header = ring_next(r))) {
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(&attr, header, &s);
		n++;
		if (s.pid == (uint32_t)getpid())
			continue;
		if ((pid_t)s.pid != last) {
			cr_expect(!last || of_task == each, "%lu of %lu", of_task, each);
			of_task = 0;
			tasks++;
		}
		last = s.pid;
		of_task++;
	}
	cr_expect_eq(of_task, each);
	cr_expect_eq(tasks, SAMPLED);
	return n;
}

Test(inherit_count, samples_of_children_are_in_the_same_ring)
{
	uint64_t one = count_one(N), lost, expected;
	struct perf_event_attr attr = sampled();
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 64);
	expected = run_sampled(fd, N, one, &lost);
	cr_expect_eq(lost, 0);
	cr_expect_eq(check_samples(&r, one / PERIOD), expected);
	ring_unmap(&r);
}

Test(inherit_count, samples_of_children_are_written_or_lost)
{
	uint64_t one = count_one(100 * N), lost, expected;
	struct perf_event_attr attr = sampled();
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 1);
	expected = run_sampled(fd, 100 * N, one, &lost);
	cr_expect_gt(lost, 0);
	cr_expect_eq(ring_drain(&r, PERF_RECORD_SAMPLE) + lost, expected);
	ring_unmap(&r);
}
