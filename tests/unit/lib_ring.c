// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's side of a ring, on memory that the test itself writes as the kernel would.
 */
/* sources: lib/src/ring.c lib/src/sampling.c lib/src/event.c lib/src/tracepoint.c lib/src/group.c */
/* sources: lib/src/device.c lib/src/explain.c lib/src/watch.c */
/* libs: -lpthread */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../../lib/src/ring.h"

#define PAGE	4096u

struct fixture {
	struct pmuctl_ring ring;
	struct {
		struct perf_event_mmap_page page;
		unsigned char rest[PAGE - sizeof(struct perf_event_mmap_page)];
		unsigned char data[PAGE];
	} memory __attribute__((aligned(8)));
	uint64_t head;
};

static struct fixture *fixture_new(bool is_snapshot)
{
	struct fixture *f = calloc(1, sizeof(*f));

	cr_assert_not_null(f);
	pmuctl_ring_init(&f->ring, &f->memory, PAGE, PAGE, is_snapshot);
	return f;
}

static void bytes_put(struct fixture *f, uint64_t at, const void *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		f->memory.data[(at + i) % PAGE] = ((const unsigned char *)from)[i];
}

static void record_put(struct fixture *f, uint64_t at, uint16_t size, uint64_t mark)
{
	struct perf_event_header header = { .type = 9, .size = size };

	bytes_put(f, at, &header, sizeof(header));
	for (size_t offset = sizeof(header); offset < size; offset += sizeof(mark))
		bytes_put(f, at + offset, &mark, sizeof(mark));
}

/* As the kernel does: false if there is no room. */
static bool produce(struct fixture *f, uint16_t size, uint64_t mark)
{
	uint64_t tail = __atomic_load_n(&f->memory.page.data_tail,
					__ATOMIC_ACQUIRE);

	if (f->head + size - tail > PAGE - 1)
		return false;
	record_put(f, f->head, size, mark);
	f->head += size;
	__atomic_store_n(&f->memory.page.data_head, f->head, __ATOMIC_RELEASE);
	return true;
}

static void check_record(const struct perf_event_header *record, uint16_t size,
			 uint64_t mark)
{
	const uint64_t *words = (const void *)(record + 1);

	cr_assert_eq(record->type, 9);
	cr_assert_eq(record->size, size, "%u", record->size);
	for (size_t i = 0; i < size / 8u - 1; i++)
		cr_assert_eq(words[i], mark, "%zu: %lu", i, words[i]);
}

Test(lib_ring, every_place_of_a_wrap)
{
	struct fixture *f = fixture_new(false);
	const struct perf_event_header *record;
	struct iovec pieces[2];

	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 0);
	cr_assert_eq(pmuctl_ring_pieces(&f->ring, pieces), 0);
	for (unsigned int i = 0; i < 5000; i++) {
		uint16_t size = 8 * (1 + i % 37);
		size_t offset = f->head % PAGE, length = 0;
		int count;

		cr_assert(produce(f, size, i));
		cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 1);
		check_record(record, size, i);
		count = pmuctl_ring_pieces(&f->ring, pieces);
		cr_assert_eq(count, offset + size > PAGE ? 2 : 1);
		cr_assert_eq(pieces[0].iov_base, f->memory.data + offset);
		for (int n = 0; n < count; n++)
			length += pieces[n].iov_len;
		cr_assert_eq(length, size);
		cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 0);
		pmuctl_ring_consume(&f->ring);
		cr_assert_eq(f->memory.page.data_tail, f->head);
	}
	free(f);
}

Test(lib_ring, room_is_given_back_by_consume_only)
{
	struct fixture *f = fixture_new(false);
	const struct perf_event_header *record;
	unsigned int produced = 0, read = 0;

	while (produce(f, 40, produced))
		produced++;
	while (pmuctl_ring_next(&f->ring, &record) == 1)
		check_record(record, 40, read++);
	cr_assert_eq(read, produced);
	cr_assert_not(produce(f, 40, 0));
	pmuctl_ring_consume(&f->ring);
	cr_assert(produce(f, 40, 0));
	free(f);
}

static void check_bad(uint16_t size)
{
	struct fixture *f = fixture_new(false);
	const struct perf_event_header *record;

	record_put(f, 0, 16, 1);
	record_put(f, 16, 16, 2);
	memcpy(f->memory.data + 16 + offsetof(struct perf_event_header, size),
	       &size, sizeof(size));
	f->head = 64;
	f->memory.page.data_head = 64;
	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 1);
	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), -EBADMSG, "%u", size);
	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 0);
	/* What comes later is read. */
	pmuctl_ring_consume(&f->ring);
	cr_assert(produce(f, 24, 3));
	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 1);
	check_record(record, 24, 3);
	free(f);
}

