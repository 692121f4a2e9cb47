// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of tracepoints, and of what the kernel's tracing has that is like one. The probe is called
 * with the arguments of the tracepoint, however many: it takes those that there can be, and what it
 * takes too much is never looked at if the prototype is known.
 *
 * A tracepoint of a module goes with it: the kernel tells us before, then the probe is
 * taken off, and its events count nothing more.
 */
#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include "aux/aux.h"
#include "core/sampling_state.h"
#include "sample/output.h"
#include "sample/sample.h"
#include "soft/tracepoint_private.h"
#include "soft/tracepoint_record.h"

/* Inside of pmuctl_mutex, and of the kernel's list of modules with tracepoints */
static DEFINE_MUTEX(tracepoints_mutex);
static LIST_HEAD(tracepoints);

/* How often a probe was put on one */
static atomic_long_t times;

/* ---- The probe ---- */

/**
 * struct place - where a hit is
 * @of: the tracepoint.
 * @regs: of the user, if it is there, and of a dynamic event.
 * @ip: else in the kernel, where our probe was called.
 * @sp: likewise.
 * @record: the kernel's of a dynamic event; NULL for others.
 * @size: its bytes.
 */
struct place {
	struct pmuctl_tracepoint *of;
	struct pt_regs *regs;
	unsigned long ip;
	unsigned long sp;
	const void *record;
	u32 size;
};

static noinline void sample(struct pmuctl_event *event, const struct pmuctl_sample_data *data,
			    const struct place *place)
{
	struct pt_regs regs = { .ip = place->ip, .sp = place->sp, .cs = __KERNEL_CS };

	if (regs.ip - place->of->iterator < place->of->iterator_size)
		pmuctl_tracepoint_leave_iterator(place->of, &regs);
	pmuctl_soft_end_period(event, place->regs ? place->regs : &regs, data);
}

/* perf samples each hit then, whatever the period is, and tells its weight for that. */
static bool tells_weight(const struct pmuctl_event *event, const struct pmuctl_sample_data *data)
{
	return data->weight && !event->sampling->freq &&
	       event->output->sample_type & PERF_SAMPLE_PERIOD;
}

/* Nobody knows whether it is one of the hits that are wanted. */
static noinline void lose(struct pmuctl_event *event)
{
	if (!event->own.counter.stopped)
		pmuctl_output_lose(event->output);
	if (event->aux_action)
		pmuctl_aux_missed(event);
}

static bool passes(struct pmuctl_event *event, const struct filter_hit *hit)
{
	const struct filter *filter = rcu_dereference_raw(event->sw.tp->filter);

	if (!filter || filter_passes(filter, hit))
		return true;
	if (unlikely(filter_lacks_record(filter, hit)))
		lose(event);
	return false;
}

static void hit_one(struct pmuctl_event *event, const struct filter_hit *hit,
		    const struct pmuctl_sample_data *data, const struct place *place)
{
	struct hwpmu_counter *c = &event->own.counter;
	u64 weight = data->weight ? : 1;

	if (!passes(event, hit))
		return;
	if (unlikely(c->stopped)) {
		if (event->aux_action)
			pmuctl_aux_missed(event);
		return;
	}
	c->count += weight;
	if (!c->period)
		return;
	c->left -= weight;
	if (tells_weight(event, data))
		c->left = 0;
	if (c->left <= 0)
		sample(event, data, place);
}

/* In the midst of another hit. IRQs are off: nothing that runs here is stopped, and then freed. */
static noinline void miss_all(struct hlist_head *running, const struct filter_hit *hit)
{
	const struct filter *filter;
	struct pmuctl_event *event;

	hlist_for_each_entry_rcu(event, running, sw.node, true) {
		filter = rcu_dereference_raw(event->sw.tp->filter);
		if (event->aux_action && (!filter || filter_lacks_record(filter, hit) ||
					  filter_passes(filter, hit)))
			pmuctl_aux_missed(event);
	}
}

/*
 * The kernel's record of this hit, or else its arguments, behind which there is a word more: that
 * has been taken for an argument, too.
 */
static __always_inline void fill_data(struct pmuctl_sample_data *data, struct filter_hit *hit,
				      const struct pmuctl_tracepoint *t, u64 *args,
				      unsigned int level)
{
	if (hit->record) {
		data->raw = hit->record;
		data->raw_size = hit->size;
		return;
	}
	args[t->prototype->nr_args] = 0;
	data->raw = args;
	data->raw_size = t->prototype->nr_args * sizeof(*args) + sizeof(u32);
	if (!t->source.record)
		return;
	hit->record = pmuctl_record_take(t->source.record, level, &hit->size);
	data->raw = hit->record;
	data->raw_size = hit->size;
	data->raw_missing = !data->raw;
}

