/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of side-band records: their layouts, as <linux/perf_event.h> describes
 * them, and a child that does what it is told while its records are read.
 */
#ifndef VM_SIDE_H
#define VM_SIDE_H

#include "records.h"

#define MISC_COMM_EXEC		(1 << 13)
#define MISC_MMAP_DATA		(1 << 13)
#define MISC_SWITCH_OUT		(1 << 13)
#define MISC_SWITCH_PREEMPT	(1 << 14)
#define RECORD_SWITCH		14
#define RECORD_SWITCH_CPU_WIDE	15

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

/* FORK and EXIT */
struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct mmap_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	char name[];
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char name[];
};

struct switch_record {
	struct perf_event_header header;
	uint32_t pid, tid;	/* of CPU-wide ones only */
};

#define SIDE_TYPE	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
			 PERF_SAMPLE_IDENTIFIER)
#define SIDE_TRAILER	32	/* bytes of that */

/* Counts, does not sample, and is told of nothing yet */
static inline struct perf_event_attr side_attr(void)
{
	struct perf_event_attr attr = sampling_attr(0);

	attr.disabled = 0;
	attr.sample_type = SIDE_TYPE;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	return attr;
}

/* The bytes of a record before the name at its end */
static inline size_t side_fixed(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_COMM:
		return sizeof(struct comm_record);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return sizeof(struct task_record);
	case PERF_RECORD_MMAP:
		return sizeof(struct mmap_record);
	case PERF_RECORD_MMAP2:
		return sizeof(struct mmap2_record);
	case RECORD_SWITCH:
		return sizeof(struct perf_event_header);
	case RECORD_SWITCH_CPU_WIDE:
		return sizeof(struct switch_record);
	}
	cr_assert(false, "a record of type %u", header->type);
	return 0;
}

/* The name at the end of a record, NULL if that kind has none */
static inline const char *side_name(const struct perf_event_header *header)
{
	if (header->type != PERF_RECORD_COMM && header->type != PERF_RECORD_MMAP &&
	    header->type != PERF_RECORD_MMAP2)
		return NULL;
	return (const char *)header + side_fixed(header);
}

/*
 * The next record that is no sample, taken apart as far as all have the same: its end
 * is in @end; its name is filled up with zeros to a multiple of 8. NULL: there is none.
 */
static inline struct perf_event_header *
side_next(const struct perf_event_attr *attr, struct ring *r, struct sample *end)
{
	struct perf_event_header *header;
	size_t fixed, length, i;
	const char *name;

	do {
		header = ring_next(r);
		if (!header)
			return NULL;
	} while (header->type == PERF_RECORD_SAMPLE);
	fixed = side_fixed(header);
	name = side_name(header);
	if (name) {
		length = strnlen(name, header->size - fixed);
		fixed += length / 8 * 8 + 8;
		cr_assert_leq(fixed, header->size, "a name without an end");
		for (i = length; (name + i - (char *)header) % 8; i++)
			cr_assert_eq(name[i], 0);
	}
	take_sample_id(attr, header, fixed, end);
	return header;
}

/* As side_next(), but there is one, and it is of this type. */
static inline void *side_expect(const struct perf_event_attr *attr, struct ring *r,
				uint32_t type, struct sample *end)
{
	struct perf_event_header *header = side_next(attr, r, end);

	cr_assert_not_null(header, "no record, wanted one of type %u", type);
	cr_assert_eq(header->type, type, "type %u, not %u", header->type, type);
	return header;
}

static inline void side_expect_none(const struct perf_event_attr *attr, struct ring *r)
{
	struct sample end;
	struct perf_event_header *header = side_next(attr, r, &end);

	cr_assert_null(header, "a record of type %u", header ? header->type : 0);
}

/* ---- A child that waits until its records are read ---- */

struct side_child {
	pid_t pid;
	int go;
};

/* Start a child that calls @work(@arg) when it is told, and ends with what that returns. */
static inline void side_start(struct side_child *c, int (*work)(void *), void *arg)
{
	int ends[2];
	char byte;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	c->pid = fork_child();
	if (!c->pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(126);
		_exit(work(arg));
	}
	close(ends[0]);
	c->go = ends[1];
	wait_asleep(c->pid);
}

static inline void side_go(struct side_child *c)
{
	cr_assert_eq(write(c->go, "", 1), 1);
	close(c->go);
}

/* Wait for its end, which is to be with status 0. */
static inline void side_end(struct side_child *c)
{
	int status;

	cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
	cr_assert_eq(status, 0, "the child ended with status %#x", status);
}

#endif /* VM_SIDE_H */
