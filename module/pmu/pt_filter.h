/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address filters of Processor Trace: only what is executed in some ranges is traced. Pure
 * logic: the text that perf's users know, for absolute addresses.
 *
 *	filters:	filter, or filter , filters
 *	filter:		"filter" ADDRESS / SIZE
 *
 * Numbers are decimal or 0x. SDM Vol. 3C, "Filtering by IP".
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
 */
struct pt_range {
	u64 from;
	u64 to;
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
 * pt_filter_parse() - make it of its text
 * @text: empty for everything.
 * @caps: of this CPU.
 * @ctl: of the event: a range whose level is not traced is refused.
 * @filter: is filled.
 * @why: filled on refusal; its field is "filter".
 *
 * Context: Any.
 * Return: 0; -EINVAL; -EOPNOTSUPP: an offset in a file.
 */
int pt_filter_parse(const char *text, const struct pt_caps *caps, u64 ctl,
		    struct pt_filter *filter, struct pmuctl_explanation *why);

/* What IA32_RTIT_CTL is to have for it. Any context. */
u64 pt_filter_ctl(const struct pt_filter *filter);

#endif /* PMUCTL_PMU_PT_FILTER_H */
