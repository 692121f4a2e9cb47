// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address filters of events that trace. A range of addresses is given to the trace as it is.
 * A part of a file is looked for in the task: when the filter is set, and whenever the task,
 * or another thread of its process, maps that file; until then, and from an exec on, it is
 * nowhere. Where it is in each of the tasks that inherit a trace: aux/places.c.
 *
 * A filter is read and changed on the CPU on which the event's context is loaded. Who changes it
 * holds the lock of its chain, but for an exec, which changes that of its own task. That lock is
 * never taken with IRQs off: who holds it waits for other CPUs. So the probe of mappings must be
 * one that is called, with IRQs on, and not one that traps.
 */
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aux/aux.h"
#include "core/context.h"
#include "sample/sideband.h"

/**
 * struct pmuctl_filed_chain - events that follow files in some processes
 * @lock: of the files of each, too.
 * @first: by pmuctl_aux.filed.
 *
 * Whoever maps code looks at those of his own process, and a few others: what a user traces, be
 * it thousands of threads, is in others' way only if their processes chance to be in its chain.
 */
struct pmuctl_filed_chain {
	raw_spinlock_t lock;
	struct hlist_head first;
};

#define CHAIN_BITS	10

static struct pmuctl_filed_chain chains[1 << CHAIN_BITS] = {
	[0 ... (1 << CHAIN_BITS) - 1] = {
		.lock = __RAW_SPIN_LOCK_UNLOCKED(chains.lock),
	},
};

/* All threads of a process share these as long as it is there, over each exec. */
static struct pmuctl_filed_chain *chain_of(const struct task_struct *task)
{
	return &chains[hash_ptr(READ_ONCE(task->signal), CHAIN_BITS)];
}

void pmuctl_aux_find_chain(struct pmuctl_aux *aux)
{
	const struct task_struct *task = aux->event->context->task;

	/* That of a CPU follows none. One whose task has just gone has nothing to follow. */
	aux->chain = task ? chain_of(task) : &chains[0];
}

/* ---- Changing ---- */

struct filter_change {
	struct pmuctl_event *event;
	struct pmuctl_aux_filter *new;
};

static void swap_files(const struct filter_change *change)
{
	unsigned int i;

	for (i = 0; i < PT_RANGES_MAX; i++)
		swap(change->event->aux->files[i], change->new->files[i]);
}

static void change_filter(struct pmuctl_context *ctx, void *arg)
{
	const struct filter_change *change = arg;
	struct pmuctl_aux *aux = change->event->aux;

	if (change->event->inherit.root) {
		raw_spin_lock(&aux->files_lock);
		swap_files(change);
		WRITE_ONCE(aux->follows, change->new->any);
		aux->generation++;
		raw_spin_unlock(&aux->files_lock);
	}
	pmuctl_aux_put_filter(change->event, &change->new->filter);
}

static void put_nowhere(const struct pmuctl_aux_file *files, struct pt_filter *filter)
{
	unsigned int i;

	for (i = 0; i < filter->nr; i++)
		if (files[i].path.dentry) {
			filter->ranges[i].from = PT_RANGE_NOWHERE;
			filter->ranges[i].to = PT_RANGE_NOWHERE;
		}
}

void pmuctl_aux_exec(struct pmuctl_event *event)
{
	struct pmuctl_aux *aux = event->aux;
	struct pt_filter filter;

	if (event->inherit.root) {
		pmuctl_aux_exec_places(event);
		return;
	}
	if (hlist_unhashed_lockless(&aux->filed))
		return;
	filter = aux->pt.filter;
	put_nowhere(aux->files, &filter);
	pmuctl_aux_put_filter(event, &filter);
}

/* ---- Mappings ---- */

static bool is_about(const struct pmuctl_aux *aux, const struct vm_area_struct *vma)
{
	const struct inode *inode = file_user_inode(vma->vm_file);
	unsigned int i;

	for (i = 0; i < PT_RANGES_MAX; i++)
		if (aux->files[i].path.dentry && d_inode(aux->files[i].path.dentry) == inode)
			return true;
	return false;
}

bool pmuctl_aux_find_ranges(const struct pmuctl_aux *aux, const struct vm_area_struct *vma,
			    struct pt_range *ranges)
{
	const struct inode *inode = file_user_inode(vma->vm_file);
	bool found = false;
	unsigned int i;

