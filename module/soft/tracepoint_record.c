// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of tracepoints: see tracepoint_record.h.
 *
 * A perf event is on the list of its CPU for that tracepoint, and as long as that has one the
 * kernel makes a record of each hit there, whoever hits. So ours is on it while one of our events
 * runs on that CPU, and parked otherwise: on a list of our own, from which perf may take it off as
 * well, and put it back on its own; then the next hit parks it again.
 *
 * perf takes its events off a CPU that goes offline, and does not put them on again: a worker
 * makes new ones when it is back, as that cannot be done while CPUs are locked.
 */
#include <linux/cpuhotplug.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/trace_events.h>
#include <linux/workqueue.h>

#include "explain/explain.h"
#include "soft/soft.h"
#include "soft/tracepoint_private.h"
#include "soft/tracepoint_record.h"

#ifdef CONFIG_EVENT_TRACING

/**
 * struct source_on_cpu - of a source on one CPU
 * @event: perf's; NULL: there is none. Under sources_mutex; read by that CPU.
 * @parked: it, while nobody wants it. Changed by that CPU, with IRQs off.
 */
struct source_on_cpu {
	struct perf_event *event;
	struct hlist_head parked;
};

/**
 * struct pmuctl_record_source - who makes the records of a tracepoint
 * @id: of the event in tracefs; of a dynamic one as long as it is set.
 * @dynamic: whom to tell of each hit of a dynamic event; NULL: it is another.
 * @for_anyone: what it tells of a task is no secret to who may look into that.
 * @of_syscall: it is the kernel's event of one system call, not of a tracepoint.
 * @running: see pmuctl_record_source_alloc().
 * @cpus: what it has on each CPU.
 * @node: in sources, from set to drop.
 *
 * @id of a dynamic event and @node under sources_mutex, the rest is constant.
 */
struct pmuctl_record_source {
	u64 id;
	struct pmuctl_tracepoint *dynamic;
	bool for_anyone;
	bool of_syscall;
	struct hlist_head __percpu *running;
	struct source_on_cpu __percpu *cpus;
	struct list_head node;
};

/* Outside of all of perf's and tracing's locks */
static DEFINE_MUTEX(sources_mutex);
static LIST_HEAD(sources);

/* Those that have come back, without the events that perf has taken off */
static struct cpumask came;
static int hotplug_state;

/**
 * struct kept_record - the last one of a level
 * @of: whose it is; NULL: there is none.
 * @task: current, when it was kept.
 * @switches: of that task, until then.
 * @size: its bytes.
 * @data: it.
 */
struct kept_record {
	const struct pmuctl_record_source *of;
	const struct task_struct *task;
	unsigned long switches;
	u32 size;
	u8 data[PERF_MAX_TRACE_SIZE];
};

/*
 * Of each level; allocated with the first source. The kernel's event of a system call is told of
 * the same hit as that of the tracepoint, so its record is in a place of its own.
 */
#define KEPT_SYSCALL	PMUCTL_SOFT_LEVELS
#define KEPT_NR		(KEPT_SYSCALL + 1)
static DEFINE_PER_CPU(struct kept_record *, kept);

static struct kept_record *kept_of(const struct pmuctl_record_source *source, unsigned int level)
{
	return this_cpu_read(kept) + (source->of_syscall ? KEPT_SYSCALL : level);
}

/* ---- Wanted or not ---- */

/*
 * IRQs off. What is behind it would be passed over by a hit that this CPU is in the midst of, so
 * then it stays: a record is made for those anyway.
 */
static void park(const struct pmuctl_record_source *source)
{
	struct source_on_cpu *here = this_cpu_ptr(source->cpus);
	struct perf_event *event = READ_ONCE(here->event);

	if (!event || event->state != PERF_EVENT_STATE_ACTIVE || !hlist_empty(&here->parked) ||
	    event->hlist_entry.next)
		return;
	hlist_del_rcu(&event->hlist_entry);
	hlist_add_head_rcu(&event->hlist_entry, &here->parked);
}

/* IRQs off; the last, for the same reason */
static void unpark(const struct pmuctl_record_source *source)
{
	struct source_on_cpu *here = this_cpu_ptr(source->cpus);
	struct perf_event *event;

	if (likely(hlist_empty(&here->parked)))
		return;
	event = hlist_entry(here->parked.first, struct perf_event, hlist_entry);
	hlist_del_rcu(&event->hlist_entry);
	hlist_add_tail_rcu(&event->hlist_entry, this_cpu_ptr(event->tp_event->perf_events));
}

