/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracing units of a CPU as the core sees them: let one write to a buffer, and stop it.
 * Which units there are is in pt.h and bts.h. Nothing here knows of tasks, contexts or user
 * memory.
 *
 * A trace is on at most one CPU, and a CPU has at most one. The interrupt that says that
 * a watermark is reached, or the buffer is full, is the PMU's NMI: the PMU is ours while
 * a trace is on.
 */
#ifndef PMUCTL_PMU_HWTRACE_H
#define PMUCTL_PMU_HWTRACE_H

#include "explain/explain.h"
#include "ringbuf/auxbuf.h"

struct cpumask;

/**
 * struct hwtrace - a trace, embedded in the unit's
 * @paused: it is on, but nothing is traced: of whoever is traced. Set before it is started; owner
 *	CPU, whose NMI may change what it points to.
 */
struct hwtrace {
	bool *paused;
};

/**
 * struct hwtrace_result - what a trace has done
 * @skipped: bytes that were left out before the first, and mean nothing.
 * @bytes: written since the start, in the order of positions.
 * @stopped: it ended because there was no more room.
 * @error: it ended because the processor did not understand what it was told, or refused it.
 */
struct hwtrace_result {
	u64 skipped;
	u64 bytes;
	bool stopped;
	bool error;
};

enum hwtrace_start {
	HWTRACE_STARTED,
	HWTRACE_FULL,	/* there is not enough room */
	HWTRACE_TAKEN,	/* somebody else is tracing on this CPU */
};

/**
 * struct hwtrace_unit - a tracing unit; constant
 * @reason: why it cannot be used, a constant sentence; NULL if it can. Any context.
 * @config: bits of attr.config that may be set.
 * @encode: fill a trace, which is zero. As pmuctl_aux_init(): 0 or -errno.
 * @reserve: keep others away, before the first trace; fine if they are already. Process, may
 *	sleep, one at a time, cpus_read_lock held. Returns 0; -EBUSY: somebody traces; -ENOMEM;
 *	what else kept the kernel's driver from us.
 * @release: let them again, after the last one, or when none is on and the PMU goes; likewise.
 *	Until @reserve comes again nothing starts.
 * @cpu_came: a CPU has come online meanwhile: neither shall they trace there; likewise. Returns
 *	false if somebody does. NULL: there is nothing to do.
 * @is_taken: does somebody trace on this CPU now, who is not us? IRQs off.
 * @found_on: the CPU on which somebody traced when it was looked last; -1: nobody did.
 * @alloc: get a trace ready for a buffer. Process, may sleep. Returns false: no memory.
 * @free: and undo it; @ran is where it has been started since.
 * @start: let a trace write on this CPU what may be written. From here to @stop its owner
 *	must leave the trace and its buffer alone, for hwpmu_ops.trace may be called for it at
 *	any time. Own CPU, IRQs off, or its NMI.
 * @stop: end it. Returns false if it was not on here. As @start.
 * @pause: let it stand still, or go on, if it is on here. Returns false if it did already. As
 *	@start.
 */
struct hwtrace_unit {
	const char *(*reason)(void);
	u64 (*config)(void);
	int (*encode)(struct hwtrace *trace, const struct perf_event_attr *attr,
		      struct pmuctl_explanation *why);
	int (*reserve)(void);
	void (*release)(void);
	bool (*cpu_came)(int cpu);
	bool (*is_taken)(void);
	int *found_on;
	bool (*alloc)(struct hwtrace *trace, const struct auxbuf *buf);
	void (*free)(struct hwtrace *trace, const struct cpumask *ran);
	enum hwtrace_start (*start)(struct hwtrace *trace, const struct auxbuf_span *span);
	bool (*stop)(struct hwtrace *trace, struct hwtrace_result *result);
	bool (*pause)(struct hwtrace *trace, bool pause);
};

/*
 * Does somebody trace on any CPU who is not us? As long as one does, who asks in a loop calls that
 * CPU and not all. Process, may sleep, one at a time, cpus_read_lock held.
 */
bool hwtrace_is_taken_by_others(const struct hwtrace_unit *unit);

#endif /* PMUCTL_PMU_HWTRACE_H */