	for (i = 0; i < PT_RANGES_MAX; i++) {
		const struct pmuctl_aux_file *file = &aux->files[i];

		if (file->path.dentry && d_inode(file->path.dentry) == inode)
			found |= pt_range_map(&file->part, (u64)vma->vm_pgoff << PAGE_SHIFT,
					      vma->vm_start, vma->vm_end - vma->vm_start,
					      &ranges[i]);
	}
	return found;
}

struct mapping {
	struct pmuctl_aux *aux;
	const struct vm_area_struct *vma;
};

/*
 * Where the context is loaded: neither the filter nor the task's memory changes meanwhile, as an
 * exec may do on its own.
 */
static void take_mapping_here(struct pmuctl_context *ctx, void *arg)
{
	const struct mapping *mapping = arg;
	struct pmuctl_aux *aux = mapping->aux;
	struct pt_filter filter = aux->pt.filter;

	if (READ_ONCE(ctx->task->mm) == mapping->vma->vm_mm &&
	    pmuctl_aux_find_ranges(aux, mapping->vma, filter.ranges))
		pmuctl_aux_put_filter(aux->event, &filter);
}

static void take_mapping(struct pmuctl_aux *aux, const struct vm_area_struct *vma)
{
	struct mapping mapping = { aux, vma };

	lockdep_assert_held(&aux->chain->lock);
	if (vma->vm_file && is_about(aux, vma))
		pmuctl_context_call(aux->event->context, take_mapping_here, &mapping);
}

/* In the kprobe's handler, which has IRQs on, as the function begins with a ftrace entry. */
void pmuctl_aux_mapped(const struct vm_area_struct *vma)
{
	struct pmuctl_filed_chain *chain = chain_of(current);
	struct pmuctl_aux *aux;

	pmuctl_aux_mapped_places(vma);
	if (hlist_empty(&chain->first))
		return;
	raw_spin_lock(&chain->lock);
	hlist_for_each_entry(aux, &chain->first, filed) {
		struct task_struct *task = aux->event->context->task;

		if (task == current ||
		    (READ_ONCE(task->mm) == vma->vm_mm && !irqs_disabled()))
			take_mapping(aux, vma);
	}
	raw_spin_unlock(&chain->lock);
}

int pmuctl_aux_find_all(const struct pmuctl_aux *aux, struct mm_struct *mm,
			struct pt_range *ranges)
{
	struct vm_area_struct *vma;
	unsigned int i;

	for (i = 0; i < PT_RANGES_MAX; i++)
		ranges[i] = (struct pt_range){ PT_RANGE_NOWHERE, PT_RANGE_NOWHERE };
	for (vma = find_vma(mm, 0); vma; vma = find_vma(mm, vma->vm_end)) {
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
		if (vma->vm_file && vma->vm_flags & VM_EXEC)
			pmuctl_aux_find_ranges(aux, vma, ranges);
	}
	return 0;
}

struct mappings {
	struct pmuctl_aux *aux;
	const struct mm_struct *mm;
	struct pt_range ranges[PT_RANGES_MAX];
};

/* As take_mapping_here(), of all at once: that is an interrupt, and stops the trace. */
static void take_mappings_here(struct pmuctl_context *ctx, void *arg)
{
	const struct mappings *mappings = arg;
	struct pmuctl_aux *aux = mappings->aux;
	struct pt_filter filter = aux->pt.filter;
	unsigned int i;

	if (READ_ONCE(ctx->task->mm) != mappings->mm)
		return;
	for (i = 0; i < filter.nr; i++)
		pt_range_move(&filter.ranges[i], &mappings->ranges[i]);
	pmuctl_aux_put_filter(aux->event, &filter);
}

/* What the task has mapped already */
static int find_mappings(struct pmuctl_aux *aux, struct pmuctl_explanation *why)
{
	struct pmuctl_context *ctx = aux->event->context;
	/* After an exec that gained rights it is not ours to look into. */
	struct mm_struct *mm = READ_ONCE(ctx->gone) ? NULL : get_task_mm(ctx->task);
	struct mappings mappings = { .aux = aux, .mm = mm };
	int err;

	if (!mm)
		return 0;
	err = mmap_read_lock_killable(mm);
	if (!err) {
		err = pmuctl_aux_find_all(aux, mm, mappings.ranges);
		if (!err) {
			raw_spin_lock(&aux->chain->lock);
			pmuctl_context_call(ctx, take_mappings_here, &mappings);
			raw_spin_unlock(&aux->chain->lock);
		}
		mmap_read_unlock(mm);
	}
	mmput(mm);
	return err ? pmuctl_refuse(why, INTERRUPTED, "") : 0;
}

/* ---- Files ---- */