/* Preemption is off. */
static bool wants_records(const struct pmuctl_record_source *source)
{
	unsigned long flags;

	if (!hlist_empty(this_cpu_ptr(source->running)))
		return true;
	/* It may have come in the midst of what follows. */
	if (in_nmi())
		return false;
	local_irq_save(flags);
	if (hlist_empty(this_cpu_ptr(source->running)))
		park(source);
	local_irq_restore(flags);
	return false;
}

static void start_recorded(struct pmuctl_event *event)
{
	pmuctl_swevent_ops.start(event);
	unpark(event->sw.source->record);
}

static void stop_recorded(struct pmuctl_event *event)
{
	const struct pmuctl_sw_source *source = event->sw.source;

	pmuctl_swevent_ops.stop(event);
	if (hlist_empty(this_cpu_ptr(source->running)))
		park(source->record);
}

static u64 read_recorded(const struct pmuctl_event *event)
{
	return pmuctl_swevent_ops.read(event);
}

const struct pmuctl_event_ops pmuctl_recorded_ops = {
	PMUCTL_SOFT_OPS,
	.start = start_recorded,
	.stop = stop_recorded,
	.read = read_recorded,
};

/* ---- A hit ---- */

/*
 * Newer kernels may preempt between this and our probe: the record is of no use then, as it may be
 * another's, or be on another CPU.
 */
static unsigned long switches_of_current(void)
{
	return current->nvcsw + current->nivcsw;
}

static bool is_of_this_hit(const struct kept_record *record,
			   const struct pmuctl_record_source *source)
{
	return record->of == source && record->task == current &&
	       record->switches == switches_of_current();
}

/* Preemption is off. */
static void keep(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	const struct pmuctl_record_source *source = event->overflow_handler_context;
	unsigned int level = pmuctl_soft_level();
	const struct perf_raw_record *raw = data->raw;
	struct kept_record *record;

	/* While our probe tells of one nothing is put in its place. */
	if (!wants_records(source) || pmuctl_soft_is_telling(level))
		return;
	record = kept_of(source, level);
	record->of = NULL;
	if (WARN_ON_ONCE(raw->frag.size > sizeof(record->data) || raw->frag.size % 8 != 4))
		return;
	memcpy(record->data, raw->frag.data, raw->frag.size);
	record->size = raw->frag.size;
	record->task = current;
	record->switches = switches_of_current();
	record->of = source;
}

/* Of a dynamic event; preemption is off. */
static void tell(struct perf_event *event, struct perf_sample_data *data, struct pt_regs *regs)
{
	const struct pmuctl_record_source *source = event->overflow_handler_context;
	const struct perf_raw_record *raw = data->raw;

	if (wants_records(source))
		pmuctl_tracepoint_hit_dynamic(source->dynamic, raw->frag.data, raw->frag.size,
					      regs);
}

const void *pmuctl_record_take(const struct pmuctl_record_source *source, unsigned int level,
			       u32 *size)
{
	struct kept_record *record = kept_of(source, level);

	if (!is_of_this_hit(record, source))
		return NULL;
	/* Only for this hit */
	record->of = NULL;
	*size = record->size;
	return record->data;
}

void pmuctl_record_forget(const struct pmuctl_record_source *source)
{
	struct kept_record *record = kept_of(source, pmuctl_soft_level());

	if (unlikely(record->of == source))
		record->of = NULL;
}

/* ---- perf's events ---- */

/* sources_mutex held */
static int make_event(struct pmuctl_record_source *source, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = source->id,
		.sample_period = 1,
		/* Each hit is told once then, also one that counts for more. */
		.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_PERIOD,
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, source->dynamic ? tell : keep,
						 source);
	if (IS_ERR(event))
		return PTR_ERR(event) == -ENODEV ? 0 : PTR_ERR(event); /* it has gone offline */
	WRITE_ONCE(per_cpu_ptr(source->cpus, cpu)->event, event);
	return 0;
}

static void end_event(struct pmuctl_record_source *source, int cpu)
{
	struct source_on_cpu *here = per_cpu_ptr(source->cpus, cpu);
	struct perf_event *event = here->event;

	/* perf frees it when that CPU has had its IRQs on. */
	WRITE_ONCE(here->event, NULL);
	if (event)
		perf_event_release_kernel(event);
}

