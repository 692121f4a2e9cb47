/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Lists: the part of the ABI of /dev/pmuctl by which one call opens, reads, enables, disables or
 * resets many events. Part of <linux/pmuctl.h>.
 */
#ifndef _UAPI_LINUX_PMUCTL_LIST_H
#define _UAPI_LINUX_PMUCTL_LIST_H

#include "pmuctl.h"

/*
 * pmuctl_open.flags, in a list only: @group_fd is no descriptor, but the number of an earlier
 * entry of the same list.
 */
#define PMUCTL_OPEN_GROUP_ENTRY	(1U << 17)

/* Most entries of a list: what a call does without a return is bounded. */
#define PMUCTL_LIST_MAX		1024

/**
 * struct pmuctl_open_list - open many events, all of them or none
 * @size: sizeof(struct pmuctl_open_list).
 * @flags: zero.
 * @nr: how many, 1 to PMUCTL_LIST_MAX.
 * @entry_size: sizeof(struct pmuctl_open) that the caller was compiled with: the distance
 *	of the entries, and the @size of each.
 * @opens: address of an array of struct pmuctl_open. Each entry asks for what it would ask
 *	for alone, and is judged as if it did; @explanation and @explanation_size in it
 *	must be zero.
 * @fds: address of an array of @nr __s32: gets the descriptors, in the order of the entries.
 * @explanation_size: size in bytes of the buffer at @explanation; 0 if none.
 * @reserved: zero.
 * @explanation: as that of struct pmuctl_open; @entry and @field there tell which entry it
 *	was.
 *
 * The events are opened one after the other; one that is not disabled counts from then on. If
 * an entry is refused, or a fatal signal arrives, those before it are closed, and their
 * descriptors were never there; what @fds has then is of no use. Other signals wait until
 * all are open.
 */
struct pmuctl_open_list {
	__u32		size;
	__u32		flags;
	__u32		nr;
	__u32		entry_size;
	__aligned_u64	opens;
	__aligned_u64	fds;
	__u32		explanation_size;
	__u32		reserved;
	__aligned_u64	explanation;
};

/**
 * struct pmuctl_read_entry - an event to be read
 * @fd: its descriptor.
 * @length: bytes at @buffer.
 * @buffer: address of what read(@fd, @buffer, @length) fills.
 * @got: out: how many bytes that are; 0 for a pinned event in error.
 * @reserved: zero.
 */
struct pmuctl_read_entry {
	__s32		fd;
	__u32		length;
	__aligned_u64	buffer;
	__u32		got;
	__u32		reserved;
};

/**
 * struct pmuctl_read_list - read many events
 * @size: sizeof(struct pmuctl_read_list).
 * @flags: zero.
 * @nr: how many, 1 to PMUCTL_LIST_MAX.
 * @entry_size: sizeof(struct pmuctl_read_entry).
 * @entries: address of an array of struct pmuctl_read_entry.
 *
 * They are read one after the other, not at the same instant, as the members of a group are.
 * It ends with the first that is refused, with its errno: those before have been read.
 */
struct pmuctl_read_list {
	__u32		size;
	__u32		flags;
	__u32		nr;
	__u32		entry_size;
	__aligned_u64	entries;
};

/**
 * struct pmuctl_control_list - enable, disable or reset many events
 * @size: sizeof(struct pmuctl_control_list).
 * @flags: PERF_IOC_FLAG_GROUP: the groups of all of them; else 0.
 * @nr: how many, 1 to PMUCTL_LIST_MAX.
 * @request: PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE or PERF_EVENT_IOC_RESET.
 * @fds: address of an array of @nr __s32, descriptors of events.
 *
 * In the order of @fds, and none if one of these is no event (EBADF).
 */
struct pmuctl_control_list {
	__u32		size;
	__u32		flags;
	__u32		nr;
	__u32		request;
	__aligned_u64	fds;
};

/**
 * define PMUCTL_IOC_OPEN_LIST - open many events, all of them or none
 *
 * On the device, with a struct pmuctl_open_list.
 */
#define PMUCTL_IOC_OPEN_LIST	_IO(PMUCTL_IOC_MAGIC, 0x1c)

/**
 * define PMUCTL_IOC_READ_LIST - read many events
 *
 * On the device, with a struct pmuctl_read_list: through whichever descriptor of the device
 * the events were opened.
 */
#define PMUCTL_IOC_READ_LIST	_IO(PMUCTL_IOC_MAGIC, 0x1d)

/**
 * define PMUCTL_IOC_CONTROL_LIST - enable, disable or reset many events
 *
 * On the device, likewise, with a struct pmuctl_control_list.
 */
#define PMUCTL_IOC_CONTROL_LIST	_IO(PMUCTL_IOC_MAGIC, 0x1e)

PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_open_list) == 48);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_read_entry) == 24);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_read_list) == 24);
PMUCTL_ABI_ASSERT(sizeof(struct pmuctl_control_list) == 24);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_open_list, opens) == 16);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_open_list, explanation) == 40);
PMUCTL_ABI_ASSERT(__builtin_offsetof(struct pmuctl_read_entry, buffer) == 8);

#endif /* _UAPI_LINUX_PMUCTL_LIST_H */
