// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sampling by frequency, and the limit of it: throttling. Both are about time: these tests
 * run where the guest's clock counts instructions, so that a slow host changes nothing.
 */
#include "records.h"

TestSuite(sample_freq, .init = sampling_init, .fini = sampling_fini);

#define TICK_NS	4000000ull	/* both kernels have 250 a second */

/* One branch in @length instructions, for @ns; a few thousand instructions more */
static void branch_loop(unsigned int length, uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		uint64_t n = 20000 / length;

		if (length == 10)
			asm volatile("1:\n\t.rept 8\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
				     : "+r" (n) : : "cc");
		else
			asm volatile("1:\n\t.rept 98\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
				     : "+r" (n) : : "cc");
	}
}

static struct perf_event_attr freq_attr(uint64_t config, uint64_t freq)
{
	struct perf_event_attr attr = sampling_attr(freq);

	attr.config = config;
	attr.freq = 1;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			   PERF_FORMAT_TOTAL_TIME_RUNNING;
	return attr;
}

/**
 * struct piece - what has been sampled in a piece of time
 * @samples: after the first.
 * @events: the sum of their periods.
 * @counted: by the event, between the first and the last.
 * @ns: for which the event ran in between; others may have had the CPU meanwhile.
 */
struct piece {
	uint64_t samples, events, counted, ns;
};

static struct piece take_piece(const struct perf_event_attr *attr, struct ring *r)
{
	struct perf_event_header *header;
	struct sample_read first = { 0 };
	struct piece p = { 0 };
	struct sample s;

	while ((header = ring_next(r))) {
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
		take_sample(attr, header, &s);
		cr_assert_gt(s.period, 0);
		if (!first.nr) {
			first = s.read;
			continue;
		}
		p.samples++;
		p.events += s.period;
		p.ns = s.read.running - first.running;
		p.counted = s.read.each[0].value - first.each[0].value;
	}
	return p;
}

/* The event is disabled while it is read, or it would sample that too. */
static struct piece measure(int fd, const struct perf_event_attr *attr, struct ring *r,
			    unsigned int length, uint64_t ns)
{
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(length, ns);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	return take_piece(attr, r);
}

static void check_rate(const struct piece *p, uint64_t freq, const char *what)
{
	double rate = p->ns ? p->samples * 1e9 / p->ns : 0;

	cr_expect(rate > freq * 0.9 && rate < freq * 1.1, "%s: %.0f samples/s of %lu", what,
		  rate, freq);
	/* The periods that samples tell of are what was counted between them. */
	cr_expect(p->events > p->counted * 0.98 && p->events < p->counted * 1.02,
		  "%s: periods of %lu for %lu events", what, p->events, p->counted);
}

static void check_steady(uint64_t config, uint64_t freq, unsigned int length)
{
	struct perf_event_attr attr = freq_attr(config, freq);
	AUTO_CLOSE int fd = event_open(attr);
	struct piece p;
	struct ring r;
	char what[64];

	snprintf(what, sizeof(what), "event %lu at %lu, length %u", config, freq, length);
	ring_map(&r, fd, 256);
	measure(fd, &attr, &r, length, 20 * TICK_NS);
	p = measure(fd, &attr, &r, length, 300 * 1000000000ull / freq);
	check_rate(&p, freq, what);
	ring_unmap(&r);
}

Test(sample_freq, within_a_tenth_of_what_was_asked)
{
	static const uint64_t rates[] = { 1000, 4000, 9999, 20000 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(rates); i++) {
		check_steady(PERF_COUNT_HW_INSTRUCTIONS, rates[i], 10);
		check_steady(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, rates[i], 100);
	}
}

/* Ten times more events, ten times less: ten ticks later the rate is right again. */
Test(sample_freq, follows_a_tenfold_change)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 5000);
	int fd = event_open(attr);
	struct piece p;
	struct ring r;

	ring_map(&r, fd, 256);
	for (int i = 0; i < 6; i++) {
		unsigned int length = i % 2 ? 10 : 100;

		measure(fd, &attr, &r, length, (i ? 10 : 20) * TICK_NS);
		p = measure(fd, &attr, &r, length, 25 * TICK_NS);
		check_rate(&p, 5000, i % 2 ? "more" : "less");
	}
}

/* The same where the overflow after a fall comes later than a tick, and much later */
Test(sample_freq, follows_a_fall_at_a_low_frequency)
{
	static const uint64_t rates[] = { 100, 250, 1000 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(rates); i++) {
		struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, rates[i]);
		AUTO_CLOSE int fd = event_open(attr);
		const uint64_t period_ns = 1000000000 / rates[i];
		struct piece p;
		struct ring r;

		ring_map(&r, fd, 64);
		measure(fd, &attr, &r, 10, 20 * period_ns);
		measure(fd, &attr, &r, 100, 40 * period_ns);
		p = measure(fd, &attr, &r, 100, 60 * period_ns);
		check_rate(&p, rates[i], "after the fall");
		ring_unmap(&r);
	}
}

