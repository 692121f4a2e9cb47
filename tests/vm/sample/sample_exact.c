// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples come where they should: the k-th after exactly k * period events, at the very
 * instruction, whatever happens to the task in between.
 */
#include "positions.h"

#include <sys/resource.h>
#include <sys/syscall.h>

TestSuite(sample_exact, .init = sampling_init, .fini = sampling_fini);

static void check_period(uint64_t period, uint64_t rounds)
{
	struct positions p = { .attr = sampling_attr(period), .rounds = rounds };
	AUTO_CLOSE int fd = event_open(p.attr);
	struct ring r;

	ring_map(&r, fd, 64);
	block_run(fd, rounds);
	check_samples(&p, &r);
	check_end(&p, fd, 1);
	ring_unmap(&r);
}

Test(sample_exact, nth_instruction_for_any_n)
{
	static const uint32_t periods[] = { 1, 2, 3, 4, 7, 9, 10, 11, 97, 1000, 4096,
		65537, 1000003 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(periods); i++)
		check_period(periods[i], 20 + periods[i] * 20);
}

/* The last one comes after the block's last instruction but one. */
Test(sample_exact, last_sample_before_the_event_is_disabled)
{
	for (uint64_t rounds = 1; rounds <= 20; rounds++)
		check_period(BLOCK_LENGTH(rounds) - 1, rounds);
}

/* One more, and there is none. */
Test(sample_exact, none_if_the_period_is_not_reached)
{
	for (uint64_t rounds = 1; rounds <= 20; rounds++)
		check_period(BLOCK_LENGTH(rounds) + 1, rounds);
}

/* What is left of a period is not forgotten while the event is disabled. */
Test(sample_exact, period_goes_on_after_the_event_was_disabled)
{
	struct positions p = { .attr = sampling_attr(1009), .rounds = 13 };
	int fd = event_open(p.attr);
	struct ring r;

	ring_map(&r, fd, 64);
	for (int i = 0; i < 1000; i++)
		block_run(fd, p.rounds);
	check_samples(&p, &r);
	check_end(&p, fd, 1000);
}

static void *rival(void *stop)
{
	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED))
		user_loop(1000);
	return NULL;
}