static __always_inline void trace_hit(struct pmuctl_tracepoint *t, u64 *args,
				      const struct place *place)
{
	struct hlist_head *running = this_cpu_ptr(t->source.running);
	struct filter_hit hit = { args, place->record, place->size };
	struct pmuctl_sample_data data = { };
	struct pmuctl_event *event;
	unsigned long flags;
	unsigned int level;

	if (!pmuctl_soft_enter(&level)) {
		local_irq_save(flags);
		miss_all(running, &hit);
		local_irq_restore(flags);
		return;
	}
	fill_data(&data, &hit, t, args, level);
	if (t->prototype->weight)
		data.weight = args[t->prototype->weight];
	local_irq_save(flags);
	pmuctl_sample_begin_hit();
	hlist_for_each_entry_rcu(event, running, sw.node, true)
		hit_one(event, &hit, &data, place);
	local_irq_restore(flags);
	pmuctl_soft_exit_level(level);
}

static __always_inline bool is_wanted(struct pmuctl_tracepoint *t)
{
	if (!hlist_empty(this_cpu_ptr(t->source.running)))
		return true;
	/* Its event may have gone off since the record was kept. */
	if (t->source.record)
		pmuctl_record_forget(t->source.record);
	return false;
}

/* Arguments in registers only */
static void probe_few(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	struct pmuctl_tracepoint *t = data;

	preempt_disable_notrace();
	if (is_wanted(t)) {
		u64 args[] = { a0, a1, a2, a3, a4, 0 };
		const struct place place = {
			t, NULL, CALLER_ADDR0, (unsigned long)__builtin_frame_address(0)
		};

		trace_hit(t, args, &place);
	}
	preempt_enable_notrace();
}

/*
 * The arguments beyond those, on the stack of who calls, where they lie above our frame:
 * what is not given is whatever is there, or nothing if the stack ends before. x86-64 psABI,
 * "Parameter Passing".
 */
static void take_from_stack(u64 *args, unsigned int n, const u64 *frame)
{
	const u64 *stack = frame + 2;	/* the caller's frame, where to return to */
	unsigned int i;

	pagefault_disable();
	for (i = 0; i < n; i++)
		__get_kernel_nofault(&args[i], &stack[i], u64, err_end);
	pagefault_enable();
	return;

err_end:
	pagefault_enable();
	memset(&args[i], 0, (n - i) * sizeof(*args));
}

static void probe_many(void *data, u64 a0, u64 a1, u64 a2, u64 a3, u64 a4)
{
	struct pmuctl_tracepoint *t = data;

	preempt_disable_notrace();
	if (is_wanted(t)) {
		u64 args[FILTER_ARGS_MAX + 1] = { a0, a1, a2, a3, a4 };
		const struct place place = {
			t, NULL, CALLER_ADDR0, (unsigned long)__builtin_frame_address(0)
		};

		take_from_stack(args + 5, FILTER_ARGS_MAX - 5,
				__builtin_frame_address(0));
		trace_hit(t, args, &place);
	}
	preempt_enable_notrace();
}

bool pmuctl_tracepoint_is_wanted(struct pmuctl_tracepoint *t)
{
	return is_wanted(t);
}

void pmuctl_tracepoint_hit(struct pmuctl_tracepoint *t, u64 *args, struct pt_regs *regs)
{
	const struct place place = { .of = t, .regs = regs };

	trace_hit(t, args, &place);
}

void pmuctl_tracepoint_hit_dynamic(struct pmuctl_tracepoint *t, const void *record, u32 size,
				   struct pt_regs *regs)
{
	const struct place place = { .of = t, .regs = regs, .record = record, .size = size };

	trace_hit(t, NULL, &place);
}

static void *probe_of(const struct pmuctl_tracepoint *t)
{
	return t->prototype->nr_args <= 5 ? (void *)probe_few :
					    (void *)probe_many;
}

/* ---- On and off ---- */

static int put_probe(struct pmuctl_tracepoint *t)
{
	if (t->syscall)
		return pmuctl_syscall_set(t);
	if (READ_ONCE(t->gone))
		return -ENOENT;
	return tracepoint_probe_register_prio(t->tp, probe_of(t), t,
					      t->source.record ? TRACEPOINT_PRIORITY_RECORD :
								 TRACEPOINT_PRIORITY);
}

static int set(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	struct pmuctl_tracepoint *t =
		container_of(hook, struct pmuctl_tracepoint, hook);
	int err;

	err = pmuctl_record_source_set(t->source.record, why);
	if (err)
		return err;
	err = t->dynamic ? 0 : put_probe(t);
	atomic_long_add(!err, &times);
	if (err)
		pmuctl_record_source_drop(t->source.record);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return err ? pmuctl_refuse(why, TRACEPOINT_UNKNOWN, "tracepoint", t->name) : 0;
}

