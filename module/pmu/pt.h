/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel Processor Trace on this CPU: let it write to a buffer, and stop it. Nothing here
 * knows of tasks, contexts or user memory.
 *
 * A trace is on at most one CPU, and a CPU has at most one. The interrupt that says that
 * a watermark is reached, or the buffer is full, is the PMU's NMI: the PMU is ours while
 * a trace is on.
 */
#ifndef PMUCTL_PMU_PT_H
#define PMUCTL_PMU_PT_H

#include "pmu/pt_filter.h"
#include "pmu/topa.h"

/**
 * struct pt_trace - a trace, embedded in the core's
 * @ctl: IA32_RTIT_CTL while it is on; set by pt_config_encode().
 * @filter: the addresses that it traces; changed while it is not on.
 * @topa: the tables of its buffer; none if nr_regions is 0.
 * @from: the position at which it began to write. Owner CPU.
 * @paused: it is on, but nothing is traced. Owner CPU, NMI may change it.
 */
struct pt_trace {
	u64 ctl;
	struct pt_filter filter;
	struct topa topa;
	u64 from;
	bool paused;
};

/**
 * struct pt_result - what a trace has done
 * @bytes: written since pt_start(), in the order of positions.
 * @stopped: it ended because there was no more room.
 * @error: it ended because the processor did not understand its tables.
 */
struct pt_result {
	u64 bytes;
	bool stopped;
	bool error;
};

enum pt_start {
	PT_STARTED,
	PT_FULL,	/* there is no room for a region */
	PT_TAKEN,	/* somebody else is tracing on this CPU */
};

/* Find out what this CPU has. Module load. */
void pt_init(void);

/* Why it cannot be used, a constant sentence; NULL if it can. Constant after init. */
const char *pt_reason(void);
const struct pt_caps *pt_caps(void);

/* Does somebody trace on this CPU now, who is not us? IRQs off. */
bool pt_is_taken(void);

/*
 * Before the first trace, and after the last one: see rival.h. Fine if they are already.
 * Process, may sleep, one at a time; the first with cpus_read_lock. Returns 0, -EBUSY, -ENOMEM.
 */
int pt_keep_others_away(void);
void pt_let_others(void);

/*
 * A CPU has come online: neither shall they trace there. Returns false if somebody does.
 * Context: the same.
 */
bool pt_cpu_came(int cpu);

/* Make tables for a buffer, or free them. Process, may sleep. Returns false: no memory. */
bool pt_tables_alloc(struct pt_trace *trace, const struct auxbuf *buf);
void pt_tables_free(struct pt_trace *trace);

/**
 * pt_start() - let a trace write on this CPU
 * @trace: with tables; not on.
 * @span: what may be written.
 *
 * From here to pt_stop() its owner must leave the trace and its buffer alone, for
 * hwpmu_ops.trace may be called for it at any time.
 *
 * Context: Own CPU, IRQs off, or its NMI.
 */
enum pt_start pt_start(struct pt_trace *trace, const struct auxbuf_span *span);

/* End it. Returns false if it was not on here. Context: as pt_start(). */
bool pt_stop(struct pt_trace *trace, struct pt_result *result);

/*
 * Let it stand still, or go on, if it is on here. Own CPU, IRQs off, or its NMI. Returns
 * false if it did already.
 */
bool pt_pause(struct pt_trace *trace, bool pause);

/* IA32_PERF_GLOBAL_STATUS says so: tell the core. NMI. */
void pt_nmi(void);

#endif /* PMUCTL_PMU_PT_H */
