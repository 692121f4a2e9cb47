/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Buffers: rings that user space has mapped, whose memory they are, and which outputs write to
 * them.
 */
#ifndef PMUCTL_BUFFER_H
#define PMUCTL_BUFFER_H

#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "ringbuf/ring.h"

struct cred;
struct mm_struct;
struct pmuctl_explanation;
struct pmuctl_output;
struct pmuctl_waker;

/**
 * struct pmuctl_charge - whose locked memory something is; in pages
 * @cred: of the user whose allowance it takes @locked of. Referenced.
 * @mm: whose RLIMIT_MEMLOCK it takes @pinned of. Referenced, but may have exited.
 * @locked: see @cred.
 * @pinned: see @mm.
 */
struct pmuctl_charge {
	const struct cred *cred;
	struct mm_struct *mm;
	unsigned long locked;
	unsigned long pinned;
};

/**
 * struct pmuctl_buffer - a ring that is mapped
 *
 * Constant:
 * @ring: the ring.
 * @nr_pages: of its data.
 * @charge: whose memory it is.
 * @flags: RING_*
 *
 * Others:
 * @mappings: how many there are; under the mutex of buffers.
 * @lock: of the list of outputs; taken in hard IRQs.
 * @outputs: those that write to it, by their node; changed under that mutex too, but for their
 *	order.
 * @nr_outputs: how many; likewise.
 * @waker: wakes who waits for any of them, if they are many: the user's. Constant, referenced.
 * @to_wake: it is to do so; under its lock.
 * @poll: there is something to be read about which no poll() has told yet.
 * @refs: its mappings together have one, who wakes has another.
 * @free: gives back the former when no writer knows it any more.
 */
struct pmuctl_buffer {
	struct ring *ring;
	unsigned long nr_pages;
	struct pmuctl_charge charge;
	unsigned int flags;

	unsigned int mappings;
	spinlock_t lock; /* @outputs */
	struct list_head outputs;
	unsigned int nr_outputs;
	struct pmuctl_waker *waker;
	struct list_head to_wake;
	atomic_t poll;
	refcount_t refs;
	struct rcu_work free;
};

/**
 * pmuctl_buffer_map() - map the buffer of an event, made if it has none
 * @output: of the event, kept open by the mapping.
 * @nr_pages: of data.
 * @flags: RING_*, if it is made.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; mmap_lock held.
 * Return: the buffer, with one mapping more; or ERR_PTR: -EINVAL if it has another size,
 * -EPERM if it is more memory than may be locked, -ENOMEM.
 */
struct pmuctl_buffer *pmuctl_buffer_map(struct pmuctl_output *output,
					unsigned long nr_pages,
					unsigned int flags,
					struct pmuctl_explanation *why);

/* The buffer it writes to, mapped once more through it; NULL if it has none. As above */
struct pmuctl_buffer *pmuctl_buffer_map_own(struct pmuctl_output *output);

/**
 * pmuctl_charge() - take locked memory of the caller's
 * @charge: is filled; to be given to pmuctl_uncharge().
 * @pages: how many.
 * @why: filled on refusal.
 *
 * Context: Process.
 * Return: 0; -EPERM if it is more than may be locked.
 */
int pmuctl_charge(struct pmuctl_charge *charge, unsigned long pages,
		  struct pmuctl_explanation *why);
void pmuctl_uncharge(struct pmuctl_charge *charge);

/* There is one more mapping of it, or one less, through this output. mmap_lock held. */
void pmuctl_buffer_map_again(struct pmuctl_output *output,
			     struct pmuctl_buffer *buffer);
void pmuctl_buffer_unmap(struct pmuctl_output *output,
			 struct pmuctl_buffer *buffer);

/**
 * pmuctl_output_redirect() - PERF_EVENT_IOC_SET_OUTPUT
 * @output: which is to write elsewhere.
 * @to: whose buffer it is to use; NULL: none.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL.
 */
int pmuctl_output_redirect(struct pmuctl_output *output,
			   struct pmuctl_output *to,
			   struct pmuctl_explanation *why);

/* It has no event any more: it writes nowhere. Process, may sleep */
void pmuctl_output_leave(struct pmuctl_output *output);

/**
 * pmuctl_output_pause() - PERF_EVENT_IOC_PAUSE_OUTPUT
 * @output: of an event.
 * @pause: write nothing to its buffer, or go on.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL if there is no buffer.
 */
int pmuctl_output_pause(struct pmuctl_output *output, bool pause,
			struct pmuctl_explanation *why);

/* Has something been written about which no poll() has told? Process. */
bool pmuctl_output_poll(struct pmuctl_output *output);

/* Tell all who wait for what is in it. Any context but an NMI. */
void pmuctl_buffer_wake(struct pmuctl_buffer *buffer);

/* Those who wait for what is in the buffer of this output, and who gets its signal. Hard IRQ. */
void pmuctl_output_told(struct pmuctl_output *output);

/* Who has a reference needs it no more. Process, may sleep. */
void pmuctl_buffer_put(struct pmuctl_buffer *buffer);

int pmuctl_buffer_init(void);
void pmuctl_buffer_exit(void);

#endif /* PMUCTL_BUFFER_H */
