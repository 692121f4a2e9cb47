// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filter of system calls: perf_event_open(2), in whatever form a program makes it, is
 * asked about, and so are PR_TASK_PERF_EVENTS_DISABLE and _ENABLE of prctl(2); all others are
 * none of our business.
 *
 * seccomp(2) is called directly: libseccomp 2.5 cannot ask for WAIT_KILLABLE_RECV, and these
 * are fifteen instructions.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run.h"

/* arch/x86/entry/syscalls: of 64-bit programs, x32 ones too; of 32-bit ones */
#define PERF_EVENT_OPEN_64	298
#define PERF_EVENT_OPEN_32	336

#define LOAD(field) \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
/* Where to go on, counted in instructions that are left out */
#define IF_EQUAL(value, then, otherwise) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (value), (then), (otherwise))
#define RETURN(what)	BPF_STMT(BPF_RET | BPF_K, (what))

static struct sock_filter instructions[] = {
	/*  0 */ LOAD(arch),
	/*  1 */ IF_EQUAL(AUDIT_ARCH_I386, 5, 0),
	/*  2 */ IF_EQUAL(AUDIT_ARCH_X86_64, 0, 10),
	/*  3 */ LOAD(nr),
	/*  4 */ BPF_STMT(BPF_ALU | BPF_AND | BPF_K, (__u32)FILTER_NOT_X32),
	/*  5 */ IF_EQUAL(PERF_EVENT_OPEN_64, 8, 0),
	/*  6 */ IF_EQUAL(FILTER_PRCTL_64, 3, 6),
	/*  7 */ LOAD(nr),
	/*  8 */ IF_EQUAL(PERF_EVENT_OPEN_32, 5, 0),
	/*  9 */ IF_EQUAL(FILTER_PRCTL_32, 0, 3),
	/* 10 */ LOAD(args[0]),	/* its lower half: it is an int */
	/* 11 */ IF_EQUAL(PR_TASK_PERF_EVENTS_DISABLE, 2, 0),
	/* 12 */ IF_EQUAL(PR_TASK_PERF_EVENTS_ENABLE, 1, 0),
	/* 13 */ RETURN(SECCOMP_RET_ALLOW),
	/* 14 */ RETURN(SECCOMP_RET_USER_NOTIF),
};

static const struct sock_fprog program = {
	.len = ARRAY_LEN(instructions),
	.filter = instructions,
};

/* Signals wait until a call that was taken is answered: it is not made twice. */
static int install(void)
{
	int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			      SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &program);

	return fd < 0 ? -errno : fd;
}

/**
 * filter_install() - have the kernel ask about this process' calls from now on, and about
 * those of all that it starts
 *
 * Who is not root can do so only if no exec gives him more rights from now on.
 *
 * Return: the descriptor at which it asks, or a negative errno: -EBUSY if it asks somebody
 * already.
 */
int filter_install(void)
{
	int fd = install();

	if (fd != -EACCES)
		return fd;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return install();
}