/* One branch in ten thousand instructions */
static void rare_loop(uint64_t ns)
{
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + ns;

	while (clock_ns(CLOCK_MONOTONIC) < end) {
		uint64_t n = 100;

		asm volatile("1:\n\t.rept 9998\n\tnop\n\t.endr\n\tdec %0\n\tjnz 1b"
			     : "+r" (n) : : "cc");
	}
}

/*
 * A CPU is idle, and has no tick then; when it is busy again it is looked at, although the next
 * overflow would come a second later.
 */
Test(sample_freq, follows_a_fall_of_a_cpu_that_was_idle)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 1000);
	struct ring r;
	uint64_t n;
	int fd;

	sleep_ms(2500); /* until hooks that others had set are gone */
	fd = event_open(attr, -1, 0);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(10, 50 * TICK_NS);
	sleep_ms(100);
	ring_drain(&r, 0);
	rare_loop(125 * TICK_NS);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	n = ring_drain(&r, PERF_RECORD_SAMPLE);
	cr_expect_gt(n, 100, "%lu samples in half a second", n);
}

/* One that is busy for a tick or two now and then has its samples as long as that lasts. */
Test(sample_freq, of_a_cpu_that_is_idle_mostly)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 99);
	uint64_t first = 0, last = 0;
	struct ring r;
	int fd;

	fd = event_open(attr, -1, 0);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(10, 100 * TICK_NS);
	for (int i = 0; i < 400; i++) {
		if (i == 0 || i == 100)
			ring_drain(&r, 0);
		branch_loop(10, (4 + i % 5) * 1000000);
		sleep_ms(54);
		if (i == 99)
			first = ring_drain(&r, PERF_RECORD_SAMPLE);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	last = ring_drain(&r, PERF_RECORD_SAMPLE);
	printf("%lu samples in the first quarter, %lu then\n", first, last);
	/* 60 are right for each 600 ms in which it is busy */
	cr_expect_gt(first, 30);
	cr_expect_gt(last, 3 * 30);
	cr_expect_lt(last, 3 * 240);
}

/* The same of one that is never busy for as long as a tick, after a fall */
Test(sample_freq, follows_a_fall_of_a_cpu_that_is_idle_mostly)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 99);
	struct ring r;
	uint64_t n;
	int fd;

	fd = event_open(attr, -1, 0);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(10, 100 * TICK_NS);
	for (int i = 0; i < 300; i++) {
		if (i == 100)
			ring_drain(&r, 0);
		rare_loop(3000000);
		sleep_ms(47);
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	n = ring_drain(&r, PERF_RECORD_SAMPLE);
	printf("%lu samples\n", n);
	/* 60 are right for 200 times 3 ms, 140 if each has a tick of idle time; a quarter more may be. */
	cr_expect_gt(n, 40);
	cr_expect_lt(n, 175);
}

/* A task that often sleeps is sampled at its rate while it runs. */
Test(sample_freq, of_a_task_that_sleeps)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_INSTRUCTIONS, 10000);
	uint64_t run = 0, before, n;
	struct ring r;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (int i = 0; i < 60; i++) {
		before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		branch_loop(10, TICK_NS);
		if (i == 20) {
			ring_drain(&r, 0);
			run = 0;
		}
		run += clock_ns(CLOCK_THREAD_CPUTIME_ID) - before;
		sleep_ms(3);
	}
	n = ring_drain(&r, PERF_RECORD_SAMPLE);
	cr_expect(n > run * 0.75 / 100000 && n < run * 1.25 / 100000,
		  "%lu samples in %lu ns", n, run);
}

/* A call that is long in the kernel, where nothing of the event is counted */
static void call_long(void)
{
	static char bytes[1 << 25];

	cr_assert_eq(syscall(SYS_getrandom, bytes, sizeof(bytes), 0), sizeof(bytes));
}

/* How long it counts nothing does not matter: its period is right for when it does. */
Test(sample_freq, of_a_task_that_is_in_the_kernel)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_INSTRUCTIONS, 1000);
	uint64_t least = UINT64_MAX, usual = 0, period = 0, last = 0;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 256);
	measure(fd, &attr, &r, 10, 50 * TICK_NS);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(10, 10 * TICK_NS);
	call_long();
	branch_loop(10, 2 * TICK_NS);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		if (last && s.time - last > 20 * TICK_NS)
			usual = period;
		if (usual && s.period < least)
			least = s.period;
		period = s.period;
		last = s.time;
	}
	printf("period %lu, then %lu\n", usual, least);
	cr_assert_gt(usual, 0);
	/* What is counted on the way in and out makes it a little shorter. */
	cr_expect_gt(least, usual / 8);
}

