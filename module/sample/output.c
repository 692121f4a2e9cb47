// SPDX-License-Identifier: GPL-2.0-only
/*
 * Outputs: what the records of an event look like, and the frame that every record has:
 * room in the ring, the LOST record that tells what found none, the trailer of
 * attr.sample_id_all, and waking the reader. Samples are sample.c's.
 */
#include <linux/err.h>
#include <linux/pid_namespace.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "compat/tai.h"
#include "core/event.h"
#include "core/hook.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "sample/sample.h"
#include "sample/sideband.h"
#include "sample/wake.h"

DEFINE_PER_CPU(struct pmuctl_output_stats, pmuctl_output_stats);

#define TRAILER_FIELDS							\
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |		\
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)
#define TRAILER_WORDS	6

/* All that work in NMIs; perf_event_open(2) has the list. */
static u64 (*clock_of(int clockid))(void)
{
	switch (clockid) {
	case CLOCK_REALTIME:
		return ktime_get_real_fast_ns;
	case CLOCK_MONOTONIC:
		return ktime_get_mono_fast_ns;
	case CLOCK_MONOTONIC_RAW:
		return ktime_get_raw_fast_ns;
	case CLOCK_BOOTTIME:
		return ktime_get_boot_fast_ns;
	case CLOCK_TAI:
		compat_tai_follow();
		return ktime_get_tai_fast_ns;
	default:
		return local_clock;
	}
}

static void set_format(struct pmuctl_output *output,
		       const struct perf_event_attr *attr)
{
	output->sample_type = attr->sample_type;
	output->sample_size = pmuctl_sample_size(attr->sample_type);
	output->branches = pmuctl_attr_branches(attr);
	output->read_format = attr->read_format;
	if (attr->sample_id_all)
		output->trailer = attr->sample_type & TRAILER_FIELDS;
	output->trailer_size = 8 * hweight64(output->trailer);
	output->clockid = attr->use_clockid ? attr->clockid : -1;
	output->clock = clock_of(output->clockid);
	if (attr->watermark)
		output->watermark = attr->wakeup_watermark;
	else
		output->wakeup_events = attr->wakeup_events;
	output->max_stack = attr->sample_max_stack ?: PMUCTL_STACK_MAX;
	output->chain_kernel = !attr->exclude_callchain_kernel &&
			       !attr->exclude_kernel;
	output->chain_user = !attr->exclude_callchain_user;
	output->regs_user = attr->sample_regs_user;
	output->regs_intr = attr->sample_regs_intr;
	output->stack_user = attr->sample_stack_user;
	output->backward = attr->write_backward;
	output->user_only = attr->exclude_kernel;
}

static void wake_work(struct irq_work *work)
{
	pmuctl_output_told(container_of(work, struct pmuctl_output, work));
}

struct pmuctl_output *pmuctl_output_alloc(const struct perf_event_attr *attr,
					  u64 id,
					  struct pmuctl_explanation *why)
{
	struct pmuctl_output *output;

	output = kzalloc(sizeof(*output), GFP_KERNEL_ACCOUNT);
	if (!output)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
	output->id = id;
	set_format(output, attr);
	output->namespace = get_pid_ns(task_active_pid_ns(current));
	INIT_LIST_HEAD(&output->node);
	INIT_LIST_HEAD(&output->to_signal);
	init_waitqueue_head(&output->wait);
	init_irq_work(&output->work, wake_work);
	return output;
}

void pmuctl_output_free(struct pmuctl_output *output)
{
	if (!output)
		return;
	/* While it has its buffer: others may wait for what it has written last. */
	irq_work_sync(&output->work);
	/* Nobody is left who could give it one. */
	if (rcu_access_pointer(output->buffer))
		pmuctl_output_leave(output);
	pmuctl_waker_forget_output(output);
	put_pid_ns(output->namespace);
	kfree_rcu(output, rcu); /* somebody may be waking its waiters */
}

/* ---- Ids ---- */

/*
 * 0 is the idle task, and whoever is in no namespace that the opener sees. Who has given up
 * its ids, at the very end, has none.
 */
static u32 id_in(const struct pmuctl_output *output, struct task_struct *task,
		 enum pid_type type)
{
	u32 id = __task_pid_nr_ns(task, type, output->namespace);

	if (!id && !pid_alive(task))
		return -1;
	return id;
}

u32 pmuctl_output_pid(const struct pmuctl_output *output,
		      struct task_struct *task)
{
	return id_in(output, task, PIDTYPE_TGID);
}

u32 pmuctl_output_tid(const struct pmuctl_output *output,
		      struct task_struct *task)
{
	return id_in(output, task, PIDTYPE_PID);
}

/* ---- Records ---- */

static unsigned int fill_trailer(const struct pmuctl_event *event,
				 struct task_struct *task, u64 *out)
{
	const struct pmuctl_output *output = event->output;
	u64 fields = output->trailer;
	unsigned int n = 0;

