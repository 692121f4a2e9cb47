/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of the sample ring: its memory, records of which every byte is known, and a
 * reader that looks at each of them. A finding is a sentence in the reader; threads and
 * models must not call an assertion of the test themselves. Who includes this
 * defines _GNU_SOURCE first.
 *
 * A record is a perf_event_header, a word that says who made it and as what number, and
 * words that follow from these. Its size follows from them too.
 */
#ifndef PMUCTL_TESTS_UNIT_RING_SPACE_H
#define PMUCTL_TESTS_UNIT_RING_SPACE_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ringbuf/ring.h"

#define RECORD_TEST	100	/* header.type of ours */
#define RECORD_POISON	0xee	/* what a reader leaves behind */
#define PRODUCERS_MAX	32

struct space {
	struct ring ring;
	struct perf_event_mmap_page *user;
	u8 *data;
};

static inline void space_check(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		abort();
	}
}

/* @size: a multiple of the page size, as its data are mapped twice here too. */
static inline void space_make(struct space *sp, u64 size, unsigned int flags, u64 watermark)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);
	unsigned int half;

	space_check(fd >= 0 && !ftruncate(fd, size), "memfd of a ring");
	sp->user = calloc(1, sizeof(*sp->user));
	sp->data = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	space_check(sp->user && sp->data != MAP_FAILED, "memory of a ring");
	for (half = 0; half < 2; half++)
		space_check(mmap(sp->data + half * size, size, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED, "mmap of a ring");
	close(fd);
	ring_init(&sp->ring, sp->user, sp->data, size, flags, watermark);
}

static inline void space_free(struct space *sp)
{
	munmap(sp->data, 2 * sp->ring.size);
	free(sp->user);
}

static inline u64 space_head_of(const struct space *sp, u64 position)
{
	return sp->ring.flags & RING_BACKWARD ? -position : position;
}

/* As if @position bytes had been written, and all of them read. */
static inline void space_seek(struct space *sp, u64 position)
{
	atomic64_set(&sp->ring.state, position << RING_SHIFT);
	sp->ring.head = position;
	sp->ring.woken = position;
	sp->ring.full_at = ~0ULL;
	sp->ring.asked = false;
	sp->ring.full = false;
	sp->user->data_head = space_head_of(sp, position);
	sp->user->data_tail = sp->user->data_head;
}

static inline u64 space_open(struct space *sp)
{
	return atomic64_read(&sp->ring.state) & RING_OPEN;
}

/* ---- records ---- */

struct producer {
	unsigned int id;	/* less than PRODUCERS_MAX */
	unsigned int max_words;	/* how long its records get, after the first two words */
	u64 produced;		/* this is the number of the next record */
	u64 written;
	u64 wakes;
};

static inline u64 record_word(unsigned int id, u64 number, unsigned int word)
{
	u64 x = (number << 8 ^ id) * 0x9e3779b97f4a7c15ULL + word * 0xd6e8feb86659fd93ULL;

	return x ^ x >> 29;
}

static inline u32 record_size(unsigned int id, u64 number, unsigned int max_words)
{
	return 16 + 8 * (record_word(id, number, ~0U) % (max_words + 1));
}

static inline void record_write_lost(struct ring_handle *h, u64 lost)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_LOST, .size = 16,
	};

	ring_write(h, &header, sizeof(header));
	ring_write_u64(h, lost);
}

static inline void record_begin(struct ring_handle *h, unsigned int id, u64 number, u32 size)
{
	struct perf_event_header header = {
		.type = RECORD_TEST, .misc = id, .size = size,
	};

	ring_write(h, &header, sizeof(header));
	ring_write_u64(h, number);
}

static inline void record_end(struct ring_handle *h, unsigned int id, u64 number, u32 size)
{
	unsigned int word;

	for (word = 0; word < size / 8 - 2; word++)
		ring_write_u64(h, record_word(id, number, word));
}

/* Called in the middle of each record, for others to come in between. */
typedef void (*record_pause)(void *arg);

/* Write the next record, and before it how many were lost. False: it is lost too. */
static inline bool produce(struct ring *ring, struct producer *p, record_pause in_between,
			   void *arg)
{
	u64 number = p->produced++, lost = ring_lost_take(ring);
	u32 size = record_size(p->id, number, p->max_words);
	struct ring_handle h;

	if (!ring_reserve(&h, ring, size + (lost ? 16 : 0))) {
		ring_lost_add(ring, lost + 1);
		p->wakes += h.wake;
		return false;
	}
	if (lost)
		record_write_lost(&h, lost);
	record_begin(&h, p->id, number, size);
	if (in_between)
		in_between(arg);
	record_end(&h, p->id, number, size);
	p->wakes += ring_commit(&h);
	p->written++;
	return true;
}

