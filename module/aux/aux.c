// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that trace; aux.h explains them. Everything here that runs with the event is on
 * the CPU on which its context is loaded, with IRQs off, or in the NMI of that CPU, which
 * comes only while the trace is on.
 */
#include <linux/cpumask.h>
#include <linux/nospec.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "aux/aux.h"
#include "core/context.h"
#include "core/cpu_state.h"
#include "core/hook.h"
#include "core/rivals.h"
#include "core/sched.h"
#include "pmu/lbr.h"
#include "sample/output.h"

/* What runs on this CPU, if something does */
static DEFINE_PER_CPU(struct pmuctl_aux *, aux_running);

static const struct pmuctl_aux_driver drivers[] = {
	{ "intel_pt", PMUCTL_TYPE_INTEL_PT, &pt_unit },
	{ "intel_bts", PMUCTL_TYPE_INTEL_BTS, &bts_unit, .tells_kernel = true },
};

/* Attached events that trace tasks, and CPUs; pmuctl_mutex */
static unsigned int nr_of_tasks, nr_of_cpus;

const struct pmuctl_aux_driver *pmuctl_aux_driver_at(unsigned int n)
{
	if (n >= ARRAY_SIZE(drivers))
		return NULL;
	return &drivers[array_index_nospec(n, ARRAY_SIZE(drivers))];
}

const struct pmuctl_aux_driver *pmuctl_aux_driver_of(u32 type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (drivers[i].type == type)
			return &drivers[i];
	return NULL;
}

bool pmuctl_aux_is_there(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!drivers[i].unit->reason())
			return true;
	return false;
}

/* ---- Records ---- */

static void put_start(struct pmuctl_aux *aux)
{
	struct pmuctl_output *output = aux->event->output;
	struct task_struct *task = pmuctl_event_task(aux->running);
	struct {
		struct perf_event_header header;
		u32 pid, tid;
	} record = {
		.header.type = PERF_RECORD_ITRACE_START,
		.pid = pmuctl_output_pid(output, task),
		.tid = pmuctl_output_tid(output, task),
	};

	aux->told_start = true;
	pmuctl_record_put(aux->running, &record.header, sizeof(record), task);
}

/* If the reader is @due it is woken once this can be read. */
static void put_aux(struct pmuctl_aux *aux, u64 offset, u64 size, u64 flags, bool due)
{
	struct pmuctl_event *event = aux->running;
	struct pmuctl_record rec;
	struct {
		struct perf_event_header header;
		u64 offset, size, flags;
	} record = {
		.header.type = PERF_RECORD_AUX,
		.offset = offset,
		.size = size,
		.flags = flags,
	};

	event->aux_cut = flags & PERF_AUX_FLAG_TRUNCATED;
	if (!pmuctl_record_begin(&rec, event, &record.header, sizeof(record), 0))
		return;
	if (due)
		ring_ask(&rec.ring);
	pmuctl_record_end(&rec, event, pmuctl_event_task(event));
}

/* ---- On and off ---- */

static void begin(struct pmuctl_aux *aux)
{
	struct auxbuf_span span;

	if (!cpumask_test_cpu(smp_processor_id(), &aux->ran))
		cpumask_set_cpu(smp_processor_id(), &aux->ran);
	/* Once it is on, the NMI may find that it is stalled. */
	WRITE_ONCE(aux->stalled, false);
	if (auxbuf_begin(aux->buf, &span) &&
	    aux->driver->unit->start(&aux->trace, &span) == HWTRACE_STARTED)
		return;
	if (!aux->running->aux_cut)
		put_aux(aux, aux->buf->head, 0, PERF_AUX_FLAG_TRUNCATED, true);
	/* Who sees that it is stalled finds the record. */
	smp_store_release(&aux->stalled, true);
	irq_work_queue(&aux->work);
}

/* Publish what was traced. Of a snapshot all of the buffer is told, as perf does. */
static void end(struct pmuctl_aux *aux)
{
	struct auxbuf *buf = aux->buf;
	struct hwtrace_result result;
	u64 from, flags = 0;
	bool due;

	if (!aux->driver->unit->stop(&aux->trace, &result))
		return;
	from = buf->head + result.skipped;
	if (result.stopped || result.error)
		flags |= PERF_AUX_FLAG_TRUNCATED;
	aux->bytes += result.bytes;
	due = auxbuf_end(buf, result.skipped + result.bytes);
	/* Who reads the trace by its head waits for no record. */
	if (due)
		pmuctl_output_wake(aux->event->output);
	if (!result.bytes && !flags)
		return;
	if (buf->flags & AUXBUF_OVERWRITE)
		put_aux(aux, buf->head & (buf->size - 1), buf->size,
			flags | PERF_AUX_FLAG_OVERWRITE, due);
	else
		put_aux(aux, from, result.bytes, flags, due);
}

