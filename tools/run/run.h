/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl run": what its parts share. run.c understands the command line and waits for the
 * command, filter.c has the kernel ask us about calls, server.c takes the questions and start
 * a process for each, which answers it: request.c. caller.c knows who asks, become.c
 * becomes that.
 *
 *	pmuctl run ── fork ── server ── fork ── the command (filtered, and all that it starts)
 *	  │ its status          │
 *	  └──────── waits       └────── fork ── one for each call
 *
 * The server is above all that it serves, also when these have lost their parents, so that
 * it may look into them where only that is allowed (Yama); and it is there until the last of
 * them has ended, also when pmuctl run has ended with the command.
 */
#ifndef PMUCTL_TOOL_RUN_H
#define PMUCTL_TOOL_RUN_H

#include <signal.h>

#include <linux/seccomp.h>

#include "command.h"

/**
 * struct run_options - what was asked for
 * @argv: the command.
 * @explain: tell on stderr why a call was refused.
 * @strict: what pmuctl does not have is refused.
 * @preload: by a library in the program, instead of by the kernel's asking.
 */
struct run_options {
	char **argv;
	bool explain;
	bool strict;
	bool preload;
};

/* The environment of programs that have the library: set for --explain and --strict */
#define RUN_ENV_EXPLAIN		"PMUCTL_RUN_EXPLAIN"
#define RUN_ENV_STRICT		"PMUCTL_RUN_STRICT"
/* Where the library is, if not where it was installed */
#define RUN_ENV_LIBRARY		"PMUCTL_RUN_LIBRARY"

/* More tracepoints, and longer names, are not known by their numbers. */
#define RUN_TRACEPOINTS		8192
#define RUN_TRACEPOINT_NAME	128
/* Of older events nobody knows who has opened them. */
#define RUN_OPENED		65536

/**
 * struct run_opened - an event that was opened
 * @id: its number, PERF_EVENT_IOC_ID; they are counted up.
 * @start: when the thread that opened it has begun.
 * @tid: that thread.
 */
struct run_opened {
	uint64_t id, start;
	pid_t tid;
};

/**
 * struct run_shared - what those that answer calls leave to those that come after
 * @opened: by its number.
 * @tracepoints: names, "sched:sched_switch", by numbers; empty if not known.
 */
struct run_shared {
	struct run_opened opened[RUN_OPENED];
	char tracepoints[RUN_TRACEPOINTS][RUN_TRACEPOINT_NAME];
};

/* filter.c: prctl(2) of 64-bit and of 32-bit programs */
#define FILTER_PRCTL_64		157
#define FILTER_PRCTL_32		172
#define FILTER_NOT_X32		(~0x40000000)

int filter_install(void);

/* start.c */
_Noreturn void start_command(const struct run_options *options, int server,
			     const sigset_t *mask);
int start_listen(int command);

/* preloaded.c */
int preloaded_exec(const struct run_options *options);

/* server.c */
_Noreturn void server_main(const struct run_options *options, int parent,
			   const sigset_t *mask);

/* request.c */
void request_serve(const struct run_options *options, struct run_shared *shared,
		   int listener, const struct seccomp_notif *call);

#endif /* PMUCTL_TOOL_RUN_H */
