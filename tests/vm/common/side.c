// SPDX-License-Identifier: GPL-2.0-only
#include "side.h"

struct perf_event_attr side_attr(void)
{
	struct perf_event_attr attr = sampling_attr(0);

	attr.disabled = 0;
	attr.sample_type = SIDE_TYPE;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	return attr;
}

/* With what was there, what is, and zeros up to a multiple of 8 */
static size_t text_poke_size(const struct text_poke_record *record)
{
	return (sizeof(struct perf_event_header) + 8 + 4 + record->old_length +
		record->new_length + 7) / 8 * 8;
}

size_t side_fixed(const struct perf_event_header *header)
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
	case PERF_RECORD_NAMESPACES:
		return sizeof(struct namespaces_record);
	case PERF_RECORD_CGROUP:
		return sizeof(struct cgroup_record);
	case PERF_RECORD_KSYMBOL:
		return sizeof(struct ksymbol_record);
	case PERF_RECORD_BPF_EVENT:
		return sizeof(struct bpf_record);
	case PERF_RECORD_TEXT_POKE:
		return text_poke_size((const struct text_poke_record *)header);
	case RECORD_SWITCH:
		return sizeof(struct perf_event_header);
	case RECORD_SWITCH_CPU_WIDE:
		return sizeof(struct switch_record);
	}
	cr_assert(false, "a record of type %u", header->type);
	return 0;
}

const char *side_name(const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_CGROUP:
	case PERF_RECORD_KSYMBOL:
		return (const char *)header + side_fixed(header);
	}
	return NULL;
}

struct perf_event_header *
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

void *side_expect(const struct perf_event_attr *attr, struct ring *r,
		  uint32_t type, struct sample *end)
{
	struct perf_event_header *header = side_next(attr, r, end);

	cr_assert_not_null(header, "no record, wanted one of type %u", type);
	cr_assert_eq(header->type, type, "type %u, not %u", header->type, type);
	return header;
}

void side_expect_none(const struct perf_event_attr *attr, struct ring *r)
{
	struct sample end;
	struct perf_event_header *header = side_next(attr, r, &end);

	cr_assert_null(header, "a record of type %u", header ? header->type : 0);
}

/* ---- A child that waits until its records are read ---- */

void side_start(struct side_child *c, int (*work)(void *), void *arg)
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

void side_go(struct side_child *c)
{
	cr_assert_eq(write(c->go, "", 1), 1);
	close(c->go);
}

void side_end(struct side_child *c)
{
	int status;

	cr_assert_eq(waitpid(c->pid, &status, 0), c->pid);
	cr_assert_eq(status, 0, "the child ended with status %#x", status);
}