/* ---- the reader ---- */

struct reader {
	unsigned int max_words;
	bool from_the_newest;	/* it reads backward, so numbers go down */
	u64 last_head;		/* as a position, like the tail */
	u64 tail;
	u64 next[PRODUCERS_MAX];	/* number of the next record of each producer */
	u64 read;
	u64 lost;		/* as records said */
	u64 missing;		/* as numbers said */
	char finding[160];	/* empty: there is none */
};

#define found(r, ...)							\
({									\
	if (!(r)->finding[0])						\
		snprintf((r)->finding, sizeof((r)->finding), __VA_ARGS__);	\
	false;								\
})

/* Is it the record that it says it is? */
static inline bool record_is_whole(struct reader *r, const u64 *words, unsigned int id,
				   u32 size)
{
	unsigned int word;

	if (id >= PRODUCERS_MAX || size != record_size(id, words[1], r->max_words))
		return found(r, "record %u:%llu has a wrong size: %u", id, words[1], size);
	for (word = 0; word < size / 8 - 2; word++)
		if (words[2 + word] != record_word(id, words[1], word))
			return found(r, "record %u:%llu of %u bytes: word %u is wrong: %llx",
				     id, words[1], size, word, words[2 + word]);
	return true;
}

/* Look at the record at @words, of which there are @left bytes. Return its size, or 0. */
static inline u32 read_record(struct reader *r, const u64 *words, u64 left)
{
	struct perf_event_header header;

	memcpy(&header, words, sizeof(header));
	if (header.size < 16 || header.size % 8 || header.size > left)
		return found(r, "a record of size %u where %llu bytes are left: %llx",
			     header.size, left, words[0]);
	if (header.type == PERF_RECORD_LOST && header.size == 16) {
		r->lost += words[1];
		return 16;
	}
	if (header.type != RECORD_TEST)
		return found(r, "a record of type %u", header.type);
	if (!record_is_whole(r, words, header.misc, header.size))
		return 0;
	r->read++;
	if (r->from_the_newest)
		return header.size;
	if (words[1] < r->next[header.misc])
		return found(r, "record %u:%llu comes after %llu", header.misc, words[1],
			     r->next[header.misc] - 1);
	r->missing += words[1] - r->next[header.misc];
	r->next[header.misc] = words[1] + 1;
	return header.size;
}

/* Read all that is published from the tail on; the tail of the ring stays. */
static inline bool read_new(struct reader *r, struct space *sp)
{
	u64 head = space_head_of(sp, smp_load_acquire(&sp->user->data_head)); /* (D) */
	u64 offset;
	u32 size;

	if ((s64)(head - r->last_head) < 0)
		return found(r, "the head went from %llu back to %llu", r->last_head, head);
	if (head - r->tail >= sp->ring.size)
		return found(r, "the head %llu is a ring or more from the tail %llu", head, r->tail);
	r->last_head = head;
	while (r->tail != head) {
		offset = r->tail & (sp->ring.size - 1);
		size = read_record(r, (void *)(sp->data + offset), head - r->tail);
		if (!size)
			return false;
		memset(sp->data + offset, RECORD_POISON, size);
		r->tail += size;
	}
	return true;
}

/* ... and give it back to the writers. */
static inline bool read_and_free(struct reader *r, struct space *sp)
{
	if (!read_new(r, sp))
		return false;
	smp_store_release(&sp->user->data_tail, space_head_of(sp, r->tail)); /* (E) */
	return true;
}

/* When all is read: was every record read, or told to be lost, and which were missing? */
static inline bool account(struct reader *r, struct space *sp, const struct producer *p,
			   unsigned int n)
{
	u64 produced = 0, written = 0, untold = ring_lost_take(&sp->ring);
	unsigned int i;

	for (i = 0; i < n; i++) {
		produced += p[i].produced;
		written += p[i].written;
		r->missing += p[i].produced - r->next[p[i].id];
	}
	if (space_open(sp))
		return found(r, "%llu writers are left open", space_open(sp));
	if (r->read != written)
		return found(r, "%llu records were written, %llu read", written, r->read);
	if (written + r->lost + untold != produced)
		return found(r, "%llu records were produced, %llu written, %llu + %llu lost",
			     produced, written, r->lost, untold);
	if (!r->from_the_newest && r->missing != r->lost + untold)
		return found(r, "%llu records are missing, %llu + %llu were told lost",
			     r->missing, r->lost, untold);
	return true;
}

#endif /* PMUCTL_TESTS_UNIT_RING_SPACE_H */
