/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who makes a call: what a thread may do, as /proc tells it, and a process that may do the
 * same.
 */
#ifndef PMUCTL_TOOL_RUN_CALLER_H
#define PMUCTL_TOOL_RUN_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

/* Lines of /proc/PID/status, without their names */
enum caller_right {
	CALLER_UID,		/* real, effective, saved, of files */
	CALLER_GID,
	CALLER_GROUPS,
	CALLER_PERMITTED,	/* capabilities */
	CALLER_EFFECTIVE,
	CALLER_RIGHTS
};

/**
 * struct caller - a thread
 * @tid: its number for us.
 * @process: that of its process.
 * @own_tid: its number in its own pid namespace.
 * @start: when it has begun, by which it is told from others of this number.
 * @rights: its user, its groups, its capabilities; as we see them, for comparison.
 * @label: what a security module calls it; empty if none does.
 * @user_namespace: which it is in.
 * @pid_namespace: likewise.
 */
struct caller {
	pid_t tid, process, own_tid;
	unsigned long long start;
	char *rights[CALLER_RIGHTS];
	char label[512];
	ino_t user_namespace, pid_namespace;
};

int caller_read(pid_t tid, struct caller *caller);
void caller_free(struct caller *caller);
bool caller_is_like(const struct caller *one, const struct caller *other);

/* become.c */
int caller_become(const struct caller *caller, const struct caller *self);

#endif /* PMUCTL_TOOL_RUN_CALLER_H */