Test(lib_ring, what_is_no_record_is_told_and_left_behind)
{
	check_bad(0);
	check_bad(4);
	check_bad(20);
	check_bad(56);
	check_bad(UINT16_MAX);
}

/* A head that lies about how much is there */
Test(lib_ring, record_larger_than_the_ring_is_not_read)
{
	struct fixture *f = fixture_new(false);
	const struct perf_event_header *record;

	record_put(f, 0, 16, 1);
	f->memory.data[6] = 0;		/* size 0x4000 */
	f->memory.data[7] = 0x40;
	f->memory.page.data_head = 1u << 20;
	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), -EBADMSG);
	free(f);
}

/* ---------------------------------------------------------------- snapshots */

static void put_backward(struct fixture *f, uint16_t size, uint64_t mark)
{
	f->head -= size;
	record_put(f, f->head, size, mark);
	f->memory.page.data_head = f->head;
}

static void freeze(struct fixture *f)
{
	pmuctl_ring_rewind(&f->ring);
	f->ring.frozen = true;
}

Test(lib_ring, snapshot_is_read_from_the_newest_to_the_oldest)
{
	struct fixture *f = fixture_new(true);
	const struct perf_event_header *record;
	struct iovec pieces[2];

	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t mark = i, bytes = 0;

		put_backward(f, 8 * (2 + i % 5), i);
		f->ring.frozen = false;
		cr_assert_eq(pmuctl_ring_next(&f->ring, &record), -EBUSY);
		freeze(f);
		while (pmuctl_ring_next(&f->ring, &record) == 1) {
			check_record(record, 8 * (2 + mark % 5), mark);
			bytes += record->size;
			mark--;
		}
		/* All that fits, or all that there was */
		cr_assert(mark == UINT64_MAX || bytes > PAGE - 48, "%lu", i);
		cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 0);
		cr_assert_eq(pmuctl_ring_pieces(&f->ring, pieces), 0);
		pmuctl_ring_consume(&f->ring);
		cr_assert_eq(f->memory.page.data_tail, 0);
	}
	free(f);
}

Test(lib_ring, stream_cannot_be_frozen)
{
	struct fixture *f = fixture_new(false);

	cr_assert_eq(pmuctl_ring_freeze(&f->ring), -EINVAL);
	cr_assert_eq(pmuctl_ring_thaw(&f->ring), -EINVAL);
	free(f);
}

Test(lib_ring, open_refuses_what_is_no_size)
{
	struct pmuctl_ring *ring;

	cr_assert_eq(pmuctl_ring_open(NULL, 1, &ring), -EINVAL);
	cr_assert_eq(pmuctl_ring_open((void *)8, 0, &ring), -EINVAL);
	cr_assert_eq(pmuctl_ring_open((void *)8, 3, &ring), -EINVAL);
	cr_assert_eq(pmuctl_ring_open((void *)8, SIZE_MAX / 2 + 1, &ring), -EINVAL);
	cr_assert_eq(pmuctl_ring_open((void *)8, 8, NULL), -EINVAL);
	pmuctl_ring_close(NULL);
}

/* ------------------------------------------------- a writer at the same time */

#define RECORDS	300000u

static uint16_t size_of(unsigned int number)
{
	return 8 * (2 + number * 7 % 41);
}

static void *writer(void *arg)
{
	struct fixture *f = arg;

	for (unsigned int i = 0; i < RECORDS; i++)
		while (!produce(f, size_of(i), i))
			sched_yield();
	return NULL;
}

Test(lib_ring, nothing_is_torn_or_lost_beside_a_writer, .timeout = 120)
{
	struct fixture *f = fixture_new(false);
	const struct perf_event_header *record;
	unsigned int read = 0;
	pthread_t thread;

	cr_assert_eq(pthread_create(&thread, NULL, writer, f), 0);
	while (read < RECORDS) {
		int ret = pmuctl_ring_next(&f->ring, &record);

		cr_assert_geq(ret, 0);
		if (!ret) {
			pmuctl_ring_consume(&f->ring);
			sched_yield();
			continue;
		}
		check_record(record, size_of(read), read);
		read++;
	}
	pthread_join(thread, NULL);
	cr_assert_eq(pmuctl_ring_next(&f->ring, &record), 0);
	free(f);
}
