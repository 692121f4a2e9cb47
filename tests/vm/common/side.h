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
#define MISC_MMAP_BUILD_ID	(1 << 14)
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

struct namespaces_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t number;
	struct {
		uint64_t dev, ino;
	} links[NR_NAMESPACES];
};

struct cgroup_record {
	struct perf_event_header header;
	uint64_t id;
	char path[];
};

struct ksymbol_record {
	struct perf_event_header header;
	uint64_t address;
	uint32_t length;
	uint16_t type, flags;
	char name[];
};

struct bpf_record {
	struct perf_event_header header;
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};

struct text_poke_record {
	struct perf_event_header header;
	uint64_t address;
	uint16_t old_length, new_length;
	uint8_t bytes[];
};

#define SIDE_TYPE	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
			 PERF_SAMPLE_IDENTIFIER)
#define SIDE_TRAILER	32	/* bytes of that */

/* Counts, does not sample, and is told of nothing yet */
struct perf_event_attr side_attr(void);

/* The bytes of a record before the name at its end */
size_t side_fixed(const struct perf_event_header *header);

/* The name at the end of a record, NULL if that kind has none */
const char *side_name(const struct perf_event_header *header);

/*
 * The next record that is no sample, taken apart as far as all have the same: its end
 * is in @end; its name is filled up with zeros to a multiple of 8. NULL: there is none.
 */
struct perf_event_header *
side_next(const struct perf_event_attr *attr, struct ring *r, struct sample *end);

/* As side_next(), but there is one, and it is of this type. */
void *side_expect(const struct perf_event_attr *attr, struct ring *r,
		  uint32_t type, struct sample *end);

void side_expect_none(const struct perf_event_attr *attr, struct ring *r);

/* ---- A child that waits until its records are read ---- */

struct side_child {
	pid_t pid;
	int go;
};

/* Start a child that calls @work(@arg) when it is told, and ends with what that returns. */
void side_start(struct side_child *c, int (*work)(void *), void *arg);

void side_go(struct side_child *c);

/* Wait for its end, which is to be with status 0. */
void side_end(struct side_child *c);

#endif /* VM_SIDE_H */
