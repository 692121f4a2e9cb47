/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl trace": what its command line is, for who does it.
 */
#ifndef PMUCTL_TOOL_SYSCALLS_RUN_H
#define PMUCTL_TOOL_SYSCALLS_RUN_H

#include "record/record.h"
#include "report/filter.h"
#include "syscalls.h"

/**
 * struct calls_options - the command line
 * @record: what is recorded.
 * @calls: what is printed, and where to.
 * @output: the name of that file; NULL: standard error output.
 * @faults: the events of page faults, too; NULL: none.
 * @no_syscalls: only these.
 * @left_out: threads that are.
 * @max_stack: functions of a call chain, at most; 0: all.
 */
struct calls_options {
	struct record_options record;
	struct calls calls;
	const char *output;
	const char *faults;
	bool no_syscalls;
	struct filter_ranges left_out;
	uint64_t max_stack;
};

int calls_run(struct pmuctl_device *dev, struct calls_options *options);

#endif /* PMUCTL_TOOL_SYSCALLS_RUN_H */