void pmuctl_aux_interrupt(struct hwtrace *trace)
{
	struct pmuctl_aux *aux = container_of(trace, struct pmuctl_aux, trace);

	end(aux);
	begin(aux);
}

static void begin_first(struct pmuctl_aux *aux)
{
	if (!aux->told_start)
		put_start(aux);
	begin(aux);
}

static void aux_start(struct pmuctl_event *event)
{
	struct pmuctl_aux *aux = event->aux;

	this_cpu_write(aux_running, aux);
	WRITE_ONCE(aux->running, event);
	aux->bytes = event->own.counter.count;
	WRITE_ONCE(aux->trace.paused, &event->aux_paused);
	if (unlikely(aux->follows))
		pmuctl_aux_fill_places(event, &aux->pt.filter);
	if (aux->buf)
		begin_first(aux);
}

static void aux_stop(struct pmuctl_event *event)
{
	struct pmuctl_aux *aux = event->aux;

	if (aux->buf)
		end(aux);
	aux->stalled = false;
	event->own.counter.count = aux->bytes;
	WRITE_ONCE(aux->running, NULL);
	WRITE_ONCE(aux->trace.paused, &aux->event->aux_paused);
	if (this_cpu_read(aux_running) == aux)
		this_cpu_write(aux_running, NULL);
}

/* What is not published yet is not counted. */
static u64 aux_read(const struct pmuctl_event *event)
{
	return READ_ONCE(event->aux->bytes);
}

/*
 * Those that are inherited run on their CPU alone, whichever task's context has them there. While
 * that of the CPU is not loaded none is; and its lock is held.
 */
void pmuctl_aux_call(const struct pmuctl_event *event, pmuctl_context_func func, void *arg)
{
	pmuctl_context_call(event->inherit.root ? pmuctl_context_of_cpu(event->cpu) :
						  event->context, func, arg);
}

void pmuctl_aux_set_buf(struct pmuctl_event *event, struct auxbuf *buf)
{
	struct pmuctl_aux *aux = event->aux;

	if (aux->running && aux->buf)
		end(aux);
	aux->buf = buf;
	aux->stalled = false;
	if (aux->running && buf)
		begin_first(aux);
}

void pmuctl_aux_put_filter(struct pmuctl_event *event, const struct pt_filter *filter)
{
	struct pmuctl_aux *aux = event->aux;
	bool running = aux->running && aux->buf;

	if (running)
		end(aux);
	aux->pt.filter = *filter;
	if (running)
		begin(aux);
}

/* ---- When the buffer is full ---- */

bool pmuctl_aux_tick(struct pmuctl_cpuctx *pc)
{
	struct pmuctl_aux *aux = this_cpu_read(aux_running);

	if (!aux || !aux->stalled)
		return false;
	if (aux->buf)
		begin(aux);
	return aux->stalled;
}

/* Wake the reader, who has to make room, and look again at times. */
static void stall_work(struct irq_work *work)
{
	struct pmuctl_aux *aux = container_of(work, struct pmuctl_aux, work);

	if (this_cpu_read(aux_running) != aux || !aux->stalled)
		return;
	pmuctl_output_wake(aux->event->output);
	pmuctl_sched_start_ticking(pmuctl_cpu_of(smp_processor_id()));
}

/* ---- Making ---- */

static const struct pmuctl_event_ops aux_ops;

int pmuctl_aux_init(struct pmuctl_event *event, const struct perf_event_attr *attr,
		    struct pmuctl_explanation *why)
{
	const struct pmuctl_aux_driver *driver = pmuctl_aux_driver_of(attr->type);
	struct pmuctl_aux *aux;
	int err;

