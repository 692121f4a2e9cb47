// SPDX-License-Identifier: GPL-2.0-only
/*
 * Taking a sample of a perf.data file apart: its fields come in a fixed order, and
 * sample_type of the event says which are there.
 */
#include <errno.h>

#include "perffile.h"

/* What newer headers name */
#define BRANCH_COUNTERS		(1ULL << 19)

/* A branch: from, to, flags */
#define BRANCH_WORDS 3

static void parse_raw(struct perffile_sample *sample, struct perffile_bytes *bytes)
{
	uint32_t size = perffile_take32(bytes);

	sample->raw = perffile_take(bytes, size);
	sample->raw_size = sample->raw ? size : 0;
}

static void parse_branches(struct perffile_sample *sample, uint64_t type,
			   struct perffile_bytes *bytes)
{
	uint64_t count = perffile_take64(bytes);

	sample->branch_index = UINT64_MAX;
	if (type & PERF_SAMPLE_BRANCH_HW_INDEX)
		sample->branch_index = perffile_take64(bytes);
	if (count > UINT16_MAX) {
		bytes->failed = true;
		return;
	}
	sample->branches = perffile_take_words(bytes, count * BRANCH_WORDS);
	if (type & BRANCH_COUNTERS)
		perffile_take_words(bytes, count);
}

static struct perffile_words parse_regs(uint64_t mask, uint64_t *abi,
					struct perffile_bytes *bytes)
{
	*abi = perffile_take64(bytes);
	if (*abi == PERF_SAMPLE_REGS_ABI_NONE)
		return (struct perffile_words){ NULL, 0 };
	return perffile_take_words(bytes, (uint64_t)__builtin_popcountll(mask));
}

/* All that was set aside comes, then how much of it was filled. */
static void parse_stack(struct perffile_sample *sample, struct perffile_bytes *bytes)
{
	uint64_t size = perffile_take64(bytes), filled;

	if (!size)
		return;
	sample->stack = perffile_take(bytes, size);
	filled = perffile_take64(bytes);
	if (sample->stack)
		sample->stack_size = filled < size ? filled : size;
}

static void parse_aux(struct perffile_sample *sample, struct perffile_bytes *bytes)
{
	uint64_t size = perffile_take64(bytes);

	sample->aux = perffile_take(bytes, size);
	sample->aux_size = sample->aux ? size : 0;
}

/* The words at the beginning, up to the period. */
static void parse_start(struct perffile_record *record, uint64_t type,
			struct perffile_bytes *bytes)
{
	struct perffile_sample *sample = &record->sample;

	if (type & PERF_SAMPLE_IDENTIFIER)
		record->id = perffile_take64(bytes);
	if (type & PERF_SAMPLE_IP)
		sample->ip = perffile_take64(bytes);
	if (type & PERF_SAMPLE_TID) {
		record->pid = (int32_t)perffile_take32(bytes);
		record->tid = (int32_t)perffile_take32(bytes);
	}
	if (type & PERF_SAMPLE_TIME)
		record->time = perffile_take64(bytes);
	if (type & PERF_SAMPLE_ADDR)
		sample->addr = perffile_take64(bytes);
	if (type & PERF_SAMPLE_ID)
		record->id = perffile_take64(bytes);
	if (type & PERF_SAMPLE_STREAM_ID)
		record->stream_id = perffile_take64(bytes);
	if (type & PERF_SAMPLE_CPU) {
		record->cpu = perffile_take32(bytes);
		perffile_take32(bytes);
	}
	if (type & PERF_SAMPLE_PERIOD)
		sample->period = perffile_take64(bytes);
}

/* What is of variable length, in the middle. */
static void parse_middle(struct perffile_sample *sample, const struct perf_event_attr *attr,
			 struct perffile_bytes *bytes)
{
	uint64_t type = attr->sample_type;

	if (type & PERF_SAMPLE_READ)
		sample->read = perffile_read_take(attr->read_format, bytes);
	if (type & PERF_SAMPLE_CALLCHAIN)
		sample->chain = perffile_take_words(bytes, perffile_take64(bytes));
	if (type & PERF_SAMPLE_RAW)
		parse_raw(sample, bytes);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		parse_branches(sample, attr->branch_sample_type, bytes);
	if (type & PERF_SAMPLE_REGS_USER)
		sample->user_regs = parse_regs(attr->sample_regs_user,
					       &sample->user_abi, bytes);
	if (type & PERF_SAMPLE_STACK_USER)
		parse_stack(sample, bytes);
}

static void parse_end(struct perffile_sample *sample, const struct perf_event_attr *attr,
		      struct perffile_bytes *bytes)
{
	uint64_t type = attr->sample_type;

	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		sample->weight = perffile_take64(bytes);
	if (type & PERF_SAMPLE_DATA_SRC)
		sample->data_src = perffile_take64(bytes);
	if (type & PERF_SAMPLE_TRANSACTION)
		sample->transaction = perffile_take64(bytes);
	if (type & PERF_SAMPLE_REGS_INTR)
		sample->intr_regs = parse_regs(attr->sample_regs_intr,
					       &sample->intr_abi, bytes);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		sample->phys_addr = perffile_take64(bytes);
	if (type & PERF_SAMPLE_CGROUP)
		sample->cgroup = perffile_take64(bytes);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		sample->data_page_size = perffile_take64(bytes);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		sample->code_page_size = perffile_take64(bytes);
	if (type & PERF_SAMPLE_AUX)
		parse_aux(sample, bytes);
}

/**
 * perffile_sample_parse() - take a sample apart
 * @record: with its attr; gets the fields.
 * @bytes: what is behind the header.
 *
 * Fields that are newer than this reader come behind those it knows, and are left out.
 *
 * Return: whether all fields were there.
 */
bool perffile_sample_parse(struct perffile_record *record, struct perffile_bytes *bytes)
{
	const struct perf_event_attr *attr = record->attr;
	struct perffile_sample *sample = &record->sample;

	record->fields = attr->sample_type;
	parse_start(record, attr->sample_type, bytes);
	if (!(attr->sample_type & PERF_SAMPLE_PERIOD))
		sample->period = attr->freq || !attr->sample_period ?
				 1 : attr->sample_period;
	parse_middle(sample, attr, bytes);
	parse_end(sample, attr, bytes);
	return !bytes->failed;
}
