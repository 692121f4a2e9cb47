/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A call that is being answered: perf_event_open(2), or prctl(2) about all events of a thread.
 */
#ifndef PMUCTL_TOOL_RUN_REQUEST_H
#define PMUCTL_TOOL_RUN_REQUEST_H

#include <limits.h>

#include "caller.h"
#include "run.h"

/* As much as the kernel takes of an attr: a page */
#define REQUEST_ATTR_MAX	4096

/* What becomes of a call, beside 0 (it goes on), a descriptor, and a negative errno */
#define REQUEST_PASS_ON		INT_MAX

/**
 * struct request - a call
 * @options: of the command line.
 * @shared: what was found for other calls.
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
 * @tracepoint: its name, if the event is one of ours.
 * @group: our descriptor of the same event; -1 if there is none.
 * @cgroup: of the cgroup's directory that @pid is a descriptor of, with PERF_FLAG_PID_CGROUP.
 * @why: why it is refused.
 */
struct request {
	const struct run_options *options;
	struct run_shared *shared;
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
	char tracepoint[RUN_TRACEPOINT_NAME];
	int group;
	int cgroup;
	struct pmuctl_explanation why;
};

enum request_kind { REQUEST_OURS, REQUEST_PERFS, REQUEST_NO_EVENT };

/* rules.c */
int request_refuse(struct request *r, int error, const char *field, const char *sentence, ...)
	__attribute__((format(printf, 4, 5)));
int request_check_flags(struct request *r);
int request_check_target(struct request *r);
bool request_is_of_cgroup(const struct request *r);
int request_take_cgroup(struct request *r, int fd);
enum request_kind request_kind_at(int directory, const char *path);
enum request_kind request_kind(int fd);
int request_take_group(struct request *r, int fd, bool passed_on);
int request_open_here(struct request *r, pid_t caller, unsigned int flags);
int request_settle(struct request *r, int ret);
void request_explain(const struct request *r);

/* request.c, or the library */
bool request_is_valid(const struct request *r);

/* copy.c */
int request_copy(struct request *r);
void request_tell_size(const struct request *r, pid_t caller);

/* group.c */
int request_get_event(const struct request *r, int directory, const char *number);
int request_find_group(struct request *r, bool passed_on);
int request_find_cgroup(struct request *r);

/* types.c */
int request_find_type(struct request *r);
int request_refuse_strictly(struct request *r);

/* tracepoints.c */
bool request_name_tracepoint(struct request *r);

/* control.c */
void request_keep_opener(const struct request *r, int fd);
int request_control(struct request *r);

/* open.c */
int request_open(struct request *r);

#endif /* PMUCTL_TOOL_RUN_REQUEST_H */
