// SPDX-License-Identifier: GPL-2.0-only
/*
 * Both CPUs sample all the time, and a reader takes every record apart as it comes. If
 * the reader keeps up nothing is lost and nothing is wrong; if it stops now and then, what
 * is lost is told exactly. With SAMPLING_STRESS five million records.
 */
#include "positions.h"

TestSuite(ring_race, .init = sampling_init, .fini = sampling_fini, .timeout = 3000);

#define PERIOD	1000
#define ROUNDS	2003	/* of a block: twenty samples and a bit */
#define CPUS	2

/**
 * struct writer - a thread that stays on its CPU and is sampled
 * @cpu: which.
 * @waits: it does nothing while its ring is half full, so that the reader keeps up on a
 *	slow host too.
 * @fd: its event.
 * @r: the event's ring, for the reader.
 * @ready: all this is there.
 * @stop: it ends after the block that it is at.
 * @blocks: how many it has executed.
 */
struct writer {
	pthread_t thread;
	int cpu;
	bool waits;
	size_t pages;
	int fd;
	struct ring r;
	struct positions p;
	bool ready, stop;
	uint64_t blocks;
};

static bool is_set(bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

static bool is_half_full(const struct ring *r)
{
	uint64_t tail = __atomic_load_n(&r->page->data_tail, __ATOMIC_RELAXED);

	return ring_head(r) - tail > r->size / 2;
}

static void *writer_thread(void *arg)
{
	struct writer *w = arg;

	pin_here(w->cpu);
	w->fd = event_open(w->p.attr);
	ring_map(&w->r, w->fd, w->pages);
	set(&w->ready);
	while (!is_set(&w->stop)) {
		while (w->waits && is_half_full(&w->r) && !is_set(&w->stop))
			usleep(200);
		block_run(w->fd, ROUNDS);
		w->blocks++;
	}
	return NULL;
}

static void writer_start(struct writer *w, int cpu, size_t pages, bool waits,
			 uint64_t read_format)
{
	memset(w, 0, sizeof(*w));
	w->cpu = cpu;
	w->pages = pages;
	w->waits = waits;
	w->p.attr = sampling_attr(PERIOD);
	w->p.attr.read_format = read_format;
	w->p.attr.wakeup_events = 50;
	w->p.rounds = ROUNDS;
	cr_assert_eq(pthread_create(&w->thread, NULL, writer_thread, w), 0);
	while (!is_set(&w->ready))
		usleep(1000);
}

static void wait_for_any(const struct writer *w)
{
	struct pollfd p[CPUS] = { { .fd = w[0].fd, .events = POLLIN },
				  { .fd = w[1].fd, .events = POLLIN } };

	poll(p, CPUS, 10);
}

Test(ring_race, reader_keeps_up)
{
	uint64_t wanted = is_stress() ? 5000000 : 100000;
	struct writer w[CPUS];

	for (int cpu = 0; cpu < CPUS; cpu++)
		writer_start(&w[cpu], cpu, 64, true, 0);
	while (w[0].p.n + w[1].p.n < wanted || !w[0].p.n || !w[1].p.n) {
		wait_for_any(w);
		check_samples(&w[0].p, &w[0].r);
		check_samples(&w[1].p, &w[1].r);
	}
	for (int cpu = 0; cpu < CPUS; cpu++) {
		set(&w[cpu].stop);
		pthread_join(w[cpu].thread, NULL);
		check_samples(&w[cpu].p, &w[cpu].r);
		check_end(&w[cpu].p, w[cpu].fd, w[cpu].blocks);
	}
}

/* What the reader of a ring from which records get lost knows */
struct losing {
	uint64_t next, samples, lost, reports;
};

/* Every sample is the one that must follow, after what was lost. */
static void check_losing(struct losing *l, const struct writer *w, struct ring *r)
{
	struct perf_event_header *header;
	uint64_t end = ring_head(r);
	struct sample s;

	while ((header = ring_next_before(r, end))) {
		if (header->type == PERF_RECORD_LOST) {
			l->lost += ((struct lost_record *)header)->lost;
			l->reports++;
			continue;
		}
		take_sample(&w->p.attr, header, &s);
		l->samples++;
		if (!is_witness()) /* see check_place() */
			cr_assert_eq(s.read.each[0].value,
				     (l->samples + l->lost) * PERIOD,
				     "%lu samples, %lu lost", l->samples, l->lost);
	}
}

Test(ring_race, reader_stops_now_and_then)
{
	uint64_t wanted = is_stress() ? 1000 : 30, now[2];
	struct losing l[CPUS] = { 0 };
	struct writer w[CPUS];
	unsigned int seed = 1;

	for (int cpu = 0; cpu < CPUS; cpu++)
		writer_start(&w[cpu], cpu, 1, false, READ_LOST);
	while (l[0].reports < wanted || l[1].reports < wanted) {
		usleep(rand_r(&seed) % 3000);
		for (int cpu = 0; cpu < CPUS; cpu++)
			check_losing(&l[cpu], &w[cpu], &w[cpu].r);
	}
	for (int cpu = 0; cpu < CPUS; cpu++) {
		set(&w[cpu].stop);
		pthread_join(w[cpu].thread, NULL);
		check_losing(&l[cpu], &w[cpu], &w[cpu].r);
		/* What was lost in the end no record tells any more, but the event. */
		cr_assert_eq(read(w[cpu].fd, now, sizeof(now)), (ssize_t)sizeof(now));
		cr_assert_geq(now[1], l[cpu].lost);
		cr_assert_eq(l[cpu].samples + now[1], now[0] / PERIOD, "%lu + %lu of %lu",
			     l[cpu].samples, now[1], now[0] / PERIOD);
		cr_assert_eq(now[0], w[cpu].blocks * BLOCK_LENGTH(ROUNDS));
	}
}
