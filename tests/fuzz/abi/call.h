/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A program of the ABI's fuzzer: a sequence of calls of /dev/pmuctl and of what happens to
 * the tasks that it counts. As text, a call is a line:
 *
 *   open ev=1 type=hw config=1 pid=c0 group=ev0 bits=disabled+exclude_kernel
 *   t=c0 work what=exec
 *   t=t1 async loop=16 ioctl ev=1 cmd=enable
 *
 * Arguments that are not named have their defaults, those of struct op's table.
 */
#ifndef FUZZ_ABI_CALL_H
#define FUZZ_ABI_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARGS_MAX	28
#define CALLS_MAX	40
#define TEXT_MAX	8192	/* of a program */

/* What a program has of each: the names ev0, ev1, and so on */
#define EVENTS		12
#define MAPS		5

/* Who makes a call: the process and two threads of it, or one of three children */
enum who { T0, T1, T2, C0, C1, C2, WHOS };

#define CHILDREN	3

enum op_number {
	OP_OPEN, OP_CLOSE, OP_DUP, OP_IOCTL, OP_DEVICE, OP_READ, OP_POLL, OP_ASYNC_IO,
	OP_MMAP, OP_MUNMAP, OP_MREMAP, OP_RING, OP_FORK, OP_KILL, OP_WORK, OP_AFFINITY,
	OP_ADMIN, OP_LIST, OPS
};

/**
 * enum kind - what an argument is
 * @KIND_NUMBER: any number.
 * @KIND_CHOICE: one of some values that have names, or any number.
 * @KIND_FLAGS: bits that have names, joined by +, or any number.
 * @KIND_TEXT: a number of the table of texts; in the program's text the text itself.
 */
enum kind { KIND_NUMBER, KIND_CHOICE, KIND_FLAGS, KIND_TEXT };

/* A value, or a bit, and its name; often: how often it is chosen, beside the others */
struct name {
	const char *name;
	int64_t value;
	unsigned int often;
};

struct arg {
	const char *name;
	enum kind kind;
	const struct name *names;	/* ends with one without a name */
	int64_t standard;
	unsigned int percent;		/* how often it is not the standard */
};

struct op {
	const char *name;
	unsigned int often;
	struct arg args[ARGS_MAX + 1];	/* ends with one without a name */
};

/**
 * struct call - one of a program
 * @op: which.
 * @who: makes it.
 * @async: the next one does not wait for its end.
 * @loop: how often it is made.
 * @fail: which of the things that can fail in it does, from 1 on; 0 for none.
 */
struct call {
	uint8_t op;
	uint8_t who;
	uint8_t async;
	uint8_t loop;
	uint32_t fail;
	int64_t arg[ARGS_MAX];
};

/* @root: made by root, not by an ordinary user. */
struct program {
	unsigned int n;
	bool root;
	struct call call[CALLS_MAX];
};

extern const struct op ops[OPS];
extern const char *const who_names[WHOS];

/* The arguments by their names, in the order of the table */
enum open_arg {
	OPEN_EV, OPEN_VIA, OPEN_TYPE, OPEN_CONFIG, OPEN_PID, OPEN_CPU, OPEN_GROUP, OPEN_FLAGS,
	OPEN_BITS, OPEN_PERIOD, OPEN_SAMPLE, OPEN_FORMAT, OPEN_WAKEUP, OPEN_CLOCK, OPEN_STACK,
	OPEN_REGS_USER, OPEN_REGS_INTR, OPEN_DEPTH, OPEN_ACTION, OPEN_AUX_MARK, OPEN_BRANCH,
	OPEN_CONFIG1, OPEN_CONFIG2, OPEN_TRACE, OPEN_ATTR_SIZE, OPEN_SIZE, OPEN_POINTER,
	OPEN_AUX_SIZE
};

enum ioctl_arg { IOCTL_EV, IOCTL_CMD, IOCTL_ARG, IOCTL_TO, IOCTL_TEXT, IOCTL_POINTER };
enum device_arg { DEVICE_CMD, DEVICE_ARG, DEVICE_SIZE, DEVICE_POINTER };
enum list_arg {
	LIST_CMD, LIST_NR, LIST_EV, LIST_EV2, LIST_PID, LIST_BITS, LIST_FORMAT, LIST_LEADER,
	LIST_REQUEST, LIST_FLAGS, LIST_ENTRY_SIZE, LIST_POINTER
};
enum read_arg { READ_EV, READ_SIZE, READ_POINTER };
enum poll_arg { POLL_EV, POLL_TIME };
enum async_arg { ASYNC_EV, ASYNC_ON, ASYNC_SIGNAL };
enum mmap_arg { MMAP_MAP, MMAP_EV, MMAP_AREA, MMAP_PAGES, MMAP_PROT, MMAP_FLAGS, MMAP_OFFSET };
enum munmap_arg { MUNMAP_MAP, MUNMAP_FROM, MUNMAP_PAGES };
enum mremap_arg { MREMAP_MAP, MREMAP_TO, MREMAP_PAGES };
enum ring_arg { RING_MAP, RING_WHAT, RING_VALUE };
enum work_arg { WORK_WHAT, WORK_N };
enum admin_arg { ADMIN_WHAT, ADMIN_N };

/* Ways of pointers */
enum pointer { POINTER_GOOD, POINTER_NULL, POINTER_KERNEL, POINTER_EDGE, POINTER_CONST };

/* Targets that are no numbers of tasks */
#define PID_WHO(who)	(1000000 + (who))
#define PID_PARENT	2000000
#define PID_GONE	2000001

/* Descriptors that are none of ours */
#define FD_DEVICE	1000
#define FD_FOREIGN	1001

enum work {
	WORK_SPIN, WORK_FAULT, WORK_YIELD, WORK_SLEEP, WORK_COMM, WORK_MAP_CODE, WORK_THREAD,
	WORK_FORK, WORK_FORK_STAYS, WORK_VFORK, WORK_SIGNAL, WORK_EXEC, WORK_EXEC_SUID,
	WORK_EXEC_UNREADABLE, WORK_EXIT, WORK_DROP
};

enum ring_work { RING_CONSUME, RING_GARBAGE, RING_AUX_CONSUME, RING_AUX_GARBAGE, RING_PROTECT };
enum mmap_area { AREA_RING, AREA_AUX };
enum via { VIA_PMUCTL, VIA_PERF };

enum admin {
	ADMIN_OFFLINE, ADMIN_ONLINE, ADMIN_PARANOID, ADMIN_OVERCOMMIT, ADMIN_ROTATION,
	ADMIN_RATE, ADMIN_CLAIM, ADMIN_RELOAD
};

/* ---- text.c ---- */

/* The number of a text, which becomes one of the table's if it is none yet. */
int text_number(const char *text);
const char *text_of(int64_t number);	/* "" if there is none */
unsigned int text_count(void);

/* Print a program, or one call, to @out of @size; returns the length. */
int program_print(const struct program *program, char *out, size_t size);

/*
 * Read the next program of @f, which ends with an empty line: 1, 0 at the end of the file,
 * or -1, when it has told standard error what is wrong.
 */
int program_read(FILE *f, const char *file, struct program *program);

#endif /* FUZZ_ABI_CALL_H */
