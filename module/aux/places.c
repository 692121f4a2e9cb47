// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters by file of traces that are inherited. A trace has the addresses of the task that runs:
 * each event that shares it has places of its own, found when the filter is set, when its task maps
 * a file, and copied by a fork; an exec forgets them. As by perf, a thread that runs already does
 * not learn what another one maps.
 *
 * Places are of one filter, whose generation they have. Those of another are nowhere.
 */
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "aux/aux.h"
#include "core/context.h"
#include "core/context_table.h"

void pmuctl_aux_fill_places(const struct pmuctl_event *event, struct pt_filter *filter)
{
	static const struct pt_range nowhere = { PT_RANGE_NOWHERE, PT_RANGE_NOWHERE };
	const struct pt_places *places = event->places;
	const struct pmuctl_aux *aux = event->aux;
	unsigned int i;

	if (places && places->generation != aux->generation)
		places = NULL;
	for (i = 0; i < filter->nr; i++) {
		const struct pt_range *place = places ? &places->ranges[i] : &nowhere;

		if (!aux->files[i].path.dentry)
			continue;
		filter->ranges[i].from = place->from;
		filter->ranges[i].to = place->to;
	}
}

/* They have changed: if it is this event that runs, on this CPU, its trace follows. */
static void use_places(struct pmuctl_event *event)
{
	struct pmuctl_aux *aux = event->aux;
	struct pt_filter filter;

	if (READ_ONCE(aux->running) != event)
		return;
	filter = aux->pt.filter;
	pmuctl_aux_fill_places(event, &filter);
	pmuctl_aux_put_filter(event, &filter);
}

/* The files are locked. */
static void forget_places(struct pmuctl_event *event)
{
	struct pt_places *places = event->places;
	unsigned int i;

	for (i = 0; i < PT_RANGES_MAX; i++) {
		places->ranges[i].from = PT_RANGE_NOWHERE;
		places->ranges[i].to = PT_RANGE_NOWHERE;
	}
	places->generation = event->aux->generation;
}

/* Its context is locked. */
static void take_mapping(struct pmuctl_event *event, const struct vm_area_struct *vma)
{
	struct pmuctl_aux *aux = event->aux;
	bool found;

	raw_spin_lock(&aux->files_lock);
	if (event->places->generation != aux->generation)
		forget_places(event);
	found = pmuctl_aux_find_ranges(aux, vma, event->places->ranges);
	raw_spin_unlock(&aux->files_lock);
	if (found)
		use_places(event);
}

void pmuctl_aux_exec_places(struct pmuctl_event *event)
{
	if (!event->places)
		return;
	raw_spin_lock(&event->aux->files_lock);
	forget_places(event);
	raw_spin_unlock(&event->aux->files_lock);
	use_places(event);
}

/* Who sets a filter finds what is mapped while there are no places yet. */
static void take_mapping_in(struct pmuctl_context *ctx, const struct vm_area_struct *vma)
{
	struct pmuctl_event *leader, *event;
	enum pmuctl_class class;

	for_each_group(leader, class, ctx)
		for_each_group_member(event, leader)
			if (event->places)
				take_mapping(event, vma);
}

void pmuctl_aux_mapped_places(const struct vm_area_struct *vma)
{
	struct pmuctl_context *ctx;
	unsigned long flags;

	if (!vma->vm_file)
		return;
	rcu_read_lock();
	ctx = pmuctl_context_find(current);
	if (ctx && READ_ONCE(ctx->nr_inherit)) {
		raw_spin_lock_irqsave(&ctx->lock, flags);
		take_mapping_in(ctx, vma);
		raw_spin_unlock_irqrestore(&ctx->lock, flags);
	}
	rcu_read_unlock();
}

/* ---- What is mapped already ---- */

struct look {
	struct pmuctl_event *event;
	struct pt_places *new;
	const struct mm_struct *mm;
	struct pt_range ranges[PT_RANGES_MAX];
};

static void give_places(struct pmuctl_context *ctx, void *arg)
{
	struct look *look = arg;

	look->event->places = look->new;
}

static void look_here(struct pmuctl_context *ctx, void *arg)
{
	const struct look *look = arg;
	struct pmuctl_event *event = look->event;
	unsigned int i;

	/* An exec has forgotten all, and maps what it has anew. */
	if (READ_ONCE(ctx->task->mm) != look->mm)
		return;
	raw_spin_lock(&event->aux->files_lock);
	if (event->places->generation != event->aux->generation)
		forget_places(event);
	for (i = 0; i < PT_RANGES_MAX; i++)
		pt_range_move(&event->places->ranges[i], &look->ranges[i]);
	raw_spin_unlock(&event->aux->files_lock);
	use_places(event);
}

static void end_look(struct pmuctl_context *ctx, void *arg)
{
	const struct look *look = arg;

	WRITE_ONCE(look->event->places->looked, look->event->aux->generation);
}

bool pmuctl_aux_knows_places(const struct pmuctl_event *event)
{
	/* Once there they stay. */
	const struct pt_places *places = READ_ONCE(event->places);

	return places && READ_ONCE(places->looked) == READ_ONCE(event->aux->generation);
}

int pmuctl_aux_find_places(struct pmuctl_event *event, struct mm_struct **mm,
			   struct pmuctl_explanation *why)
{
	struct look look = { .event = event };
	int err;

	if (!event->places) {
		look.new = kzalloc(sizeof(*look.new), GFP_KERNEL_ACCOUNT);
		if (!look.new)
			return pmuctl_refuse(why, NO_MEMORY, "");
		pmuctl_context_call(event->context, give_places, &look);
	}
	/* After an exec that gained rights it is not ours to look into, nor is anything traced. */
	*mm = READ_ONCE(event->context->gone) ? NULL : get_task_mm(event->context->task);
	if (*mm) {
		/* Who has it may wait for a file system, for ever. */
		if (!mmap_read_trylock(*mm))
			return -EAGAIN;
		look.mm = *mm;
		err = pmuctl_aux_find_all(event->aux, *mm, look.ranges);
		/* It maps nothing meanwhile. */
		if (!err)
			pmuctl_context_call(event->context, look_here, &look);
		mmap_read_unlock(*mm);
		if (err)
			return pmuctl_refuse(why, INTERRUPTED, "");
	}
	pmuctl_context_call(event->context, end_look, &look);
	return 0;
}

bool pmuctl_aux_copy_places(struct pmuctl_event *child, const struct pmuctl_event *from)
{
	if (!pmuctl_aux_knows_places(from))
		atomic_inc(&from->aux->unlooked);
	if (!from->places)
		return true;
	child->places = kmemdup(from->places, sizeof(*from->places),
				GFP_ATOMIC | __GFP_ACCOUNT | __GFP_NOWARN);
	return child->places;
}