static void drop(struct pmuctl_hook *hook)
{
	struct pmuctl_tracepoint *t =
		container_of(hook, struct pmuctl_tracepoint, hook);

	if (t->syscall)
		pmuctl_syscall_drop(t);
	else if (!t->dynamic)
		tracepoint_probe_unregister(t->tp, probe_of(t), t);
	pmuctl_record_source_drop(t->source.record);
}

/* ---- Modules ---- */

#ifdef CONFIG_MODULES
/* It waits until nobody is in the probes when we are back. */
static int module_goes(struct notifier_block *nb, unsigned long state, void *data)
{
	const struct tp_module *module = data;
	struct pmuctl_tracepoint *t;

	if (state != MODULE_STATE_GOING)
		return NOTIFY_OK;
	mutex_lock(&tracepoints_mutex);
	list_for_each_entry(t, &tracepoints, node) {
		if (t->module != module->mod)
			continue;
		/* First of all: afterwards it is not set again. */
		WRITE_ONCE(t->gone, true);
		pmuctl_hook_drop_now(&t->hook);
	}
	mutex_unlock(&tracepoints_mutex);
	return NOTIFY_OK;
}

static struct notifier_block goes_notifier = { .notifier_call = module_goes };

/* From the first tracepoint of a module on, until we go ourselves */
static DEFINE_MUTEX(watch_mutex);
static bool watching;

static void watch_modules(void)
{
	mutex_lock(&watch_mutex);
	if (!watching)
		watching = !register_tracepoint_module_notifier(&goes_notifier);
	mutex_unlock(&watch_mutex);
}

static void watch_end(void)
{
	if (watching)
		unregister_tracepoint_module_notifier(&goes_notifier);
}
#else
static void watch_modules(void) { }
static void watch_end(void) { }
#endif

/* ---- Tracepoints ---- */

static void free_tracepoint(struct pmuctl_tracepoint *t)
{
	pmuctl_record_source_free(t->source.record);
	free_percpu(t->source.running);
	kfree(t->syscall);
	kfree(t);
}

void pmuctl_tracepoint_free_unused(void)
{
	struct pmuctl_tracepoint *t, *next;
	LIST_HEAD(done);

	mutex_lock(&tracepoints_mutex);
	list_for_each_entry_safe(t, next, &tracepoints, node)
		if (!t->refs && pmuctl_hook_del(&t->hook))
			list_move_tail(&t->node, &done);
	mutex_unlock(&tracepoints_mutex);
	if (list_empty(&done))
		return;
	/* A probe that was taken off may still run. */
	tracepoint_synchronize_unregister();
	list_for_each_entry_safe(t, next, &done, node)
		free_tracepoint(t);
}

/* tracepoints_mutex held */
static struct pmuctl_tracepoint *find_used(const struct tracepoint_search *search)
{
	struct pmuctl_tracepoint *t;

	list_for_each_entry(t, &tracepoints, node) {
		if (t->dynamic != search->dynamic)
			continue;
		if (t->dynamic ? !strcmp(t->name, search->full_name) :
		    t->tp == search->tp && pmuctl_syscall_is(t->syscall, search->meta) &&
		    !t->gone && !t->source.record == !search->records)
			return t;
	}
	return NULL;
}

static const struct pmuctl_prototype *prototype_of(const struct pmuctl_tracepoint *t,
						   const struct tracepoint_search *search)
{
	static const struct filter_field none[1];
	static const struct pmuctl_prototype dynamic = { .name = "", .fields = none };

	if (t->dynamic)
		return &dynamic;
	if (t->syscall)
		return pmuctl_syscall_prototype(t->syscall);
	return pmuctl_prototype_of(search->module ? "" : search->name);
}

/* Records are not wanted any more if there are none. Returns NULL if there is no memory. */
static struct pmuctl_tracepoint *make(struct tracepoint_search *search)
{
	struct pmuctl_tracepoint *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return NULL;
	t->source.running = alloc_percpu_gfp(struct hlist_head, GFP_KERNEL_ACCOUNT);
	t->dynamic = search->dynamic;
	if (t->dynamic)
		t->source.record = pmuctl_record_source_alloc_dynamic(t);
	else if (t->source.running && search->records)
		t->source.record = pmuctl_record_source_alloc(search->full_name, search->tp,
							      search->meta, t->source.running);
	if (search->meta)
		t->syscall = pmuctl_syscall_alloc(search->meta, !strcmp(search->place, "sys_exit"));
	if (!t->source.running || IS_ERR(t->source.record) || !t->syscall != !search->meta) {
		free_tracepoint(t);
		return NULL;
	}
	search->records = t->source.record;
	strscpy(t->name, t->source.record ? search->full_name : search->name, sizeof(t->name));
	t->hook.name = t->name;
	t->hook.set = set;
	t->hook.drop = drop;
	t->source.hook = &t->hook;
	t->prototype = prototype_of(t, search);
	t->tp = search->tp;
	t->module = search->module;
	pmuctl_tracepoint_find_iterator(t);
	return t;
}

