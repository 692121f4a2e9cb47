/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * AUX area tracing: events that a tracing unit of the processor writes about, into a buffer
 * of their own beside the ring of records.
 *
 * Such an event is in a context and a group like any other, and is started and stopped as a
 * software event is (soft.h): it needs no counter. Its value is how many bytes were traced.
 * What was traced between a start and a stop, or a watermark, is one AUX record.
 *
 * One that is inherited is for one CPU, where at most one of those runs that descend from it, and
 * it: they share what it has here, and write to its buffer in turn.
 *
 *	start:	which part of the buffer is free? the unit writes there
 *	NMI:	a watermark is reached, or there is no more room: publish, tell, go on
 *	stop:	publish, tell
 *
 * If there is no room the trace stands still until the reader has made some: each tick
 * looks.
 */
#ifndef PMUCTL_AUX_H
#define PMUCTL_AUX_H

#include <linux/cpumask.h>
#include <linux/path.h>

#include <asm/local64.h>

#include "core/context.h"
#include "core/event.h"
#include "pmu/bts.h"
#include "pmu/pt.h"
#include "sample/buffer.h"

struct pmuctl_cpuctx;
struct pmuctl_filed_chain;

/**
 * struct pmuctl_aux_file - a part of a file, that is traced wherever it is mapped
 * @path: of the file.
 * @part: offsets.
 */
struct pmuctl_aux_file {
	struct path path;
	struct pt_range part;
};

/**
 * struct pmuctl_aux - what an event has that traces
 * @event: whose, the root if it is inherited; constant, as
 * @driver: its kind.
 * @trace: what the tracing unit needs to know; it is the first of
 * @pt: and
 * @bts: whichever its driver is for.
 * @buf: where it writes; NULL while nothing is mapped. Changed on the CPU on which the
 *	event's context is loaded, with its lock.
 * @running: the event that runs: @event, or a child of it; NULL if none does. Owner CPU.
 * @ran: CPUs on which it was started with that buffer: no other has been told of it. Owner CPU, and
 *	its NMI; whoever has taken the buffer away.
 * @bytes: traced, ever, by @running.
 * @told_start: an ITRACE_START record was written: of the first task that is traced, as by perf.
 * @stalled: it is running, but there is no room.
 * @work: does what an NMI cannot.
 * @pauses: see struct pmuctl_aux_status; with
 * @resumes:
 * @idle: and
 * @missed:
 *
 * Owner CPU; the NMI may change them while the trace is on.
 *
 * @files: for each range of the filter, the part of a file that it is; none if there is no
 *	path. With @filed, in aux/filter.c.
 * @chain: where those are that follow such in processes like this one's; constant once it is
 *	attached. With
 * @filed: in there.
 * @follows: of one that is inherited: its filter has files, and each event of it has places of its
 *	own for them: aux/places.c.
 * @generation: of its filter: how many it has had. These two and @files change where @event runs,
 *	or its children, with
 * @files_lock: for mappings on other CPUs; inside of the locks of contexts.
 * @unlooked: children that were made of events whose places were not known.
 * @filter_mutex: one filter is set after the other; outside of pmuctl_mutex and of the mmap_lock
 *	of the task that is traced, for which only who sets a filter of this event may wait.
 *
 * @buffer: that the ring of records is in; mapped once more for this. With @charge and
 * @mappings under @map_mutex.
 * @map_mutex: it is mapped, or unmapped; inside of mmap_lock, outside of the mutex of buffers. Of
 *	each its own: a cgroup may let who allocates wait for seconds.
 * @charge: whose locked memory it is.
 * @mappings: of the AUX buffer.
 */
struct pmuctl_aux {
	struct pmuctl_event *event;
	const struct pmuctl_aux_driver *driver;
	union {
		struct hwtrace trace;
		struct pt_trace pt;
		struct bts_trace bts;
	};
	struct auxbuf *buf;
	struct pmuctl_event *running;
	struct cpumask ran;
	u64 bytes;
	bool told_start;
	bool stalled;
	struct irq_work work;
	local64_t pauses, resumes, idle, missed;

	struct pmuctl_aux_file files[PT_RANGES_MAX];
	struct pmuctl_filed_chain *chain;
	struct hlist_node filed;
	bool follows;
	u32 generation;
	raw_spinlock_t files_lock; /* changes of the two before it, and @files */
	atomic_t unlooked;
	struct mutex filter_mutex; /* while its filter is set */