Test(sample_exact, others_run_in_between)
{
	struct positions p = { .attr = sampling_attr(10007), .rounds = 500000 };
	int fd = event_open(p.attr);
	bool stop = false;
	pthread_t thread;
	struct rusage use;
	uint64_t blocks = 0;
	struct ring r;

	pin_here(0);
	cr_assert_eq(pthread_create(&thread, NULL, rival, &stop), 0);
	ring_map(&r, fd, 64);
	do {
		block_run(fd, p.rounds);
		blocks++;
		check_samples(&p, &r);
		cr_assert_eq(getrusage(RUSAGE_THREAD, &use), 0);
	} while (use.ru_nivcsw < 20);
	check_end(&p, fd, blocks);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

struct mover {
	pid_t tid;
	bool stop;
};

static void *move_about(void *arg)
{
	struct mover *m = arg;

	for (int cpu = 0; !__atomic_load_n(&m->stop, __ATOMIC_RELAXED); cpu = !cpu) {
		pin_task(m->tid, cpu);
		usleep(500);
	}
	return NULL;
}

Test(sample_exact, task_moves_between_cpus)
{
	struct positions p = { .attr = sampling_attr(5003), .rounds = 200000 };
	struct mover m = { .tid = gettid() };
	int fd = event_open(p.attr);
	uint64_t blocks = 0;
	pthread_t thread;
	struct ring r;

	ring_map(&r, fd, 128);
	cr_assert_eq(pthread_create(&thread, NULL, move_about, &m), 0);
	while (p.moves < 50) {
		block_run(fd, p.rounds);
		blocks++;
		check_samples(&p, &r);
	}
	check_end(&p, fd, blocks);
	__atomic_store_n(&m.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Two of them overflow at the same instruction each time, others now and then. */
Test(sample_exact, several_events_overflow_at_once)
{
	static const uint32_t periods[AT_ONCE] = { 1000, 1000, 500, 3, 1009 };
	const unsigned int n = events_at_once();
	struct positions p[n];
	struct ring r[n];
	int fds[n];

	for (unsigned int i = 0; i < n; i++) {
		p[i] = (struct positions){ .attr = sampling_attr(periods[i]),
					   .rounds = 3000 };
		p[i].attr.disabled = !i;
		fds[i] = event_open(p[i].attr, .group = i ? fds[0] : -1);
		ring_map(&r[i], fds[i], 256);
	}
	block_run(fds[0], p[0].rounds);
	for (unsigned int i = 0; i < n; i++) {
		check_samples(&p[i], &r[i]);
		check_end(&p[i], fds[i], 1);
		close(fds[i]);
	}
}

/* More events than counters: each sees a part, and of that every n-th. */
Test(sample_exact, events_take_turns)
{
	struct perf_event_attr attr = sampling_attr(20011);
	unsigned int few = PMU_TOO_MANY;
	struct { struct ring r; int fd; uint64_t n; } each[PMU_TOO_MANY];

	attr.disabled = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	for (unsigned int i = 0; i < PMU_TOO_MANY; i++) {
		each[i].fd = event_open(attr);
		each[i].n = 0;
		ring_map(&each[i].r, each[i].fd, 16);
	}
	while (few) {
		user_loop(500000);
		few = 0;
		for (unsigned int i = 0; i < PMU_TOO_MANY; i++) {
			struct perf_event_header *header;
			struct counts c;
			struct sample s;
			uint64_t at;

			while ((header = ring_next(&each[i].r))) {
				take_sample(&attr, header, &s);
				at = ++each[i].n * attr.sample_period;
				if (is_witness() && s.read.each[0].value == at + 1)
					at++; /* see check_place() */
				cr_assert_eq(s.read.each[0].value, at);
			}
			c = event_read(each[i].fd);
			few += each[i].n < 100 || c.running == c.enabled;
		}
	}
}

/* ---- Other periods ---- */

/* Many instructions in a short time: an emulator executes them all as one piece. */
static void nops_16k(uint64_t times)
{
	asm volatile("1:\n\t.rept 16382\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
		     : "+r" (times) : : "cc");
}

static void run_enabled(int fd, uint64_t instructions)
{
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	nops_16k(instructions / 16384);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
}

/* More than a counter can be set to if it is written with 32 bits */
Test(sample_exact, period_above_31_bits, .timeout = 300)
{
	static const uint64_t periods[] = { (1ull << 31) + 12345, (1ull << 32) + 54321 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(periods); i++) {
		struct perf_event_attr attr = sampling_attr(periods[i]);
		AUTO_CLOSE int fd = event_open(attr);
		struct perf_event_header *header;
		struct sample s;
		struct ring r;

		ring_map(&r, fd, 1);
		run_enabled(fd, periods[i] - 100000);
		cr_assert_null(ring_next(&r), "%lu", periods[i]);
		run_enabled(fd, 200000);
		header = ring_next(&r);
		cr_assert_not_null(header, "%lu", periods[i]);
		take_sample(&attr, header, &s);
		cr_assert_eq(s.read.each[0].value, periods[i]);
		cr_assert_eq(s.period, periods[i]);
		cr_assert_null(ring_next(&r));
	}
}

Test(sample_exact, longest_period)
{
	struct perf_event_attr attr = sampling_attr((1ull << 63) - 1);
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 1);
	block_run(fd, 1000);
	cr_assert_eq(sampling_value(fd), BLOCK_LENGTH(1000));
	cr_assert_null(ring_next(&r));
}

static int set_period(int fd, uint64_t period)
{
	return ioctl(fd, PERF_EVENT_IOC_PERIOD, &period) ? -errno : 0;
}

/* The new one begins at once. */
Test(sample_exact, period_changes_between_blocks)
{
	struct perf_event_attr attr = sampling_attr(1000);
	const uint64_t length = BLOCK_LENGTH(1234);
	int fd = event_open(attr);
	struct perf_event_header *header;
	uint64_t n = 0, at;
	struct sample s;
	struct ring r;

	ring_map(&r, fd, 8);
	block_run(fd, 1234);
	cr_assert_eq(ring_drain(&r, PERF_RECORD_SAMPLE), length / 1000);
	cr_assert_eq(set_period(fd, 77), 0, "%m");
	block_run(fd, 1234);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		at = ++n * 77;
		cr_assert_eq(s.read.each[0].value, length + at);
		cr_assert_eq(s.ip, block_ip(at, 1234));
		cr_assert_eq(s.period, 77);
	}
	cr_assert_eq(n, length / 77);
}

Test(sample_exact, period_changes_while_the_event_counts)
{
	struct perf_event_attr attr = sampling_attr(1ull << 40);
	int fd = event_open(attr);
	uint64_t before, after, first;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;

	ring_map(&r, fd, 1);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (uint64_t period = 20000; period < 30000; period += 1000) {
		before = sampling_value(fd);
		cr_assert_eq(set_period(fd, period), 0, "%m");
		after = sampling_value(fd);
		user_loop(period);
		cr_assert_eq(set_period(fd, 1ull << 40), 0, "%m");
		header = ring_next(&r);
		cr_assert_not_null(header);
		take_sample(&attr, header, &s);
		first = s.read.each[0].value - period;
		cr_assert(first >= before && first <= after, "%lu: %lu to %lu", first,
			  before, after);
		cr_assert_eq(s.period, period);
		ring_drain(&r, 0);
	}
}

/* ---- Which instructions ---- */

static bool is_kernel_address(uint64_t ip)
{
	return (int64_t)ip < 0;
}

/*
 * System calls in an order without a period: with one, samples could come at the same few
 * of their instructions for ever.
 */
static void mixed_syscalls(unsigned int n)
{
	static uint32_t state = 1;

	while (n--) {
		state = state * 1664525 + 1013904223;
		if (state >> 31)
			syscall_loop(1);
		else
			syscall(SYS_close, -1);
	}
}

/*
 * Samples of system calls, of which some are in user mode, most in the kernel. The period
 * is longer than a debug kernel's way out of an NMI: else there would be nothing but NMIs.
 */
static void check_levels(bool user, bool kernel)
{
	struct perf_event_attr attr = sampling_attr(20011);
	uint64_t in_user = 0, in_kernel = 0;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fd;

	attr.exclude_user = !user;
	attr.exclude_kernel = !kernel;
	fd = event_open(attr);
	ring_map(&r, fd, 128);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 200; i++) {
		mixed_syscalls(100);
		user_loop(10000);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		in_user += s.misc == PERF_RECORD_MISC_USER;
		in_kernel += s.misc == PERF_RECORD_MISC_KERNEL;
		/* Newer perf says so little of one that has come after the system call began. */
		if (is_witness() && !kernel && !s.ip)
			continue;
		cr_assert_eq(is_kernel_address(s.ip), s.misc == PERF_RECORD_MISC_KERNEL,
			     "%#lx with misc %u", s.ip, s.misc);
	}
	/* The last instruction of the kernel leads to user mode. */
	if (user)
		cr_assert_gt(in_user, 0);
	else
		cr_assert_lt(in_user, in_kernel / 20);
	if (kernel)
		cr_assert_gt(in_kernel, 0);
	else if (!is_witness())
		cr_assert_eq(in_kernel, 0, "%lu samples", in_kernel);
	close(fd);
}

Test(sample_exact, user_mode_only)
{
	check_levels(true, false);
}

Test(sample_exact, kernel_only)
{
	check_levels(false, true);
}

Test(sample_exact, user_mode_and_kernel)
{
	check_levels(true, true);
}
