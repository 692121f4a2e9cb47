// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which branches "pmuctl record" takes into samples: -b and -j, in perf's words.
 */
#include <string.h>

#include "record.h"

/* Newer than the header of the oldest system that builds this */
#define BRANCH_PRIV_SAVE	(1ULL << 18)

static const struct {
	const char *name;
	uint64_t bit;
} kinds[] = {
	{ "u", PERF_SAMPLE_BRANCH_USER }, { "k", PERF_SAMPLE_BRANCH_KERNEL },
	{ "hv", PERF_SAMPLE_BRANCH_HV }, { "any", PERF_SAMPLE_BRANCH_ANY },
	{ "any_call", PERF_SAMPLE_BRANCH_ANY_CALL }, { "any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN },
	{ "ind_call", PERF_SAMPLE_BRANCH_IND_CALL }, { "abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX },
	{ "in_tx", PERF_SAMPLE_BRANCH_IN_TX }, { "no_tx", PERF_SAMPLE_BRANCH_NO_TX },
	{ "cond", PERF_SAMPLE_BRANCH_COND }, { "ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP },
	{ "call", PERF_SAMPLE_BRANCH_CALL }, { "stack", PERF_SAMPLE_BRANCH_CALL_STACK },
	{ "no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS }, { "no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES },
	{ "save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE }, { "hw_index", PERF_SAMPLE_BRANCH_HW_INDEX },
	{ "priv", BRANCH_PRIV_SAVE },
};

/**
 * branches_option() - understand the argument of -j
 * @options: gets it, added to what is there.
 * @text: names with commas between.
 *
 * As perf does: if there are nothing but privileges, branches of any kind are meant.
 *
 * Return: 0, or an exit status; the user has been told.
 */
int branches_option(struct record_options *options, const char *text)
{
	for (;;) {
		size_t length = strcspn(text, ","), i;

		for (i = 0; i < ARRAY_LEN(kinds); i++)
			if (strlen(kinds[i].name) == length && !strncmp(kinds[i].name, text, length))
				break;
		if (i == ARRAY_LEN(kinds))
			return say_usage(options->measure.command,
					 "'%.*s' is no kind of branches: see pmuctl-record(1), -j",
					 (int)length, text);
		options->branches |= kinds[i].bit;
		if (!text[length])
			break;
		text += length + 1;
	}
	if (!(options->branches & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
		options->branches |= PERF_SAMPLE_BRANCH_ANY;
	return 0;
}

/**
 * branches_prepare() - have an event take branches into its samples
 * @options: which.
 * @attr: its attr, whose sample_type is set.
 */
void branches_prepare(const struct record_options *options, struct perf_event_attr *attr)
{
	if (!options->branches)
		return;
	attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr->branch_sample_type = options->branches;
	/* Where no privilege is named it is that of the event, and a hypervisor's is nobody's to ask. */
	attr->exclude_hv = 1;
}
