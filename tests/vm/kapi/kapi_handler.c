// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflow handlers of other kernel modules: when they are called and what they are told,
 * how they stop a counter, what they may not do, and that a release waits for one that is
 * running on another CPU.
 */
#include "kapi.h"
#include "sampling.h"

#define ROUNDS		2000
#define PERIOD		997ull

static void begin(void)
{
	kapi_load();
	sampling_init();
}

static void end(void)
{
	sampling_fini();
	kapi_unload();
}

TestSuite(kapi_handler, .init = begin, .fini = end);

static struct perf_event_attr with_period(uint64_t period)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);

	attr.sample_period = period;
	return attr;
}

/* One for each period, at its instruction, in an NMI, in the midst of the task */
Test(kapi_handler, is_told_what_there_is)
{
	struct perf_event_attr attr = with_period(PERIOD);
	struct kapi_calls calls;
	struct counts c;
	uint64_t i;
	int fd;

	pin_here(1);
	fd = kapi_create(&attr, 0, -1, KAPI_HANDLER);
	block_run(fd, ROUNDS);
	kapi_calls(fd, &calls);
	c = event_read(fd);
	cr_assert_eq(c.value, BLOCK_LENGTH(ROUNDS));
	cr_assert_eq(calls.calls, c.value / PERIOD, "%llu", calls.calls);
	for (i = 0; i < calls.calls && i < KAPI_SEEN_MAX; i++) {
		const struct kapi_seen *s = &calls.seen[i], *before = s - 1;

		cr_expect_eq(s->value, (i + 1) * PERIOD, "%lu: %llu", i, s->value);
		cr_expect_eq(s->period, PERIOD);
		cr_expect_eq(s->ip, block_ip(s->value, ROUNDS), "%lu: %#llx", i, s->ip);
		cr_expect_eq(s->tid, (uint32_t)getpid());
		cr_expect_eq(s->cpu, 1);
		cr_expect_eq(s->user_mode, 1);
		cr_expect_eq(s->nmi, 1);
		cr_expect_eq(s->enabled, s->running);
		cr_expect_leq(s->enabled, c.enabled);
		if (!i)
			continue;
		cr_expect_gt(s->time, before->time);
		cr_expect_gt(s->enabled, before->enabled);
		/* Less if the task was switched out meanwhile */
		cr_expect_leq(s->enabled - before->enabled, s->time - before->time);
	}
	close(fd);
}

/* From the change on, the next overflow is a whole period away. */
Test(kapi_handler, is_called_by_another_period)
{
	struct perf_event_attr attr = with_period(PERIOD);
	uint64_t period = 3001, start, i;
	struct kapi_calls calls;
	int fd = kapi_create(&attr, 0, -1, KAPI_HANDLER);

	block_run(fd, 1000);
	start = event_value(fd);
	kapi_calls(fd, &calls);
	i = calls.calls;
	cr_assert_eq(i, start / PERIOD);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0, "%m");
	block_run(fd, ROUNDS);
	kapi_calls(fd, &calls);
	cr_assert_eq(calls.calls, i + BLOCK_LENGTH(ROUNDS) / period);
	for (; i < calls.calls; i++) {
		start += period;
		cr_expect_eq(calls.seen[i].value, start);
		cr_expect_eq(calls.seen[i].period, period);
	}
	close(fd);
}

/* Of a frequency, the periods are what was counted. */
Test(kapi_handler, is_called_by_frequency)
{
	struct perf_event_attr attr = with_period(0);
	struct kapi_calls calls = { .calls = 0 };
	uint64_t i, sum = 0;
	int fd;

	attr.freq = 1;
	attr.sample_freq = 1000;
	fd = kapi_create(&attr, 0, -1, KAPI_HANDLER);
	while (calls.calls < 20) {
		bracket(fd, 1000000);
		kapi_calls(fd, &calls);
	}
	for (i = 0; i < 20; i++) {
		sum += calls.seen[i].period;
		/* A period that is shortened at a tick begins anew. */
		cr_expect_leq(sum, calls.seen[i].value);
	}
	close(fd);
}

