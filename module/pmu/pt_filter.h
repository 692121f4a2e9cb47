/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address filters of Processor Trace: only what is executed in some ranges is traced, or the
 * trace stops when it comes to one. Pure logic: the text that perf's users know.
 *
 *	filters:	filter, or filter , filters
 *	filter:		"filter" range, or "stop" range
 *	range:		ADDRESS / SIZE, or OFFSET / SIZE @FILE
 *
 * Numbers are decimal or 0x; a name ends at a space, a comma or the end. SDM Vol. 3C,
 * "Filtering by IP".
 */
#ifndef PMUCTL_PMU_PT_FILTER_H
#define PMUCTL_PMU_PT_FILTER_H

#include "pmu/pt_config.h"

/* More the SDM has no registers for. */
#define PT_RANGES_MAX	4

/**
 * struct pt_range - addresses
 * @from: the first.
 * @to: the last.
 * @stop: the trace stops there; else, nothing but ranges is traced.
 */
struct pt_range {
	u64 from;
	u64 to;
	bool stop;
};

/* What no code is at: a range of a file that is not mapped */
#define PT_RANGE_NOWHERE	0ULL

/* If it was found somewhere, it is there from now on. */
static inline void pt_range_move(struct pt_range *range, const struct pt_range *found)
{
	if (found->from == PT_RANGE_NOWHERE)
		return;
	range->from = found->from;
	range->to = found->to;
}

/**
 * struct pt_file_name - the file that a range is an offset in
 * @at: its name, in the text.
 * @length: of it; 0 if the range is one of addresses.
 */
struct pt_file_name {
	const char *at;
	unsigned int length;
};

/**
 * struct pt_filter - what is traced
 * @nr: ranges; 0 if everything is.
 * @ranges: of instructions.
 */
struct pt_filter {
	unsigned int nr;
	struct pt_range ranges[PT_RANGES_MAX];
};

/**
 * struct pt_places - where the files of a filter are in one process
 * @generation: of the filter.
 * @looked: of that for which all has been looked at that was mapped before.
 * @ranges: addresses; those of ranges that are of no file are not used.
 */
struct pt_places {
	u32 generation;
	u32 looked;
	struct pt_range ranges[PT_RANGES_MAX];
};

/**
 * pt_filter_parse() - make it of its text
 * @text: empty for everything.
 * @caps: of this CPU.
 * @ctl: of the event: a range whose level is not traced is refused.
 * @filter: is filled; a range of a file has offsets.
 * @names: likewise, PT_RANGES_MAX of them.
 * @why: filled on refusal; its field is "filter".
 *
 * Context: Any.
 * Return: 0; -EINVAL; -EOPNOTSUPP: "start", which the processor does not have.
 */
int pt_filter_parse(const char *text, const struct pt_caps *caps, u64 ctl,
		    struct pt_filter *filter, struct pt_file_name *names,
		    struct pmuctl_explanation *why);

/**
 * pt_range_map() - where a part of a file is
 * @part: offsets in the file.
 * @offset: of the first byte that is mapped.
 * @start: its address.
 * @length: bytes that are mapped there.
 * @range: its addresses are set, if any of it is there.
 *
 * Context: Any.
 * Return: false: none of it is there.
 */
bool pt_range_map(const struct pt_range *part, u64 offset, u64 start, u64 length,
		  struct pt_range *range);

/* Does the trace stop somewhere? Any context. */
bool pt_filter_stops(const struct pt_filter *filter);

/* What IA32_RTIT_CTL is to have for it. Any context. */
u64 pt_filter_ctl(const struct pt_filter *filter);

#endif /* PMUCTL_PMU_PT_FILTER_H */