static void put_files(struct pmuctl_aux_file *files)
{
	unsigned int i;

	for (i = 0; i < PT_RANGES_MAX; i++)
		if (files[i].path.dentry)
			path_put(&files[i].path);
}

static int open_file(const struct pt_file_name *name, struct pmuctl_aux_file *file,
		     struct pmuctl_explanation *why)
{
	char *text = kmemdup_nul(name->at, name->length, GFP_KERNEL);
	int err;

	if (!text)
		return pmuctl_refuse(why, NO_MEMORY, "");
	err = kern_path(text, LOOKUP_FOLLOW, &file->path);
	if (!err && !S_ISREG(d_inode(file->path.dentry)->i_mode)) {
		path_put(&file->path);
		err = -ENOENT;
	}
	if (err) {
		file->path.dentry = NULL;
		err = err == -ENOMEM ? pmuctl_refuse(why, NO_MEMORY, "") :
			pmuctl_refuse(why, PT_FILE, "filter");
	}
	kfree(text);
	return err;
}

static int open_files(const struct pmuctl_event *event, const struct pt_filter *filter,
		      const struct pt_file_name *names, struct pmuctl_aux_file *files,
		      struct pmuctl_explanation *why)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < filter->nr && !err; i++) {
		if (!names[i].length)
			continue;
		if (!event->context->task)
			err = pmuctl_refuse(why, PT_RANGE_FILE, "filter");
		else
			err = open_file(&names[i], &files[i], why);
		files[i].part = filter->ranges[i];
	}
	if (err)
		put_files(files);
	return err;
}

/* From now on, and as long as the event is open, mappings are told of. */
static int follow_mappings(struct pmuctl_event *event, struct pmuctl_explanation *why)
{
	const u16 before = event->side, side = before | PMUCTL_SIDE_CODE;
	int err;

	/* All at once, as it is put when the event is closed: several kinds share a hook. */
	err = pmuctl_side_get(side, why);
	if (err)
		return err;
	event->side = side;
	pmuctl_side_put(before);
	return 0;
}

/* Exchange the files for others, and give the trace their filter, with no file mapped yet. */
static void exchange(struct filter_change *change)
{
	struct pmuctl_aux *aux = change->event->aux;

	if (change->event->inherit.root) {
		pmuctl_aux_call(change->event, change_filter, change);
		return;
	}
	raw_spin_lock(&aux->chain->lock);
	hlist_del_init(&aux->filed);
	swap_files(change);
	if (change->new->any)
		hlist_add_head(&aux->filed, &aux->chain->first);
	pmuctl_aux_call(change->event, change_filter, change);
	raw_spin_unlock(&aux->chain->lock);
}

int pmuctl_aux_filter_open(const struct pmuctl_event *event, const char *text,
			   struct pmuctl_aux_filter *new, struct pmuctl_explanation *why)
{
	struct pt_file_name names[PT_RANGES_MAX] = {};
	unsigned int i;
	int err;

	*new = (struct pmuctl_aux_filter){};
	if (event->aux->driver->unit != &pt_unit)
		return pmuctl_refuse(why, AUX_NO_FILTER, "filter", event->aux->driver->name);
	err = pt_filter_parse(text, pt_caps(), event->aux->pt.ctl, &new->filter, names, why);
	if (!err)
		err = open_files(event, &new->filter, names, new->files, why);
	if (err)
		return err;
	for (i = 0; i < new->filter.nr; i++)
		new->any |= names[i].length;
	put_nowhere(new->files, &new->filter);
	return 0;
}

int pmuctl_aux_filter_set(struct pmuctl_event *event, struct pmuctl_aux_filter *new,
			  struct pmuctl_explanation *why)
{
	struct filter_change change = { .event = event, .new = new };
	int err = 0;

	if (mutex_lock_killable(&event->aux->filter_mutex))
		return pmuctl_refuse(why, INTERRUPTED, "");
	if (new->any)
		err = follow_mappings(event, why);
	if (!err)
		exchange(&change);
	if (!err && new->any && !event->inherit.root)
		err = find_mappings(event->aux, why);
	mutex_unlock(&event->aux->filter_mutex);
	return err;
}

void pmuctl_aux_filter_close(struct pmuctl_aux_filter *new)
{
	put_files(new->files);
}

void pmuctl_aux_forget_files(struct pmuctl_aux *aux)
{
	raw_spin_lock(&aux->chain->lock);
	hlist_del_init(&aux->filed);
	raw_spin_unlock(&aux->chain->lock);
}

void pmuctl_aux_put_files(struct pmuctl_aux *aux)
{
	put_files(aux->files);
}