/* A CPU's: whoever runs there */
Test(kapi_handler, is_called_on_its_cpu)
{
	struct perf_event_attr attr = with_period(100003);
	struct kapi_calls calls = { .calls = 0 };
	unsigned int i;
	int fd;

	pin_here(0);
	attr.disabled = 0;
	attr.exclude_kernel = 0;
	fd = kapi_create(&attr, KAPI_NOBODY, 1, KAPI_HANDLER);
	pin_here(1);
	while (calls.calls < KAPI_SEEN_MAX) {
		user_loop(100000);
		kapi_calls(fd, &calls);
	}
	for (i = 0; i < KAPI_SEEN_MAX; i++)
		cr_expect_eq(calls.seen[i].cpu, 1);
	close(fd);
}

/* What it stops counts no more, from there on, until it is enabled. */
Test(kapi_handler, stops_its_counter)
{
	struct perf_event_attr attr = with_period(PERIOD);
	struct kapi_calls calls;
	int fd = kapi_create_with(&attr, 0, -1, KAPI_HANDLER | KAPI_STOP, 3);

	block_run(fd, ROUNDS);
	kapi_calls(fd, &calls);
	cr_expect_eq(calls.calls, 3);
	cr_expect_eq(event_value(fd), 3 * PERIOD);
	user_loop(100000);
	cr_expect_eq(event_value(fd), 3 * PERIOD);

	block_run(fd, ROUNDS);
	kapi_calls(fd, &calls);
	cr_expect_eq(event_value(fd), 3 * PERIOD + BLOCK_LENGTH(ROUNDS));
	cr_expect_eq(calls.calls, 3 + BLOCK_LENGTH(ROUNDS) / PERIOD);
	close(fd);
}

/* It is refused, nothing happens, and the counter goes on. */
Test(kapi_handler, may_call_nothing)
{
	struct perf_event_attr attr = with_period(PERIOD);
	struct kapi_calls calls;
	unsigned int i;
	int fd = kapi_create(&attr, 0, -1, KAPI_HANDLER | KAPI_MISUSE);

	block_run(fd, ROUNDS);
	kapi_calls(fd, &calls);
	for (i = 0; i < RAW_ARRAY_SIZE(calls.misuse); i++)
		cr_expect_eq(calls.misuse[i], -EDEADLK, "%u: %d", i, calls.misuse[i]);
	cr_expect_eq(calls.misuse_code, PMUCTL_WHY_KERNEL_IN_HANDLER);
	cr_expect_eq(event_value(fd), BLOCK_LENGTH(ROUNDS));
	cr_expect_eq(calls.calls, BLOCK_LENGTH(ROUNDS) / PERIOD);
	close(fd);
}

#define EXECS		20
#define EXEC_PERIOD	100003ull

/*
 * Created at the time of the exec that enables it: the handler is told of the first overflow
 * too, or nothing is counted, as the exec was before.
 */
Test(kapi_handler, is_told_of_all_after_an_exec)
{
	struct perf_event_attr attr = with_period(EXEC_PERIOD);
	unsigned int round, counted = 0;
	struct kapi_calls calls;
	uint64_t value;
	pid_t pid;
	int fd, go[2];
	char c;

	attr.enable_on_exec = 1;
	pin_here(0);
	for (round = 0; round < EXECS; round++) {
		cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
		pid = fork_child();
		if (!pid) {
			pin_here(1);
			if (read(go[0], &c, 1) == 1)
				execl("/bin/sh", "sh", "-c", "while :; do :; done", NULL);
			_exit(1);
		}
		wait_asleep(pid);
		/* The first is created before, for certain. */
		fd = round ? -1 : kapi_create(&attr, pid, -1, KAPI_HANDLER);
		cr_assert_eq(write(go[1], "x", 1), 1);
		for (volatile unsigned int n = 0; n < round * 1000; n++)
			;
		if (fd < 0)
			fd = kapi_create(&attr, pid, -1, KAPI_HANDLER);
		while (!round && event_value(fd) < 3 * EXEC_PERIOD)
			sleep_ms(1);
		sleep_ms(10);
		raw_reap(pid);
		kapi_calls(fd, &calls);
		value = event_value(fd);
		cr_assert_eq(calls.calls, value / EXEC_PERIOD, "round %u: %llu, %lu", round,
			     calls.calls, value);
		counted += !!value;
		close(fd);
		close(go[0]);
		close(go[1]);
	}
	cr_expect_geq(counted, 1);
}

