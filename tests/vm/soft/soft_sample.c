// SPDX-License-Identifier: GPL-2.0-only
/*
 * Software events that are sampled: what each sample says, and how many there are. No PMU is
 * needed. All of it is true of perf's events too.
 */
#include "soft.h"

#define PAGES	40u
#define MS	1000000ull

TestSuite(soft_sample, .init = sampling_init, .fini = sampling_fini);

static struct perf_event_attr sampled(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = soft_attr(config);

	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
		PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	return attr;
}

static bool is_kernel(const struct sample *s)
{
	return (s->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/* ---- Page faults ---- */

static void check_faults(uint64_t config, uint64_t period, bool by_kernel)
{
	struct perf_event_attr attr = sampled(config, period);
	uint8_t *map = fresh_pages(PAGES);
	struct sample s;
	struct ring r;
	size_t n = 0;
	int fd;

	/* With it perf samples every one, whatever the period. */
	if (period > 1)
		attr.sample_type &= ~PERF_SAMPLE_PERIOD;
	fd = event_open(attr);
	ring_map(&r, fd, 8);
	touch_by_kernel(fresh_pages(1), 1);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	if (by_kernel)
		touch_by_kernel(map, PAGES);
	else
		touch_pages(map, PAGES);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(sampling_value(fd), PAGES);
	for (; next_sample(&attr, &r, &s); n++) {
		cr_expect_eq(s.addr, (uintptr_t)map + ((n + 1) * period - 1) * PAGE);
		cr_expect_eq(s.tid, (uint32_t)gettid());
		cr_expect_eq(s.period, period > 1 ? 0 : 1);
		cr_expect_eq(is_kernel(&s), by_kernel);
		if (!by_kernel)
			cr_expect_lt(s.ip, 1ull << 47);
	}
	cr_expect_eq(n, PAGES / period);
	ring_unmap(&r);
	close(fd);
}

Test(soft_sample, page_faults_with_their_address)
{
	check_faults(PERF_COUNT_SW_PAGE_FAULTS, 1, false);
	check_faults(PERF_COUNT_SW_PAGE_FAULTS, 7, false);
	check_faults(PERF_COUNT_SW_PAGE_FAULTS, 1, true);
}

Test(soft_sample, minor_faults_with_their_address)
{
	check_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, false);
	check_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, 5, false);
	check_faults(PERF_COUNT_SW_PAGE_FAULTS_MIN, 1, true);
}

/* Touch pages with a frame pointer that leads to memory that is not there. */
static void touch_with_frame(uint8_t *map, size_t pages, uint8_t *frame)
{
	asm volatile("push %%rbp\n"
		     "mov %[frame], %%rbp\n"
		     "1: movb $1, (%[map])\n"
		     "add $4096, %[map]\n"
		     "dec %[pages]\n"
		     "jnz 1b\n"
		     "pop %%rbp\n"
		     : [map] "+r" (map), [pages] "+r" (pages)
		     : [frame] "r" (frame) : "cc", "memory");
}

/* To tell of a page fault is a page fault, of which nobody tells. */
Test(soft_sample, a_fault_while_a_fault_is_told)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_PAGE_FAULTS, 1);
	uint8_t *map = fresh_pages(PAGES), *missing = fresh_pages(2);
	struct sample s;
	struct ring r;
	size_t n = 0;
	int fd;

	attr.sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 256;
	fd = event_open(attr);
	ring_map(&r, fd, 16);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	touch_with_frame(map, PAGES, missing + 8);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	for (; next_sample(&attr, &r, &s); n++) {
		cr_expect_eq(s.addr, (uintptr_t)map + n * PAGE);
		cr_expect_gt(s.nr_chain, 0);
	}
	cr_expect_eq(n, PAGES);
	cr_expect_eq(sampling_value(fd), PAGES);
}

Test(soft_sample, an_event_that_ends_after_some)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_PAGE_FAULTS, 3);
	uint8_t *map = fresh_pages(PAGES);
	struct ring r;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 8);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_REFRESH, 4), 0);
	touch_pages(map, PAGES);
	cr_expect_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 4);
	cr_expect_leq(sampling_value(fd), 4 * 3 + 1);
	/* And as many again */
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_REFRESH, 4), 0);
	touch_pages(fresh_pages(PAGES), PAGES);
	cr_expect_eq(ring_drain(&r, PERF_RECORD_SAMPLE), 4);
}

