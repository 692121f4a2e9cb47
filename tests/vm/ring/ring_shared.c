// SPDX-License-Identifier: GPL-2.0-only
/*
 * One ring that both CPUs write, in whatever they are doing: no record is ever half
 * written, none is missing, each is told lost or found. Perf's rings cannot do that.
 */
#include "positions.h"

TestSuite(ring_shared, .init = sampling_init, .fini = sampling_fini, .timeout = 3000);

#define PERIOD	1000
#define CPUS	2
#define SOURCES	(2 * CPUS)

/* Sizes of records differ by event, so that they wrap at any place. The later ones are of
 * the kernel too, where sampling itself is counted in part: with longer periods.
 */
static struct perf_event_attr shared_attr(int n)
{
	struct perf_event_attr attr = sampling_attr((n < CPUS ? PERIOD : 10 * PERIOD) + n);

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ | PERF_SAMPLE_CPU |
			   (n ? PERF_SAMPLE_TIME | PERF_SAMPLE_TID : 0);
	attr.exclude_kernel = n < CPUS;
	return attr;
}

/**
 * struct source - an event of one CPU that writes into the common ring
 * @attr: its own.
 * @id: what its records say.
 * @last: the count at its last sample.
 * @samples: of its own.
 */
struct source {
	struct perf_event_attr attr;
	int fd;
	uint64_t id, last, samples;
};

struct sources {
	struct source each[SOURCES];
	struct ring r;
	uint64_t lost, reports;
	pthread_t threads[CPUS];
	bool stop;
};

static void *busy_here(void *arg)
{
	struct sources *all = arg;

	while (!__atomic_load_n(&all->stop, __ATOMIC_RELAXED)) {
		user_loop(2000);
		syscall_loop(10);
	}
	return NULL;
}

static void busy_start_all(struct sources *all)
{
	cpu_set_t set;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
		cr_assert_eq(pthread_create(&all->threads[cpu], NULL, busy_here, all), 0);
		cr_assert_eq(pthread_setaffinity_np(all->threads[cpu], sizeof(set), &set),
			     0);
	}
}

static void busy_end_all(struct sources *all)
{
	__atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
	for (int cpu = 0; cpu < CPUS; cpu++)
		pthread_join(all->threads[cpu], NULL);
}

/* Two events for each CPU, one of them of the kernel too: NMIs in NMIs' neighbourhood */
static void sources_start(struct sources *all, size_t pages)
{
	memset(all, 0, sizeof(*all));
	for (int i = 0; i < SOURCES; i++) {
		struct source *s = &all->each[i];

		s->attr = shared_attr(i);
		s->attr.read_format = READ_LOST;
		s->fd = event_open(s->attr, -1, i % CPUS);
		s->id = event_id(s->fd);
		if (!i)
			ring_map(&all->r, s->fd, pages);
		else
			cr_assert_eq(ioctl(s->fd, PERF_EVENT_IOC_SET_OUTPUT,
					   (long)all->each[0].fd), 0, "%m");
	}
	for (int i = 0; i < SOURCES; i++)
		event_ioctl(all->each[i].fd, PERF_EVENT_IOC_ENABLE);
	busy_start_all(all);
}

static struct source *source_of(struct sources *all, const uint64_t *record)
{
	for (int i = 0; i < SOURCES; i++)
		if (all->each[i].id == record[1]) /* IDENTIFIER is first */
			return &all->each[i];
	return NULL;
}

static void take_shared(struct sources *all)
{
	struct perf_event_header *header;
	uint64_t end = ring_head(&all->r);
	struct sample s;

	while ((header = ring_next_before(&all->r, end))) {
		struct source *source;

		if (header->type == PERF_RECORD_LOST) {
			all->lost += ((struct lost_record *)header)->lost;
			all->reports++;
			continue;
		}
		source = source_of(all, (const uint64_t *)header);
		cr_assert_not_null(source, "no event of id %#lx",
				   ((uint64_t *)header)[1]);
		take_sample(&source->attr, header, &s);
		cr_assert_eq(s.cpu, (source - all->each) % CPUS);
		cr_assert_gt(s.read.each[0].value, source->last);
		source->last = s.read.each[0].value;
		source->samples++;
	}
}

static uint64_t samples_of(const struct sources *all)
{
	uint64_t n = 0;

	for (int i = 0; i < SOURCES; i++)
		n += all->each[i].samples;
	return n;
}

static uint64_t fewest_of(const struct sources *all)
{
	uint64_t n = UINT64_MAX;

	for (int i = 0; i < SOURCES; i++)
		n = all->each[i].samples < n ? all->each[i].samples : n;
	return n;
}

