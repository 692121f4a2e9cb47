/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records and where they go: what an event writes (output.c, sample.c), how often
 * (sampling.c), and the buffers that user space maps (buffer.c).
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

#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "ringbuf/ring.h"

struct cred;
struct fasync_struct;
struct mm_struct;
struct pid_namespace;
struct pmuctl_context;
struct pmuctl_counter;
struct pmuctl_cpu;
struct pmuctl_event;
struct pmuctl_explanation;
struct pmuctl_hit;
struct pt_regs;
struct vm_area_struct;

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
 * @outputs: those that write to it, by their node; changed under that mutex too.
 * @poll: there is something to be read about which no poll() has told yet.
 * @free: frees it when no writer knows it any more.
 */
struct pmuctl_buffer {
	struct ring *ring;
	unsigned long nr_pages;
	struct pmuctl_charge charge;
	unsigned int flags;

	unsigned int mappings;
	spinlock_t lock; /* @outputs */
	struct list_head outputs;
	atomic_t poll;
	struct rcu_work free;
};

/**
 * struct pmuctl_output - what the records of an event look like, and where they go
 *
 * Constant:
 * @id: of the event, as PERF_EVENT_IOC_ID says.
 * @sample_type: PERF_SAMPLE_*.
 * @sample_size: bytes of each of its samples; 0: they differ.
 * @read_format: PERF_FORMAT_*.
 * @trailer: those of PERF_SAMPLE_* that records other than samples end with.
 * @trailer_size: bytes of that.
 * @clock: what the time is, in ns.
 * @clockid: of it; -1: sched_clock().
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
 * @node: in @buffer->outputs.
 * @lost: records that found no room, ever.
 * @samples: since somebody was last woken.
 * @work: wakes them.
 * @limit: overflows left until the event is disabled; 0: no limit.
 * @hang_up: that has just happened.
 * @wait: who polls.
 * @fasync: who gets a signal.
 */
struct pmuctl_output {
	u64 id;
	u64 sample_type;
	u32 sample_size;
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
};

/**
 * struct pmuctl_sampling - how often an event is sampled
 * @event: whose; constant.
 * @handler: who is told of overflows instead of samples being written; NULL: nobody. Set
 *	before it is enabled for the first time.
 * @freq: samples a second that are wanted; 0: the period is fixed. Changed as the period.
 * @window: the jiffy of the last overflow, in which there were @in_window of @allowed.
 * @throttled: its counter is held until the next tick.
 * @expired: its limit is reached: it counts no more, and is disabled as soon as possible.
 * @ran: of @freq: what its running time was at the last overflow or tick, in ns.
 * @left: events that were left of the period at the last tick.
 * @events: and @ns: what was counted in which time before, the older the less.
 * @work: does what an NMI cannot.
 * @hit: of a software event: what the sample that is being written tells of; or NULL.
 * @timer: of a clock: the end of the period.
 *
 * Owner CPU of the counter, NMI may interrupt.
 */
struct pmuctl_sampling {
	struct pmuctl_event *event;
	struct pmuctl_counter *handler;
	u64 freq;
	unsigned long window;
	unsigned int in_window;
	unsigned int allowed;
	bool throttled;
	bool expired;
	u64 ran;
	s64 left;
	u64 events;
	u64 ns;
	struct irq_work work;
	const struct pmuctl_hit *hit;
	struct hrtimer timer;
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

/* ---- output.c: outputs, and the frame of every record ---- */

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

/* A record is not written at all: that is told as if it had found no room. Context: as above */
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

/* ---- sample.c ---- */

/* Get the memory that samples need; once is enough. Process. Returns 0 or -ENOMEM. */
int pmuctl_sample_get(void);
void pmuctl_sample_exit(void);

/* Bytes of every sample that has these fields; 0 if they differ. Any context. */
u32 pmuctl_sample_size(u64 sample_type);

/* Write a sample. NMI-safe; preemption off. */
void pmuctl_sample_put(struct pmuctl_event *event, struct pt_regs *regs,
		       u64 period);

/* ---- sampling.c ---- */

/**
 * pmuctl_sampling_alloc() - let an event be sampled
 * @event: whose counter is not attached yet.
 * @attr: validated.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int pmuctl_sampling_alloc(struct pmuctl_event *event,
			  const struct perf_event_attr *attr,
			  struct pmuctl_explanation *why);

/* Memory for the sampling of a child; false: there is none. And: it is sampled as the event it
 * is a copy of, which is. Any context.
 */
bool pmuctl_sampling_blank(struct pmuctl_event *child, gfp_t gfp);
void pmuctl_sampling_copy(struct pmuctl_event *child, const struct pmuctl_event *from);

/* The event is off the PMU for ever: wait for what its last overflow wants. As next. */
void pmuctl_sampling_sync(struct pmuctl_event *event);

/* And free it. Process, may sleep. */
void pmuctl_sampling_free(struct pmuctl_event *event);

/* Change its period, or its frequency if it has one. Its context is locked, and loaded here
 * or nowhere.
 */
void pmuctl_sampling_set_period(struct pmuctl_event *event, u64 value);

/* Its counter is about to start. Owner CPU, context locked, IRQs off. */
void pmuctl_sampling_start(struct pmuctl_cpu *pc, struct pmuctl_event *event);

/* Disable it if its limit is reached. As above. */
void pmuctl_sampling_expire(struct pmuctl_event *event);

/* It is enabled or disabled, so what its limit wanted is over. As above, or anywhere if its
 * context is not loaded. Returns true if it wanted something.
 */
bool pmuctl_sampling_refresh(struct pmuctl_event *event);

/**
 * pmuctl_tick() - what is to be done at times while events are sampled
 * @pc: this CPU, locked by pmuctl_cpu_lock().
 *
 * Lets go on what was throttled, and finds periods for frequencies.
 *
 * Return: true if it is needed again.
 */
bool pmuctl_tick(struct pmuctl_cpu *pc);

/* ns between two of them */
#define PMUCTL_TICK_NS	((u64)TICK_NSEC)

/* A counter has overflowed: hwpmu_ops.overflow */
struct hwpmu_counter;
bool pmuctl_overflow(struct hwpmu_counter *counter, struct pt_regs *regs);

/* The parameter max_sample_rate: samples a second. Any context. */
unsigned int pmuctl_max_sample_rate(void);

/**
 * pmuctl_event_set_period() - PERF_EVENT_IOC_PERIOD
 * @event: an event.
 * @value: the period, or if it has a frequency that.
 * @why: filled on refusal.
 *
 * Context: Process, IRQs on.
 * Return: 0; -EINVAL if it is not sampled, or the value is 0 or too large.
 */
int pmuctl_event_set_period(struct pmuctl_event *event, u64 value,
			    struct pmuctl_explanation *why);

/**
 * pmuctl_event_refresh() - PERF_EVENT_IOC_REFRESH
 * @event: an event.
 * @overflows: after how many more it is disabled again; 0: as many as are left.
 * @why: filled on refusal.
 *
 * Context: Process, IRQs on.
 * Return: 0; -EINVAL if it is not sampled.
 */
int pmuctl_event_refresh(struct pmuctl_event *event, unsigned int overflows,
			 struct pmuctl_explanation *why);

/* ---- buffer.c ---- */

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

/* Tell all who wait for what is in the buffer of this output. Hard IRQ. */
void pmuctl_buffer_wake(struct pmuctl_output *output);

int pmuctl_buffer_init(void);
void pmuctl_buffer_exit(void);

#endif /* PMUCTL_OUTPUT_H */
