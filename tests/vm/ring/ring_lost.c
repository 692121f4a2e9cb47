// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does not fit a ring: it is counted to the last record, and told. And rings whose
 * reader is never waited for: they keep the newest.
 */
#include "records.h"

TestSuite(ring_lost, .init = sampling_init, .fini = sampling_fini);

#define PERIOD	50
#define ROUNDS	2000	/* more than fit a page */

/* One LOST record tells how many there were, as soon as there is room again. */
static void check_lost(uint64_t type, size_t pages)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct tally t = { 0 };
	uint64_t made, told;
	struct ring r;
	int fd;

	attr.sample_type = type;
	fd = event_open(attr);
	ring_map(&r, fd, pages);
	for (int i = 0; i < 20; i++) {
		for (size_t n = 0; n < pages; n++)
			block_run(fd, ROUNDS);
		made = sampling_value(fd) / PERIOD;
		told = t.samples + t.lost;
		tally_ring(&attr, &r, &t);
		cr_assert_leq(t.samples + t.lost, made);
		cr_assert_gt(t.samples + t.lost, told);
	}
	block_run(fd, 5); /* one sample more */
	tally_ring(&attr, &r, &t);
	made = sampling_value(fd) / PERIOD;
	cr_assert_eq(t.samples + t.lost, made, "%lu + %lu of %lu", t.samples, t.lost,
		     made);
	cr_assert_eq(t.others, 0);
	cr_assert_eq(t.lost_records, 20, "%lu", t.lost_records);
	ring_unmap(&r);
	close(fd);
}

Test(ring_lost, written_and_lost_are_all)
{
	check_lost(PERF_SAMPLE_IP, 1);
	check_lost(PERF_SAMPLE_IP | PERF_SAMPLE_TID, 1);
	check_lost(SAMPLE_USUAL, 1);
	check_lost(SAMPLE_USUAL, 4);
	check_lost(SAMPLE_USUAL | PERF_SAMPLE_ID, 2);
}

/* The reader takes some records now and then, never enough. */
Test(ring_lost, slow_reader)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	uint64_t next = 1, lost = 0, samples = 0;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;

	ring_map(&r, fd, 1);
	for (int i = 0; i < 2000; i++) {
		block_run(fd, i % 100 + 1);
		for (int n = i % 7; n && (header = ring_next(&r)); n--) {
			if (header->type == PERF_RECORD_LOST) {
				lost += ((struct lost_record *)header)->lost;
				next += ((struct lost_record *)header)->lost;
				continue;
			}
			/* It is the one that comes after those that were lost. */
			take_sample(&attr, header, &s);
			samples++;
			if (!is_witness()) /* see check_place() */
				cr_assert_eq(s.read.each[0].value, next * PERIOD);
			next++;
		}
		ring_next(&r);
		r.tail = r.page->data_tail;
	}
	cr_assert(samples && lost, "%lu, %lu", samples, lost);
}

Test(ring_lost, read_format_lost)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	uint64_t values[2];
	struct tally t = { 0 };
	struct ring r;
	int fd;

	attr.read_format = READ_LOST;
	fd = event_open(attr);
	ring_map(&r, fd, 1);
	for (int i = 0; i < 10; i++) {
		block_run(fd, ROUNDS);
		tally_ring(&attr, &r, &t);
	}
	block_run(fd, ROUNDS);
	cr_assert_eq(read(fd, values, sizeof(values)), (ssize_t)sizeof(values));
	tally_ring(&attr, &r, &t);
	/* What has not been told yet is known already. */
	cr_assert_eq(t.samples + values[1], values[0] / PERIOD, "%lu + %lu of %lu",
		     t.samples, values[1], values[0] / PERIOD);
	cr_assert_geq(values[1], t.lost);
}

static void pause_output(int fd, bool pause)
{
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause), 0, "%m");
}

/* Reads the ring after so many rounds of a block; each time there is room for one record. */
static void check_large(uint64_t rounds)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct tally t = { 0 };
	struct ring r;
	uint64_t made;
	int fd;

	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 65528;
	fd = event_open(attr);
	ring_map(&r, fd, 16);
	for (unsigned int i = 0; i < 20; i++) {
		block_run(fd, rounds);
		tally_ring(&attr, &r, &t);
	}
	block_run(fd, 5);
	tally_ring(&attr, &r, &t);
	made = sampling_value(fd) / PERIOD;
	cr_assert_geq(t.samples, 10, "%lu of %lu", t.samples, made);
	cr_assert_gt(t.lost, 0);
	cr_assert_leq(t.samples + t.lost, made);
	/* The last losses are told with the next record. */
	cr_assert_geq(t.samples + t.lost, made - 2 * rounds / 5, "%lu + %lu of %lu", t.samples, t.lost, made);
	ring_unmap(&r);
	close(fd);
}

/*
 * Records that nearly fill the ring: with what tells of a loss one does not fit, however empty the
 * ring is. perf loses all from the first loss on.
 */
Test(ring_lost, the_next_record_is_as_large_as_the_ring)
{
	if (is_witness())
		return;
	for (uint64_t samples = 2; samples < 8; samples++)
		check_large(samples * 5);
}

