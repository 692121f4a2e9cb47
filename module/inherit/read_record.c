// SPDX-License-Identifier: GPL-2.0-only
/*
 * PERF_RECORD_READ: what a child has counted itself, told when it ends. perf_event_open(2)
 * has the layout.
 */
#include "core/event.h"
#include "inherit/inherit.h"
#include "sample/output.h"
#include "sample/sample.h"

/* Words that follow a value */
static unsigned int words_of_one(u64 format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

static unsigned int words_of_all(u64 format, unsigned int nr)
{
	return !!(format & PERF_FORMAT_GROUP) +
		!!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		!!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) +
		nr * words_of_one(format);
}

static void write_word(struct pmuctl_record *rec, u64 word)
{
	pmuctl_record_write(rec, &word, sizeof(word));
}

/* What there is of one, @n words being there already */
static void write_one(struct pmuctl_record *rec, u64 format, const struct pmuctl_event *event,
		      u64 *words, unsigned int n)
{
	if (format & PERF_FORMAT_ID)
		words[n++] = event->id;
	if (format & PERF_FORMAT_LOST)
		words[n++] = pmuctl_event_lost(event);
	if (n)
		pmuctl_record_write(rec, words, n * sizeof(*words));
}

static u64 value_of(const struct pmuctl_event *event)
{
	return pmuctl_count(event) - event->state->base;
}

static void write_values(struct pmuctl_record *rec, struct pmuctl_event *child,
			 unsigned int nr)
{
	u64 format = child->output->read_format;
	bool group = format & PERF_FORMAT_GROUP;
	struct pmuctl_event *each;
	u64 words[3];

	write_word(rec, group ? nr : value_of(child));
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		write_word(rec, child->state->time_enabled);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		write_word(rec, child->state->time_running);
	if (!group) {
		write_one(rec, format, child, words, 0);
		return;
	}
	for_each_group_member(each, child->leader) {
		words[0] = value_of(each);
		write_one(rec, format, each, words, 1);
	}
}

void pmuctl_inherit_emit_read(struct pmuctl_event *child)
{
	struct {
		struct perf_event_header header;
		u32 pid, tid;
	} record = { .header.type = PERF_RECORD_READ };
	struct pmuctl_event *each;
	struct pmuctl_record rec;
	unsigned int nr = 0;
	u64 format;

	if (!child->inherit_stat || !child->output)
		return;
	format = child->output->read_format;
	if (format & PERF_FORMAT_GROUP)
		for_each_group_member(each, child->leader)
			nr++;
	else
		nr = 1;
	/* An exec takes each from its group before. */
	if (nr > 1 && this_cpu_read(pmuctl_members_left) <= 0) {
		pmuctl_output_lose(child->output);
		return;
	}
	if (nr > 1)
		this_cpu_sub(pmuctl_members_left, nr);
	record.pid = pmuctl_output_pid(child->output, current);
	record.tid = pmuctl_output_tid(child->output, current);
	if (!pmuctl_record_begin(&rec, child, &record.header, sizeof(record),
				 8 * words_of_all(format, nr)))
		return;
	write_values(&rec, child, nr);
	pmuctl_record_end(&rec, child, current);
}
