/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tracepoint tells, as the kernel's own tracing lays it out: the fields that all have,
 * then each at the offset that the event's format in tracefs says.
 *
 * Only the function that the kernel's TRACE_EVENT() has made of the event can do that. It is
 * called for whoever has a perf event of it. So we have one on each CPU while it is needed, and
 * keep what it is given; our own probe comes right behind it, counts, filters and samples as
 * always, and finds the record here.
 *
 * Dynamic events have no place for a probe of ours: of each hit perf's event is what tells.
 */
#ifndef PMUCTL_TRACEPOINT_RECORD_H
#define PMUCTL_TRACEPOINT_RECORD_H

#include <linux/types.h>

struct hlist_head;
struct pmuctl_explanation;
struct pmuctl_record_source;
struct pmuctl_tracepoint;
struct trace_event_call;
struct tracepoint;

/**
 * pmuctl_record_source_alloc() - find the event of a tracepoint
 * @name: with its system before and a colon between; else there is none.
 * @tp: the tracepoint itself.
 * @of_syscall: the event is of one system call, of those that @tp tells.
 * @running: of each CPU, empty where nobody wants records.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_record_source_free(); NULL if tracefs has no such event;
 * ERR_PTR(-ENOMEM).
 */
struct pmuctl_record_source *pmuctl_record_source_alloc(const char *name, struct tracepoint *tp,
							bool of_syscall,
							struct hlist_head __percpu *running);

/**
 * pmuctl_record_source_alloc_dynamic() - the same for a dynamic event
 * @t: to be told of each hit, with its record; its name has the system.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_record_source_free(); ERR_PTR(-ENOMEM).
 */
struct pmuctl_record_source *pmuctl_record_source_alloc_dynamic(struct pmuctl_tracepoint *t);

/* Is it of those that everybody may see of a task of his own (TRACE_EVENT_FL_CAP_ANY)? */
bool pmuctl_record_is_for_anyone(const struct pmuctl_record_source *source);

/* Is its record what the kernel makes of this event, now? Context: any. */
bool pmuctl_record_is_of(const struct pmuctl_record_source *source,
			 const struct trace_event_call *call);

/* Its perf events are gone, and nobody can be in them: tracepoint_synchronize_unregister(). */
void pmuctl_record_source_free(struct pmuctl_record_source *source);

/**
 * pmuctl_record_source_set() - begin to keep its records
 * pmuctl_record_source_drop() - the reverse
 * @source: which; NULL: nothing to do.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; cpus_read_lock not held.
 * Return: 0; -ENOMEM; -ENOENT if it is a dynamic event, and has been taken away.
 */
int pmuctl_record_source_set(struct pmuctl_record_source *source, struct pmuctl_explanation *why);
void pmuctl_record_source_drop(struct pmuctl_record_source *source);

/**
 * pmuctl_record_take() - the record of the hit that the caller is told of
 * @source: of the same tracepoint.
 * @level: of pmuctl_soft_enter().
 * @size: is filled: its bytes, 4 more than a multiple of 8.
 *
 * Context: Any, preemption off.
 * Return: as long as the caller is at that level; NULL if there is none: the CPU has just come,
 * what the kernel does for perf's events made it happen, or the task was preempted meanwhile.
 */
const void *pmuctl_record_take(const struct pmuctl_record_source *source, unsigned int level,
			       u32 *size);

/**
 * pmuctl_record_forget() - the caller was told of a hit, and nobody wants its record
 * @source: of the same tracepoint.
 *
 * Without that the next hit could be taken for it, if the kernel makes no record of that one.
 *
 * Context: Any, preemption off.
 */
void pmuctl_record_forget(const struct pmuctl_record_source *source);

int pmuctl_records_init(void);
void pmuctl_records_exit(void);

#endif /* PMUCTL_TRACEPOINT_RECORD_H */