	u32 watermark;
	struct pmuctl_buffer *buffer;
	struct pmuctl_charge charge;
	unsigned int mappings;
	struct mutex map_mutex; /* @buffer, @charge, @mappings */
};

/**
 * struct pmuctl_aux_driver - a kind of AUX events
 * @name: as perf calls it.
 * @type: attr.type of its events.
 * @unit: that does it; the reason why this CPU has none.
 * @tells_kernel: a trace of user mode alone tells of the kernel's addresses.
 */
struct pmuctl_aux_driver {
	const char *name;
	u32 type;
	const struct hwtrace_unit *unit;
	bool tells_kernel;
};

/* attr.type of each; programs ask for them by name. */
#define PMUCTL_TYPE_INTEL_PT	PMUCTL_TYPE_DRIVERS
#define PMUCTL_TYPE_INTEL_BTS	(PMUCTL_TYPE_DRIVERS + 1)

/* The driver of a type, or number @n of all; NULL if there is none. Any context. */
const struct pmuctl_aux_driver *pmuctl_aux_driver_of(u32 type);
const struct pmuctl_aux_driver *pmuctl_aux_driver_at(unsigned int n);

/* Can this machine trace? Any context. */
bool pmuctl_aux_is_there(void);

/**
 * pmuctl_aux_init() - let a new event trace
 * @event: is set up to count nothing yet.
 * @attr: validated; of the type of a driver.
 * @why: filled on refusal.
 *
 * Context: Process.
 * Return: 0; -ENOENT if this CPU cannot; -EINVAL if it cannot so; -ENOMEM.
 */
int pmuctl_aux_init(struct pmuctl_event *event, const struct perf_event_attr *attr,
		    struct pmuctl_explanation *why);

/* Try again what is stalled on this CPU. Returns true if it still is. Locks of @pc held. */
bool pmuctl_aux_tick(struct pmuctl_cpuctx *pc);

/* Call it where the event runs, or its children: there the next two may be called. Process. */
void pmuctl_aux_call(const struct pmuctl_event *event, pmuctl_context_func func, void *arg);

/* Give it its buffer, or take it away: NULL. */
void pmuctl_aux_set_buf(struct pmuctl_event *event, struct auxbuf *buf);

/* What its trace is to be restricted to, by Processor Trace. */
void pmuctl_aux_put_filter(struct pmuctl_event *event, const struct pt_filter *filter);

/* attr.aux_action of a validated attr */
static inline u32 pmuctl_aux_action(const struct perf_event_attr *attr)
{
	u32 action;

	memcpy(&action, (const char *)attr + PMUCTL_ATTR_AUX_ACTION, sizeof(action));
	return action;
}

/* Pause or resume the trace of an event: struct pmuctl_event_ops. Owner CPU; NMI too. */
void pmuctl_aux_pause(struct pmuctl_event *event, bool pause);

/* A hit of this event was dropped, and its aux_action is set. Context: as above. */
void pmuctl_aux_missed(const struct pmuctl_event *event);

/* What user space can know of an event that traces. Process. */
void pmuctl_aux_status(const struct pmuctl_event *event,
		       struct pmuctl_aux_status *status);

/* hwpmu_ops.trace */
void pmuctl_aux_interrupt(struct hwtrace *trace);

/* Quiets what traces when the kernel crashes, for each event that does: aux/crash.c */
extern struct pmuctl_hook pmuctl_crash_hook;

/* ---- aux/map.c ---- */

/**
 * pmuctl_aux_map() - map the AUX buffer of an event, made if it has none
 * @event: that traces, kept open by the mapping.
 * @offset: of the mapping; @nr_pages: its pages.
 * @flags: AUXBUF_*.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; mmap_lock held.
 * Return: the AUX buffer; or ERR_PTR: -EINVAL, -EPERM, -ENOMEM.
 */
struct auxbuf *pmuctl_aux_map(struct pmuctl_event *event, u64 offset,
			      unsigned long nr_pages, unsigned int flags,
			      struct pmuctl_explanation *why);

/* Page @n of what is mapped. Any context, as long as that is. */
struct page *pmuctl_aux_page(const struct pmuctl_event *event, unsigned long n);

/* One mapping more, or less. mmap_lock held. */
void pmuctl_aux_map_again(struct pmuctl_event *event);
void pmuctl_aux_unmap(struct pmuctl_event *event);

/* ---- aux/filter.c */

