/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of sampling: records taken apart as <linux/perf_event.h> describes them.
 * A record that is longer or shorter than its fields fails the test that called.
 */
#ifndef VM_RECORDS_H
#define VM_RECORDS_H

#include "sampling.h"

/* What PERF_SAMPLE_READ gives, of one event or of a group */
struct sample_read {
	uint64_t nr, enabled, running;
	struct {
		uint64_t value, id, lost;
	} each[16];
};

struct sample {
	uint16_t misc;
	uint64_t cgroup;
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time, addr, id, stream_id;
	uint32_t cpu, cpu_reserved;
	uint64_t period;
	struct sample_read read;
	uint64_t nr_chain;
	const uint64_t *chain;
	uint32_t raw_size;
	const uint8_t *raw;
	uint64_t nr_branches, branch_index;
	const struct perf_branch_entry *branches;
	const uint64_t *flags;	/* the third word of each, every three words */
	uint64_t user_abi;
	const uint64_t *user_regs;
	uint64_t user_stack_size, user_stack_filled;
	const uint8_t *user_stack;
	uint64_t intr_abi;
	const uint64_t *intr_regs;
};

/* A place in a record */
struct cursor {
	const uint64_t *at, *end;
};

uint64_t take(struct cursor *c);
void take_read(struct cursor *c, uint64_t format, struct sample_read *read);

/* A sample of a hardware event: @s points into @header's record. */
void take_sample(const struct perf_event_attr *attr,
		 const struct perf_event_header *header,
		 struct sample *s);

/* The end of a record other than a sample, with sample_id_all */
void take_sample_id(const struct perf_event_attr *attr,
		    const struct perf_event_header *header,
		    size_t fixed, struct sample *s);

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct throttle_record {
	struct perf_event_header header;
	uint64_t time, id, stream_id;
};

/* What has been read of a ring of one event: see tally_ring(). */
struct tally {
	uint64_t samples, lost, lost_records, others;
};

/* Read all that is there, take every record apart, and count. */
void tally_ring(const struct perf_event_attr *attr, struct ring *r,
		struct tally *t);

#endif /* VM_RECORDS_H */