/* Each event's own samples and losses are all its overflows. */
static void sources_end(struct sources *all)
{
	uint64_t now[2], lost = 0;

	for (int i = 0; i < SOURCES; i++)
		event_ioctl(all->each[i].fd, PERF_EVENT_IOC_DISABLE);
	busy_end_all(all);
	take_shared(all);
	for (int i = 0; i < SOURCES; i++) {
		struct source *s = &all->each[i];

		cr_assert_eq(read(s->fd, now, sizeof(now)), (ssize_t)sizeof(now));
		lost += now[1];
		/* A counter of the kernel goes on for some instructions after each
		 * overflow: only in user mode the quotient is exact.
		 */
		if (s->attr.exclude_kernel)
			cr_assert_eq(s->samples + now[1], now[0] / s->attr.sample_period,
				     "event %d: %lu + %lu of %lu", i, s->samples, now[1],
				     now[0] / s->attr.sample_period);
	}
	cr_assert_geq(lost, all->lost);
	for (int i = SOURCES - 1; i >= 0; i--)
		close(all->each[i].fd);
	ring_unmap(&all->r);
}

/* The reader needs CPU time itself, so that some get lost. */
Test(ring_shared, reader_reads_all_the_time)
{
	uint64_t wanted = is_stress() ? 5000000 : 20000;
	struct sources all;

	sources_start(&all, 512);
	while (samples_of(&all) < wanted || fewest_of(&all) < 50) {
		take_shared(&all);
		usleep(100);
	}
	sources_end(&all);
}

Test(ring_shared, reader_stops_now_and_then)
{
	uint64_t wanted = is_stress() ? 2000 : 50;
	unsigned int seed = 1;
	struct sources all;

	sources_start(&all, 1);
	while (all.reports < wanted || fewest_of(&all) < 50) {
		usleep(rand_r(&seed) % 3000);
		take_shared(&all);
	}
	cr_assert_gt(all.lost, 0);
	sources_end(&all);
}

/* The newest records of both CPUs, from the head on; while paused nothing moves. */
static void check_snapshot(struct sources *all)
{
	uint64_t head = ring_head(&all->r), at = head, newest[SOURCES] = { 0 };
	uint64_t record[128];
	struct perf_event_header *header = (void *)record;
	struct source *source;
	struct sample s;
	int which;

	for (;;) {
		ring_copy(&all->r, header, at, sizeof(*header));
		if (at == 0 || at + header->size - head > all->r.size)
			break;
		cr_assert_leq(header->size, sizeof(record));
		ring_copy(&all->r, record, at, header->size);
		at += header->size;
		if (header->type == PERF_RECORD_LOST)
			continue;
		source = source_of(all, record);
		cr_assert_not_null(source, "no event of id %#lx", record[1]);
		take_sample(&source->attr, header, &s);
		which = source - all->each;
		cr_assert_eq(s.cpu, which % CPUS);
		if (newest[which])
			cr_assert_lt(s.read.each[0].value, newest[which]);
		newest[which] = s.read.each[0].value;
		source->samples++;
	}
	cr_assert_eq(ring_head(&all->r), head, "it moved while it was paused");
}

Test(ring_shared, snapshots)
{
	int snapshots = is_stress() ? 5000 : 100;
	unsigned int seed = 1;
	struct sources all;

	memset(&all, 0, sizeof(all));
	for (int i = 0; i < SOURCES; i++) {
		struct source *s = &all.each[i];

		s->attr = shared_attr(i);
		s->attr.write_backward = 1;
		s->fd = event_open(s->attr, -1, i % CPUS);
		s->id = event_id(s->fd);
		if (!i)
			cr_assert_eq(ring_try_map(&all.r, s->fd, 2, PROT_READ), 0);
		else
			cr_assert_eq(ioctl(s->fd, PERF_EVENT_IOC_SET_OUTPUT,
					   (long)all.each[0].fd), 0, "%m");
		event_ioctl(s->fd, PERF_EVENT_IOC_ENABLE);
	}
	busy_start_all(&all);
	for (int i = 0; i < snapshots || fewest_of(&all) < 10; i++) {
		usleep(rand_r(&seed) % 2000);
		cr_assert_eq(ioctl(all.each[0].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), 0);
		check_snapshot(&all);
		cr_assert_eq(ioctl(all.each[0].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0), 0);
	}
	busy_end_all(&all);
}

/* The event of all CPUs has one ring for all. */
Test(ring_shared, event_of_all_cpus)
{
	struct perf_event_attr attr = shared_attr(1);
	uint64_t samples[CPUS] = { 0 }, id, end;
	struct perf_event_header *header;
	struct sources all = { 0 };
	struct sample s;
	struct ring r;
	int fd;

	fd = event_open(attr, -1);
	id = event_id(fd);
	ring_map(&r, fd, 256);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	busy_start_all(&all);
	while (samples[0] < 1000 || samples[1] < 1000) {
		usleep(500);
		end = ring_head(&r);
		while ((header = ring_next_before(&r, end))) {
			if (header->type == PERF_RECORD_LOST)
				continue;
			take_sample(&attr, header, &s);
			cr_assert_eq(s.identifier, id);
			cr_assert_lt(s.cpu, CPUS);
			samples[s.cpu]++;
		}
	}
	busy_end_all(&all);
}