/* ---- Software events ---- */

#define FAULTS	20u

static struct perf_event_attr page_faults(void)
{
	struct perf_event_attr attr = with_period(1);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	return attr;
}

/* Pages that are touched for the first time */
static void fault(int fd)
{
	size_t size = FAULTS * PAGE;
	volatile char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i;

	cr_assert_neq((void *)pages, MAP_FAILED);
	/* A kernel without huge pages does not know the word. */
	cr_assert(!madvise((void *)pages, size, MADV_NOHUGEPAGE) || errno == EINVAL, "%m");
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (i = 0; i < FAULTS; i++)
		pages[i * PAGE] = 1;
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	munmap((void *)pages, size);
}

/* Not in an NMI, but as for counters: told of each, and refused whatever it calls */
Test(kapi_handler, is_called_for_software_events)
{
	struct perf_event_attr attr = page_faults();
	struct kapi_calls calls;
	uint64_t value;
	unsigned int i;
	int fd;

	fd = kapi_create(&attr, 0, -1, KAPI_HANDLER | KAPI_MISUSE);
	fault(fd);
	kapi_calls(fd, &calls);
	value = event_value(fd);
	cr_expect_geq(value, FAULTS);
	cr_assert_eq(calls.calls, value);
	for (i = 0; i < value && i < KAPI_SEEN_MAX; i++) {
		cr_expect_eq(calls.seen[i].value, i + 1);
		cr_expect_eq(calls.seen[i].period, 1);
		cr_expect_eq(calls.seen[i].tid, (uint32_t)getpid());
		cr_expect_eq(calls.seen[i].nmi, 0);
	}
	for (i = 0; i < RAW_ARRAY_SIZE(calls.misuse); i++)
		cr_expect_eq(calls.misuse[i], -EDEADLK, "%u: %d", i, calls.misuse[i]);
	close(fd);
}

Test(kapi_handler, stops_a_software_event)
{
	struct perf_event_attr attr = page_faults();
	struct kapi_calls calls;
	int fd = kapi_create_with(&attr, 0, -1, KAPI_HANDLER | KAPI_STOP, 3);

	fault(fd);
	kapi_calls(fd, &calls);
	cr_expect_eq(calls.calls, 3);
	cr_expect_eq(event_value(fd), 3);
	close(fd);
}

/* ---- Limits ---- */

/* Above the highest rate a counter stands still until the next tick. */
Test(kapi_handler, is_throttled)
{
	struct perf_event_attr attr = with_period(1000);
	uint64_t counted, rounds = 0;
	struct kapi_calls calls;
	int fd;

	set_max_rate(1);
	fd = kapi_create(&attr, 0, -1, KAPI_HANDLER);
	do {
		block_run(fd, ROUNDS);
		rounds++;
		counted = event_value(fd);
	} while (counted == rounds * BLOCK_LENGTH(ROUNDS));
	kapi_calls(fd, &calls);
	cr_expect_lt(counted, rounds * BLOCK_LENGTH(ROUNDS));
	cr_expect_eq(calls.calls, counted / 1000);
	close(fd);
}

/* Returns how often it was throttled. */
static uint64_t run_with_one_that_takes_long(void)
{
	/* So long that all others together take a small share, in a debug kernel, too */
	struct perf_event_attr attr = with_period(100000);
	uint64_t rounds = 0, before = totals().throttles;
	struct kapi_calls calls;
	int fd;

	fd = kapi_create_with(&attr, 0, -1, KAPI_HANDLER | KAPI_SLOW, 200);
	do {
		block_run(fd, ROUNDS);
		rounds++;
		kapi_calls(fd, &calls);
	} while (calls.calls < 300);
	if (totals().throttles == before)
		cr_expect_eq(event_value(fd), rounds * BLOCK_LENGTH(ROUNDS));
	close(fd);
	return totals().throttles - before;
}

