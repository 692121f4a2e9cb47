/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events of tracepoints: any of the kernel or of a module, by name, "syscalls:*", one system
 * call, and the dynamic events of the kernel's tracing, kprobes and uprobes that people make in
 * tracefs. What they count are hits as those of software events; all events of a tracepoint share
 * one probe.
 */
#ifndef PMUCTL_TRACEPOINT_H
#define PMUCTL_TRACEPOINT_H

#include "soft/filter.h"
#include "soft/soft.h"

/* "system:name", with its NUL */
#define PMUCTL_TRACEPOINT_NAME_MAX	128

/**
 * struct pmuctl_prototype - what a tracepoint tells
 * @name: of the tracepoint, without its system.
 * @nr_args: how many arguments it has, at most FILTER_ARGS_MAX.
 * @fields: what filters call them.
 * @weight: which argument a hit counts for, not the first; 0: each counts for one.
 */
struct pmuctl_prototype {
	const char *name;
	unsigned int nr_args;
	const struct filter_field *fields;
	unsigned int weight;
};

/* That of a tracepoint; if it is not known one without fields and with all arguments. */
const struct pmuctl_prototype *pmuctl_prototype_of(const char *name);

/**
 * struct pmuctl_tp - what an event with a descriptor has that is of a tracepoint; its
 * parts and children share it
 * @tracepoint: which one; referenced.
 * @privileged: who opened it has CAP_PERFMON.
 * @filter: or NULL; replaced under the mutex of tracepoint_filter.c, read with preemption off.
 * @work: of @filter, as in the user's quota; under that mutex.
 */
struct pmuctl_tp {
	struct pmuctl_tracepoint *tracepoint;
	bool privileged;
	struct filter __rcu *filter;
	u32 work;
};

/**
 * pmuctl_tp_alloc() - find a tracepoint
 * @name: with its system before and a colon between, or without.
 * @records: the event is to be told the kernel's records of it, if tracefs has it by that name,
 *	instead of its arguments.
 * @may_probe: the caller may have kprobes and uprobes: setting one takes long, for everybody, if
 *	its file is mapped often, and it is in the programs of all users.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: to be given to an event, or to pmuctl_tp_free(); or ERR_PTR: -ENOENT if there
 * is none of that name, -ENOMEM.
 */
struct pmuctl_tp *pmuctl_tp_alloc(const char *name, bool records, bool may_probe,
				  struct pmuctl_explanation *why);

/*
 * Is it in the kernel? A system call is where the user made it, as perf has it, and a uprobe in his
 * program. Any context.
 */
bool pmuctl_tp_is_in_kernel(const struct pmuctl_tp *tp);

/* May everybody be told its records who may count the task that they are of? Any context. */
bool pmuctl_tp_is_for_anyone(const struct pmuctl_tp *tp);

/* No event has it any more. Process, may sleep. */
void pmuctl_tp_free(struct pmuctl_tp *tp);

/* What its events count; as long as it exists. */
struct pmuctl_sw_source *pmuctl_tp_source(struct pmuctl_tp *tp);

/**
 * pmuctl_tp_set_filter() - PERF_EVENT_IOC_SET_FILTER
 * @tp: of the event.
 * @quota: in which that is counted, or NULL.
 * @text: the filter; empty for none.
 * @raw: filters may look at arguments by number.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep.
 * Return: 0; -EINVAL if it cannot be understood; -EPERM if it is more than @raw allows;
 * -ENOSPC if the user's filters are too much work for a hit; -ENOMEM.
 */
int pmuctl_tp_set_filter(struct pmuctl_tp *tp, struct pmuctl_quota *quota, const char *text,
			 bool raw, struct pmuctl_explanation *why);

/* Tell maintainers. Process. */
void pmuctl_tracepoint_show(struct seq_file *m);

/* The registry has dropped what is not needed: free that. Process, may sleep. */
void pmuctl_tracepoint_free_unused(void);

/* There are no events any more, and no hooks. */
void pmuctl_tracepoint_exit(void);

#endif /* PMUCTL_TRACEPOINT_H */