/**
 * struct pmuctl_aux_filter - a filter that is to be set
 * @filter: its ranges, those of files nowhere yet.
 * @files: of each range; then, once it is set, those that were there before.
 * @any: there are files.
 */
struct pmuctl_aux_filter {
	struct pt_filter filter;
	struct pmuctl_aux_file files[PT_RANGES_MAX];
	bool any;
};

/**
 * pmuctl_aux_filter_open() - understand a filter, and find its files
 * @event: traces.
 * @text: see pt_filter.h; empty for none.
 * @new: filled; to be closed with pmuctl_aux_filter_close() if it is.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep, for as long as a file system likes; no lock that others wait for.
 * Return: as pt_filter_parse(); -ENOENT: no such file; -EOPNOTSUPP: a file, of a CPU's
 * trace; -ENOMEM.
 */
int pmuctl_aux_filter_open(const struct pmuctl_event *event, const char *text,
			   struct pmuctl_aux_filter *new, struct pmuctl_explanation *why);

/**
 * pmuctl_aux_filter_set() - have an event trace by a filter
 * @event: traces.
 * @new: the filter.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -EOPNOTSUPP: mappings cannot be followed; -EINTR: the caller is being killed, and what
 * is mapped of its files already may not be known.
 */
int pmuctl_aux_filter_set(struct pmuctl_event *event, struct pmuctl_aux_filter *new,
			  struct pmuctl_explanation *why);

/* Give back the files. As pmuctl_aux_put_files() */
void pmuctl_aux_filter_close(struct pmuctl_aux_filter *new);

/*
 * Where the ranges of files are in a mapping: set those that are there. Nobody sets a filter
 * meanwhile, or the files are locked. Return: any?
 */
bool pmuctl_aux_find_ranges(const struct pmuctl_aux *aux, const struct vm_area_struct *vma,
			    struct pt_range *ranges);

/**
 * pmuctl_aux_find_all() - where the ranges of files are in all that a process has mapped
 * @aux: whose; nobody sets a filter meanwhile.
 * @mm: the process's memory; its mmap_lock is held.
 * @ranges: PT_RANGES_MAX of them, filled: PT_RANGE_NOWHERE if it is not mapped.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINTR: the caller is being killed.
 */
int pmuctl_aux_find_all(const struct pmuctl_aux *aux, struct mm_struct *mm,
			struct pt_range *ranges);

/* The current process has mapped code: filters by file may mean this. mmap_lock is held. */
void pmuctl_aux_mapped(const struct vm_area_struct *vma);

/* The current task executes another program: nothing is mapped. Its context is locked. */
void pmuctl_aux_exec(struct pmuctl_event *event);

/* The event has got its context. pmuctl_mutex held. */
void pmuctl_aux_find_chain(struct pmuctl_aux *aux);

/* The event is closed: it follows no file any more. pmuctl_mutex held. */
void pmuctl_aux_forget_files(struct pmuctl_aux *aux);

/* Give back the files that it followed. A deleted one may be freed then, which takes long:
 * process, may sleep, no lock that others wait for.
 */
void pmuctl_aux_put_files(struct pmuctl_aux *aux);

/* ---- aux/places.c: filters by file of events that are inherited ---- */

/* In a filter, where the files are in the task of an event that is to run. Owner CPU. */
void pmuctl_aux_fill_places(const struct pmuctl_event *event, struct pt_filter *filter);

/**
 * pmuctl_aux_find_places() - look where the files are in what the task of a root has mapped
 * @event: a root whose filter was set; its group is locked.
 * @mm: set to the task's memory, or NULL; to be put when nothing is locked any more.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -ENOMEM; -EINTR: the caller is being killed; -EAGAIN: @mm is in use, and this is to be
 * called anew when it has been waited for with nothing locked.
 */
int pmuctl_aux_find_places(struct pmuctl_event *event, struct mm_struct **mm,
			   struct pmuctl_explanation *why);

/* Are those of the filter that is set now known? Process; or the event's context is locked. */
bool pmuctl_aux_knows_places(const struct pmuctl_event *event);

/* A child gets those of @from, before it runs. Both contexts are locked. False: no memory */
bool pmuctl_aux_copy_places(struct pmuctl_event *child, const struct pmuctl_event *from);

/* As pmuctl_aux_mapped() and pmuctl_aux_exec(), for what is inherited */
void pmuctl_aux_mapped_places(const struct vm_area_struct *vma);
void pmuctl_aux_exec_places(struct pmuctl_event *event);

#endif /* PMUCTL_AUX_H */
