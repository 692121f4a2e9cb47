/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpmuctl: traces. An event of a driver that traces (pmuctl_events_trace()) has, behind
 * its ring of records, a buffer of bytes that the processor writes by itself. The records
 * PERF_RECORD_AUX in the ring tell how far it got; what the bytes mean, a decoder knows.
 *
 * The conventions of pmuctl.h and pmuctl_ring.h hold here too: one reader.
 *
 * There are two kinds of buffers:
 *
 *  - A stream, which is read while it is written. When it is full the trace stops, and goes
 *    on when there is room; an AUX record with PERF_AUX_FLAG_TRUNCATED tells of that.
 *  - A snapshot, written over and over. It is read while the event is disabled.
 */
#ifndef PMUCTL_TRACE_H
#define PMUCTL_TRACE_H

#include <pmuctl_ring.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmuctl_trace;

/*
 * In lists of events (pmuctl_events_parse()) an event that traces is DRIVER/TERMS/, as
 * intel_pt/tsc=1/: the terms are the files of /sys/class/misc/pmuctl/DRIVER/format, config=N,
 * and aux-action=start-paused. NAME/TERMS/ of a generic name or a tracepoint has period=N,
 * name=TEXT, and aux-action=pause or aux-action=resume, which makes it a member of the group
 * of the last event before it that traces; of a tracepoint also FIELD=NUMBER, a condition.
 */

/**
 * pmuctl_events_filter() - on which condition an event of a list happens
 * @events: the list.
 * @index: which one, from 0.
 *
 * Return: what its terms FIELD=VALUE say, for pmuctl_event_set_filter(); valid as long as
 * the list. NULL if there is none.
 */
const char *pmuctl_events_filter(const struct pmuctl_events *events, size_t index);

/**
 * pmuctl_events_trace() - does an event of a list trace?
 * @events: the list.
 * @index: which one, from 0.
 *
 * Return: 1 if it is an event of a driver that traces, see pmuctl_trace.h; else 0.
 */
int pmuctl_events_trace(const struct pmuctl_events *events, size_t index);

/**
 * pmuctl_trace_open() - give an event a buffer for its trace and map it
 * @ring: the ring of the event; it must stay open until the trace is closed.
 * @pages: size of the buffer in pages of memory, a power of two.
 * @snapshot: 1: a snapshot, 0: a stream.
 * @trace: the new handle.
 *
 * The memory is locked: it counts against what the user may lock.
 *
 * Return: 0; -EINVAL if @pages is no power of two, or without @ring or @trace; -EPERM if it
 * is more than may be locked; -ENOMEM; another negative errno, see pmuctl_event_explain().
 */
int pmuctl_trace_open(struct pmuctl_ring *ring, size_t pages, int snapshot,
		      struct pmuctl_trace **trace);

/**
 * pmuctl_trace_close() - unmap it
 * @trace: the handle or NULL. What was not read is gone.
 */
void pmuctl_trace_close(struct pmuctl_trace *trace);

/**
 * pmuctl_trace_pieces() - what of a stream was not read yet
 * @trace: a stream.
 * @pieces: filled.
 *
 * Return: how many pieces there are: 0, 1 or 2.
 */
int pmuctl_trace_pieces(struct pmuctl_trace *trace, struct iovec pieces[2]);

/**
 * pmuctl_trace_snapshot() - what a snapshot has
 * @trace: a snapshot, its event disabled or its task ended.
 * @pieces: filled, with the oldest bytes first.
 *
 * What an earlier call has given is not given again.
 *
 * Return: how many pieces there are: 0, 1 or 2; -EINVAL of a stream; another negative errno
 * if the event cannot be read.
 */
int pmuctl_trace_snapshot(struct pmuctl_trace *trace, struct iovec pieces[2]);

/**
 * pmuctl_trace_position() - where the pieces are in the whole trace
 * @trace: the trace.
 *
 * Return: how many bytes were traced before the first one of the last pieces.
 */
uint64_t pmuctl_trace_position(const struct pmuctl_trace *trace);

/**
 * pmuctl_trace_consume() - give back the room of what was read
 * @trace: a stream; a snapshot has nothing to give back.
 * @bytes: how many, of the last pieces.
 */
void pmuctl_trace_consume(struct pmuctl_trace *trace, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif /* PMUCTL_TRACE_H */
