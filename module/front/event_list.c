// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists: PMUCTL_IOC_OPEN_LIST, PMUCTL_IOC_READ_LIST and PMUCTL_IOC_CONTROL_LIST. Each entry is
 * done, and judged, as the call of its own would be, with nothing held from one to the next
 * but the files themselves. Process context.
 *
 * Between two entries others may run, and a fatal signal ends the list. A signal that is handled
 * does not: with an interval timer, a list that takes longer than the interval would never be
 * open.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "event/change.h"
#include "event/read.h"
#include "front/event_fd.h"
#include "front/ioctl.h"

static int check_length(u32 nr, struct pmuctl_explanation *why)
{
	if (!nr || nr > PMUCTL_LIST_MAX)
		return pmuctl_refuse(why, LIST_LENGTH, "nr", nr, PMUCTL_LIST_MAX);
	return 0;
}

/* Before each entry */
static int may_go_on(struct pmuctl_explanation *why)
{
	cond_resched();
	return fatal_signal_pending(current) ? pmuctl_refuse(why, INTERRUPTED, "") : 0;
}

/* ---- Opening ---- */

/**
 * struct open_list - a list that is being opened
 * @args: what is asked for; the caller's.
 * @why: filled on refusal; the caller's.
 * @opened: room for all of them.
 * @nr: how many are open.
 */
struct open_list {
	const struct pmuctl_open_list *args;
	struct pmuctl_explanation *why;
	struct pmuctl_opened *opened;
	u32 nr;
};

static int check_open_list(const struct pmuctl_open_list *args, struct pmuctl_explanation *why)
{
	if (args->reserved)
		return pmuctl_refuse(why, RESERVED_SET, "reserved", (u64)args->reserved);
	if (args->entry_size < PMUCTL_OPEN_SIZE_VER0)
		return pmuctl_refuse(why, SIZE_TOO_SMALL, "entry_size", args->entry_size,
				     (size_t)PMUCTL_OPEN_SIZE_VER0);
	return check_length(args->nr, why);
}

/* Its own explanation's buffer would be a second one. */
static int copy_open(struct open_list *l, struct pmuctl_open *open)
{
	const u32 size = l->args->entry_size;
	int err;

	err = pmuctl_copy_sized(open, sizeof(*open),
				u64_to_user_ptr(l->args->opens + (u64)l->nr * size), size);
	if (err == -E2BIG)
		return pmuctl_refuse(l->why, SIZE_TOO_BIG, "", size, sizeof(*open));
	if (err)
		return pmuctl_refuse(l->why, BAD_POINTER, "");
	if (open->size != size)
		return pmuctl_refuse(l->why, LIST_ENTRY_SIZE, "size", open->size, (size_t)size,
				     "pmuctl_open");
	if (open->explanation_size)
		return pmuctl_refuse(l->why, RESERVED_SET, "explanation_size",
				     (u64)open->explanation_size);
	if (open->explanation)
		return pmuctl_refuse(l->why, RESERVED_SET, "explanation", open->explanation);
	return 0;
}

static int open_entry(struct open_list *l)
{
	struct pmuctl_open open;
	int err;

	err = may_go_on(l->why) ?: copy_open(l, &open) ?:
	      pmuctl_event_open(&open, l->opened, l->nr, &l->opened[l->nr], l->why);
	if (err)
		pmuctl_refuse_entry(l->why, l->nr);
	else
		l->nr++;
	return err;
}

/* Tell the caller their descriptors; afterwards nothing fails any more. */
static int put_fds(const struct open_list *l)
{
	s32 __user *fds = u64_to_user_ptr(l->args->fds);
	u32 i;

	for (i = 0; i < l->nr; i++)
		if (put_user(l->opened[i].fd, fds + i))
			return pmuctl_refuse(l->why, BAD_POINTER, "fds");
	return 0;
}

static int open_all(struct open_list *l)
{
	int err = 0;
	u32 i;

	while (!err && l->nr < l->args->nr)
		err = open_entry(l);
	err = err ?: put_fds(l);
	if (!err)
		for (i = 0; i < l->nr; i++)
			fd_install(l->opened[i].fd, l->opened[i].file);
	else
		while (l->nr)
			pmuctl_opened_undo(&l->opened[--l->nr]);
	return err;
}

static int open_list(const struct pmuctl_open_list *args, struct pmuctl_explanation *why)
{
	struct open_list l = { .args = args, .why = why };
	int err;

	err = check_open_list(args, why);
	if (err)
		return err;
	l.opened = kvmalloc_array(args->nr, sizeof(*l.opened), GFP_KERNEL_ACCOUNT);
	if (!l.opened)
		return pmuctl_refuse(why, NO_MEMORY, "");
	err = open_all(&l);
	kvfree(l.opened);
	return err;
}

long pmuctl_ioctl_open_list(struct pmuctl_ioctl_call *call)
{
	const struct pmuctl_open_list *args = &call->args.open_list;
	int err = open_list(args, &call->why);

	if (err && pmuctl_open_explain(args->explanation, args->explanation_size, &call->why))
		return pmuctl_refuse(&call->why, BAD_POINTER, "explanation");
	return err;
}