Test(sample_freq, period_of_it_is_a_frequency)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_INSTRUCTIONS, 1000);
	int fd = event_open(attr);
	uint64_t freq = 8000;
	struct piece p;
	struct ring r;

	ring_map(&r, fd, 256);
	measure(fd, &attr, &r, 10, 20 * TICK_NS);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &freq), 0, "%m");
	measure(fd, &attr, &r, 10, 10 * TICK_NS);
	p = measure(fd, &attr, &r, 10, 20 * TICK_NS);
	check_rate(&p, freq, "changed");
}

Test(sample_freq, above_the_limit_is_refused)
{
	struct perf_event_attr attr = freq_attr(PERF_COUNT_HW_INSTRUCTIONS, 5001);
	uint64_t freq = 5001;
	int fd;

	set_max_rate(5000);
	cr_assert_eq(event_try(attr), -EINVAL);
	attr.sample_freq = 1ull << 62;
	cr_assert_eq(event_try(attr), -EINVAL);
	attr.sample_freq = 5000;
	fd = event_open(attr);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &freq), -1);
	cr_assert_eq(errno, EINVAL);
	freq = 0;
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PERIOD, &freq), -1);
	cr_assert_eq(errno, EINVAL);
}

/* ---- Throttling ---- */

/**
 * struct throttling - what happened to an event that samples too often
 * @throttled: it is, now.
 * @times: how often.
 * @since: samples since it was let go.
 * @most: of @since.
 * @samples: all.
 * @at: when it was stopped.
 * @longest: that it was stopped, ns.
 */
struct throttling {
	bool throttled;
	uint64_t times, since, most, samples, at, longest;
};

static void take_throttling(struct throttling *t, const struct perf_event_attr *attr,
			    struct ring *r, uint64_t id)
{
	struct perf_event_header *header;
	struct throttle_record *record;
	struct sample s;

	while ((header = ring_next(r))) {
		if (header->type == PERF_RECORD_SAMPLE) {
			t->samples++;
			t->since++;
			t->most = t->since > t->most ? t->since : t->most;
			continue;
		}
		record = (struct throttle_record *)header;
		take_sample_id(attr, header, sizeof(*record), &s);
		cr_assert_eq(record->id, id);
		cr_assert_eq(record->stream_id, id);
		cr_assert(record->time <= s.time && s.time - record->time < TICK_NS);
		if (header->type == PERF_RECORD_THROTTLE) {
			cr_assert(!t->throttled, "throttled twice");
			t->times++;
			t->at = record->time;
		} else {
			cr_assert_eq(header->type, PERF_RECORD_UNTHROTTLE);
			cr_assert(t->throttled, "not throttled");
			t->since = 0;
			if (record->time - t->at > t->longest)
				t->longest = record->time - t->at;
		}
		t->throttled = header->type == PERF_RECORD_THROTTLE;
	}
}

Test(sample_freq, throttled_until_the_next_tick)
{
	struct perf_event_attr attr = sampling_attr(1000);
	struct throttling t = { 0 };
	struct ring r;
	int fd;

	set_max_rate(10000); /* 40 a tick */
	attr.sample_id_all = 1;
	fd = event_open(attr);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(10, 100 * TICK_NS);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	take_throttling(&t, &attr, &r, event_id(fd));
	/*
	 * A hundred ticks; a switch of tasks in a new tick may let it go a little before. If the
	 * module's ticks are late in the kernel's, every other one finds it throttled in the same.
	 */
	cr_assert(t.times >= 45 && t.times <= 110, "%lu times", t.times);
	cr_assert_leq(t.samples, 4400, "%lu samples where 4000 are allowed", t.samples);
	/* If others had the CPU at a tick, what came before does not count any more. */
	cr_assert(t.most >= 35 && t.most <= 84, "%lu samples", t.most);
	cr_assert(t.longest < 2 * TICK_NS, "%lu ns", t.longest);
	/* While it is stopped it does not count: no overflow is without its sample. */
	cr_assert_eq(sampling_value(fd) / 1000, t.samples, "%lu of %lu", t.samples,
		     sampling_value(fd));
}

Test(sample_freq, not_throttled_below_the_limit)
{
	struct perf_event_attr attr = sampling_attr(150000);
	struct throttling t = { 0 };
	struct ring r;
	int fd;

	attr.sample_id_all = 1;
	fd = event_open(attr);
	set_max_rate(10000);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	branch_loop(10, 50 * TICK_NS);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	take_throttling(&t, &attr, &r, event_id(fd));
	cr_assert_eq(t.times, 0);
	cr_assert_gt(t.samples, 1000);
}