	if (!driver)
		return pmuctl_refuse(why, TYPE_UNKNOWN, "attr.type", attr->type);
	if (driver->unit->reason())
		return pmuctl_refuse(why, AUX_NONE, "attr.type", driver->name,
				     driver->unit->reason());
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		return pmuctl_refuse(why, BRANCH_TYPE, "attr.sample_type");
	aux = kzalloc(sizeof(*aux), GFP_KERNEL_ACCOUNT);
	if (!aux)
		return pmuctl_refuse(why, NO_MEMORY, "");
	memset(&event->own.counter, 0, sizeof(event->own.counter));
	aux->driver = driver;
	err = driver->unit->encode(&aux->trace, attr, why);
	if (err) {
		kfree(aux);
		return err;
	}
	aux->event = event;
	aux->watermark = attr->aux_watermark;
	aux->trace.paused = &event->aux_paused;
	INIT_HLIST_NODE(&aux->filed);
	raw_spin_lock_init(&aux->files_lock);
	mutex_init(&aux->filter_mutex);
	mutex_init(&aux->map_mutex);
	init_irq_work(&aux->work, stall_work);
	event->aux = aux;
	event->ops = &aux_ops;
	event->hook = &pmuctl_crash_hook;
	event->own.counter.index = -1;
	return 0;
}

static void aux_free(struct pmuctl_event *event)
{
	irq_work_sync(&event->aux->work);
	pmuctl_aux_put_files(event->aux);
	kfree(event->aux);
	event->aux = NULL;
}

/* ---- Beside others ---- */

/*
 * Processor Trace cannot be used beside BTS either: setting one of them while the other is on is
 * refused by the processor (SDM, Vol. 3C, "Intel Processor Trace", on LBR and BTS).
 */
static const struct pmuctl_aux_driver *also_away(const struct pmuctl_event *event)
{
	return event->aux->driver->unit == &bts_unit ? &drivers[0] : NULL;
}

static int keep_away(const struct pmuctl_aux_driver *driver, struct pmuctl_explanation *why)
{
	int err = pmuctl_rivals_keep_away(driver->unit);

	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (err == -EBUSY)
		return pmuctl_refuse(why, AUX_FOREIGN, "attr.type", driver->name);
	if (err)
		return pmuctl_refuse(why, AUX_RIVAL, "attr.type", driver->name, -err);
	return 0;
}

static int aux_admit(struct pmuctl_context *ctx, const struct pmuctl_event *event,
		     struct pmuctl_explanation *why)
{
	int err;

	lockdep_assert_held(&pmuctl_mutex);
	if (ctx->task ? nr_of_cpus : nr_of_tasks)
		return pmuctl_refuse(why, AUX_BUSY, "attr.type",
				     ctx->task ? "a CPU" : "a task");
	if (lbr_is_used(LBR_NOTED))
		return pmuctl_refuse(why, AUX_BRANCHES, "attr.type");
	if (pmuctl_context_is_traced(ctx, event))
		return pmuctl_refuse(why, AUX_BUSY, "attr.type",
				     ctx->task ? "this task" : "this CPU");
	err = keep_away(event->aux->driver, why);
	if (!err && also_away(event))
		err = keep_away(also_away(event), why);
	return err;
}

static void aux_attached(const struct pmuctl_event *event)
{
	if (event->context->task)
		nr_of_tasks++;
	else
		nr_of_cpus++;
	lbr_use_get(LBR_TRACED);
	pmuctl_rivals_get(event->aux->driver->unit);
	if (also_away(event))
		pmuctl_rivals_get(also_away(event)->unit);
	pmuctl_aux_find_chain(event->aux);
}

static void aux_detached(const struct pmuctl_event *event)
{
	if (event->context->task)
		nr_of_tasks--;
	else
		nr_of_cpus--;
	lbr_use_put(LBR_TRACED);
	pmuctl_rivals_put(event->aux->driver->unit);
	if (also_away(event))
		pmuctl_rivals_put(also_away(event)->unit);
	pmuctl_aux_forget_files(event->aux);
}

static const struct pmuctl_event_ops aux_ops = {
	.needs_pmu = true,
	.weight = 1,
	.admit = aux_admit,
	.unadmit = pmuctl_rivals_unused,
	.attached = aux_attached,
	.detached = aux_detached,
	.free = aux_free,
	.exec = pmuctl_aux_exec,
	.start = aux_start,
	.stop = aux_stop,
	.read = aux_read,
	.pause = pmuctl_aux_pause,
};
