// SPDX-License-Identifier: GPL-2.0-only
#include "records.h"

uint64_t take(struct cursor *c)
{
	cr_assert(c->at < c->end, "a record is shorter than its fields");
	return *c->at++;
}

static const uint64_t *take_words(struct cursor *c, uint64_t n)
{
	const uint64_t *at = c->at;

	cr_assert_leq(n, (uint64_t)(c->end - c->at),
		      "a record is shorter than its fields");
	c->at += n;
	return at;
}

static void take_pair(struct cursor *c, uint32_t *first, uint32_t *second)
{
	uint64_t word = take(c);

	*first = word;
	*second = word >> 32;
}

void take_read(struct cursor *c, uint64_t format, struct sample_read *read)
{
	bool group = format & PERF_FORMAT_GROUP;
	uint64_t i;

	read->nr = group ? take(c) : 1;
	cr_assert_leq(read->nr, RAW_ARRAY_SIZE(read->each));
	if (!group)
		read->each[0].value = take(c);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		read->enabled = take(c);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		read->running = take(c);
	for (i = 0; i < read->nr; i++) {
		if (group)
			read->each[i].value = take(c);
		if (format & PERF_FORMAT_ID)
			read->each[i].id = take(c);
		if (format & READ_LOST)
			read->each[i].lost = take(c);
	}
}

static uint64_t take_regs(struct cursor *c, uint64_t mask, const uint64_t **regs)
{
	uint64_t abi = take(c);

	*regs = abi ? take_words(c, __builtin_popcountll(mask)) : NULL;
	return abi;
}

static void take_stack(struct cursor *c, struct sample *s)
{
	s->user_stack_size = take(c);
	cr_assert_eq(s->user_stack_size % 8, 0);
	s->user_stack = (const uint8_t *)take_words(c, s->user_stack_size / 8);
	if (s->user_stack_size) {
		s->user_stack_filled = take(c);
		cr_assert_leq(s->user_stack_filled, s->user_stack_size);
	}
}

static void take_branches(struct cursor *c, uint64_t branches, struct sample *s)
{
	s->nr_branches = take(c);
	if (branches & PERF_SAMPLE_BRANCH_HW_INDEX)
		s->branch_index = take(c);
	s->branches = (const void *)take_words(c, 3 * s->nr_branches);
	s->flags = (const uint64_t *)s->branches + 2;
}

/* The fields up to PERIOD, which have a fixed size */
static void take_fixed(struct cursor *c, uint64_t type, struct sample *s)
{
	if (type & PERF_SAMPLE_IDENTIFIER)
		s->identifier = take(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = take(c);
	if (type & PERF_SAMPLE_TID)
		take_pair(c, &s->pid, &s->tid);
	if (type & PERF_SAMPLE_TIME)
		s->time = take(c);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = take(c);
	if (type & PERF_SAMPLE_ID)
		s->id = take(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		s->stream_id = take(c);
	if (type & PERF_SAMPLE_CPU)
		take_pair(c, &s->cpu, &s->cpu_reserved);
	if (type & PERF_SAMPLE_PERIOD)
		s->period = take(c);
}

void take_sample(const struct perf_event_attr *attr,
		 const struct perf_event_header *header,
		 struct sample *s)
{
	struct cursor c = {
		.at = (const uint64_t *)(header + 1),
		.end = (const uint64_t *)header + header->size / 8,
	};
	uint64_t type = attr->sample_type;

	memset(s, 0, sizeof(*s));
	cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
	s->misc = header->misc;
	take_fixed(&c, type, s);
	if (type & PERF_SAMPLE_READ)
		take_read(&c, attr->read_format, &s->read);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->nr_chain = take(&c);
		s->chain = take_words(&c, s->nr_chain);
	}
	if (type & PERF_SAMPLE_RAW) {
		/* A 32-bit length and bytes, together a multiple of 8 */
		s->raw_size = *c.at;
		s->raw = (const uint8_t *)c.at + 4;
		cr_assert_eq((s->raw_size + 4) % 8, 0);
		take_words(&c, (s->raw_size + 4) / 8);
	}
	if (type & PERF_SAMPLE_BRANCH_STACK)
		take_branches(&c, attr->branch_sample_type, s);
	if (type & PERF_SAMPLE_REGS_USER)
		s->user_abi = take_regs(&c, attr->sample_regs_user, &s->user_regs);
	if (type & PERF_SAMPLE_STACK_USER)
		take_stack(&c, s);
	if (type & PERF_SAMPLE_REGS_INTR)
		s->intr_abi = take_regs(&c, attr->sample_regs_intr, &s->intr_regs);
	if (type & PERF_SAMPLE_CGROUP)
		s->cgroup = take(&c);
	cr_assert_eq(c.at, c.end, "sample_type %#lx: %ld words more than its fields",
		     type, c.end - c.at);
}

void take_sample_id(const struct perf_event_attr *attr,
		    const struct perf_event_header *header,
		    size_t fixed, struct sample *s)
{
	struct cursor c = {
		.at = (const uint64_t *)((const char *)header + fixed),
		.end = (const uint64_t *)header + header->size / 8,
	};
	uint64_t type = attr->sample_type;

	memset(s, 0, sizeof(*s));
	s->misc = header->misc;
	if (attr->sample_id_all) {
		if (type & PERF_SAMPLE_TID)
			take_pair(&c, &s->pid, &s->tid);
		if (type & PERF_SAMPLE_TIME)
			s->time = take(&c);
		if (type & PERF_SAMPLE_ID)
			s->id = take(&c);
		if (type & PERF_SAMPLE_STREAM_ID)
			s->stream_id = take(&c);
		if (type & PERF_SAMPLE_CPU)
			take_pair(&c, &s->cpu, &s->cpu_reserved);
		if (type & PERF_SAMPLE_IDENTIFIER)
			s->identifier = take(&c);
	}
	cr_assert_eq(c.at, c.end, "record %u: %ld words too many", header->type,
		     c.end - c.at);
}

void tally_ring(const struct perf_event_attr *attr, struct ring *r,
		struct tally *t)
{
	struct perf_event_header *header;
	struct sample s;

	while ((header = ring_next(r))) {
		if (header->type == PERF_RECORD_SAMPLE) {
			take_sample(attr, header, &s);
			t->samples++;
		} else if (header->type == PERF_RECORD_LOST) {
			take_sample_id(attr, header, sizeof(struct lost_record), &s);
			t->lost += ((struct lost_record *)header)->lost;
			t->lost_records++;
		} else {
			t->others++;
		}
	}
}