static void end_events(struct pmuctl_record_source *source)
{
	int cpu;

	for_each_possible_cpu(cpu)
		end_event(source, cpu);
}

/* Who asks may see what tracepoints tell: that was checked, by our own rules. */
static int make_events(struct pmuctl_record_source *source)
{
	struct cred *cred = prepare_kernel_cred(&init_task);
	const struct cred *old;
	int cpu, err = 0;

	if (!cred)
		return -ENOMEM;
	old = override_creds(cred);
	for_each_online_cpu(cpu) {
		if (per_cpu_ptr(source->cpus, cpu)->event)
			continue;
		err = make_event(source, cpu);
		if (err)
			break;
	}
	revert_creds(old);
	put_cred(cred);
	return err;
}

/*
 * What has its number may have been taken away since then, and another have it. As long as there
 * are events of perf's it cannot be taken away.
 */
static int make_events_dynamic(struct pmuctl_record_source *source)
{
	struct trace_event_file *file = tracepoint_get_file(source->dynamic->name);
	int err = -ENOENT;

	if (!file)
		return err;
	if (tracepoint_dynamic_of(file->event_call) == source->dynamic->dynamic) {
		source->id = file->event_call->event.type;
		err = make_events(source);
	}
	trace_put_event_file(file);
	return err;
}

int pmuctl_record_source_set(struct pmuctl_record_source *source, struct pmuctl_explanation *why)
{
	int err;

	if (!source)
		return 0;
	mutex_lock(&sources_mutex);
	err = source->dynamic ? make_events_dynamic(source) : make_events(source);
	if (err)
		end_events(source);
	else
		list_add(&source->node, &sources);
	mutex_unlock(&sources_mutex);
	if (err == -ENOENT && source->dynamic)
		return pmuctl_refuse(why, TRACEPOINT_UNKNOWN, "tracepoint", source->dynamic->name);
	return err ? pmuctl_refuse(why, NO_MEMORY, "") : 0;
}

void pmuctl_record_source_drop(struct pmuctl_record_source *source)
{
	if (!source)
		return;
	mutex_lock(&sources_mutex);
	list_del(&source->node);
	end_events(source);
	mutex_unlock(&sources_mutex);
}

/* ---- CPUs that come and go ---- */

/*
 * A dynamic event stays what it is from before the last of perf's events is ended on. One that
 * finds no memory has no records on that CPU: what is sampled there is lost.
 */
static void renew_source(struct pmuctl_record_source *source, const struct cpumask *those)
{
	struct trace_event_file *file = NULL;
	int cpu;

	if (source->dynamic)
		file = tracepoint_get_file(source->dynamic->name);
	for_each_cpu(cpu, those)
		end_event(source, cpu);
	if (!source->dynamic || (file && file->event_call->event.type == source->id))
		make_events(source);
	if (file)
		trace_put_event_file(file);
}

static void renew_events(struct work_struct *work)
{
	struct pmuctl_record_source *source;
	static struct cpumask those;
	int cpu;

	mutex_lock(&sources_mutex);
	cpumask_clear(&those);
	/* One that goes meanwhile, and comes back, comes anew. */
	for_each_possible_cpu(cpu)
		if (cpumask_test_and_clear_cpu(cpu, &came))
			cpumask_set_cpu(cpu, &those);
	list_for_each_entry(source, &sources, node)
		renew_source(source, &those);
	mutex_unlock(&sources_mutex);
}

static DECLARE_WORK(renew_work, renew_events);

static int hotplug_online(unsigned int cpu)
{
	cpumask_set_cpu(cpu, &came);
	schedule_work(&renew_work);
	return 0;
}

/* ---- Sources ---- */

static int get_kept(void)
{
	struct kept_record *new;
	int cpu;

	for_each_possible_cpu(cpu) {
		if (READ_ONCE(per_cpu(kept, cpu)))
			continue;
		new = kvcalloc(KEPT_NR, sizeof(*new), GFP_KERNEL);
		if (!new)
			return -ENOMEM;
		if (cmpxchg(per_cpu_ptr(&kept, cpu), NULL, new))
			kvfree(new);
	}
	return 0;
}