/*
 * What takes half of a tick together is throttled; one sample that takes so long, between many
 * that do not, was interrupted itself. It has 12 ms: if the host takes the CPU away for longer than
 * that meanwhile, it is more than is forgiven, but that is not so each time.
 */
Test(kapi_handler, is_not_throttled_for_one_that_takes_long)
{
	uint64_t throttles = 1;

	cr_assert_eq(raw_write_number(TIME_SHARE, 50), 0);
	for (int tries = 10; tries && throttles; tries--)
		throttles = run_with_one_that_takes_long();
	cr_assert_eq(raw_write_number(TIME_SHARE, 0), 0);
	cr_expect_eq(throttles, 0);
}

/* Not for a few; but who mixes dear ones with cheap ones takes no more of the time by that. */
Test(kapi_handler, is_throttled_for_many_that_take_long)
{
	struct perf_event_attr attr = with_period(10000);
	uint64_t before = totals().throttles;
	struct kapi_calls calls;
	int fd;

	cr_assert_eq(raw_write_number(TIME_SHARE, 25), 0);
	fd = kapi_create_with(&attr, 0, -1, KAPI_HANDLER | KAPI_SLOW, 32);
	do {
		block_run(fd, ROUNDS);
		kapi_calls(fd, &calls);
	} while (totals().throttles == before && calls.calls < 2000);
	cr_assert_eq(raw_write_number(TIME_SHARE, 0), 0);
	cr_expect_gt(totals().throttles, before, "none in %lu calls", calls.calls);
	close(fd);
}

/* ---- Releasing ---- */

static void *run_there(void *stop)
{
	pin_here(1);
	while (!__atomic_load_n((bool *)stop, __ATOMIC_ACQUIRE))
		user_loop(100000);
	return NULL;
}

/* Another event stays open: to take the PMU and to give it back takes most of a round. */
static void race(int pid, int cpu, uint32_t rounds)
{
	struct perf_event_attr attr = with_period(5000);
	struct kapi_race r = { .pid = pid, .cpu = cpu, .rounds = rounds };
	int fd = kapi_device(), other = kapi_create(&attr, 0, -1, KAPI_HANDLER);

	attr.disabled = 0;
	memcpy(r.attr, &attr, sizeof(attr) < sizeof(r.attr) ? sizeof(attr) : sizeof(r.attr));
	cr_assert_eq(ioctl(fd, KAPI_RACE, &r), 0, "%m");
	cr_expect_eq(r.late, 0, "%u of %u", r.late, r.tries);
	close(fd);
	close(other);
}

static uint32_t race_rounds(void)
{
	return is_stress() ? 10000 : 100;
}

/* The handler runs on CPU 1 while CPU 0 releases: that returns when the handler has. */
Test(kapi_handler, is_waited_for_by_a_release)
{
	bool stop = false;
	pthread_t thread;

	pin_here(0);
	cr_assert_eq(pthread_create(&thread, NULL, run_there, &stop), 0);
	race(KAPI_NOBODY, 1, race_rounds());
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* The same of a task's counter */
Test(kapi_handler, of_a_task_is_waited_for_by_a_release)
{
	struct worker w;

	pin_here(0);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	worker_order(&w, UINT64_MAX / 4);
	race(w.tid, -1, race_rounds());
	kill(w.tid, SIGKILL);
	waitpid(w.tid, NULL, 0);
}

/* Both CPUs have tasks that come and go, so that the counter is in the midst of a switch. */
Test(kapi_handler, is_waited_for_among_switches)
{
	bool stop = false;
	pthread_t threads[3];
	unsigned int i;

	for (i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, run_there, &stop), 0);
	pin_here(0);
	race(KAPI_NOBODY, 1, race_rounds() / 3);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}