	if (fields & PERF_SAMPLE_TID)
		out[n++] = pmuctl_output_pid(output, task) |
			   (u64)pmuctl_output_tid(output, task) << 32;
	if (fields & PERF_SAMPLE_TIME)
		out[n++] = output->clock();
	if (fields & PERF_SAMPLE_ID)
		out[n++] = output->id;
	if (fields & PERF_SAMPLE_STREAM_ID)
		out[n++] = event->stream_id;
	if (fields & PERF_SAMPLE_CPU)
		out[n++] = smp_processor_id();
	if (fields & PERF_SAMPLE_IDENTIFIER)
		out[n++] = output->id;
	return n;
}

/* What PERF_RECORD_LOST is before its trailer; <linux/perf_event.h> */
struct lost_record {
	struct perf_event_header header;
	u64 id;
	u64 lost;
};

static void write_lost(struct ring_handle *h, const struct pmuctl_event *event,
		       u64 lost)
{
	u64 words[sizeof(struct lost_record) / 8 + TRAILER_WORDS];
	struct lost_record *record = (void *)words;
	unsigned int n = sizeof(*record) / 8;

	n += fill_trailer(event, pmuctl_event_task(event), words + n);
	record->header = (struct perf_event_header){ .type = PERF_RECORD_LOST, .size = n * 8 };
	record->id = event->output->id;
	record->lost = lost;
	ring_write(h, words, n * 8);
}

/*
 * A record that nearly fills the ring never has room together with what tells of a loss. That goes
 * alone then, and if it takes the room of the record, which is the next loss, the next record goes
 * first; so it does after a single loss, or each second one would be lost from then on.
 */
static bool reserve_apart(struct pmuctl_event *event, struct ring_handle *h, struct ring *ring,
			  u32 size, u32 more, u64 lost)
{
	bool wake = false;

	if (lost == 1 || READ_ONCE(ring->told)) {
		ring_lost_add(ring, lost);
	} else if (!ring_reserve(h, ring, more)) {
		ring_lost_add(ring, lost);
		wake = h->wake;
	} else {
		write_lost(h, event, lost);
		WRITE_ONCE(ring->told, true);
		if (ring_commit(h))
			pmuctl_output_wake(event->output);
	}
	if (ring_reserve(h, ring, size)) {
		WRITE_ONCE(ring->told, false);
		return true;
	}
	h->wake |= wake;
	return false;
}

static noinline bool reserve_after_lost(struct pmuctl_event *event,
					struct ring_handle *h, struct ring *ring,
					u32 size, u64 lost)
{
	u32 more = sizeof(struct lost_record) + event->output->trailer_size;

	if (unlikely(!ring_may_have(ring, size + more)))
		return reserve_apart(event, h, ring, size, more, lost);
	if (!ring_reserve(h, ring, size + more)) {
		ring_lost_add(ring, lost);
		return false;
	}
	write_lost(h, event, lost);
	return true;
}

static void lose(struct pmuctl_output *output, struct pmuctl_buffer *buffer)
{
	atomic64_inc(&output->lost);
	this_cpu_inc(pmuctl_output_stats.lost);
	if (buffer)
		ring_lost_add(buffer->ring, 1);
}

void pmuctl_output_lose(struct pmuctl_output *output)
{
	lose(output, rcu_dereference_sched(output->buffer));
}

bool pmuctl_output_reserve(struct pmuctl_event *event, struct ring_handle *h,
			   u32 size)
{
	struct pmuctl_output *output = event->output;
	struct pmuctl_buffer *buffer;
	u64 lost;
	bool done;

	/* With preemption off it stays until the caller's commit. */
	buffer = rcu_dereference_sched(output->buffer);
	if (!buffer)
		return false;
	lost = ring_lost_take(buffer->ring);
	if (unlikely(lost))
		done = reserve_after_lost(event, h, buffer->ring, size, lost);
	else
		done = ring_reserve(h, buffer->ring, size);
	if (done)
		return true;
	lose(output, buffer);
	if (h->wake)
		pmuctl_output_wake(output);
	return false;
}

void pmuctl_output_wake(struct pmuctl_output *output)
{
	irq_work_queue(&output->work);
}

bool pmuctl_record_begin(struct pmuctl_record *rec, struct pmuctl_event *event,
			 struct perf_event_header *header, u32 fixed, u32 more)
{
	u32 size = fixed + more + event->output->trailer_size;

	if (size > U16_MAX || !pmuctl_output_reserve(event, &rec->ring, size))
		return false;
	header->size = size;
	ring_write(&rec->ring, header, fixed);
	return true;
}

void pmuctl_record_end(struct pmuctl_record *rec, struct pmuctl_event *event,
		       struct task_struct *task)
{
	u64 words[TRAILER_WORDS];
	unsigned int n = fill_trailer(event, task, words);

	if (n)
		ring_write(&rec->ring, words, n * 8);
	if (ring_commit(&rec->ring))
		pmuctl_output_wake(event->output);
}

void pmuctl_record_put(struct pmuctl_event *event,
		       struct perf_event_header *header, u32 fixed,
		       struct task_struct *task)
{
	struct pmuctl_record rec;

	if (pmuctl_record_begin(&rec, event, header, fixed, 0))
		pmuctl_record_end(&rec, event, task);
}

u64 pmuctl_event_lost(const struct pmuctl_event *event)
{
	const struct pmuctl_output *output = READ_ONCE(event->output);
	u64 lost = output ? atomic64_read(&output->lost) : 0;

	return lost + pmuctl_hooks_missed(event) - event->missed;
}