/* The number of that event, if it is one of this tracepoint; 0: there is none. */
static u64 find_id(const char *name, struct tracepoint *tp, bool of_syscall, bool *for_anyone)
{
	struct trace_event_file *file = tracepoint_get_file(name);
	u64 id = 0;

	if (!file)
		return 0;
	if (of_syscall ? tracepoint_is_syscall(file->event_call) :
			 file->event_call->flags & TRACE_EVENT_FL_TRACEPOINT &&
			 file->event_call->tp == tp)
		id = file->event_call->event.type;
	*for_anyone = file->event_call->flags & TRACE_EVENT_FL_CAP_ANY;
	trace_put_event_file(file);
	return id;
}

static struct pmuctl_record_source *alloc_source(void)
{
	struct pmuctl_record_source *source = kzalloc(sizeof(*source), GFP_KERNEL_ACCOUNT);

	if (!source)
		return ERR_PTR(-ENOMEM);
	source->cpus = alloc_percpu_gfp(struct source_on_cpu, GFP_KERNEL_ACCOUNT);
	if (!source->cpus) {
		kfree(source);
		return ERR_PTR(-ENOMEM);
	}
	return source;
}

struct pmuctl_record_source *pmuctl_record_source_alloc(const char *name, struct tracepoint *tp,
							bool of_syscall,
							struct hlist_head __percpu *running)
{
	struct pmuctl_record_source *source;
	bool for_anyone;
	u64 id;

	id = find_id(name, tp, of_syscall, &for_anyone);
	if (!id)
		return NULL;
	if (get_kept())
		return ERR_PTR(-ENOMEM);
	source = alloc_source();
	if (IS_ERR(source))
		return source;
	source->id = id;
	source->for_anyone = for_anyone;
	source->of_syscall = of_syscall;
	source->running = running;
	return source;
}

struct pmuctl_record_source *pmuctl_record_source_alloc_dynamic(struct pmuctl_tracepoint *t)
{
	struct pmuctl_record_source *source = alloc_source();

	if (IS_ERR(source))
		return source;
	source->dynamic = t;
	source->running = t->source.running;
	return source;
}

bool pmuctl_record_is_for_anyone(const struct pmuctl_record_source *source)
{
	return source && source->for_anyone;
}

bool pmuctl_record_is_of(const struct pmuctl_record_source *source,
			 const struct trace_event_call *call)
{
	return call->event.type == READ_ONCE(source->id);
}

void pmuctl_record_source_free(struct pmuctl_record_source *source)
{
	if (IS_ERR_OR_NULL(source))
		return;
	free_percpu(source->cpus);
	kfree(source);
}

int __init pmuctl_records_init(void)
{
	hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "pmuctl:records",
						  hotplug_online, NULL);
	return min(hotplug_state, 0);
}

void pmuctl_records_exit(void)
{
	int cpu;

	cpuhp_remove_state_nocalls(hotplug_state);
	cancel_work_sync(&renew_work);
	for_each_possible_cpu(cpu)
		kvfree(per_cpu(kept, cpu));
}

#else
const struct pmuctl_event_ops pmuctl_recorded_ops;

struct pmuctl_record_source *pmuctl_record_source_alloc(const char *name, struct tracepoint *tp,
							bool of_syscall,
							struct hlist_head __percpu *running)
{
	return NULL;
}

struct pmuctl_record_source *pmuctl_record_source_alloc_dynamic(struct pmuctl_tracepoint *t)
{
	return ERR_PTR(-ENOMEM);
}

bool pmuctl_record_is_for_anyone(const struct pmuctl_record_source *source)
{
	return false;
}

bool pmuctl_record_is_of(const struct pmuctl_record_source *source,
			 const struct trace_event_call *call)
{
	return false;
}

void pmuctl_record_source_free(struct pmuctl_record_source *source) { }

int pmuctl_record_source_set(struct pmuctl_record_source *source, struct pmuctl_explanation *why)
{
	return 0;
}

void pmuctl_record_source_drop(struct pmuctl_record_source *source) { }

const void *pmuctl_record_take(const struct pmuctl_record_source *source, unsigned int level,
			       u32 *size)
{
	return NULL;
}

void pmuctl_record_forget(const struct pmuctl_record_source *source) { }

int __init pmuctl_records_init(void) { return 0; }
void pmuctl_records_exit(void) { }
#endif
