/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call of perf_event_open(2) that is being answered.
 */
#ifndef PMUCTL_TOOL_RUN_REQUEST_H
#define PMUCTL_TOOL_RUN_REQUEST_H

#include "caller.h"
#include "run.h"

/* As much as the kernel takes of an attr: a page */
#define REQUEST_ATTR_MAX	4096

/* What becomes of a call, beside 0 (it goes on) and a negative errno (it is refused) */
#define REQUEST_PASS_ON		1

/**
 * struct request - a call
 * @options: of the command line.
 * @listener: where the kernel asks.
 * @call: its question.
 * @caller: who asks.
 * @self: and who we are.
 * @address: of the attr, in the caller's memory.
 * @attr: our copy of it, which nobody changes.
 * @pid: as the caller says it.
 * @cpu: likewise.
 * @group_fd: the caller's descriptor.
 * @flags: PERF_FLAG_*.
 * @group: our descriptor of the same event; -1 if there is none.
 * @why: why it is refused.
 */
struct request {
	const struct run_options *options;
	int listener;
	const struct seccomp_notif *call;
	struct caller caller, self;
	uint64_t address;
	union {
		struct perf_event_attr attr;
		unsigned char bytes[REQUEST_ATTR_MAX];
	};
	int pid, cpu, group_fd;
	unsigned long flags;
	int group;
	struct pmuctl_explanation why;
};

int request_refuse(struct request *r, int error, const char *field, const char *sentence, ...)
	__attribute__((format(printf, 4, 5)));
bool request_is_valid(const struct request *r);

/* copy.c */
int request_copy(struct request *r);
void request_tell_size(const struct request *r, pid_t caller);

/* group.c */
int request_find_group(struct request *r, bool passed_on);

/* types.c */
int request_find_type(struct request *r);

/* open.c */
int request_open(struct request *r);

#endif /* PMUCTL_TOOL_RUN_REQUEST_H */
