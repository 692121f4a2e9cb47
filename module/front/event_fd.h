/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of event file descriptors share: event_open.c makes them, event_fd.c reads
 * and ends them, event_fd_ioctl.c has their ioctls, event_fd_mmap.c maps them.
 */
#ifndef PMUCTL_EVENT_FD_H
#define PMUCTL_EVENT_FD_H

#include "front/front.h"
#include "sample/output.h"

/**
 * struct event_file - what an event file descriptor is
 * @event: the event; constant.
 * @opener: has those of the thread that opened it; constant, referenced.
 * @process: that it counts if it was opened with PMUCTL_OPEN_PROCESS, else NULL; constant,
 *	referenced.
 * @refs: the descriptor has one, and whoever switches the events of @opener.
 * @node: in those of @opener, whose mutex protects it.
 * @last: the last refusal of an ioctl or read on it.
 */
struct event_file {
	struct pmuctl_event *event;
	struct pmuctl_opener *opener;
	struct pmuctl_process *process;
	refcount_t refs;
	struct list_head node;
	struct pmuctl_last last;
};

extern const struct file_operations pmuctl_event_fops;

/* End an event, with all else that @ef has already; it is on no list. NULL is fine. Process. */
void pmuctl_event_file_free(struct event_file *ef);

/* The same, if nobody else uses it: else whoever does so last. Process. */
void pmuctl_event_file_put(struct event_file *ef);

/**
 * struct pmuctl_opened - an event that is open, but nobody has its descriptor yet
 * @file: of the event.
 * @fd: reserved for it in the caller's table.
 */
struct pmuctl_opened {
	struct file *file;
	int fd;
};

/**
 * pmuctl_event_open() - open an event, up to giving the caller its descriptor
 * @open: what is asked for, but for the explanation's buffer.
 * @list: the entries before it, if it is one of a list, so that it may name one of these as its
 *	leader; else NULL.
 * @nr: how many these are.
 * @opened: filled; from now on either fd_install() or pmuctl_opened_undo() is due.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0, or what pmuctl_refuse() does.
 */
int pmuctl_event_open(const struct pmuctl_open *open, const struct pmuctl_opened *list,
		      unsigned int nr, struct pmuctl_opened *opened,
		      struct pmuctl_explanation *why);
void pmuctl_opened_undo(const struct pmuctl_opened *opened);

/**
 * pmuctl_open_explain() - tell who opens why he may not
 * @address: of his buffer: as much of the explanation as it takes, its strings ended.
 * @size: its bytes; 0 for none.
 * @why: the explanation.
 *
 * Context: Process, may sleep.
 * Return: 0, -EFAULT.
 */
int pmuctl_open_explain(u64 address, u32 size, const struct pmuctl_explanation *why);

/**
 * pmuctl_event_file_read() - read() that leaves the explanation to the caller
 * @ef: of the event.
 * @buf: where to.
 * @size: bytes there.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: bytes; 0 if a pinned event is in error; -ENOSPC, -EFAULT, -ENOMEM.
 */
ssize_t pmuctl_event_file_read(struct event_file *ef, char __user *buf, size_t size,
			       struct pmuctl_explanation *why);

/* event_fd_opener.c: what the current thread has opened, with a reference; NULL if that is nothing,
 * or, of a @new one, without memory. Process, may sleep, as the others.
 */
struct pmuctl_opener *pmuctl_opener_get(bool new);
void pmuctl_opener_put(struct pmuctl_opener *opener);

/* Put a file on the list of its opener, or take it off. */
void pmuctl_opener_add(struct event_file *ef);
void pmuctl_opener_del(struct event_file *ef);

/**
 * pmuctl_event_fd_get() - the event of a file descriptor
 * @fd: of the caller.
 * @file: is filled if there is one; to be given to fput(), as long the event stays open.
 *
 * Context: Process.
 * Return: the event; NULL if it is no event file descriptor.
 */
struct pmuctl_event *pmuctl_event_fd_get(int fd, struct file **file);

/* Let an event write to the buffer of another; NULL: of none. As pmuctl_output_redirect() */
int pmuctl_event_set_output(struct pmuctl_event *event, struct pmuctl_event *to,
			    struct pmuctl_explanation *why);

long pmuctl_event_fd_ioctl(struct file *file, unsigned int number,
			   unsigned long arg);
#ifdef CONFIG_COMPAT
long pmuctl_event_fd_compat_ioctl(struct file *file, unsigned int number,
				  unsigned long arg);
#else
#define pmuctl_event_fd_compat_ioctl	NULL
#endif

#endif /* PMUCTL_EVENT_FD_H */
