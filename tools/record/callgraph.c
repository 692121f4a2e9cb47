// SPDX-License-Identifier: GPL-2.0-only
/*
 * How "pmuctl record" finds out who called: which way was asked for, and what the events
 * record for it. Copies of stacks are unwound by who reads the recording.
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

#define STACK_DEFAULT	8192u
/* What fits into a record */
#define STACK_MAX	65528u

static int stack_option(struct record_options *options, const char *text)
{
	char *end;
	unsigned long size = strtoul(text, &end, 0);

	if (*text < '0' || *text > '9' || *end || !size || size > STACK_MAX)
		return say_usage(options->measure.command,
				 "'%s' is no size of a copied stack: it is a number of bytes up to %u",
				 text, STACK_MAX);
	/* perf rounds up, too. */
	options->stack_size = (unsigned int)(size + 7) & ~7U;
	return 0;
}

/**
 * callgraph_option() - understand the argument of --call-graph
 * @options: gets it.
 * @text: "fp", "dwarf", "dwarf,SIZE" or "lbr".
 *
 * Return: 0, or an exit status; the user has been told.
 */
int callgraph_option(struct record_options *options, const char *text)
{
	options->stack_size = 0;
	if (!strcmp(text, "fp")) {
		options->callgraph = CALLGRAPH_FP;
		return 0;
	}
	if (!strcmp(text, "lbr")) {
		options->callgraph = CALLGRAPH_LBR;
		return 0;
	}
	if (!strcmp(text, "dwarf") || !strncmp(text, "dwarf,", 6)) {
		options->callgraph = CALLGRAPH_DWARF;
		options->stack_size = STACK_DEFAULT;
		return text[5] ? stack_option(options, text + 6) : 0;
	}
	return say_usage(options->measure.command,
			 "--call-graph %s is not there: it is 'fp' (frame pointers), 'dwarf' or 'dwarf,SIZE' (copies of stacks), or 'lbr' (branches that the CPU has recorded)",
			 text);
}

/**
 * callgraph_prepare() - have an event record who called
 * @options: how.
 * @attr: its attr, whose sample_type is set.
 */
void callgraph_prepare(const struct record_options *options, struct perf_event_attr *attr)
{
	if (options->callgraph == CALLGRAPH_NONE)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_kernel = attr->exclude_kernel || options->no_kernel_chains;
	attr->exclude_callchain_user = options->no_user_chains;
	switch (options->callgraph) {
	case CALLGRAPH_DWARF:
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = registers_all();
		attr->sample_stack_user = options->stack_size;
		attr->exclude_callchain_user = 1;
		break;
	case CALLGRAPH_LBR:
		attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_USER |
					   PERF_SAMPLE_BRANCH_CALL_STACK |
					   PERF_SAMPLE_BRANCH_NO_CYCLES |
					   PERF_SAMPLE_BRANCH_NO_FLAGS;
		break;
	default:
		break;
	}
}