/* The one that is there, or @new if there is none; with a reference */
static struct pmuctl_tracepoint *use(const struct tracepoint_search *search,
				     struct pmuctl_tracepoint *new)
{
	struct pmuctl_tracepoint *t;

	mutex_lock(&tracepoints_mutex);
	t = find_used(search);
	if (!t && new) {
		t = new;
		list_add_tail(&t->node, &tracepoints);
		pmuctl_hook_add(&t->hook);
	}
	if (t)
		t->refs++;
	mutex_unlock(&tracepoints_mutex);
	return t;
}

/* A cgroup may let who allocates wait for seconds: nobody else does. */
static struct pmuctl_tracepoint *use_or_make(struct tracepoint_search *search)
{
	struct pmuctl_tracepoint *t = use(search, NULL), *new;

	if (t)
		return t;
	new = make(search);
	if (!new)
		return NULL;
	t = use(search, new);
	if (t != new)
		free_tracepoint(new);
	return t;
}

static struct pmuctl_tracepoint *get(const char *full_name, bool records, bool may_probe,
				     struct pmuctl_explanation *why)
{
	const char *colon = strchr(full_name, ':');
	const char *name = colon ? colon + 1 : full_name;
	struct tracepoint_search search = {
		.full_name = full_name, .name = name, .may_probe = may_probe,
		/* Only events of tracefs have them, whatever of that tracepoint is there. */
		.records = records && colon,
	};
	struct pmuctl_tracepoint *t;

	tracepoint_find(&search);
	if (!search.tp && !search.dynamic)
		return ERR_PTR(pmuctl_refuse(why, TRACEPOINT_UNKNOWN, "tracepoint",
					     name));
	if (search.module)
		watch_modules();
	t = use_or_make(&search);
	/* It may go from here on: we are told. */
	module_put(search.module);
	return t ? t : ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
}

/*
 * Who has made a dynamic event takes it away again when he is done: that must not fail because it
 * is still set for a second. But not every user may have it set as often as he likes.
 */
static void put(struct pmuctl_tracepoint *t, bool at_once)
{
	mutex_lock(&tracepoints_mutex);
	if (!--t->refs) {
		if (t->dynamic && at_once)
			pmuctl_hook_drop_now(&t->hook);
		pmuctl_hooks_look_later();
	}
	mutex_unlock(&tracepoints_mutex);
}

/* ---- For events ---- */

struct pmuctl_tp *pmuctl_tp_alloc(const char *name, bool records, bool may_probe,
				  struct pmuctl_explanation *why)
{
	struct pmuctl_tracepoint *t;
	struct pmuctl_tp *tp;

	tp = kzalloc(sizeof(*tp), GFP_KERNEL_ACCOUNT);
	if (!tp)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
	t = get(name, records, may_probe, why);
	if (IS_ERR(t)) {
		kfree(tp);
		return ERR_CAST(t);
	}
	tp->tracepoint = t;
	tp->privileged = perfmon_capable();
	return tp;
}

bool pmuctl_tp_is_in_kernel(const struct pmuctl_tp *tp)
{
	return !tp->tracepoint->syscall && tp->tracepoint->dynamic != TRACEPOINT_UPROBE;
}

bool pmuctl_tp_is_for_anyone(const struct pmuctl_tp *tp)
{
	return pmuctl_record_is_for_anyone(tp->tracepoint->source.record);
}

void pmuctl_tp_free(struct pmuctl_tp *tp)
{
	if (!tp)
		return;
	put(tp->tracepoint, tp->privileged);
	kvfree(rcu_access_pointer(tp->filter));
	kfree(tp);
}

struct pmuctl_sw_source *pmuctl_tp_source(struct pmuctl_tp *tp)
{
	return &tp->tracepoint->source;
}

void pmuctl_tracepoint_show(struct seq_file *m)
{
	seq_printf(m, "tracepoints: set %ld times\n", atomic_long_read(&times));
}

void pmuctl_tracepoint_exit(void)
{
	watch_end();
	pmuctl_tracepoint_free_unused();
}
