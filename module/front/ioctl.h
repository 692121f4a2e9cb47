/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of ioctls, and the one place where their structures come from user space and go back.
 */
#ifndef PMUCTL_IOCTL_H
#define PMUCTL_IOCTL_H

#include "front/front.h"

/**
 * struct pmuctl_ioctl_call - an ioctl that is under way
 * @event: of the descriptor; NULL of the device.
 * @last: what was refused last on the descriptor.
 * @arg: as the caller gave it.
 * @args: the structure at @arg, zero-extended, if the ioctl has one.
 * @why: to be filled on refusal.
 */
struct pmuctl_ioctl_call {
	struct pmuctl_event *event;
	struct pmuctl_last *last;
	unsigned long arg;
	union {
		struct {
			u32 size;
			u32 flags;
		} head;
		struct pmuctl_info info;
		struct pmuctl_open open;
		struct pmuctl_explanation explanation;
		struct pmuctl_driver driver;
		struct pmuctl_read_cpus read_cpus;
		struct pmuctl_aux_status aux_status;
		struct pmuctl_open_list open_list;
		struct pmuctl_read_list read_list;
		struct pmuctl_control_list control_list;
	} args;
	struct pmuctl_explanation why;
};

/* What is common to some ioctls */
#define PMUCTL_IOCTL_NO_FLAGS	1	/* the second field is flags: there are none yet */
#define PMUCTL_IOCTL_FILLS	2	/* the structure goes back, what the caller knows of it */

/**
 * struct pmuctl_ioctl - a line in a table of ioctls
 * @number: PMUCTL_IOC_*, PERF_EVENT_IOC_*.
 * @size: of the structure at its argument, which begins with its own size; 0: it has none.
 * @least: size of the structure's first version.
 * @flags: PMUCTL_IOCTL_*.
 * @func: does it. Process, may sleep. Returns what the caller gets, or what pmuctl_refuse()
 *	does. NULL ends the table.
 */
struct pmuctl_ioctl {
	unsigned int number;
	size_t size;
	size_t least;
	unsigned int flags;
	long (*func)(struct pmuctl_ioctl_call *call);
};

/* A line for one whose structure is @member_ of pmuctl_ioctl_call.args */
#define PMUCTL_IOCTL_ARGS(number_, member_, least_, flags_, func_) {		\
	.number = (number_),							\
	.size = sizeof_field(struct pmuctl_ioctl_call, args.member_),		\
	.least = (least_),							\
	.flags = (flags_),							\
	.func = (func_),							\
}

/* A line for one that has none */
#define PMUCTL_IOCTL(number_, func_)	{ .number = (number_), .func = (func_) }

/**
 * pmuctl_ioctl() - do an ioctl of a table, and keep the explanation if it is refused
 * @table: its last line is empty.
 * @event: of the descriptor; NULL of the device.
 * @last: of the descriptor.
 * @number: as the caller gave it.
 * @arg: likewise.
 *
 * Context: Process, may sleep.
 * Return: what the ioctl does; -ENOTTY if it is not in the table; for the structure -EINVAL,
 * -E2BIG, -EFAULT.
 */
long pmuctl_ioctl(const struct pmuctl_ioctl *table, struct pmuctl_event *event,
		  struct pmuctl_last *last, unsigned int number, unsigned long arg);

/* Lines of the tables: of both PMUCTL_IOC_EXPLAIN; of the device's event_open.c, event_list.c,
 * aux_sysfs.c
 */
long pmuctl_ioctl_explain(struct pmuctl_ioctl_call *call);
long pmuctl_ioctl_open(struct pmuctl_ioctl_call *call);
long pmuctl_ioctl_open_list(struct pmuctl_ioctl_call *call);
long pmuctl_ioctl_read_list(struct pmuctl_ioctl_call *call);
long pmuctl_ioctl_control_list(struct pmuctl_ioctl_call *call);
long pmuctl_ioctl_driver(struct pmuctl_ioctl_call *call);

/**
 * pmuctl_copy_sized() - copy a structure of the size that the user has it in
 * @dst: gets it, zero-extended.
 * @known: sizeof(*dst).
 * @src: the user's.
 * @size: its.
 *
 * Context: Process, may sleep.
 * Return: 0, -E2BIG: what is beyond @known is not zero, or @size is more than a page; -EFAULT.
 */
int pmuctl_copy_sized(void *dst, size_t known, const void __user *src, u32 size);

#endif /* PMUCTL_IOCTL_H */