/* ---- Switches and migrations ---- */

Test(soft_sample, switches_one_by_one)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_CONTEXT_SWITCHES, 1);
	uint64_t n = 0, value;
	struct worker w;
	struct sample s;
	struct ring r;
	int fd;

	attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
	worker_start(&w, false);
	fd = event_open(attr, w.tid);
	ring_map(&r, fd, 16);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 30; i++)
		worker_run(&w, 1000);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	value = sampling_value(fd);
	for (; next_sample(&attr, &r, &s); n++) {
		cr_expect_eq(s.tid, (uint32_t)w.tid);
		cr_expect(is_kernel(&s));
		cr_expect_gt(s.ip, 1ull << 63);
		cr_expect_gt(s.nr_chain, 3);
	}
	cr_expect_eq(n, value);
	cr_expect_geq(n, 30);
	worker_end(&w);
}

Test(soft_sample, migrations_one_by_one)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_CPU_MIGRATIONS, 1);
	struct worker w;
	uint64_t n = 0;
	struct sample s;
	struct ring r;
	int fd;

	worker_start(&w, false);
	pin_task(w.tid, 0);
	worker_run(&w, 1000);
	fd = event_open(attr, w.tid);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 1; i <= 20; i++) {
		pin_task(w.tid, i & 1);
		worker_run(&w, 1000);
	}
	for (; next_sample(&attr, &r, &s); n++) {
		cr_expect_eq(s.tid, (uint32_t)w.tid);
		cr_expect_eq(s.cpu, (n + 1) & 1);
	}
	cr_expect_eq(n, 20);
	cr_expect_eq(sampling_value(fd), 20);
	worker_end(&w);
}

/* ---- Clocks ---- */

/* Work until there are some samples; what is read there is given back. */
static uint64_t work_for_samples(const struct perf_event_attr *attr, struct ring *r,
				 uint64_t wanted, bool in_kernel,
				 void (*check)(const struct sample *s))
{
	struct sample s;
	uint64_t n = 0;

	while (n < wanted) {
		if (in_kernel)
			syscall_loop(10000);
		else
			user_loop(100000);
		while (next_sample(attr, r, &s)) {
			check(&s);
			n++;
		}
	}
	return n;
}

static void loop_some(void)
{
	user_loop(100000);
}

static void is_mine(const struct sample *s)
{
	cr_expect_eq(s->tid, (uint32_t)gettid());
	cr_expect_eq(s->period, MS);
}

static void is_of_user(const struct sample *s)
{
	cr_expect(!is_kernel(s));
	cr_expect_lt(s->ip, 1ull << 47);
}

static void is_of_kernel(const struct sample *s)
{
	cr_expect(is_kernel(s));
	cr_expect_gt(s->ip, 1ull << 63);
}

static void check_clock(struct perf_event_attr attr, bool in_kernel,
			void (*check)(const struct sample *s))
{
	struct ring r;
	uint64_t n;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	n = work_for_samples(&attr, &r, 30, in_kernel, check);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	/* A timer comes late, but never early. */
	cr_expect_leq(n * MS, sampling_value(fd) + MS);
	ring_unmap(&r);
	close(fd);
}

Test(soft_sample, clocks_by_period_and_by_frequency)
{
	static const uint64_t configs[] = { PERF_COUNT_SW_CPU_CLOCK,
		PERF_COUNT_SW_TASK_CLOCK };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		struct perf_event_attr attr = sampled(configs[i], MS);

		check_clock(attr, false, is_mine);
		attr.freq = 1;
		attr.sample_freq = 1000;
		check_clock(attr, false, is_mine);
	}
}

Test(soft_sample, clocks_of_user_mode_or_of_the_kernel)
{
	struct perf_event_attr user = sampled(PERF_COUNT_SW_TASK_CLOCK, MS);
	struct perf_event_attr kernel = user;

	user.exclude_kernel = 1;
	check_clock(user, true, is_of_user);
	kernel.exclude_user = 1;
	check_clock(kernel, true, is_of_kernel);
}

