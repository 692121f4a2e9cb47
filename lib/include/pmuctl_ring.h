/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpmuctl: samples. How to control an event that samples, and how to read the
 * ring of records that it writes.
 *
 * What an event samples is asked for in struct perf_event_attr when it is opened:
 * sample_period or sample_freq, sample_type, and so on, as for perf_event_open(2).
 * The records are those of <linux/perf_event.h>, PERF_RECORD_*.
 *
 * The conventions of pmuctl.h hold here too. A ring has one reader: a handle is used
 * by one thread at a time.
 *
 * There are two kinds of rings, and the event decides which one it has:
 *
 *  - A stream, which is read while it is written. Records that find no room are lost,
 *    and a PERF_RECORD_LOST tells how many.
 *  - A snapshot, of an event with attr.write_backward. Always written, the newest
 *    records take the place of the oldest. To be read it is frozen: the newest record
 *    comes first.
 */
#ifndef PMUCTL_RING_H
#define PMUCTL_RING_H

#include <pmuctl.h>

#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmuctl_ring;

/* --------------------------------------------------------- events that sample */

/**
 * pmuctl_event_refresh() - let an event overflow some times more
 * @event: an event that samples.
 * @overflows: how many more, added to those that are left; it is enabled, and
 *	disabled after the last one, when poll() tells POLLHUP.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_refresh(struct pmuctl_event *event, int overflows);

/**
 * pmuctl_event_set_period() - sample more or less often
 * @event: an event that samples.
 * @period: events from one sample to the next; samples in a second if attr.freq is
 *	set.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_set_period(struct pmuctl_event *event, uint64_t period);

/**
 * pmuctl_event_set_output() - write to the ring of another event
 * @event: the event. It has no ring of its own.
 * @output: an event with a ring, of the same CPU or thread; NULL ends it. It may be
 *	closed before @event.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_set_output(struct pmuctl_event *event, struct pmuctl_event *output);

/**
 * pmuctl_event_pause_output() - write no records for a while
 * @event: an event with a ring.
 * @pause: 1: from now on all records for that ring are dropped; 0: no more.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_pause_output(struct pmuctl_event *event, int pause);

/* ----------------------------------------------------------------------- rings */

/**
 * pmuctl_ring_open() - give an event a ring and map it
 * @event: the event; it must stay open until the ring is closed.
 * @pages: size of the ring in pages of memory, a power of two.
 * @ring: the new handle.
 *
 * The memory is locked: it counts against what the user may lock.
 *
 * Return: 0; -EINVAL if @pages is no power of two, or without @event or @ring;
 * -EPERM if it is more than may be locked; -ENOMEM; another negative errno, see
 * pmuctl_event_explain().
 */
int pmuctl_ring_open(struct pmuctl_event *event, size_t pages,
		     struct pmuctl_ring **ring);

/**
 * pmuctl_ring_close() - unmap it
 * @ring: the handle or NULL. What was not read is gone.
 */
void pmuctl_ring_close(struct pmuctl_ring *ring);

/**
 * pmuctl_ring_page() - the ring's page of data about itself
 * @ring: the ring.
 *
 * Return: the page, valid until the ring is closed.
 */
const struct perf_event_mmap_page *pmuctl_ring_page(const struct pmuctl_ring *ring);

/**
 * pmuctl_ring_next() - the next record
 * @ring: a stream, or a snapshot that is frozen.
 * @record: set to the record, in one piece. It is valid until the next call of
 *	pmuctl_ring_next(), pmuctl_ring_consume() or pmuctl_ring_thaw().
 *
 * Return: 1; 0 if there is none; -EBUSY if it is a snapshot and not frozen; -EBADMSG
 * if what is there is no record: all that is there then is dropped.
 */
int pmuctl_ring_next(struct pmuctl_ring *ring,
		     const struct perf_event_header **record);

/**
 * pmuctl_ring_pieces() - where the records are that were read
 * @ring: a stream.
 * @pieces: filled. A record may begin in the first piece and end in the second.
 *
 * For those who copy the records elsewhere, all at once.
 *
 * Return: how many pieces make up the records that pmuctl_ring_next() gave since the
 * last pmuctl_ring_consume(): 0, 1 or 2.
 */
int pmuctl_ring_pieces(const struct pmuctl_ring *ring, struct iovec pieces[2]);

/**
 * pmuctl_ring_consume() - give back the room of the records that were read
 * @ring: a stream; a snapshot has nothing to give back.
 *
 * Until then nothing overwrites them. It is cheaper to do this for many at once.
 */
void pmuctl_ring_consume(struct pmuctl_ring *ring);

/**
 * pmuctl_ring_wait() - wait until it is worth to read
 * @ring: the ring.
 * @timeout: milliseconds, -1 for ever.
 *
 * There must be one who waits, or who calls poll() on the event, not several: each wakeup
 * is told once.
 *
 * Worth it is as many events as attr.wakeup_events or bytes as attr.wakeup_watermark
 * says, or a quarter of the ring. Less may be there when the time is over.
 *
 * Return: 1; 0 when the time is over; -ESRCH if the thread has ended, or the event is
 * disabled after a refresh, and all is read; -EINTR after a signal.
 */
int pmuctl_ring_wait(struct pmuctl_ring *ring, int timeout);

/**
 * pmuctl_ring_freeze() - stop writing, to read a snapshot
 * @ring: a snapshot. pmuctl_ring_next() begins with the newest record.
 *
 * Return: 0; -EINVAL if it is a stream; another negative errno, see
 * pmuctl_event_explain().
 */
int pmuctl_ring_freeze(struct pmuctl_ring *ring);

/**
 * pmuctl_ring_thaw() - go on writing
 * @ring: a snapshot.
 *
 * Return: as pmuctl_ring_freeze().
 */
int pmuctl_ring_thaw(struct pmuctl_ring *ring);

#ifdef __cplusplus
}
#endif

#endif /* PMUCTL_RING_H */