/* A reader that sleeps until all is full, while there is no room for what tells of the loss either */
Test(ring_lost, who_waits_for_a_full_ring_is_woken)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct pollfd full;
	struct ring r;
	int fd;

	if (is_witness())
		return;
	attr.sample_type = PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 65528;
	attr.watermark = 1;
	attr.wakeup_watermark = 1 << 20;
	fd = event_open(attr);
	ring_map(&r, fd, 16);
	full = (struct pollfd){ .fd = fd, .events = POLLIN };
	block_run(fd, 5); /* all the room there is */
	cr_assert_eq(poll(&full, 1, 0), 0);
	pause_output(fd, true);
	block_run(fd, 10);
	pause_output(fd, false);
	block_run(fd, 5);
	cr_assert_eq(poll(&full, 1, 10000), 1);
	ring_unmap(&r);
	close(fd);
}

/* ---- Pause ---- */

Test(ring_lost, nothing_is_written_while_output_is_paused)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	struct tally t = { 0 };
	uint64_t head;
	struct ring r;

	ring_map(&r, fd, 8);
	block_run(fd, 100);
	pause_output(fd, true);
	head = ring_head(&r);
	block_run(fd, 100);
	cr_assert_eq(ring_head(&r), head);
	pause_output(fd, false);
	block_run(fd, 100);
	tally_ring(&attr, &r, &t);
	cr_assert_geq(t.samples, 2 * BLOCK_LENGTH(100) / PERIOD - 1);
	/* Those of the time between count as lost. */
	cr_assert_eq(t.samples + t.lost, 3 * BLOCK_LENGTH(100) / PERIOD, "%lu + %lu",
		     t.samples, t.lost);
	cr_assert_eq(t.lost_records, 1);
}

Test(ring_lost, pause_without_a_ring_is_refused)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);

	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1), -1);
	cr_assert_eq(errno, EINVAL, "%m");
}

/* ---- Overwriting ---- */

/* Mapped without the right to write: the newest are kept, nothing is lost. */
Test(ring_lost, readonly_ring_keeps_the_newest)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct perf_event_header header;
	uint64_t head, from, value;
	struct ring r;
	int fd;

	/* 16 bytes a record, of which a page holds a whole number */
	attr.sample_type = PERF_SAMPLE_READ;
	fd = event_open(attr);
	cr_assert_eq(ring_try_map(&r, fd, 1, PROT_READ), 0);
	block_run(fd, 10000);
	value = sampling_value(fd) / PERIOD * PERIOD;
	head = ring_head(&r);
	cr_assert_eq(head, value / PERIOD * 16);
	for (from = head - 16; head - from <= PAGE; from -= 16) {
		uint64_t record[2];

		ring_copy(&r, record, from, sizeof(record));
		memcpy(&header, record, sizeof(header));
		cr_assert(header.type == PERF_RECORD_SAMPLE && header.size == 16);
		cr_assert_eq(record[1], value);
		value -= PERIOD;
	}
}

/* From the head on, the records of a ring that is written backward: the newest first */
static uint64_t check_backward(struct ring *r, const struct perf_event_attr *attr,
			       uint64_t value)
{
	uint64_t head = ring_head(r), at = head, n = 0;
	uint64_t record[RECORD_MAX / 8];
	struct perf_event_header *header = (void *)record;
	struct sample s;

	for (;;) {
		ring_copy(r, header, at, sizeof(*header));
		if (at == 0 || at + header->size - head > r->size)
			return n;
		ring_copy(r, record, at, header->size);
		take_sample(attr, header, &s);
		cr_assert_eq(s.read.each[0].value, value - n * PERIOD);
		at += header->size;
		n++;
	}
}

Test(ring_lost, write_backward)
{
	static const uint64_t types[] = { PERF_SAMPLE_READ, SAMPLE_USUAL,
		SAMPLE_USUAL | PERF_SAMPLE_ID };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(types); i++) {
		struct perf_event_attr attr = sampling_attr(PERIOD);
		struct ring r;
		uint64_t n;
		int fd;

		attr.sample_type = types[i];
		attr.write_backward = 1;
		fd = event_open(attr);
		cr_assert_eq(ring_try_map(&r, fd, 1, PROT_READ), 0);
		block_run(fd, 25); /* 5 samples, before it is full */
		pause_output(fd, true);
		cr_assert_eq(check_backward(&r, &attr, 250), 5);
		pause_output(fd, false);
		block_run(fd, 10000);
		pause_output(fd, true);
		n = check_backward(&r, &attr, sampling_value(fd) / PERIOD * PERIOD);
		cr_assert_geq(n, 4096 / 88, "%lu", n);
		ring_unmap(&r);
		close(fd);
	}
}

/* A reader that writes nonsense into its page harms itself only. */
Test(ring_lost, nonsense_in_the_metadata_page)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	int fd = event_open(attr);
	uint64_t seed = 1;
	struct ring r;

	ring_map(&r, fd, 1);
	for (int i = 0; i < 2000; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		r.page->data_tail = i % 3 ? seed : ring_head(&r) + (seed >> 60);
		if (i % 5 == 0)
			memset((char *)r.page, (int)seed, PAGE);
		block_run(fd, 10);
	}
	cr_assert_eq(sampling_value(fd), 2000 * BLOCK_LENGTH(10));
	ring_unmap(&r);
}
