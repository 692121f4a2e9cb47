/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outputs: what the records of an event look like and where they go, and the frame of every
 * record. What a sample has in it is in sample.h, how often there is one in sampling.h.
 *
 *	event --> output --> buffer --> ring
 *
 * An event that writes records has an output, which says what they look like; the parts of
 * an event of all CPUs share one. A buffer is a ring that is mapped, with its accounting;
 * several outputs may write to one. It lives as long as it is mapped: with the last mapping
 * it is taken away from its outputs.
 *
 * Writers run in any context, NMIs too, with preemption off, and find the buffer under RCU.
 * Nobody is woken by a writer: that is left to an irq_work.
 */
#ifndef PMUCTL_OUTPUT_H
#define PMUCTL_OUTPUT_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/wait.h>

#include "ringbuf/ring.h"

struct fasync_struct;
struct pid_namespace;
struct pmuctl_buffer;
struct pmuctl_event;
struct pmuctl_explanation;
struct pmuctl_waker;

/**
 * struct pmuctl_output - what the records of an event look like, and where they go
 *
 * Constant:
 * @id: of the event, as PERF_EVENT_IOC_ID says.
 * @sample_type: PERF_SAMPLE_*.
 * @sample_size: bytes of each of its samples; 0: they differ.
 * @branches: which branches, PERF_SAMPLE_BRANCH_*, if samples have them.
 * @read_format: PERF_FORMAT_*.
 * @trailer: those of PERF_SAMPLE_* that records other than samples end with.
 * @trailer_size: bytes of that.
 * @clock: what the time is, in ns.
 * @clockid: of it; -1: local_clock(), as in perf.
 * @namespace: pids are told as those of it. Referenced.
 * @wakeup_events: samples until somebody is woken; 0: only the ring's watermark counts.
 * @watermark: of a ring that is made for it, in bytes; 0: default.
 * @max_stack: most addresses of a call chain.
 * @chain_kernel: and @chain_user: which parts of it are wanted.
 * @regs_user: registers that PERF_SAMPLE_REGS_USER tells, a mask.
 * @regs_intr: those that PERF_SAMPLE_REGS_INTR tells.
 * @stack_user: bytes of the user's stack that are copied, at most.
 * @backward: its records are read from the newest to the oldest.
 * @user_only: of the kernel nothing may be told.
 *
 * Others:
 * @buffer: where it writes, or NULL; written under the mutex of buffers, read under RCU.
 * @mappings: of @buffer through this output; under the mutex of buffers.
 * @node: in @buffer->outputs, under its lock.
 * @lost: records that found no room, ever.
 * @samples: since somebody was last woken.
 * @work: wakes them.
 * @limit: overflows left until the event is disabled; 0: no limit.
 * @hang_up: that has just happened.
 * @wait: who polls.
 * @fasync: who gets a signal, in an interrupt, or if that takes long of
 * @waker: who has it in its list by @to_signal. Set before @fasync.
 * @rcu: frees it when nobody wakes any more.
 */
struct pmuctl_output {
	u64 id;
	u64 sample_type;
	u32 sample_size;
	u64 branches;
	u64 read_format;
	u64 trailer;
	u16 trailer_size;
	u64 (*clock)(void);
	int clockid;
	struct pid_namespace *namespace;
	u32 wakeup_events;
	u32 watermark;
	u16 max_stack;
	bool chain_kernel;
	bool chain_user;
	u64 regs_user;
	u64 regs_intr;
	u32 stack_user;
	bool backward;
	bool user_only;

	struct pmuctl_buffer __rcu *buffer;
	unsigned int mappings;
	struct list_head node;
	atomic64_t lost;
	atomic_t samples;
	struct irq_work work;
	atomic_t limit;
	bool hang_up;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	struct pmuctl_waker *waker;
	struct list_head to_signal;
	struct rcu_head rcu;
};

/**
 * struct pmuctl_output_stats - what happened on a CPU since the module was loaded
 * @samples: that were written.
 * @throttles: times when an event was stopped until the next tick.
 * @lost: records of any kind that found no room.
 */
struct pmuctl_output_stats {
	unsigned long samples;
	unsigned long throttles;
	unsigned long lost;
};

DECLARE_PER_CPU(struct pmuctl_output_stats, pmuctl_output_stats);

/* A record that is being written */
struct pmuctl_record {
	struct ring_handle ring;
};

/**
 * pmuctl_output_alloc() - what records of an event are to look like
 * @attr: validated.
 * @id: of the event.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_output_free(), or ERR_PTR(-ENOMEM).
 */
struct pmuctl_output *pmuctl_output_alloc(const struct perf_event_attr *attr,
					  u64 id,
					  struct pmuctl_explanation *why);

/* It has no mapping and no event that counts any more. Process, may sleep. */
void pmuctl_output_free(struct pmuctl_output *output);

/**
 * pmuctl_record_begin() - make room for a record that is not a sample
 * @rec: is filled.
 * @event: who writes it.
 * @header: of the record, and all that is fixed of it: is written first. Its size field
 *	is set here.
 * @fixed: bytes of that, a multiple of 8.
 * @more: bytes that the caller will write by pmuctl_record_write(), a multiple of 8.
 *
 * If there is no room it is counted as lost.
 *
 * Context: Any, preemption off until pmuctl_record_end().
 * Return: true; false if there is no room, or nowhere to write.
 */
bool pmuctl_record_begin(struct pmuctl_record *rec, struct pmuctl_event *event,
			 struct perf_event_header *header, u32 fixed, u32 more);

static inline void pmuctl_record_write(struct pmuctl_record *rec,
				       const void *from, u32 size)
{
	ring_write(&rec->ring, from, size);
}

/* Write the trailer, that attr.sample_id_all asks for, with the ids of @task, and publish
 * the record.
 */
void pmuctl_record_end(struct pmuctl_record *rec, struct pmuctl_event *event,
		       struct task_struct *task);

/**
 * pmuctl_output_reserve() - make room in the ring of an event
 * @event: who writes.
 * @h: is filled.
 * @size: bytes of the record, a multiple of 8.
 *
 * Tells first what was lost before. If there is no room it is counted as lost.
 *
 * Context: Any, preemption off until ring_commit().
 * Return: true; false if there is no room, or nowhere to write.
 */
bool pmuctl_output_reserve(struct pmuctl_event *event, struct ring_handle *h,
			   u32 size);

/*
 * A record is not made at all, whether or not there is a ring: that is told as if it had found no
 * room. Context: as above.
 */
void pmuctl_output_lose(struct pmuctl_output *output);

/* Have all woken who wait for what is in its buffer. Any context. */
void pmuctl_output_wake(struct pmuctl_output *output);

/* A record of nothing but fixed fields, in one go; the context as above */
void pmuctl_record_put(struct pmuctl_event *event,
		       struct perf_event_header *header, u32 fixed,
		       struct task_struct *task);

/* Ids of a task as the records of this output tell them; -1 if it has none. Any context. */
u32 pmuctl_output_pid(const struct pmuctl_output *output,
		      struct task_struct *task);
u32 pmuctl_output_tid(const struct pmuctl_output *output,
		      struct task_struct *task);

/* How many records of it were lost, and how many hits its hooks have missed; NMI-safe. */
u64 pmuctl_event_lost(const struct pmuctl_event *event);

#endif /* PMUCTL_OUTPUT_H */