/* perf tells of the first period for ever. */
static void is_mine_by_now(const struct sample *s)
{
	cr_expect_eq(s->tid, (uint32_t)gettid());
	cr_expect(s->period == MS || is_witness());
}

/* The timer of the period before is not waited for. */
Test(soft_sample, clocks_get_another_period_while_they_run)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_TASK_CLOCK, 1000000 * MS);
	uint64_t period = MS;
	struct ring r;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	user_loop(1000);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &period), 0);
	work_for_samples(&attr, &r, 5, false, is_mine_by_now);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	ring_unmap(&r);
}

/* Each child has a timer of its own. */
static void check_inherited_clock(uint64_t config)
{
	struct perf_event_attr attr = sampled(config, MS);
	struct sample s;
	uint64_t n = 0;
	struct ring r;
	pid_t child;
	int fd;

	attr.inherit = 1;
	attr.exclude_kernel = 1;
	pin_here(0);
	fd = event_open(attr, 0, 0);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	child = raw_task(loop_some);
	pin_here(1); /* where the event of this task does not count */
	while (n < 30) {
		while (next_sample(&attr, &r, &s)) {
			cr_expect(s.tid == (uint32_t)child || s.tid == (uint32_t)gettid());
			cr_expect_eq(s.cpu, 0);
			cr_expect_eq(s.period, MS);
			cr_expect(!is_kernel(&s));
			n += s.tid == (uint32_t)child;
		}
		usleep(1000);
	}
	raw_reap(child);
	cr_expect_geq(sampling_value(fd) + MS, n * MS);
	ring_unmap(&r);
	close(fd);
}

Test(soft_sample, clocks_of_children)
{
	check_inherited_clock(PERF_COUNT_SW_CPU_CLOCK);
	check_inherited_clock(PERF_COUNT_SW_TASK_CLOCK);
}

/* Nothing is shorter than 10 us. */
Test(soft_sample, clocks_have_a_shortest_period)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_CPU_CLOCK, 1);
	uint64_t n = 0, value;
	struct ring r;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	while (n < 10) {
		user_loop(100000);
		n += ring_drain(&r, PERF_RECORD_SAMPLE);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	n += ring_drain(&r, PERF_RECORD_SAMPLE);
	value = sampling_value(fd);
	cr_expect_leq((n - 1) * 10000, value);
}

/* While nobody runs there are samples of the idle task, if these are wanted. */
static uint64_t idle_samples(bool exclude_idle, uint64_t until)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_CPU_CLOCK, MS);
	uint64_t n = 0, idle = 0;
	struct sample s;
	struct ring r;
	int fd;

	attr.exclude_idle = exclude_idle;
	fd = event_open(attr, -1, 1);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 100 && n < until; i++) {
		pin_here(1);
		user_loop(3000000);
		pin_here(0);
		sleep_ms(30);
		while (next_sample(&attr, &r, &s)) {
			n += s.tid || !exclude_idle;
			idle += !s.tid;
		}
	}
	close(fd);
	return idle;
}

Test(soft_sample, clocks_of_a_cpu_while_it_is_idle)
{
	cr_expect_gt(idle_samples(false, 50), 0);
	cr_expect_eq(idle_samples(true, 20), 0);
}

/* ---- Too many ---- */

Test(soft_sample, too_many_are_throttled)
{
	struct perf_event_attr attr = sampled(PERF_COUNT_SW_TASK_CLOCK, 20000);
	struct perf_event_header *header;
	uint64_t throttled = 0, unthrottled = 0;
	struct ring r;
	int fd;

	set_max_rate(2000);
	fd = event_open(attr);
	ring_map(&r, fd, 16);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	while (throttled < 2 || unthrottled < 2) {
		user_loop(100000);
		while ((header = ring_next(&r))) {
			throttled += header->type == PERF_RECORD_THROTTLE;
			unthrottled += header->type == PERF_RECORD_UNTHROTTLE;
		}
	}
}
