/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tests say to kapi_user.ko. Each open of its device is one counter of the in-kernel
 * API at most. It understands PERF_EVENT_IOC_ENABLE, _DISABLE and _PERIOD, and a read()
 * gives value and times, so that it can be used where an event descriptor can; close()
 * releases.
 */
#ifndef KAPI_USER_H
#define KAPI_USER_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KAPI_DEVICE	"/dev/kapi_user"
#define KAPI_ATTR_SIZE	144	/* of the newest kernel */

/* Whom to count, in place of a pid */
#define KAPI_NOBODY	-1	/* no task */
#define KAPI_ZOMBIE	-2	/* one that has exited */

/* Bits of kapi_create.handler */
#define KAPI_HANDLER	1	/* there is one; it writes down what it sees */
#define KAPI_STOP	2	/* it returns false at the call kapi_create.arg */
#define KAPI_MISUSE	4	/* its first call calls every function */
#define KAPI_NO_WHY	8	/* no explanation is wanted */
#define KAPI_SLOW	16	/* each call kapi_create.arg takes twelve milliseconds */

/**
 * struct kapi_create - create a counter
 * @attr: as much of it as the kernel knows.
 * @pid: whom to count; 0: the caller, KAPI_*.
 * @cpu: where.
 * @handler: KAPI_*.
 * @arg: see there.
 * @code: field and sentence of the refusal; zero if there was none.
 */
struct kapi_create {
	__u8 attr[KAPI_ATTR_SIZE];
	__s32 pid;
	__s32 cpu;
	__u32 handler;
	__u32 arg;
	__u32 error;
	__u32 code;
	char field[32];
	char sentence[208];
};

/* What a call of the handler saw */
struct kapi_seen {
	__u64 value;
	__u64 period;
	__u64 time;
	__u64 enabled;
	__u64 running;
	__u64 ip;
	__u32 tid;
	__u32 cpu;
	__u32 user_mode;
	__u32 nmi;
};

/* The calls until now, and what the first of them saw */
#define KAPI_SEEN_MAX	64

struct kapi_calls {
	__u64 calls;
	__s32 misuse[5];	/* errors of enable, disable, read, set_period, release */
	__u32 misuse_code;	/* explanation of set_period */
	struct kapi_seen seen[KAPI_SEEN_MAX];
};

/**
 * struct kapi_race - create, overflow and release
 * @attr: with a period.
 * @pid: and @cpu: as in struct kapi_create.
 * @rounds: how many of those with a handler that was running at the release.
 * @tries: out: rounds in all.
 * @late: out: releases that returned before the handler did.
 */
struct kapi_race {
	__u8 attr[KAPI_ATTR_SIZE];
	__s32 pid;
	__s32 cpu;
	__u32 rounds;
	__u32 tries;
	__u32 late;
	__u32 reserved;
};

#define KAPI_CREATE	_IO('k', 0x20)	/* struct kapi_create * */
#define KAPI_CALLS	_IO('k', 0x21)	/* struct kapi_calls * */
#define KAPI_RACE	_IO('k', 0x22)	/* struct kapi_race * */
/* Read, without wanting to know the times; the value goes to a __u64. */
#define KAPI_VALUE	_IO('k', 0x23)	/* __u64 * */

#endif /* KAPI_USER_H */