/* ---- Reading ---- */

static int read_event(struct pmuctl_read_entry *entry, struct pmuctl_explanation *why)
{
	struct file *file;
	ssize_t got;

	if (!pmuctl_event_fd_get(entry->fd, &file))
		return pmuctl_refuse(why, LIST_FD, "fd", entry->fd);
	got = pmuctl_event_file_read(file->private_data, u64_to_user_ptr(entry->buffer),
				     entry->length, why);
	fput(file);
	if (got < 0)
		return got;
	entry->got = got;
	return 0;
}

static int read_entry(struct pmuctl_read_entry __user *user, struct pmuctl_explanation *why)
{
	struct pmuctl_read_entry entry;
	int err;

	if (copy_from_user(&entry, user, sizeof(entry)))
		return pmuctl_refuse(why, BAD_POINTER, "");
	if (entry.reserved)
		return pmuctl_refuse(why, RESERVED_SET, "reserved", (u64)entry.reserved);
	err = read_event(&entry, why);
	if (err)
		return err;
	return put_user(entry.got, &user->got) ? pmuctl_refuse(why, BAD_POINTER, "got") : 0;
}

long pmuctl_ioctl_read_list(struct pmuctl_ioctl_call *call)
{
	const struct pmuctl_read_list *args = &call->args.read_list;
	struct pmuctl_read_entry __user *entries = u64_to_user_ptr(args->entries);
	int err;
	u32 i;

	if (args->entry_size != sizeof(*entries))
		return pmuctl_refuse(&call->why, LIST_ENTRY_SIZE, "entry_size", args->entry_size,
				     sizeof(*entries), "pmuctl_read_entry");
	err = check_length(args->nr, &call->why);
	for (i = 0; i < args->nr && !err; i++) {
		err = may_go_on(&call->why) ?: read_entry(entries + i, &call->why);
		if (err)
			pmuctl_refuse_entry(&call->why, i);
	}
	return err;
}

/* ---- On and off ---- */

/* How many there are in a row; all of them, or @why is filled. */
static u32 get_files(const struct pmuctl_control_list *args, struct file **files,
		     struct pmuctl_explanation *why)
{
	const s32 __user *fds = u64_to_user_ptr(args->fds);
	s32 fd;
	u32 i;

	for (i = 0; i < args->nr; i++) {
		if (get_user(fd, fds + i))
			pmuctl_refuse(why, BAD_POINTER, "");
		else if (!pmuctl_event_fd_get(fd, &files[i]))
			pmuctl_refuse(why, LIST_FD, "", fd);
		else
			continue;
		pmuctl_refuse_entry(why, i);
		break;
	}
	return i;
}

static void control(struct file *file, u32 request, bool group)
{
	const struct event_file *ef = file->private_data;

	switch (request) {
	case PERF_EVENT_IOC_ENABLE:
		pmuctl_event_enable(ef->event, group);
		break;
	case PERF_EVENT_IOC_DISABLE:
		pmuctl_event_disable(ef->event, group);
		break;
	case PERF_EVENT_IOC_RESET:
		pmuctl_event_reset(ef->event, group);
		break;
	}
}

static int control_files(const struct pmuctl_control_list *args, struct file **files,
			 struct pmuctl_explanation *why)
{
	u32 nr = get_files(args, files, why), i;
	int err = nr < args->nr ? -(int)why->error : 0;

	for (i = 0; i < nr; i++) {
		err = err ?: may_go_on(why);
		if (!err)
			control(files[i], args->request, args->flags & PERF_IOC_FLAG_GROUP);
		fput(files[i]);
	}
	return err;
}

static int check_control_list(const struct pmuctl_control_list *args,
			      struct pmuctl_explanation *why)
{
	if (args->flags & ~(u32)PERF_IOC_FLAG_GROUP)
		return pmuctl_refuse(why, FLAGS_UNKNOWN, "flags", args->flags,
				     (u32)PERF_IOC_FLAG_GROUP);
	if (args->request != PERF_EVENT_IOC_ENABLE && args->request != PERF_EVENT_IOC_DISABLE &&
	    args->request != PERF_EVENT_IOC_RESET)
		return pmuctl_refuse(why, LIST_REQUEST, "request", args->request);
	return check_length(args->nr, why);
}

long pmuctl_ioctl_control_list(struct pmuctl_ioctl_call *call)
{
	const struct pmuctl_control_list *args = &call->args.control_list;
	struct file **files;
	int err;

	err = check_control_list(args, &call->why);
	if (err)
		return err;
	files = kvmalloc_array(args->nr, sizeof(*files), GFP_KERNEL_ACCOUNT);
	if (!files)
		return pmuctl_refuse(&call->why, NO_MEMORY, "");
	err = control_files(args, files, &call->why);
	kvfree(files);
	return err;
}
